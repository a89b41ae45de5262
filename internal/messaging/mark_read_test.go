package messaging_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/messaging"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// reading is a platform that takes receipts, or does not.
type reading struct {
	gateway.Messages

	answer func(id string) error // to the receipt for a message, and those with it
	read   []string              // of each receipt the messages, as they are marked
}

func (r *reading) Session(context.Context, string) (gateway.Session, error) {
	return session{reading: r}, nil
}

func (r *reading) MarkRead(_ context.Context, key gateway.MessageKey, _ time.Time, more ...string) error {
	if err := r.answer(key.PlatformID); err != nil {
		return err
	}
	r.read = append(r.read, strings.Join(append([]string{key.PlatformID}, more...), "+"))
	return nil
}

// session is one with messages alone.
type session struct {
	gateway.Session

	reading *reading
}

func (s session) Messages() gateway.Messages { return s.reading }

// noChats keeps nothing of chats.
type noChats struct{ messaging.Chats }

func (noChats) Keep(context.Context, string, gateway.ChatUpdate) error { return nil }

// set switches settings of the desk's instance.
func (d *desk) set(switches gateway.Switches) {
	d.t.Helper()
	_, err := d.store.UpdateInstance(d.t.Context(), d.instance.ID, func(i *gateway.Instance) ([]eventlog.Event, error) {
		i.Switches = switches
		return nil, nil
	})
	d.check(err)
}

// What arrives is due as the instance is set, is marked once the platform takes it, and is given up when the platform
// refuses, after a day, and once it is switched off.
func TestWhatArrivesIsMarkedAsRead(t *testing.T) {
	t.Parallel()
	var (
		away    = gateway.Errorf(gateway.Conflict, gateway.CodeNotConnected, "it is not connected")
		refused = gateway.Errorf(gateway.PlatformFailed, gateway.CodePlatformError, "no")
		on      = gateway.Switches{ReadMessages: true, ReadStatuses: true}
		second  = gateway.JID("5511966665544@s.whatsapp.net")
		all     = []string{"A1+A2", "B1", "G1", "G2", "S1"}
	)
	fails := func(failure error, ids ...string) func(string) error {
		return func(id string) error {
			if len(ids) == 0 || slices.Contains(ids, id) {
				return failure
			}
			return nil
		}
	}
	for name, test := range cases.Sorted(map[string]struct {
		first, then gateway.Switches // when messages arrive, and when they are marked
		answer      func(id string) error
		later       time.Duration
		read, due   []string
	}{
		"nothing is set":      {answer: fails(nil)},
		"messages":            {first: gateway.Switches{ReadMessages: true}, then: on, answer: fails(nil), read: all[:4]},
		"status posts":        {first: gateway.Switches{ReadStatuses: true}, then: on, answer: fails(nil), read: all[4:]},
		"all":                 {first: on, then: on, answer: fails(nil), read: all},
		"switched off":        {first: on, answer: fails(away)},
		"half is off":         {first: on, then: gateway.Switches{ReadStatuses: true}, answer: fails(nil), read: all[4:]},
		"refused":             {first: on, then: on, answer: fails(refused, "A1"), read: all[1:]},
		"away":                {first: on, then: on, answer: fails(away), due: []string{"A1", "B1", "A2", "G1", "G2", "S1"}},
		"away in between":     {first: on, then: on, answer: fails(away, "G1"), read: all[:2], due: []string{"G1", "G2", "S1"}},
		"silent to one":       {first: on, then: on, answer: fails(errors.New("silence"), "G1"), read: []string{"A1+A2", "B1", "G2", "S1"}, due: []string{"G1"}},
		"away for a day":      {first: on, then: on, answer: fails(away), later: 25 * time.Hour},
		"a day late for some": {first: on, then: on, answer: fails(errors.New("silence"), "G1"), later: 25 * time.Hour, read: []string{"A1+A2", "B1", "G2", "S1"}},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.set(test.first)
			now := time.Now()
			for _, arrived := range []struct {
				id           string
				chat, sender gateway.JID
				own          bool
			}{
				{"A1", customer, customer, false},
				{"B1", second, second, false},
				{"A2", customer, customer, false},
				{"OWN", customer, "", true},
				{"G1", group, customer, false},
				{"G2", group, second, false},
				{"S1", gateway.StatusChat, customer, false},
				{"CHANNEL", "120363@newsletter", "", false},
			} {
				d.check(d.Receive(t.Context(), gateway.Message{
					PlatformID: arrived.id, WireKey: arrived.id, Chat: gateway.Party{JID: arrived.chat}, Sender: gateway.Party{JID: arrived.sender},
					FromMe: arrived.own, Type: gateway.TypeText, Payload: []byte("payload"), SentAt: now, CreatedAt: now,
				}))
			}
			d.check(d.Receive(t.Context(), gateway.History{{PlatformID: "OLD", Chat: gateway.Party{JID: customer}, Type: gateway.TypeText}}))
			d.set(test.then)
			platform := &reading{answer: test.answer}
			messaging.NewWithout(messaging.Config{
				Store: d.store, Sessions: platform, Chats: noChats{}, Logger: slog.New(slog.DiscardHandler),
				Now: func() time.Time { return now.Add(test.later) },
			}).MarkDue(t.Context(), d.instance.ID)
			if !slices.Equal(platform.read, test.read) {
				t.Errorf("read are %q, want %q", platform.read, test.read)
			}
			left, err := d.store.DueReads(t.Context(), d.instance.ID, 10)
			d.check(err)
			var due []string
			for _, message := range left {
				due = append(due, message.PlatformID)
			}
			if !slices.Equal(due, test.due) {
				t.Errorf("due are %q, want %q", due, test.due)
			}
		})
	}
}

// More than is looked at together is marked all the same.
func TestAFloodIsMarkedAsRead(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.set(gateway.Switches{ReadMessages: true})
	const flood = 250
	for n := range flood {
		id := "M" + string(rune('a'+n%26)) + string(rune('a'+n/26))
		d.check(d.Receive(t.Context(), gateway.Message{
			PlatformID: id, WireKey: id, Chat: gateway.Party{JID: customer}, Sender: gateway.Party{JID: customer}, Type: gateway.TypeText, Payload: []byte("payload"),
		}))
	}
	platform := &reading{answer: func(string) error { return nil }}
	messaging.NewWithout(messaging.Config{
		Store: d.store, Sessions: platform, Chats: noChats{}, Logger: slog.New(slog.DiscardHandler), Now: time.Now,
	}).MarkDue(t.Context(), d.instance.ID)
	if marked := strings.FieldsFunc(strings.Join(platform.read, "+"), func(c rune) bool { return c == '+' }); len(marked) != flood || len(platform.read) != 3 {
		t.Errorf("%d messages are marked, by %d receipts", len(marked), len(platform.read))
	}
}
