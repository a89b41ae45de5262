package backlog

import (
	"net/http"
	"time"
)

// Answer is what an endpoint answered to a request, or why it did not.
type Answer struct {
	Status     int           // 0: there was no answer
	RetryAfter time.Duration // how long the endpoint asks to be left alone; 0 where it does not
	Problem    string        // why the request failed, for people; it names no address

	Unsaid      bool // there was no request: the endpoint's language has no word for the event
	Refused     bool // the endpoint does not know such an event; it takes others
	Aborted     bool // by this program, so the answer says nothing about the endpoint
	TimedOut    bool
	Unreachable bool // there was no connection, so the endpoint saw no event
}

// verdict is what an answer means for an event and its endpoint.
type verdict int

const (
	failed verdict = iota
	delivered
	unsaid  // there is nothing to deliver
	refused // the endpoint never takes this event, and works
	gone    // the endpoint wants no events any more
	aborted // it means nothing
)

// Delivered reports whether the endpoint took the event.
func (a Answer) Delivered() bool { return a.verdict() == delivered }

func (a Answer) verdict() verdict {
	switch {
	case a.Aborted:
		return aborted
	case a.Unsaid:
		return unsaid
	case a.Status >= 200 && a.Status <= 299:
		return delivered
	case a.Status == http.StatusGone:
		return gone
	case a.Refused:
		return refused
	default:
		return failed
	}
}

// mayBeTheEvents reports whether a failure could be the event's fault, so that
// another event may be tried at once. It can't be where the endpoint saw no event,
// or asks for a pause.
func (a Answer) mayBeTheEvents() bool {
	return !a.Unreachable && a.RetryAfter == 0 && a.Status != http.StatusTooManyRequests
}
