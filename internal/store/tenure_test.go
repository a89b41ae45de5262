package store_test

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/messaging/queue"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/testkit/amount"
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
		f.check(f.Nodes.AddNode(t.Context(), gateway.Node{ID: id, Name: "machine", Lease: lease}))
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
	taken, err := f.Nodes.TakeTenures(f.t.Context(), to, 0, 1000)
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
	if known, _, err := f.Nodes.RenewNode(f.t.Context(), node, lease); err != nil || !known {
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
			_, err := f.Devices.AddDevice(ctx, "device", rows)
			return err
		},
		"RemoveDevice": func(ctx context.Context) error { return f.Devices.RemoveDevice(ctx, "device") },
		"WriteDeviceKeys": func(ctx context.Context) error {
			return f.Devices.WriteDeviceKeys(ctx, id, keyChanges{{Kind: "session", Name: uuid.NewString(), Value: []byte("key")}})
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
		"AddText": func(ctx context.Context) error {
			text := message
			text.ID, text.PlatformID = uuid.NewString(), uuid.NewString()
			_, err := f.AddText(ctx, text, event(), func(gateway.Message) (eventlog.Event, bool, error) { return event(), true, nil })
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
			vote := gateway.StoredVote{By: gateway.Party{LID: "1@lid"}, At: time.Now()}
			return f.KeepVote(ctx, poll, vote, func([]gateway.StoredVote, bool) (eventlog.Event, error) { return event(), nil })
		},
		"KeepReaction": func(ctx context.Context) error {
			return f.KeepReaction(ctx, id, gateway.StoredReaction{MessageID: message.ID, By: gateway.Party{LID: "1@lid"}, Reaction: "👍", At: time.Now()}, event())
		},
		"SubscribePresence": func(ctx context.Context) error {
			_, err := f.Presences.SubscribePresence(ctx, subscribed, f.now, 10)
			return err
		},
		"UnsubscribePresence": func(ctx context.Context) error {
			_, err := f.Presences.UnsubscribePresence(ctx, subscribed)
			return err
		},
		"KeepPresence": func(ctx context.Context) error {
			return f.Presences.KeepPresence(ctx, id, gateway.ContactPresence{}, event())
		},
		"EndDueReads":      func(ctx context.Context) error { return f.EndDueReads(ctx, id, []string{uuid.NewString()}) },
		"DropChange":       func(ctx context.Context) error { return f.DropChange(ctx, id, "D") },
		"SaveWebhook":      func(ctx context.Context) error { return f.Webhooks.SaveWebhook(ctx, hook, nil) },
		"DeleteDeadLetter": func(ctx context.Context) error { return f.Webhooks.DeleteDeadLetter(ctx, ref, 1) },
		"SaveProgress": func(ctx context.Context) error {
			hook.UpdatedAt = hook.UpdatedAt.Add(time.Second)
			return f.Webhooks.SaveProgress(ctx, []webhook.Progress{{
				ID: hook.ID, InstanceID: id, Tenure: gateway.TenureOf(ctx),
				Progress: backlog.Progress{State: backlog.State{Status: backlog.StatusOK, Cursor: int64(time.Since(f.now))}},
			}})
		},
		"DeleteWebhook": func(ctx context.Context) error {
			_, err := f.Webhooks.DeleteWebhook(ctx, ref)
			return err
		},
	}
}

// others are the methods of the store that write nothing for an instance, or that any process
// may call: they add what all instances share, or remove what is too old for everybody.
const others = `Failing Probe AccountsOf AllAccountWebhooks DeleteAccountWebhook FindAccountWebhook ListAccountWebhooks SaveAccountWebhook AllInstances AllQueued InstancesByID ChatKnown CountTraffic EventBounds EventInstances FindAccount FindChange FindDevice
	FindDeviceKey FindDeviceKeys FindIdempotency FindInstance FindKey FindMessages FindQueued FindRegistrations FindWebhook FirstEventSince GetInstance GetKey InstanceOutlines
	Kind LastEventBefore ListCorrespondence ListDeliveries ListDeviceKeys ListInstances ListKeys ListNumberChecks
	ListQueued ListReactions ListVotes EventsOfChat ListWebhooks QueuedHeads MessagesBefore MessagesBeyond MessagesByID NewChatsSince NewestEvents PendingMessages Count LastBackup Connections
	Ping ReadChatEvents ReadEventSlice ReadEvents ReadWantedEvents RevokedKeys SentSince Size Close Webhooks BeginChats CatchUp DisappearsAfter DueReads FindChat FindLabel FreeLabelID LabelsOfChats LabelsOfMessages ListLabels AddUpload FindUpload ListUploads DeleteUpload EndedUploads ListChats ListMessages ChatsOfMessages ChatMessagesUntil RunIndex
	FindPresenceSubscription ListPresenceSubscriptions EndedPresenceSubscriptions
	AddTemplate DeleteTemplate FindTemplate ListTemplates AppSecret SetAppSecret CreateAccount CreateKey RevokeKey TouchKey NoteSpoken SaveRegistrations Secret DeleteChanges DeleteIdempotency
	CreateInstance DeleteInstance Vault FilesOwner OwnFiles
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
	listed := strings.Fields(others)
	opened := reflect.TypeFor[*store.Store]()
	methods := slices.Collect(opened.Methods())
	for part := range opened.Elem().Fields() {
		// Users and nodes belong to no instance.
		if part.IsExported() && part.Name != "Users" && part.Name != "Nodes" {
			methods = slices.AppendSeq(methods, part.Type.Methods())
		}
	}
	for _, method := range methods {
		if _, fenced := writes[method.Name]; fenced == slices.Contains(listed, method.Name) {
			t.Errorf("the method %s is in none of the two lists, or in both", method.Name)
		}
	}
	if err := f.DeleteInstance(gateway.WithTenure(t.Context(), first), f.id); !errors.Is(err, gateway.ErrTenureOver) {
		t.Errorf("an instance is deleted under an old tenure: %v", err)
	}
	if err := f.Devices.WriteDeviceKeys(t.Context(), "", keyChanges{{Device: 1, Kind: "session", Name: "a", Value: []byte("key")}}); err == nil {
		t.Error("the key of a device is written for nobody")
	}
	f.check(f.Devices.WriteDeviceKeys(t.Context(), "", keyChanges{{Kind: "lid of number", Name: "a", Value: []byte("b")}}))
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
	f.check(f.Nodes.EndTenures(t.Context(), over))
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

// movedInstances is how many are taken over in each round.
const movedInstances = 100

// Instances are taken over again and again, ten thousand times in the long run, and the node that loses one is never
// told: it goes on writing. None of those writes is committed after the takeover. A store that does
// not check tenures shows that the test would see one.
func TestTakeoversWithoutAWord(t *testing.T) {
	t.Parallel()
	rounds := amount.Of(10, 100)
	if takeovers, stale := takeOver(t, rounds, true); takeovers < movedInstances*rounds || stale > 0 {
		t.Errorf("%d of the writes were committed after one of the %d takeovers", stale, takeovers)
	}
	// The control needs one alone, which chance may deny to a few rounds.
	all := 0
	for {
		takeovers, stale := takeOver(t, rounds, false)
		if all += takeovers; stale > 0 {
			return
		}
		if all >= 100*movedInstances {
			t.Fatalf("without the fence there was no stale write in %d takeovers: the test sees nothing", all)
		}
	}
}

// takeOver moves instances to and fro between two nodes that both write whatever they once
// were allowed to. It returns how many takeovers there were, and how many writes were
// committed after one of a later epoch.
func takeOver(t *testing.T, rounds int, fence bool) (takeovers, stale int) {
	t.Helper()
	f := openFenced(t)
	for range movedInstances - 1 {
		f.check(f.create(f.first(uuid.NewString())))
	}
	// What each node believes, which is only ever added to.
	var believed [2]sync.Map
	nodes := [2]string{f.one, f.two}
	ctx, stop := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	var refused atomic.Int64
	defer writers.Wait()
	defer stop()
	for n := range nodes {
		at := open(t, store.Config{URL: f.url, Fenced: fence})
		for range 2 {
			writers.Go(func() {
				for ctx.Err() == nil {
					believed[n].Range(func(_, value any) bool {
						tenure := value.(gateway.Tenure)
						err := at.AppendEvents(gateway.WithTenure(ctx, tenure), tenure.InstanceID, eventlog.Event{
							ID: uuid.NewString(), Kind: eventlog.KindMessageSent, At: f.now, Data: strconv.AppendInt(nil, tenure.Epoch, 10),
						})
						switch {
						case errors.Is(err, gateway.ErrTenureOver):
							refused.Add(1)
						case err != nil && ctx.Err() == nil && fence:
							t.Errorf("a write is answered %v", err)
						}
						return ctx.Err() == nil
					})
				}
			})
		}
	}
	for round := range rounds {
		from, to := nodes[round%2], nodes[(round+1)%2]
		for moved := 0; moved < movedInstances; {
			// Rows that are locked at the moment are left for the next try.
			taken := f.move(from, to)
			for _, tenure := range taken {
				believed[(round+1)%2].Store(tenure.InstanceID, tenure)
			}
			moved += len(taken)
		}
		takeovers += movedInstances
	}
	stop()
	writers.Wait()
	t.Logf("fence %v: %d takeovers, %d writes refused", fence, takeovers, refused.Load())
	f.check(f.raw.QueryRowContext(t.Context(), `SELECT count(*) FROM (SELECT convert_from(data, 'UTF8')::bigint AS epoch,
		max(convert_from(data, 'UTF8')::bigint) OVER (PARTITION BY instance_id ORDER BY sequence) AS newest FROM events) AS seen
		WHERE epoch < newest`).Scan(&stale))
	return takeovers, stale
}
