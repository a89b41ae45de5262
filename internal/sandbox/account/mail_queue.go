package account

import "sync"

// MailQueue gives each phone that has mail to one worker at a time, in the order in
// which the mail came. Only the phones are in memory; the mail is in the database.
type MailQueue struct {
	mu     sync.Mutex
	ready  []*Account
	state  map[*Account]mailboxState
	Signal chan struct{} // a phone waits for a worker
}

type mailboxState int

const (
	mailboxReady   mailboxState = iota + 1 // waits for a worker
	mailboxWorking                         // has one
	mailboxAgain                           // has one, and has got more mail since
)

func newMailQueue() *MailQueue {
	return &MailQueue{state: map[*Account]mailboxState{}, Signal: make(chan struct{}, 1)}
}

// Wake queues a phone that has got mail.
func (m *MailQueue) Wake(of *Account) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch m.state[of] {
	case mailboxReady, mailboxAgain:
		return
	case mailboxWorking:
		m.state[of] = mailboxAgain
		return
	default:
		m.state[of] = mailboxReady
		m.ready = append(m.ready, of)
		m.poke()
	}
}

// Take returns the next phone for the caller to work on, or nil if none waits.
func (m *MailQueue) Take() *Account {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.ready) == 0 {
		return nil
	}
	next := m.ready[0]
	m.ready[0] = nil
	m.ready = m.ready[1:]
	m.state[next] = mailboxWorking
	if len(m.ready) > 0 {
		m.poke() // another worker can begin with the next one
	}
	return next
}

// Release ends the work on a phone. more means that some of its mail is left.
func (m *MailQueue) Release(of *Account, more bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !more && m.state[of] == mailboxWorking {
		delete(m.state, of)
		return
	}
	m.state[of] = mailboxReady
	m.ready = append(m.ready, of)
	m.poke()
}

func (m *MailQueue) poke() {
	select {
	case m.Signal <- struct{}{}:
	default:
	}
}
