//go:build torture

// In the long run.

package amount

const long = true
