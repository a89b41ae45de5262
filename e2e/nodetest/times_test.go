//go:build !torture

package nodetest_test

import "time"

// Nodes have a fifth of their lease, and everything that goes with it happens five times as fast.
// One that is shorter still ends by itself all the time where the machine is busy. With the race detector, beside other tests, the rest takes longer than it may; the long run
// measures it.
const (
	// shortLease is for how long a node is believed, where a test waits for the end of it.
	shortLease = 3 * time.Second
	// elsewhereWithin is how long it may take until the instances of a node that failed are
	// connected at others.
	elsewhereWithin = 20 * time.Second
	// letsGoWithin is how long it may take until a node that does not reach the database has
	// closed its sessions: it waits for two thirds of the lease.
	letsGoWithin = 12 * time.Second
	// goesOnWithin is how long it may take until messages are accepted again when the database
	// is back, or another server is in its place.
	goesOnWithin = 60 * time.Second
	// movedWithin is how long that may take when the database answers only those who connect anew: ten until
	// the silent connections are given up, and what six sends take on a busy machine.
	movedWithin = 30 * time.Second
	// goneWithin is how long it may take when nothing comes from the first server's machine any more: now
	// and then a new connection asks it for two seconds before it asks the other.
	goneWithin = movedWithin + 4*time.Second

	// sendEvery is the pause of a sender between two messages, writeEvery that of a customer.
	sendEvery, writeEvery = 150 * time.Millisecond, 4 * sendEvery

	// nodeKills is how often nodes are killed, one after another.
	nodeKills = 3
)
