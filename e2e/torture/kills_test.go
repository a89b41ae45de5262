//go:build !torture

package torture_test

// How often the program is killed.
const kills = 3

// How often it is killed while messages are in its queues, and how many are left there.
const queueKills, queuedMessages = 5, 1_000

// How often PostgreSQL is.
const crashes = 2

// How many people write with and without their number.
const changers = 100
