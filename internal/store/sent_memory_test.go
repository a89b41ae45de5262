package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/groupcommit"
	"github.com/recado-project/recado/internal/store/chattable"
	"github.com/recado-project/recado/internal/store/table"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/postgres"
)

func message(platformID, text string) gateway.Message {
	return gateway.Message{ID: platformID + text, PlatformID: platformID, Text: text, Payload: []byte(text)}
}

// Each transaction has writes, which run one after another and are committed together, or
// not at all.
func TestMessages(t *testing.T) {
	t.Parallel()
	type write = func(w *sentWrite)
	type transaction struct {
		writes []write
		failed bool
	}
	wrote := func(text string) write { return func(w *sentWrite) { w.Wrote(message("A", text)) } }
	touched := func(w *sentWrite) { w.Touched("A") }
	touchedAll := func(w *sentWrite) { w.TouchedAll() }
	nothing := func(text string) write {
		return func(w *sentWrite) {
			if found, ok := w.Find("A"); ok {
				t.Errorf("%s it is remembered: %+v", text, found)
			}
		}
	}
	for name, test := range cases.Sorted(map[string]struct {
		transactions []transaction
		want         string // the text of A; empty if nothing is remembered
	}{
		"nothing":                           {nil, ""},
		"a message":                         {[]transaction{{writes: []write{wrote("1")}}}, "1"},
		"a change":                          {[]transaction{{writes: []write{wrote("1")}}, {writes: []write{wrote("2")}}}, "2"},
		"two changes in one transaction":    {[]transaction{{writes: []write{wrote("1"), nothing("before the commit"), wrote("2")}}}, "2"},
		"a failure":                         {[]transaction{{writes: []write{wrote("1")}, failed: true}}, ""},
		"a failure after one that did well": {[]transaction{{writes: []write{wrote("1")}}, {writes: []write{wrote("2")}, failed: true}}, ""},
		"touched":                           {[]transaction{{writes: []write{wrote("1")}}, {writes: []write{touched, nothing("touched,")}}}, ""},
		"touched, then written":             {[]transaction{{writes: []write{touched, wrote("1")}}}, "1"},
		"written, then touched":             {[]transaction{{writes: []write{wrote("1"), touched}}}, ""},
		"touched in a failure":              {[]transaction{{writes: []write{wrote("1")}}, {writes: []write{touched}, failed: true}}, ""},
		"all touched":                       {[]transaction{{writes: []write{wrote("1")}}, {writes: []write{touchedAll, nothing("touched,")}}}, ""},
		"written, then all touched":         {[]transaction{{writes: []write{wrote("1"), touchedAll}}}, ""},
		"another message is touched":        {[]transaction{{writes: []write{wrote("1"), func(w *sentWrite) { w.Touched("B") }}}}, "1"},
		"too long":                          {[]transaction{{writes: []write{wrote("1")}}, {writes: []write{wrote(strings.Repeat("x", maxSentContent))}}}, ""},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			messages := newMessages(t)
			other := messages.Begin("other", 0)
			other.Wrote(message("A", "other"))
			other.Committed()
			for _, transaction := range test.transactions {
				var done []sentWrite
				for _, write := range transaction.writes {
					w := messages.Begin("instance", 0)
					write(&w)
					done = append(done, w)
				}
				for n := range done {
					if !transaction.failed {
						done[n].Committed()
					}
				}
			}
			look := messages.Begin("instance", 0)
			got, ok := look.Find("A")
			if want := message("A", test.want); ok != (test.want != "") || ok && !reflect.DeepEqual(got, want) {
				t.Errorf("remembered %v %+v, want %+v", ok, got, want)
			}
			if got, ok := other.Find("A"); !ok || got.Text != "other" {
				t.Errorf("of another instance it has %v %+v", ok, got)
			}
		})
	}
}

// What is remembered is nobody else's to change.
func TestPayloadsAreCopies(t *testing.T) {
	t.Parallel()
	messages := newMessages(t)
	write := messages.Begin("instance", 0)
	given := message("A", "1")
	write.Wrote(given)
	given.Payload[0] = 'x'
	write.Committed()
	if got, ok := write.Find("A"); !ok || string(got.Payload) != "1" {
		t.Errorf("the payload became %q", got.Payload)
	}
}

func TestOldestAreForgotten(t *testing.T) {
	t.Parallel()
	messages := newMessages(t)
	for n := range maxSentMessages + 10 {
		write := messages.Begin("instance", 0)
		write.Wrote(message(strconv.Itoa(n), "1"))
		write.Committed()
	}
	w := messages.Begin("instance", 0)
	for n := range maxSentMessages + 10 {
		if _, ok := w.Find(strconv.Itoa(n)); ok != (n >= 10) {
			t.Fatalf("message %d is remembered: %v", n, ok)
		}
	}
}

func newMessages(t *testing.T) *sentMemory {
	t.Helper()
	messages, err := newSentMemory()
	if err != nil {
		t.Fatal(err)
	}
	return messages
}

// recentStore opens an empty store with an instance.
func recentStore(t *testing.T, config Config) *Store {
	t.Helper()
	config.Logger = slog.New(slog.DiscardHandler)
	m := openEmpty(t, config)
	_, err := m.migrate(t.Context())
	s := filled(t, m, config)
	err = errors.Join(err, s.CreateAccount(t.Context(), gateway.Account{ID: "account", Name: "account"}))
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"one", "two"} {
		if err := s.CreateInstance(t.Context(), gateway.Instance{ID: id, AccountID: "account"}); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func recentMessage(instanceID, platformID string) gateway.Message {
	return gateway.Message{
		ID: uuid.Must(uuid.NewV7()).String(), InstanceID: instanceID, PlatformID: platformID,
		Chat: gateway.Party{JID: "1@s.whatsapp.net"}, FromMe: true, Source: gateway.SourceAPI, Type: gateway.TypeText,
		Text: "text", Payload: []byte("payload"), CreatedAt: time.UnixMilli(1_795_000_000_000),
	}
}

// counting counts the statements of the writes by their first words.
type counting struct {
	database

	statements map[string]int
}

func (c *counting) Begin(
	ctx context.Context, id string, fn func(ctx context.Context, q table.Querier) error, committed func(),
) groupcommit.Pending {
	return c.database.Begin(ctx, id, func(ctx context.Context, q table.Querier) error {
		return fn(ctx, countedQuerier{q, c.statements})
	}, committed)
}

type countedQuerier struct {
	table.Querier

	statements map[string]int
}

func (c countedQuerier) count(query string) {
	c.statements[strings.Join(strings.Fields(query)[:3], " ")]++
}

func (c countedQuerier) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	c.count(query)
	return c.Querier.ExecContext(ctx, query, args...)
}

func (c countedQuerier) QueryContext(ctx context.Context, query string, args ...any) (table.Rows, error) {
	c.count(query)
	return c.Querier.QueryContext(ctx, query, args...)
}

func (c countedQuerier) QueryRowContext(ctx context.Context, query string, args ...any) table.Scanner {
	c.count(query)
	return c.Querier.QueryRowContext(ctx, query, args...)
}

// A message that was sent just now is not read for its acknowledgement and its receipts,
// each alone or several together.
func TestSentMessageIsNotRead(t *testing.T) {
	t.Parallel()
	s := recentStore(t, Config{Path: filepath.Join(t.TempDir(), "recado.db")})
	c := &counting{database: s.db.database, statements: map[string]int{}}
	s.db.database = c
	for _, id := range []string{"A", "B"} {
		if err := s.AcceptMessage(t.Context(), recentMessage("one", id), nil)(); err != nil {
			t.Fatal(err)
		}
	}
	for status, ids := range cases.Sorted(map[gateway.MessageStatus][]string{gateway.MessageSent: {"A"}, gateway.MessageDelivered: {"A", "B", "A"}}) {
		err := s.UpdateMessages(t.Context(), "one", ids, func(found []gateway.Message) ([]gateway.Message, []eventlog.Event, error) {
			for n := range found {
				found[n].Status = status
			}
			return found, []eventlog.Event{{ID: status.String()}}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]int{
		"INSERT INTO messages": 2, "UPDATE messages SET": 3, "INSERT INTO events": 2,
		"SELECT id, jid,": 1, "INSERT INTO chats": 1, "UPDATE chats SET": 2, // the chat is looked for once
		"SELECT COALESCE(MAX(sequence), 0)": 1, // and so is the number of the newest event
	}
	if !reflect.DeepEqual(c.statements, want) {
		t.Errorf("the statements were %v, want %v", c.statements, want)
	}
}

// meddling does something before the write with that number begins.
type meddling struct {
	database

	until  int
	meddle func()
}

func (m *meddling) Begin(
	ctx context.Context, id string, fn func(ctx context.Context, q table.Querier) error, committed func(),
) groupcommit.Pending {
	m.until--
	if m.until == 0 {
		m.meddle()
	}
	return m.database.Begin(ctx, id, fn, committed)
}

// A message that is sent while its instance is being removed is forgotten with it.
func TestInstanceIsForgotten(t *testing.T) {
	t.Parallel()
	s := recentStore(t, Config{Path: filepath.Join(t.TempDir(), "recado.db")})
	message := recentMessage("one", "A")
	m := &meddling{database: s.db.database, until: 2}
	m.meddle = func() {
		if err := s.AcceptMessage(t.Context(), message, nil)(); err != nil {
			t.Error(err)
		}
	}
	s.db.database = m
	if err := s.DeleteInstance(t.Context(), message.InstanceID); err != nil || m.until >= 0 {
		t.Fatalf("%d writes were expected more (%v)", m.until, err)
	}
	write := s.db.recent.Begin(message.InstanceID, 0)
	if got, ok := write.Find(message.PlatformID); ok {
		t.Errorf("remembered is %+v", got)
	}
}

// Whatever writers do to the same messages at the same time, what is remembered is what
// the database has, at every moment.
func TestMemoryIsWhatTheDatabaseHas(t *testing.T) {
	t.Parallel()
	for kind, config := range cases.Sorted(map[string]func(t *testing.T) Config{
		"SQLite":     func(t *testing.T) Config { t.Helper(); return Config{Path: filepath.Join(t.TempDir(), "recado.db")} },
		"PostgreSQL": func(t *testing.T) Config { t.Helper(); return Config{URL: postgres.Start(t)} },
	}) {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			m := &mixedWriters{t: t, s: recentStore(t, config(t))}
			var group sync.WaitGroup
			for range 12 {
				group.Go(func() {
					for range 150 {
						m.write()
					}
				})
			}
			group.Wait()
			for instanceID := range m.sent {
				for range 50 {
					m.look(instanceID)
				}
			}
			t.Logf("%d answers were compared, %d writes have failed", m.compared.Load(), m.failed.Load())
			if m.compared.Load() < 50 || m.failed.Load() < 50 {
				t.Errorf("%d answers were compared, %d writes have failed", m.compared.Load(), m.failed.Load())
			}
		})
	}
}

// mixedWriters write what comes to their mind about a few messages of two instances.
type mixedWriters struct {
	t *testing.T
	s *Store

	mu   sync.Mutex
	sent map[string][]gateway.Message // the last ones of each instance

	compared, failed atomic.Int64
}

// any returns one of the last messages.
func (m *mixedWriters) any(instanceID string) gateway.Message {
	m.mu.Lock()
	defer m.mu.Unlock()
	last := m.sent[instanceID]
	if len(last) == 0 {
		return recentMessage(instanceID, "unknown")
	}
	return last[rand.N(len(last))]
}

func (m *mixedWriters) write() {
	instanceID := []string{"one", "two"}[rand.N(2)]
	message := m.any(instanceID)
	var err error
	switch n := rand.N(100); {
	case n < 20:
		err = m.accept(instanceID)
	case n < 70:
		ids := []string{message.PlatformID, m.any(instanceID).PlatformID, m.any(instanceID).PlatformID}[:1+rand.N(3)]
		if n < 25 {
			ids[0] = message.ID
		}
		err = m.s.UpdateMessages(m.t.Context(), instanceID, ids, mixedChange)
	case n < 76: // an echo, or another's message with the same identifier
		echo := recentMessage(instanceID, message.PlatformID)
		echo.Source, echo.WireKey = gateway.SourceDevice, fmt.Sprint(rand.N(3))
		_, err = m.s.AddMessage(m.t.Context(), echo)
	case n < 79:
		err = m.s.AddHistory(m.t.Context(), instanceID, []gateway.Message{recentMessage(instanceID, message.PlatformID)})
	case n < 82:
		err = m.s.DeleteMessages(m.t.Context(), instanceID, []string{message.ID})
	case n < 90: // the internal identifier is taken, or the instance is none
		if message.PlatformID = uuid.NewString(); n%2 == 0 {
			message.InstanceID = "none"
		}
		if m.s.AcceptMessage(m.t.Context(), message, nil)() != nil {
			m.failed.Add(1)
		}
	default:
		m.look(instanceID)
	}
	if err != nil && !errors.Is(err, errRefused) {
		m.t.Error(err)
	}
}

func (m *mixedWriters) accept(instanceID string) error {
	message := recentMessage(instanceID, uuid.NewString())
	kept := m.s.AcceptMessage(m.t.Context(), message, nil)
	m.mu.Lock()
	if m.sent == nil {
		m.sent = map[string][]gateway.Message{}
	}
	last := m.sent[instanceID]
	m.sent[instanceID] = append(last[max(0, len(last)-5):], message)
	m.mu.Unlock()
	return kept()
}

var errRefused = errors.New("refused")

// mixedChange changes some of what is found, and also what is not written.
func mixedChange(found []gateway.Message) ([]gateway.Message, []eventlog.Event, error) {
	for n := range found {
		found[n].Status, found[n].StatusAt = gateway.MessageStatus(rand.N(6)), time.Now()
		found[n].Sender.Name, found[n].CreatedAt = "not written", time.Time{}
		switch rand.N(6) {
		case 0:
			found[n].Text, found[n].Payload, found[n].EditedAt = "é"+strings.Repeat("x", rand.N(5_000)), []byte{}, time.UnixMilli(1)
		case 1:
			found[n].Text, found[n].Payload, found[n].DeletedAt = "", nil, time.UnixMilli(2)
		case 2:
			found[n].Chat, found[n].SentAt = gateway.Party{JID: "2@s.whatsapp.net", LID: "3@lid", Name: "not written"}, time.UnixMicro(1_999)
		}
	}
	switch changed := found[:rand.N(len(found)+1)]; rand.N(4) {
	case 0:
		return changed, nil, errRefused
	case 1:
		return append(changed, changed...), nil, nil
	default:
		return changed, nil, nil
	}
}

// look compares what is remembered with what the database has, in the order of the writes.
func (m *mixedWriters) look(instanceID string) {
	message := m.any(instanceID)
	err := m.s.db.record(m.t.Context(), instanceID, func(ctx context.Context, r *recorder) error {
		remembered, ok := r.recent.Find(message.PlatformID)
		if !ok {
			return nil
		}
		stored, err := chattable.MessageColumns.Collect(ctx, r, messageByPlatformID, instanceID, message.PlatformID)
		if err != nil {
			return err // an earlier write of the transaction has failed, and this one runs again
		}
		if want := []gateway.Message{remembered}; !reflect.DeepEqual(stored, want) {
			m.t.Errorf("the database has %+v, and remembered is %+v", stored, want)
		}
		m.compared.Add(1)
		return nil
	})
	if err != nil {
		m.t.Error(err)
	}
}

// The events of an instance are numbered in the order of their commits, without a gap: whatever becomes of
// writes in the same transaction, however many events come twice or are deleted, and when the program
// begins anew.
func TestEventsAreNumberedWithoutAGap(t *testing.T) {
	t.Parallel()
	for kind, config := range cases.Sorted(map[string]func(t *testing.T) Config{
		"SQLite":     func(t *testing.T) Config { t.Helper(); return Config{Path: filepath.Join(t.TempDir(), "recado.db")} },
		"PostgreSQL": func(t *testing.T) Config { t.Helper(); return Config{URL: postgres.Start(t)} },
	}) {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			config := config(t)
			config.Logger, config.Bell = slog.New(slog.DiscardHandler), new(eventlog.Bell)
			var mu sync.Mutex
			last, failed := map[string]int64{}, 0
			config.Bell.Listen(func(events []eventlog.Event) {
				mu.Lock()
				defer mu.Unlock()
				for _, event := range events {
					if event.Sequence != last[event.InstanceID]+1 {
						t.Errorf("the event after number %d has the number %d", last[event.InstanceID], event.Sequence)
					}
					last[event.InstanceID] = event.Sequence
				}
			})
			for range 3 {
				s, err := Open(t.Context(), config)
				if err != nil {
					t.Fatal(err)
				}
				var group sync.WaitGroup
				for range 12 {
					group.Go(func() {
						for range 50 {
							if errors.Is(appendSome(t, s), errRefused) {
								mu.Lock()
								failed++
								mu.Unlock()
							}
						}
					})
				}
				group.Wait()
				for id, want := range cases.Sorted(last) {
					if _, newest, err := s.EventBounds(t.Context(), id); err != nil || newest != want {
						t.Errorf("the newest event is %d, %v; the bell rang for %d", newest, err, want)
					}
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
			if failed < 50 || last["one"] < 200 || last["two"] < 200 {
				t.Errorf("%d writes have failed; the newest events are %v", failed, last)
			}
		})
	}
}

// appendSome appends events of one of two instances, or deletes some, or appends some and fails.
func appendSome(t *testing.T, s *Store) error {
	t.Helper()
	instanceID, n := []string{"one", "two"}[rand.N(2)], rand.N(10)
	events := make([]eventlog.Event, 1+rand.N(3))
	for i := range events {
		source := []string{"", fmt.Sprint("source ", rand.N(30))}[rand.N(2)]
		event, err := eventlog.NewEvent(instanceID, "chat", source, time.UnixMilli(1), eventlog.WebhookTest{})
		if err != nil {
			t.Error(err)
		}
		events[i] = event
	}
	if n == 0 {
		if _, err := s.DeleteEvents(t.Context(), instanceID, 1<<40, events...); err != nil {
			t.Error(err)
		}
		return nil
	}
	err := s.db.record(t.Context(), instanceID, func(ctx context.Context, r *recorder) error {
		if err := r.Append(ctx, events...); err != nil || n > 2 {
			return err
		}
		return errRefused
	})
	if err != nil && !errors.Is(err, errRefused) {
		t.Error(err)
	}
	return err
}
