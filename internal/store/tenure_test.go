package store_test

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/messaging/queue"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/store/nodetable"
	"github.com/recado-project/recado/internal/store/usertable"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/postgres"
	"github.com/recado-project/recado/internal/webhook"
	"github.com/recado-project/recado/internal/webhook/backlog"
)

const lease = 15 * time.Second

// fenced is a store that checks tenures, with an instance and two nodes.
type fenced struct {
	*store.Store

	t         *testing.T
	url       string
	raw       *sql.DB
	one, two  string // the nodes
	accountID string
	id        string // of the instance, which node one has
	now       time.Time
	tenure    gateway.Tenure // that lasts
}

func openFenced(t *testing.T) *fenced {
	t.Helper()
	url := postgres.Start(t)
	raw, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = raw.Close() })
	f := &fenced{
		Store: open(t, store.Config{URL: url, Fenced: true}), t: t, url: url, raw: raw, one: uuid.NewString(), two: uuid.NewString(),
		accountID: uuid.NewString(), id: uuid.NewString(), now: time.Now().UTC().Truncate(time.Millisecond),
	}
	for _, id := range []string{f.one, f.two} {
		f.check(f.AddNode(t.Context(), gateway.Node{ID: id, Name: "machine", Lease: lease}))
	}
	f.check(f.CreateAccount(t.Context(), gateway.Account{ID: f.accountID, Name: f.accountID, CreatedAt: f.now}))
	f.tenure = f.first(f.id)
	f.check(f.create(f.tenure))
	return f
}

func (f *fenced) check(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// first is the first tenure of an instance, which node one has.
func (f *fenced) first(id string) gateway.Tenure {
	return gateway.Tenure{InstanceID: id, Node: f.one, Epoch: 1}
}

func (f *fenced) create(tenure gateway.Tenure) error {
	return f.CreateInstance(gateway.WithTenure(f.t.Context(), tenure), gateway.Instance{
		ID: tenure.InstanceID, AccountID: f.accountID, Name: "shop", Status: gateway.StatusConnected, CreatedAt: f.now, UpdatedAt: f.now,
	})
}

// valid is a context with the tenure that lasts.
func (f *fenced) valid() context.Context { return gateway.WithTenure(f.t.Context(), f.tenure) }

// move takes everything away from the node that has it, and gives it to another one. Nobody is told.
func (f *fenced) move(from, to string) []gateway.Tenure {
	f.t.Helper()
	f.expire(from)
	f.revive(to)
	taken, err := f.TakeTenures(f.t.Context(), to, 0, 1000)
	f.check(err)
	f.revive(from)
	if len(taken) > 0 {
		f.tenure = taken[0]
	}
	return taken
}

func (f *fenced) expire(node string) {
	f.t.Helper()
	_, err := f.raw.ExecContext(f.t.Context(), "UPDATE nodes SET lease_until = now_ms() - 1 WHERE id = $1", node)
	f.check(err)
}

func (f *fenced) revive(node string) {
	f.t.Helper()
	if known, _, err := f.RenewNode(f.t.Context(), node, lease); err != nil || !known {
		f.t.Fatalf("the node is known: %v (%v)", known, err)
	}
}

// content is everything in the tables that a node writes for an instance.
func (f *fenced) content() string {
	f.t.Helper()
	rows, err := f.raw.QueryContext(f.t.Context(), `SELECT table_name FROM information_schema.tables
		WHERE table_schema = 'public' AND table_name NOT IN ('nodes', 'tenures') ORDER BY 1`)
	f.check(err)
	defer func() { _ = rows.Close() }()
	var all strings.Builder
	for rows.Next() {
		var name, content string
		f.check(rows.Scan(&name))
		f.check(f.raw.QueryRowContext(f.t.Context(), "SELECT COALESCE(string_agg(t::text, E'\\n' ORDER BY t::text), '') FROM "+name+" t").Scan(&content))
		all.WriteString(name + "\n" + content + "\n")
	}
	f.check(rows.Err())
	return all.String()
}

type keyChanges []gateway.DeviceKey

func (c keyChanges) Rows() []gateway.DeviceKey { return c }
func (keyChanges) Written()                    {}

// writes are all methods that write for an instance. Each is called several times.
func (f *fenced) writes() map[string]func(ctx context.Context) error {
	id, message := f.id, gateway.Message{
		ID: uuid.NewString(), InstanceID: f.id, PlatformID: "P", Chat: gateway.Party{JID: "5511988887766@s.whatsapp.net"},
		Type: gateway.TypeText, Text: "hello", CreatedAt: f.now, SentAt: f.now, StatusAt: f.now,
	}
	waiting := queue.Message{ID: uuid.NewString(), InstanceID: id, PlatformID: "Q", Type: gateway.TypeText, DueAt: f.now, CreatedAt: f.now}
	keep := func(found []gateway.Message) ([]gateway.Message, []eventlog.Event, error) {
		for n := range found {
			found[n].Text += "!"
		}
		return found, nil, nil
	}
	event := func() eventlog.Event {
		return eventlog.Event{ID: uuid.NewString(), Kind: eventlog.KindMessageSent, At: f.now, Data: []byte("{}")}
	}
	archived := func(chat gateway.Party) gateway.ChatUpdate {
		return gateway.ChatUpdate{Chat: chat, ChatChange: gateway.ChatChange{Archived: new(true)}}
	}
	report := func(gateway.Chat, []gateway.ChatAspect) (eventlog.Event, error) { return event(), nil }
	poll := message
	poll.ID, poll.PlatformID = uuid.NewString(), uuid.NewString()
	_, err := f.AddMessage(f.valid(), poll)
	f.check(err)
	hook := webhook.Webhook{ID: uuid.NewString(), InstanceID: id, First: true, URL: "http://127.0.0.1/", CreatedAt: f.now, UpdatedAt: f.now}
	ref := webhook.Ref{InstanceID: id, ID: hook.ID}
	subscribed := gateway.PresenceSubscription{InstanceID: id, Contact: message.Chat, CreatedAt: f.now, EndsAt: f.now.Add(time.Hour)}
	rows := []gateway.DeviceKey{{Kind: "session", Name: "a", Value: []byte("key")}}
	return map[string]func(ctx context.Context) error{
		"AddDevice": func(ctx context.Context) error {
			_, err := f.AddDevice(ctx, "device", rows)
			return err
		},
		"RemoveDevice": func(ctx context.Context) error { return f.RemoveDevice(ctx, "device") },
		"WriteDeviceKeys": func(ctx context.Context) error {
			return f.WriteDeviceKeys(ctx, id, keyChanges{{Kind: "session", Name: uuid.NewString(), Value: []byte("key")}})
		},
		"AppendEvents": func(ctx context.Context) error { return f.AppendEvents(ctx, id, event()) },
		"DeleteEvents": func(ctx context.Context) error {
			_, err := f.DeleteEvents(ctx, id, 1, event())
			return err
		},
		"FailIdempotency": func(ctx context.Context) error {
			return f.FailIdempotency(ctx, "key", "k", gateway.Errorf(gateway.Conflict, "NO", "no"))
		},
		"ForgetIdempotency": func(ctx context.Context) error { return f.ForgetIdempotency(ctx, "key", "other", f.now) },
		"UpdateInstance": func(ctx context.Context) error {
			_, err := f.UpdateInstance(ctx, id, func(instance *gateway.Instance) ([]eventlog.Event, error) {
				instance.Name += "!"
				return []eventlog.Event{event()}, nil
			})
			return err
		},
		"AddMessage": func(ctx context.Context) error {
			_, err := f.AddMessage(ctx, message, event())
			return err
		},
		"AddHistory": func(ctx context.Context) error {
			past := message
			past.ID, past.PlatformID = uuid.NewString(), uuid.NewString()
			return f.AddHistory(ctx, id, []gateway.Message{past})
		},
		"AcceptMessage": func(ctx context.Context) error {
			sent := message
			sent.ID, sent.PlatformID = uuid.NewString(), uuid.NewString()
			return f.AcceptMessage(ctx, sent, &gateway.Idempotency{KeyID: "key", Key: sent.ID, InstanceID: id, CreatedAt: f.now})()
		},
		"AddQueued": func(ctx context.Context) error {
			waiting.ID, waiting.PlatformID = uuid.NewString(), uuid.NewString()
			return f.AddQueued(ctx, waiting, nil)
		},
		"RemoveQueued": func(ctx context.Context) error { return f.RemoveQueued(ctx, id, waiting.ID) },
		"AddNewChat": func(ctx context.Context) error {
			return f.AddNewChat(ctx, id, gateway.JID(uuid.NewString()), f.now, f.now.Add(-time.Hour))
		},
		"UpdateChat": func(ctx context.Context) error {
			return f.UpdateChat(ctx, id, archived(message.Chat), report)
		},
		"ArrangeChats": func(ctx context.Context) error {
			return f.ArrangeChats(ctx, id, []gateway.ChatUpdate{archived(gateway.Party{LID: gateway.JID(uuid.NewString() + "@lid")})})
		},
		"ChangeLabel": func(ctx context.Context) error {
			return f.ChangeLabel(ctx, id, gateway.LabelChange{Act: gateway.LabelSet, Label: gateway.Label{ID: uuid.NewString()}},
				func(gateway.Label) (eventlog.Event, error) { return report(gateway.Chat{}, nil) })
		},
		"ArrangeLabels": func(ctx context.Context) error {
			return f.ArrangeLabels(ctx, id, []gateway.LabelChange{{Act: gateway.LabelSet, Label: gateway.Label{ID: uuid.NewString()}}})
		},
		"RemoveChat":         func(ctx context.Context) error { return f.RemoveChat(ctx, id, message.Chat, report) },
		"DeleteMessages":     func(ctx context.Context) error { return f.DeleteMessages(ctx, id, []string{uuid.NewString()}) },
		"UpdateMessages":     func(ctx context.Context) error { return f.UpdateMessages(ctx, id, []string{"P"}, keep) },
		"UpdateMessagesSoon": func(ctx context.Context) error { return f.UpdateMessagesSoon(ctx, id, []string{"P"}, keep) },
		"TakeNumberChecks": func(ctx context.Context) error {
			return f.TakeNumberChecks(ctx, id, gateway.NumberChecks{At: f.now, Numbers: 1}, f.now.Add(-time.Hour),
				func([]gateway.NumberChecks) error { return nil })
		},
		"AcceptChange": func(ctx context.Context) error {
			return f.AcceptChange(ctx, gateway.SentChange{InstanceID: id, PlatformID: uuid.NewString(), MessageID: message.ID, At: f.now})
		},
		"ConfirmChange": func(ctx context.Context) error {
			_, err := f.ConfirmChange(ctx, id, "C", func(_ gateway.SentChange, message gateway.Message) (gateway.Message, []eventlog.Event, error) {
				return message, []eventlog.Event{event()}, nil
			})
			return err
		},
		"KeepVote": func(ctx context.Context) error {
			vote := gateway.KeptVote{By: gateway.Party{LID: "1@lid"}, At: time.Now()}
			return f.KeepVote(ctx, poll, vote, func([]gateway.KeptVote) (eventlog.Event, error) { return event(), nil })
		},
		"SubscribePresence": func(ctx context.Context) error {
			_, err := f.SubscribePresence(ctx, subscribed, f.now, 10)
			return err
		},
		"UnsubscribePresence": func(ctx context.Context) error {
			_, err := f.UnsubscribePresence(ctx, subscribed)
			return err
		},
		"KeepPresence":     func(ctx context.Context) error { return f.KeepPresence(ctx, id, gateway.ContactPresence{}, event()) },
		"DropChange":       func(ctx context.Context) error { return f.DropChange(ctx, id, "D") },
		"SaveWebhook":      func(ctx context.Context) error { return f.SaveWebhook(ctx, hook, nil) },
		"DeleteDeadLetter": func(ctx context.Context) error { return f.DeleteDeadLetter(ctx, ref, 1) },
		"SaveProgress": func(ctx context.Context) error {
			hook.UpdatedAt = hook.UpdatedAt.Add(time.Second)
			return f.SaveProgress(ctx, []webhook.Progress{{
				ID: hook.ID, InstanceID: id, Tenure: gateway.TenureOf(ctx),
				Progress: backlog.Progress{State: backlog.State{Status: backlog.StatusOK, Cursor: int64(time.Since(f.now))}},
			}})
		},
		"DeleteWebhook": func(ctx context.Context) error {
			_, err := f.DeleteWebhook(ctx, ref)
			return err
		},
	}
}

// others are the methods of the store that write nothing for an instance, or that any process
// may call: they add what all instances share, or remove what is too old for everybody.
const others = `Failing Probe AccountsOf AllAccountWebhooks DeleteAccountWebhook FindAccountWebhook ListAccountWebhooks SaveAccountWebhook AllInstances AllQueued InstancesByID ChatKnown CountTraffic EventBounds EventInstances FindAccount FindChange FindDevice
	FindDeviceKey FindDeviceKeys FindIdempotency FindKey FindMessages FindQueued FindRegistrations FindWebhook FirstEventSince GetInstance GetKey
	Kind LastEventBefore ListCorrespondence ListDeliveries ListDeviceKeys ListInstances ListKeys ListMessages ListNumberChecks
	ListQueued ListVotes ListWebhooks QueuedHeads MessagesBefore MessagesBeyond MessagesByID NewChatsSince NewestEvents PendingMessages Census LastBackup Connections
	Ping ReadChatEvents ReadEventSlice ReadEvents ReadWantedEvents RevokedKeys SentSince Size Close Webhooks BeginChats CatchUp DisappearsAfter FindChat FindLabel FreeLabelID LabelsOfChats LabelsOfMessages ListLabels ListChats ListChatMessages ChatMessagesUntil RunIndex
	FindPresenceSubscription ListPresenceSubscriptions EndedPresenceSubscriptions
	CreateAccount CreateKey RevokeKey TouchKey SaveRegistrations Secret DeleteChanges DeleteIdempotency
	CreateInstance DeleteInstance Vault WriteDeviceKeysIn FilesOwner OwnFiles
	ClockSeen DatabaseTime SaveClockSeen`

// Every write for an instance is refused and changes nothing without a tenure, under one that
// is over, and under an old one of a node that has the instance again. There is no other
// such write in the store.
func TestWritesAreFenced(t *testing.T) {
	t.Parallel()
	f := openFenced(t)
	first := f.tenure
	f.move(f.one, f.two)
	f.move(f.two, f.one)
	if again := f.tenure; again.Node != first.Node || again.Epoch != 3 {
		t.Fatalf("the instance came back under %+v", again)
	}
	writes := f.writes()
	f.check(f.AcceptChange(f.valid(), gateway.SentChange{InstanceID: f.id, PlatformID: "C", At: f.now})) // which ConfirmChange finds
	tenures := map[string]context.Context{
		"no tenure":                 t.Context(),
		"an old tenure":             gateway.WithTenure(t.Context(), first),
		"the tenure of a neighbour": gateway.WithTenure(t.Context(), gateway.Tenure{InstanceID: f.id, Node: f.two, Epoch: 3}),
	}
	for name, write := range cases.Sorted(writes) {
		for _, what := range slices.Sorted(maps.Keys(tenures)) {
			ctx := tenures[what]
			before := f.content()
			err := write(ctx)
			if err == nil || what != "no tenure" && !errors.Is(err, gateway.ErrTenureOver) {
				t.Errorf("%s under %s: %v", name, what, err)
			}
			if f.content() != before {
				t.Errorf("%s under %s has written", name, what)
			}
		}
	}
	f.check(writes["AddDevice"](f.valid()))
	for name, write := range writes {
		if err := write(f.valid()); err != nil && name != "SaveProgress" {
			t.Errorf("%s under a tenure that lasts: %v", name, err)
		}
	}
	known := strings.Fields(others)
	for _, tables := range []reflect.Type{reflect.TypeFor[*usertable.Tables](), reflect.TypeFor[*nodetable.Tables]()} {
		for method := range tables.Methods() {
			known = append(known, method.Name)
		}
	}
	for method := range reflect.TypeFor[*store.Store]().Methods() {
		if _, fenced := writes[method.Name]; fenced == slices.Contains(known, method.Name) {
			t.Errorf("the method %s is in none of the two lists, or in both", method.Name)
		}
	}
	if err := f.DeleteInstance(gateway.WithTenure(t.Context(), first), f.id); !errors.Is(err, gateway.ErrTenureOver) {
		t.Errorf("an instance is deleted under an old tenure: %v", err)
	}
	if err := f.WriteDeviceKeys(t.Context(), "", keyChanges{{Device: 1, Kind: "session", Name: "a", Value: []byte("key")}}); err == nil {
		t.Error("the key of a device is written for nobody")
	}
	f.check(f.WriteDeviceKeys(t.Context(), "", keyChanges{{Kind: "lid of number", Name: "a", Value: []byte("b")}}))
	f.check(f.DeleteInstance(f.valid(), f.id))
	if err := f.create(gateway.Tenure{InstanceID: uuid.NewString(), Node: uuid.NewString(), Epoch: 1}); err == nil {
		t.Error("a node that was removed creates an instance")
	}
}

// A transaction that writes for several instances refuses those alone whose tenure is over.
func TestFenceOfOneInstanceSparesOthers(t *testing.T) {
	t.Parallel()
	f := openFenced(t)
	var lasting, over []gateway.Tenure
	for n := range 40 {
		tenure := f.first(uuid.NewString())
		f.check(f.create(tenure))
		if lasting = append(lasting, tenure); n%5 == 0 {
			over = append(over, tenure)
		}
	}
	f.check(f.EndTenures(t.Context(), over))
	answers := make(chan error)
	for _, tenure := range lasting {
		go func() {
			err := f.AppendEvents(gateway.WithTenure(t.Context(), tenure), tenure.InstanceID,
				eventlog.Event{ID: uuid.NewString(), Kind: eventlog.KindMessageSent, At: f.now, Data: []byte("{}")})
			if want := slices.Contains(over, tenure); errors.Is(err, gateway.ErrTenureOver) != want || (err != nil) != want {
				answers <- err
				return
			}
			answers <- nil
		}()
	}
	for range lasting {
		if err := <-answers; err != nil {
			t.Errorf("a write is answered %v", err)
		}
	}
}

// What another node has changed is read as it is, also by a node that had the instance before.
func TestCachesEndWithTheTenure(t *testing.T) {
	t.Parallel()
	f := openFenced(t)
	other := open(t, store.Config{URL: f.url, Fenced: true})
	rename := func(at *store.Store, name string) {
		_, err := at.UpdateInstance(f.valid(), f.id, func(instance *gateway.Instance) ([]eventlog.Event, error) {
			instance.Name = name
			return nil, nil
		})
		f.check(err)
	}
	see := func(at *store.Store, ctx context.Context, want string) {
		t.Helper()
		if got, err := at.GetInstance(ctx, f.id); err != nil || got.Name != want {
			t.Errorf("the name is %q instead of %q (%v)", got.Name, want, err)
		}
	}
	rename(f.Store, "one")
	see(f.Store, f.valid(), "one")
	f.move(f.one, f.two)
	rename(other, "two")
	see(f.Store, t.Context(), "two")
	see(other, f.valid(), "two")
	f.move(f.two, f.one)
	see(f.Store, f.valid(), "two")
	rename(f.Store, "three")
	see(other, t.Context(), "three")
}
