package platform

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"go.mau.fi/whatsmeow/types"
)

const (
	// loadKept bounds the messages that each phone shows in a load test, and
	// what is known of each client's last messages.
	loadKept = 1000

	// loadReads bounds the messages that wait to be read.
	loadReads = 1 << 16

	// loadGlance is how long a phone gathers what it reads at once.
	loadGlance = 20 * time.Millisecond

	// loadPatience bounds the wait for a client that does not read.
	loadPatience = time.Second
)

// loadPhones are the phones of a server that runs for load tests: they take
// every message, say so, and keep nothing but its id and size.
type loadPhones struct {
	reads chan loadMessage

	mu    sync.Mutex
	shown map[*account][]loadMessage
	sent  map[*device]*recentIDs
}

// loadMessage is what is left of a message.
type loadMessage struct {
	id      string
	sender  *device
	to      *account
	address types.JID
	at      time.Time
	size    int
	due     time.Time
}

// recentIDs is a set of the newest ids of one sender.
type recentIDs struct {
	known map[string]struct{}
	order [loadKept]string
	next  int
}

func newLoadPhones() *loadPhones {
	return &loadPhones{
		reads: make(chan loadMessage, loadReads),
		shown: map[*account][]loadMessage{}, sent: map[*device]*recentIDs{},
	}
}

// first reports whether the sender has not used the id before.
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

// keep adds a message to what its phone shows; false where it is there already.
func (l *loadPhones) keep(m loadMessage) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	recent := l.sent[m.sender]
	if recent == nil {
		recent = &recentIDs{known: map[string]struct{}{}}
		l.sent[m.sender] = recent
	}
	if !recent.first(m.id) {
		return false
	}
	list := l.shown[m.to]
	if len(list) >= loadKept {
		list = append([]loadMessage(nil), list[loadKept/2:]...)
	}
	l.shown[m.to] = append(list, m)
	return true
}

// messages returns what the phone shows: ids and sizes.
func (l *loadPhones) messages(of *account, chat string) []PhoneMessage {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := []PhoneMessage{}
	for _, m := range l.shown[of] {
		from := m.sender.account.pn().String()
		in := from
		if m.address.Server == types.GroupServer {
			in = m.address.String()
		}
		if chat != "" && chat != in {
			continue
		}
		size := int64(m.size)
		list = append(list, PhoneMessage{
			MessageID: m.id, Chat: in, From: from, Timestamp: isoTime(m.at), MediaSize: &size,
			Reactions: []Reaction{}, Status: statusDelivered.String(),
		})
	}
	return list
}

// loadDeliver gives a message to the phones among its targets and returns the
// other ones, which are real clients.
func (s *Server) loadDeliver(ctx context.Context, m outgoing) ([]target, error) {
	var clients []target
	for _, t := range m.targets {
		if t.device != 0 {
			clients = append(clients, t)
			continue
		}
		if t.account == m.sender.account || !t.account.isOnline() {
			continue
		}
		got := loadMessage{
			id: m.id, sender: m.sender, to: t.account, address: m.address, at: m.at, size: len(content(t.encs[len(t.encs)-1])),
		}
		if !s.load.keep(got) {
			continue
		}
		if err := s.loadReceipt(ctx, got, receiptDelivered); err != nil {
			return nil, err
		}
		if behaviourOf(t.account.number).reads {
			got.due = m.at.Add(s.readDelay)
			select {
			case s.load.reads <- got:
			default: // more wait than there is room for: this one stays unread
			}
		}
	}
	return clients, nil
}

// loadReceipt tells the sender how far its message has come. While it is
// connected nothing is written.
func (s *Server) loadReceipt(ctx context.Context, m loadMessage, kind string, more ...string) error {
	params := receiptParams{
		from: m.to.address(m.address), ids: append([]string{m.id}, more...), kind: kind, at: s.now().Unix(),
	}
	if m.address.Server == types.GroupServer {
		params.from, params.participant = m.address, m.to.lidJID()
	}
	n := receipt(params)
	if c := m.sender.conn.Load(); c != nil {
		ctx, cancel := context.WithTimeout(ctx, loadPatience)
		defer cancel()
		return c.send(ctx, n)
	}
	u := s.newUnit()
	if err := u.toDevice(m.sender, n); err != nil {
		return err
	}
	return u.commit(ctx)
}

// loadReader lets phones read what they got, after the delay. As people do,
// they read several messages of a chat at once.
func (s *Server) loadReader(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case first := <-s.load.reads:
			if wait := first.due.Sub(s.now()); wait > 0 {
				pause(ctx, wait)
			}
			pause(ctx, loadGlance)
			for chat, ids := range s.load.glance(first, s.now()) {
				chat.id = ids[0]
				if err := s.loadReceipt(ctx, chat, receiptRead, ids[1:]...); err != nil && ctx.Err() == nil {
					s.logger.LogAttrs(ctx, slog.LevelDebug, "read receipt lost", slog.Any("error", err))
				}
			}
		}
	}
}

// glance returns the messages that are due, first among them, by chat: the key
// says who wrote to whom and nothing else. One that is not due yet is taken as
// well, where it cannot be left: a little early does no harm.
func (l *loadPhones) glance(first loadMessage, now time.Time) map[loadMessage][]string {
	chats := map[loadMessage][]string{}
	for m, left := first, len(l.reads); ; left-- {
		chat := loadMessage{sender: m.sender, to: m.to, address: m.address}
		chats[chat] = append(chats[chat], m.id)
		if left == 0 || m.due.After(now) {
			return chats
		}
		m = <-l.reads // only this goroutine takes any
	}
}
