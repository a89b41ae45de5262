//go:build torture

package nodetest_test

import "time"

const (
	// shortLease is for how long a node is believed, where a test waits for the end of it: here the usual time.
	shortLease = usualLease
	// elsewhereWithin is how long it may take until the instances of a node that failed are
	// connected at others.
	elsewhereWithin = 25 * time.Second
	// letsGoWithin is how long it may take until a node that does not reach the database has
	// closed its sessions: it waits for 10 s, and looks every half second.
	letsGoWithin = 12 * time.Second
	// goesOnWithin is how long it may take until messages are accepted again when the database
	// is back, or another server is in its place.
	goesOnWithin = 10 * time.Second
	// movedWithin is how long that may take when the database answers only those who connect anew: ten until
	// it is given up. On a machine that has nothing else to do it is less than twelve.
	movedWithin = 14 * time.Second
	// goneWithin is how long it may take when nothing comes from the first server's machine any more: now
	// and then a new connection asks it for two seconds before it asks the other.
	goneWithin = movedWithin + 4*time.Second

	// sendEvery is the pause of a sender between two messages, writeEvery that of a customer.
	sendEvery, writeEvery = 50 * time.Millisecond, 4 * sendEvery

	// nodeKills is how often nodes are killed, one after another.
	nodeKills = 300
)
