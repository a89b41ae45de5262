//go:build !torture

// With every change.

package amount

const long = false
