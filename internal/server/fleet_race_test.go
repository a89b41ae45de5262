//go:build race

package server_test

// fleet is smaller with the race detector: linking makes hundreds of keys for each instance.
const fleet = 10
