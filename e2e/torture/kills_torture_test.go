//go:build torture

package torture_test

// How often the program is killed.
const kills = 250

// How often it is killed while messages are in its queues, and how many are left there.
const queueKills, queuedMessages = 100, 10_000

// How often PostgreSQL is.
const crashes = 20

// How many people write with and without their number.
const changers = 1_000
