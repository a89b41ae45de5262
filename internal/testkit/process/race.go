//go:build race

package process

// race says that the tests have the race detector.
const race = true
