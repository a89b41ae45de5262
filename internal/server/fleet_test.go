//go:build !race

package server_test

// fleet is how many instances a platform refuses together.
const fleet = 50
