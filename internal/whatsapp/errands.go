package whatsapp

import "sync"

// maxErrands bounds what waits to be done for one session.
const maxErrands = 256

// errands are what a session does aside, one after another: in a goroutine that
// lives only while there is any, so that an idle session has none. The zero value
// is empty and ready.
type errands struct {
	mu      sync.Mutex
	waiting []func()
	busy    bool
	over    bool
	running sync.WaitGroup
}

// add has errand done after those that wait, and reports false where that will
// not happen: too many wait, or the session has ended. It never blocks.
func (e *errands) add(errand func()) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.over || len(e.waiting) >= maxErrands {
		return false
	}
	e.waiting = append(e.waiting, errand)
	if !e.busy {
		e.busy = true
		e.running.Go(e.work)
	}
	return true
}

func (e *errands) work() {
	for errand := e.next(); errand != nil; errand = e.next() {
		errand()
	}
}

// next returns what is to be done now; nil ends the goroutine.
func (e *errands) next() func() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.over || len(e.waiting) == 0 {
		e.waiting, e.busy = nil, false
		return nil
	}
	errand := e.waiting[0]
	e.waiting = e.waiting[1:]
	return errand
}

// end drops what waits, and returns when nothing runs any more.
func (e *errands) end() {
	e.mu.Lock()
	e.over = true
	e.mu.Unlock()
	e.running.Wait()
}
