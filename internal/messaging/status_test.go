package messaging_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/recado-project/recado/internal/chat"
	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/label"
	"github.com/recado-project/recado/internal/messaging"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/database"
)

const (
	customer = gateway.JID("5511988887766@s.whatsapp.net")
	group    = gateway.JID("120363012345678901@g.us")
)

// describer reads payloads as the connector does, for messages without details.
// It takes a look at a database, as that does, and in a transaction it would wait for
// itself.
type describer struct {
	gateway.Encoder

	look func(ctx context.Context) error
}

func (d describer) Describe(ctx context.Context, _ []byte) (gateway.Details, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	return gateway.Details{}, d.look(ctx)
}

func (describer) EncodeAmended(_, edit []byte) (gateway.Amended, error) {
	return gateway.Amended{Payload: edit, Type: gateway.TypeText, Text: string(edit)}, nil
}

func (describer) EncodeEdited(_ []byte, text string) ([]byte, error) { return []byte(text), nil }

// desk is a receiver on a real store, and the instance that it is for.
type desk struct {
	gateway.Receiver

	t        *testing.T
	store    *store.Store
	log      *eventlog.Log
	logged   bytes.Buffer // by the receiver
	instance gateway.Instance
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	return newDeskOn(t, store.Config{Path: database.File(t)})
}

func newDeskOn(t *testing.T, config store.Config) *desk {
	t.Helper()
	logger := slog.New(slog.DiscardHandler)
	config.Logger, config.Bell = logger, new(eventlog.Bell)
	data, err := store.Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := data.Close(); err != nil {
			t.Error(err)
		}
	})
	log, err := eventlog.New(eventlog.Config{Store: data, Bell: config.Bell})
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{t: t, store: data, log: log}
	account := gateway.Account{ID: "account", Name: "account"}
	d.instance = gateway.Instance{ID: uuid.Must(uuid.NewV7()).String(), AccountID: account.ID}
	d.check(errors.Join(data.CreateAccount(t.Context(), account), data.CreateInstance(t.Context(), d.instance)))
	keeper, err := chat.NewRecorder(chat.RecorderConfig{
		Store: struct {
			chat.ArrangementStore
			chat.RemovalFinder
		}{data, data.Chats},
		Logger: logger, RemoveFile: func(context.Context, string, string) error { return nil },
	})
	d.check(err)
	labels, err := label.NewRecorder(data)
	d.check(err)
	receiver, err := messaging.NewReceiver(messaging.ReceiverConfig{
		Labels: labels, Store: data, Log: d.log, Encoder: describer{look: d.write}, Chats: keeper, Logger: slog.New(slog.NewTextHandler(&d.logged, nil)),
		Shown: func(context.Context, string, gateway.ContactPresence) error { return nil },
	})
	d.check(err)
	d.Receiver = receiver.For(d.instance.ID)
	return d
}

// write takes the writer's place for a moment.
func (d *desk) write(ctx context.Context) error {
	return d.store.ForgetIdempotency(ctx, "nobody", "nothing", time.Time{})
}

func (d *desk) check(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

// message keeps a message of ours in a chat.
func (d *desk) message(to gateway.JID, status gateway.MessageStatus) gateway.Message {
	d.t.Helper()
	id := uuid.Must(uuid.NewV7()).String()
	message := gateway.Message{
		ID: id, InstanceID: d.instance.ID, PlatformID: "3EB0" + strings.ToUpper(id[24:]), Chat: gateway.Party{JID: to},
		FromMe: true, Source: gateway.SourceAPI, Type: gateway.TypeText, Text: "hello", Payload: []byte("payload"), Status: status,
	}
	d.check(d.store.AcceptMessage(d.t.Context(), message, nil)())
	return message
}

func (d *desk) status(message gateway.Message) gateway.MessageStatus {
	d.t.Helper()
	found, err := d.store.FindMessages(d.t.Context(), d.instance.ID, message.ID)
	d.check(err)
	return found[0].Status
}

// events returns the events so far, a status event with its status.
func (d *desk) events() []string {
	d.t.Helper()
	read, err := d.log.Read(d.t.Context(), d.instance.ID, 0, 100)
	d.check(err)
	var events []string
	for _, event := range read {
		var data struct {
			Status string `json:"status"`
		}
		d.check(json.Unmarshal(event.Data, &data))
		events = append(events, strings.TrimSpace(string(event.Kind)+" "+data.Status))
	}
	return events
}

// Receipts move a message forward only, each move has one event, and the event that a
// message was sent comes first, however fast the receipt is.
func TestReceiptsMoveForward(t *testing.T) {
	t.Parallel()
	for name, c := range cases.Sorted(map[string]struct {
		before   gateway.MessageStatus
		receipts []gateway.MessageStatus
		after    gateway.MessageStatus
		events   []string
	}{
		"delivered and read": {
			gateway.MessageSent,
			[]gateway.MessageStatus{gateway.MessageDelivered, gateway.MessageRead},
			gateway.MessageRead,
			[]string{"message.status delivered", "message.status read"},
		},
		"faster than the acknowledgement": {
			gateway.MessagePending,
			[]gateway.MessageStatus{gateway.MessageDelivered},
			gateway.MessageDelivered,
			[]string{"message.sent", "message.status delivered"},
		},
		"after it was given up": {
			gateway.MessageFailed,
			[]gateway.MessageStatus{gateway.MessageRead},
			gateway.MessageRead,
			[]string{"message.sent", "message.status read"},
		},
		"repeated": {
			gateway.MessageSent,
			[]gateway.MessageStatus{gateway.MessageRead, gateway.MessageRead},
			gateway.MessageRead,
			[]string{"message.status read"},
		},
		"late": {
			gateway.MessagePlayed,
			[]gateway.MessageStatus{gateway.MessageRead, gateway.MessageDelivered},
			gateway.MessagePlayed,
			nil,
		},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			message := d.message(customer, c.before)
			for _, status := range c.receipts {
				d.check(d.Receive(t.Context(), gateway.Receipt{
					Chat: message.Chat, By: message.Chat, MessageIDs: []string{message.PlatformID}, Status: status, At: time.UnixMilli(1),
				}))
			}
			if got := d.status(message); got != c.after {
				t.Errorf("it is %v, want %v", got, c.after)
			}
			if got := d.events(); !slices.Equal(got, c.events) {
				t.Errorf("the events are %q, want %q", got, c.events)
			}
		})
	}
}

// In a group everybody's receipt has one event.
func TestReceiptsOfAGroup(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	message := d.message(group, gateway.MessageSent)
	for _, by := range []gateway.JID{"1@s.whatsapp.net", "2@s.whatsapp.net", "1@s.whatsapp.net"} {
		d.check(d.Receive(t.Context(), gateway.Receipt{
			Chat: message.Chat, By: gateway.Party{JID: by}, MessageIDs: []string{message.PlatformID},
			Status: gateway.MessageRead, At: time.UnixMilli(1),
		}))
	}
	if got := d.events(); !slices.Equal(got, []string{"message.status read", "message.status read"}) {
		t.Errorf("the events are %q", got)
	}
}

// A receipt for a message that is not stored has an event, without an internal id; one
// for somebody else's message moves nothing.
func TestReceiptsOfOtherMessages(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	theirs := gateway.Message{PlatformID: "THEIRS", Chat: gateway.Party{JID: customer}, Status: gateway.MessageDelivered, WireKey: "w"}
	d.check(d.Receive(t.Context(), theirs))
	d.check(d.Receive(t.Context(), gateway.Receipt{
		Chat: theirs.Chat, MessageIDs: []string{"BEFORE-THE-LINK", "THEIRS"}, Status: gateway.MessageRead, At: time.UnixMilli(1),
	}))
	if got := d.events(); !slices.Equal(got, []string{"message.received", "message.status read"}) {
		t.Errorf("the events are %q", got)
	}
}

// What arrives twice has one event, and is kept once.
func TestRepeatedArrivals(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	message := gateway.Message{PlatformID: "ONCE", Chat: gateway.Party{JID: customer}, Text: "once", WireKey: "w"}
	change := gateway.Change{
		Kind: gateway.ChangeEdited, PlatformID: "ONCE", Chat: message.Chat, By: message.Chat, Text: "twice", Payload: []byte("twice"), SourceKey: "edit/1",
	}
	message.Sender = message.Chat
	for range 2 {
		d.check(d.Receive(t.Context(), message))
		d.check(d.Receive(t.Context(), change))
		d.check(d.Receive(t.Context(), gateway.Call{ID: "CALL", Chat: message.Chat, From: message.Chat}))
	}
	if got := d.events(); !slices.Equal(got, []string{"message.received", "message.edited", "call.received"}) {
		t.Errorf("the events are %q", got)
	}
	found, err := d.store.FindMessages(t.Context(), d.instance.ID, "ONCE")
	if err != nil || len(found) != 1 || found[0].Text != "twice" {
		t.Errorf("kept %+v (%v)", found, err)
	}
}

// A receipt for a change by this instance confirms it, once, and has no event of a
// message. Until it is forgotten, the change can be sent again to its chat.
func TestReceiptsConfirmChanges(t *testing.T) {
	t.Parallel()
	for name, c := range cases.Sorted(map[string]struct {
		kind   gateway.ChangeKind
		text   string // of the message, afterwards
		events string
	}{
		"an edit":    {gateway.ChangeEdited, "new", "message.edited"},
		"a deletion": {gateway.ChangeDeleted, "", "message.deleted"},
		"a reaction": {gateway.ChangeReaction, "hello", "message.reaction"},
		"a pin":      {gateway.ChangePin, "hello", "message.pinned"},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			message := d.message(customer, gateway.MessageRead)
			d.check(d.store.AcceptChange(t.Context(), gateway.SentChange{
				PlatformID: "CHANGE", InstanceID: d.instance.ID, MessageID: message.ID, Kind: c.kind, Text: map[bool]string{true: "60", false: "new"}[c.kind == gateway.ChangePin],
				Payload: []byte("wire"), At: time.UnixMilli(1),
			}))
			for _, status := range []gateway.MessageStatus{gateway.MessageDelivered, gateway.MessageDelivered, gateway.MessageRead} {
				d.check(d.Receive(t.Context(), gateway.Receipt{
					Chat: message.Chat, MessageIDs: []string{"CHANGE"}, Status: status, At: time.UnixMilli(2),
				}))
			}
			if got := d.events(); !slices.Equal(got, []string{c.events}) {
				t.Errorf("the events are %q", got)
			}
			found, err := d.store.FindMessages(t.Context(), d.instance.ID, message.ID)
			if err != nil || len(found) != 1 || found[0].Text != c.text {
				t.Errorf("kept %+v (%v)", found, err)
			}
			if pinned := len(found) == 1 && found[0].PinnedUntil.Equal(time.UnixMilli(60_001)); pinned != (c.kind == gateway.ChangePin) {
				t.Errorf("pinned: %+v", found)
			}
			for chat, want := range cases.Sorted(map[gateway.JID]string{customer: "wire", group: ""}) {
				payload, ok := d.SentPayload(t.Context(), chat, "CHANGE")
				if ok != (want != "") || string(payload) != want || d.logged.Len() > 0 {
					t.Errorf("to %s: %q, %v (%s)", chat, payload, ok, &d.logged)
				}
			}
		})
	}
}

// Messages from before the link are kept and have no events; if one of them arrives
// by itself after all, it gets its event.
func TestHistoryHasNoEvents(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	message := gateway.Message{PlatformID: "OLD", Chat: gateway.Party{JID: customer}, Text: "old", WireKey: "w"}
	d.check(d.Receive(t.Context(), gateway.History{message}))
	if found, err := d.store.FindMessages(t.Context(), d.instance.ID, "OLD"); err != nil || len(found) != 1 {
		t.Errorf("kept %+v (%v)", found, err)
	}
	if got := d.events(); len(got) > 0 {
		t.Errorf("the events are %q", got)
	}
	d.check(d.Receive(t.Context(), message))
	if got := d.events(); !slices.Equal(got, []string{"message.received"}) {
		t.Errorf("the events are %q", got)
	}
}

// A message whose process died while it was on its way is given up, with an event; one
// that the platform has is not.
func TestForgottenMessagesAreGivenUp(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	pending, sent := d.message(customer, gateway.MessagePending), d.message(customer, gateway.MessageSent)
	service := messaging.NewWithout(messaging.Config{Store: d.store, Tenures: gateway.Alone{}, Now: func() time.Time { return time.UnixMilli(1) }})
	d.check(service.GiveUp(t.Context(), time.UnixMilli(1<<42)))
	if d.status(pending) != gateway.MessageFailed || d.status(sent) != gateway.MessageSent {
		t.Errorf("they are %v and %v", d.status(pending), d.status(sent))
	}
	if got := d.events(); !slices.Equal(got, []string{"message.status failed"}) {
		t.Errorf("the events are %q", got)
	}
}
