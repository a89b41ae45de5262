// How the endpoint is doing.

package backlog

import "time"

// The number of requests in flight to one endpoint: it begins with firstWidth,
// grows by one with each success up to maxWidth, and is 1 after a time-out.
const (
	firstWidth = 8
	maxWidth   = 32
)

// endpoint is how an endpoint is doing.
type endpoint struct {
	status       Status
	reason       string // of the suspension
	failures     int    // in a row, of the requests that were meant to test it
	failingSince time.Time
	nextTry      time.Time
	problem      string // why it failed the last time
	// opinion says that an event of another chat may be tried before nextTry, to
	// find out whether the endpoint is at fault or the event that failed.
	opinion bool
	width   int
}

func newEndpoint(state State) endpoint {
	e := endpoint{
		status: state.Status, reason: state.Reason, failures: state.Failures,
		failingSince: state.FailingSince, nextTry: state.NextTry, width: firstWidth,
	}
	if e.status == "" {
		e.status = StatusOK
	}
	return e
}

// succeeded notes a success and reports whether the state changed.
func (e *endpoint) succeeded() bool {
	e.width = min(e.width+1, maxWidth)
	if e.status != StatusBackoff {
		return false
	}
	*e = endpoint{status: StatusOK, width: e.width}
	return true
}

// failed notes a failure that is not known to be the event's fault. When several
// requests fail together, only the one that was sent to test the endpoint lengthens
// the wait.
func (e *endpoint) failed(purpose purpose, a Answer, now time.Time, schedule *Schedule, random float64) {
	if a.TimedOut {
		e.width = 1
	}
	if e.status == StatusSuspended {
		return
	}
	e.problem = a.Problem
	switch {
	case e.status == StatusOK:
		e.status, e.failures, e.failingSince = StatusBackoff, 1, now
		e.nextTry = now.Add(backoff(schedule.Endpoint, 1, random))
		e.opinion = a.mayBeTheEvents()
	case purpose == toProbe:
		e.failures++
		e.nextTry = now.Add(backoff(schedule.Endpoint, e.failures, random))
	case purpose == toCompare:
		e.nextTry = now.Add(backoff(schedule.Endpoint, e.failures, random))
	}
	if asked := now.Add(a.RetryAfter); a.RetryAfter > 0 && asked.After(e.nextTry) {
		e.nextTry = asked
	}
	if now.Sub(e.failingSince) >= schedule.SuspendAfter {
		e.suspend(ReasonUnreachable, now)
	}
}

func (e *endpoint) suspend(reason string, now time.Time) {
	e.status, e.reason, e.opinion, e.nextTry = StatusSuspended, reason, false, time.Time{}
	if e.failingSince.IsZero() {
		e.failingSince = now
	}
}
