package platform

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	waBinary "go.mau.fi/whatsmeow/binary"
)

const insertMailbox = "INSERT INTO mailbox (number, stanza) VALUES ($1, $2)"

const (
	// mailboxWorkers is how many phones deal with their mail at the same time.
	// They mostly wait for the common commit.
	mailboxWorkers = 16
	mailboxPage    = 50

	// mailboxRetry is the pause after a failure that is not the mail's fault.
	mailboxRetry = time.Second
)

// mailboxes gives each phone that has mail to one worker at a time, in the
// order in which they got it. Memory holds only the phones' names: the mail
// itself is in the database.
type mailboxes struct {
	mu     sync.Mutex
	ready  []*account
	state  map[*account]mailboxState
	signal chan struct{}
}

type mailboxState int

const (
	mailboxReady   mailboxState = iota + 1 // waits for a worker
	mailboxWorking                         // has one
	mailboxAgain                           // has one, and got more mail meanwhile
)

func newMailboxes() *mailboxes {
	return &mailboxes{state: map[*account]mailboxState{}, signal: make(chan struct{}, 1)}
}

// wake says that the phone has mail.
func (m *mailboxes) wake(of *account) {
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

// take returns the next phone, nil if there is none.
func (m *mailboxes) take() *account {
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

// release ends the work on a phone; more says that some of its mail is left.
func (m *mailboxes) release(of *account, more bool) {
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

func (m *mailboxes) poke() {
	select {
	case m.signal <- struct{}{}:
	default:
	}
}

// mailboxWorker lets phones deal with their mail.
func (s *Server) mailboxWorker(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.mailboxes.signal:
		}
		for of := s.mailboxes.take(); of != nil && ctx.Err() == nil; of = s.mailboxes.take() {
			more, err := s.workMailbox(ctx, of)
			if err != nil && ctx.Err() == nil {
				s.logger.LogAttrs(ctx, slog.LevelError, "a phone's mail could not be dealt with", slog.Any("error", err))
				pause(ctx, mailboxRetry)
				more = true
			}
			s.mailboxes.release(of, more)
		}
	}
}

func pause(ctx context.Context, delay time.Duration) {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// mail is one stanza in a phone's mailbox.
type mail struct {
	seq    int64
	stanza waBinary.Node
}

// workMailbox lets a phone deal with a page of its mail, in one transaction. A
// phone that is offline leaves it where it is.
func (s *Server) workMailbox(ctx context.Context, of *account) (more bool, err error) {
	if !of.isOnline() {
		return false, nil
	}
	of.phone.Lock()
	defer of.phone.Unlock()
	page, err := s.nextMail(ctx, of)
	if err != nil || len(page) == 0 {
		return false, err
	}
	u := s.newUnit()
	phone := s.openPhone(u, of)
	for _, m := range page {
		if err := phone.receive(ctx, m.stanza); err != nil {
			return false, err
		}
		u.exec("DELETE FROM mailbox WHERE seq = $1", m.seq)
	}
	if err := u.commit(ctx); err != nil {
		return false, err
	}
	return len(page) == mailboxPage, nil
}

func (s *Server) nextMail(ctx context.Context, of *account) (page []mail, err error) {
	rows, err := s.db.Reader().QueryContext(ctx,
		"SELECT seq, stanza FROM mailbox WHERE number = $1 ORDER BY seq LIMIT $2", of.number, mailboxPage)
	if err != nil {
		return nil, fmt.Errorf("platform: read mailbox: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var m mail
		var encoded []byte
		if err := rows.Scan(&m.seq, &encoded); err != nil {
			return nil, fmt.Errorf("platform: read mailbox: %w", err)
		}
		if m.stanza, err = decodeStanza(encoded); err != nil {
			return nil, err
		}
		page = append(page, m)
	}
	return page, rows.Err()
}
