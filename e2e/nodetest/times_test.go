//go:build !torture

package nodetest_test

import "time"

// With the race detector, beside other tests, everything takes longer than it may; the long run
// measures it.
const (
	// failFor is how long a node fails.
	failFor = 26 * time.Second
	// elsewhereWithin is how long it may take until the instances of a node that failed are
	// connected at others.
	elsewhereWithin = 75 * time.Second
	// letsGoWithin is how long it may take until a node that does not reach the database has
	// closed its sessions: it waits for 10 s, and looks every half second.
	letsGoWithin = 45 * time.Second
	// goesOnWithin is how long it may take until messages are accepted again when the database
	// is back, or another server is in its place.
	goesOnWithin = 60 * time.Second

	// sendEvery is the pause of a sender between two messages, writeEvery that of a customer.
	sendEvery, writeEvery = 150 * time.Millisecond, 4 * sendEvery
)
