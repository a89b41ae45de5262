//go:build !torture

package torture_test

// How often the program is killed.
const kills = 3

// How often it is killed while messages are in its queues.
const queueKills = 5

// How often PostgreSQL is.
const crashes = 2
