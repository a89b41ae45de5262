// Package load has the phones of a server for load tests. They accept every message
// and send receipts for it, but keep only its ID and its size.
package load

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/content"
	"github.com/recado-project/recado/internal/sandbox/phonenumber"
	"github.com/recado-project/recado/internal/sandbox/receipt"
	"github.com/recado-project/recado/internal/sandbox/wire"
)

const (
	// maxKept bounds the messages that each phone shows, and the IDs that are
	// remembered of each sender.
	maxStored = 1000

	// maxReads bounds the messages that phones have still to read.
	maxReads = 1 << 16

	// glanceTime is how long messages are collected that are read at once.
	glanceTime = 20 * time.Millisecond

	// patience bounds the wait for a client that does not read its connection.
	patience = time.Second
)

// Phones are the phones of a server for load tests. They are safe for concurrent
// use.
type Phones struct {
	config Config
	now    func() time.Time
	reads  chan Message // the messages that phones have still to read

	mu    sync.Mutex
	shown map[*account.Account][]Message
	sent  map[*account.Device]*recentIDs
}

// Config is what Phones need.
type Config struct {
	Accounts  *account.Directory
	ReadDelay time.Duration // how long a phone waits before it reads a message
	Logger    *slog.Logger
}

// Message is what phones know of a message.
type Message struct {
	ID      string
	Sender  *account.Device
	To      *account.Account
	Address types.JID
	At      time.Time
	Size    int
	due     time.Time
}

// recentIDs is the set of a sender's newest message IDs.
type recentIDs struct {
	known map[string]struct{}
	order [maxStored]string
	next  int
}

// New returns phones without messages.
func New(config Config) *Phones {
	return &Phones{
		config: config, now: config.Accounts.Now, reads: make(chan Message, maxReads),
		shown: map[*account.Account][]Message{}, sent: map[*account.Device]*recentIDs{},
	}
}

// first adds an ID. It returns false if the sender has used it before.
func (r *recentIDs) first(id string) bool {
	if _, known := r.known[id]; known {
		return false
	}
	delete(r.known, r.order[r.next])
	r.known[id] = struct{}{}
	r.order[r.next] = id
	r.next = (r.next + 1) % len(r.order)
	return true
}

// keep adds a message to those that its phone shows. It returns false if the
// message is there already.
func (s *Phones) keep(m Message) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	recent := s.sent[m.Sender]
	if recent == nil {
		recent = &recentIDs{known: map[string]struct{}{}}
		s.sent[m.Sender] = recent
	}
	if !recent.first(m.ID) {
		return false
	}
	list := s.shown[m.To]
	if len(list) >= maxStored {
		list = append([]Message(nil), list[maxStored/2:]...)
	}
	s.shown[m.To] = append(list, m)
	return true
}

// Messages returns the IDs and sizes of the messages that the phone shows, of one
// chat unless chat is "".
func (s *Phones) Messages(of *account.Account, chat string) []content.Shown {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []content.Shown{}
	for _, m := range s.shown[of] {
		from := m.Sender.Account.PN().String()
		in := from
		if m.Address.Server == types.GroupServer {
			in = m.Address.String()
		}
		if chat != "" && chat != in {
			continue
		}
		size := int64(m.Size)
		list = append(list, content.Shown{
			MessageID: m.ID, Chat: in, From: from, Timestamp: account.Timestamp(m.At), MediaSize: &size,
			Reactions: []content.Reaction{}, Status: receipt.StatusDelivered.String(),
		})
	}
	return list
}

// Deliver delivers a message to a phone: the phone keeps it, sends a receipt, and
// reads it after a while.
func (s *Phones) Deliver(ctx context.Context, m Message) error {
	if !s.keep(m) {
		return nil
	}
	if err := s.receipt(ctx, m, receipt.Delivered); err != nil {
		return err
	}
	if phonenumber.BehaviourOf(m.To.Number).Reads {
		m.due = m.At.Add(s.config.ReadDelay)
		select {
		case s.reads <- m:
		default: // the queue is full: this message stays unread
		}
	}
	return nil
}

// receipt sends a receipt to the device that sent the message. It writes to the
// database only if the device is not connected.
func (s *Phones) receipt(ctx context.Context, m Message, kind string, more ...string) error {
	params := receipt.Params{
		From: m.To.Address(m.Address), IDs: append([]string{m.ID}, more...), Kind: kind, At: s.now().Unix(),
	}
	if m.Address.Server == types.GroupServer {
		params.From, params.Participant = m.Address, m.To.LIDJID()
	}
	n := receipt.Node(params)
	if c := m.Sender.Conn.Load(); c != nil {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		return c.Send(ctx, n)
	}
	u := s.config.Accounts.NewUnit()
	if err := u.ToDevice(m.Sender, n); err != nil {
		return err
	}
	return u.Commit(ctx)
}

// Run lets phones read their messages after the delay, several messages of a chat
// at once. It blocks until ctx ends.
func (s *Phones) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case first := <-s.reads:
			if wait := first.due.Sub(s.now()); wait > 0 {
				wire.Pause(ctx, wait)
			}
			wire.Pause(ctx, glanceTime)
			for chat, ids := range s.glance(first, s.now()) {
				chat.ID = ids[0]
				if err := s.receipt(ctx, chat, receipt.Read, ids[1:]...); err != nil && ctx.Err() == nil {
					s.config.Logger.LogAttrs(ctx, slog.LevelDebug, "read receipt lost", slog.Any("error", err))
				}
			}
		}
	}
}

// glance returns the IDs of the messages that are due, by chat. In the keys only
// sender, receiver and address are set. It also takes a message that is not due
// yet, because it can't put it back; reading that one a little early does no harm.
func (s *Phones) glance(first Message, now time.Time) map[Message][]string {
	chats := map[Message][]string{}
	for m, left := first, len(s.reads); ; left-- {
		chat := Message{Sender: m.Sender, To: m.To, Address: m.Address}
		chats[chat] = append(chats[chat], m.ID)
		if left == 0 || m.due.After(now) {
			return chats
		}
		m = <-s.reads // only this goroutine receives
	}
}
