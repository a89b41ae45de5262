package store

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/store/chattable"
	"github.com/recado-project/recado/internal/store/table"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/postgres"
)

// A look-up of a message once read every message of its instance: SQLite took
// the index that gives the order for free. What runs for each message must find
// its rows by the index that was made for it.
func TestLookUpsUseTheirIndex(t *testing.T) {
	t.Parallel()
	s := openEmpty(t, Config{Path: filepath.Join(t.TempDir(), "recado.db"), Logger: slog.New(slog.DiscardHandler)})
	if _, err := s.migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	for query, want := range cases.Sorted(map[string]string{
		findMessages:                "messages_by_platform_id (instance_id=? AND platform_id=?)",
		messageByPlatformID:         "messages_by_platform_id (instance_id=? AND platform_id=?)",
		s.db.messagesByIDs():        "messages_by_platform_id (instance_id=? AND platform_id=?)",
		messageByID:                 "sqlite_autoindex_messages_1 (id=?)",
		insertNewMessage:            "messages_by_platform_id (instance_id=? AND platform_id=?)",
		insertRequestedMessage:      "sqlite_autoindex_idempotency_1 (key_id=? AND key=?)",
		findSentChange:              "sqlite_autoindex_sent_changes_1 (instance_id=? AND platform_id=?)",
		addReaction:                 "sqlite_autoindex_reactions_1 (message_id=?)",
		deleteReaction:              "sqlite_autoindex_reactions_1 (message_id=?)",
		s.db.reactionsTo():          "sqlite_autoindex_reactions_1 (message_id=?)",
		lastSequence:                "sqlite_autoindex_events_1 (instance_id=?)",
		chattable.OpenMenuQuery:     "PRIMARY KEY (instance_id=? AND id=?)",
		chattable.AsksAnywhereQuery: "chats_open_menu (instance_id=? AND open_menu>?)",
		"SELECT name FROM " + chattable.ChatsByID + " id IN " + s.db.In(1): "PRIMARY KEY (instance_id=? AND id=?)",
		addDueRead:  "sqlite_autoindex_messages_1 (id=?)",
		dueReads:    "due_reads_of_instance (instance_id=?)",
		findAnswer:  "sqlite_autoindex_menu_answers_1 (message_id=?)",
		readEvents:  "sqlite_autoindex_events_1 (instance_id=? AND sequence>?)",
		eventBounds: "sqlite_autoindex_events_1 (instance_id=?)",
	}) {
		plan := explain(t, s, query)
		if !strings.Contains(plan, want) || strings.Contains(plan, "SCAN messages") || strings.Contains(plan, "SCAN events") ||
			strings.Contains(plan, "messages_in_order") {
			t.Errorf("%s\nis planned as\n%s", query, plan)
		}
	}
}

// What people look at is found by the order of the messages, without reading and sorting
// all of an instance.
func TestReadingUsesTheOrder(t *testing.T) {
	t.Parallel()
	s := openEmpty(t, Config{Path: filepath.Join(t.TempDir(), "recado.db"), Logger: slog.New(slog.DiscardHandler)})
	if _, err := s.migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	const byID = "sqlite_autoindex_messages_1 (id=?)"
	for query, want := range cases.Sorted(map[string][]string{
		countTraffic:          {"messages_in_order (instance_id=? AND created_at>? AND created_at<?)"},
		chatKnown:             {"messages_in_order (instance_id=?)"},
		listCorrespondence:    {"messages_in_order (instance_id=? AND created_at>?)"},
		s.db.messagesByID():   {byID},
		eventsOfChat:          {"events_between_messages (instance_id=? AND chat=? AND happened_at>? AND happened_at<?)"},
		newestEvents:          {"sqlite_autoindex_events_1 (instance_id=? AND sequence>? AND sequence<?)"},
		s.db.newestEventsOf(): {"sqlite_autoindex_events_1 (instance_id=? AND sequence>? AND sequence<?)"},
	}) {
		plan := explain(t, s, query)
		rest := plan
		for _, step := range want {
			_, after, found := strings.Cut(rest, step)
			if rest = after; !found || strings.Contains(plan, "SCAN messages") || strings.Contains(plan, "TEMP B-TREE") && strings.Contains(plan, "sqlite_autoindex_events") {
				t.Errorf("%s\nis planned as\n%s", query, plan)
			}
		}
	}
}

// Pages of messages, of a chat and of all chats, are read in the order of an index, from where they begin.
func TestMessagesAreListedInTheOrder(t *testing.T) {
	t.Parallel()
	s := openEmpty(t, Config{Path: filepath.Join(t.TempDir(), "recado.db"), Logger: slog.New(slog.DiscardHandler)})
	if _, err := s.migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	middle := gateway.Position{At: time.Unix(1, 0), ID: "a"}
	for want, filter := range cases.Sorted(map[string]gateway.MessageFilter{
		"messages_in_order (instance_id=?)":                           {FromMe: new(true), Types: []gateway.MessageType{gateway.TypeText}, SentFrom: middle.At, SentUntil: middle.At},
		"messages_in_order (instance_id=? AND (created_at,id)<(?,?))": {Before: middle},
		"messages_in_order (instance_id=? AND (created_at,id)>(?,?))": {After: middle, OldestFirst: true},
		"messages_of_chat (chat_id=?)":                                {ChatID: "a", SentFrom: middle.At},
		"messages_of_chat (chat_id=? AND (created_at,id)<(?,?))":      {ChatID: "a", Before: middle},
		"messages_starred (chat_id=?)":                                {ChatID: "a", Starred: new(true)},
		"messages_by_platform_id (instance_id=? AND platform_id=?)":   {MessageID: "a", CountAll: true},
	}) {
		from, _, order := chattable.MessagesFrom("a", filter)
		plan := explain(t, s, from+" ORDER BY "+order.By+" LIMIT 1 + 0 OFFSET 1")
		sorts := strings.Contains(plan, "TEMP B-TREE")
		if !strings.Contains(plan, want) || sorts != (filter.MessageID != "") { // few have the same identifier
			t.Errorf("%s %s\nis planned as\n%s", from, order.By, plan)
		}
	}
}

func explain(t *testing.T, s *migrator, query string) string {
	t.Helper()
	for _, read := range []struct{ from, names string }{
		{"FROM messages ", chattable.MessageColumns.Names},
		{"FROM events ", eventColumns.Names},
		{"FROM sent_changes ", sentChangeColumns.Names},
		{"FROM reactions ", reactionColumns.Names},
	} {
		if strings.HasPrefix(query, read.from) {
			query = "SELECT " + read.names + " " + query
		}
	}
	steps, err := table.Collect(t.Context(), s.db.Reader(), func(row table.Scanner) (string, error) {
		var id, parent, unused int
		var detail string
		err := row.Scan(&id, &parent, &unused, &detail)
		return detail, err
	}, "EXPLAIN QUERY PLAN "+query, make([]any, 27)...)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(steps, "\n")
}

// A query that reads many rows ends with its context: a client that has left must not
// keep a reader busy.
func TestScansEnd(t *testing.T) {
	t.Parallel()
	s := openEmpty(t, Config{Path: filepath.Join(t.TempDir(), "recado.db"), Logger: slog.New(slog.DiscardHandler)})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	const endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000000) SELECT count(*) FROM n"
	var count int
	err := s.db.Scanner().QueryRowContext(ctx, endless).Scan(&count)
	if !errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil || err == nil {
		t.Errorf("it has counted to %d, %v", count, err)
	}
}

// BenchmarkCensus counts what is in a database of 10,000 instances with webhooks and
// 1,000,000 events. One webhook in ten still has fifty to deliver.
func BenchmarkCensus(b *testing.B) {
	for name, config := range cases.Sorted(map[string]func() Config{
		"SQLite":     func() Config { return Config{Path: filepath.Join(b.TempDir(), "recado.db")} },
		"PostgreSQL": func() Config { return Config{URL: postgres.Start(b)} },
	}) {
		b.Run(name, func(b *testing.B) {
			c := config()
			c.Logger = slog.New(slog.DiscardHandler)
			s, err := Open(b.Context(), c)
			if err != nil {
				b.Fatal(err)
			}
			defer func() {
				if err := s.Close(); err != nil {
					b.Error(err)
				}
			}()
			fillForCensus(b, s)
			for b.Loop() {
				counted, err := s.Census.Count(b.Context())
				if err != nil || counted.Webhooks["ok"].Waiting != 50_000 {
					b.Fatalf("counted %+v, %v", counted, err)
				}
			}
		})
	}
}

func fillForCensus(b *testing.B, s *Store) {
	b.Helper()
	const many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000), m(j) AS (SELECT 1 UNION ALL SELECT j + 1 FROM m WHERE j < 100) "
	err := s.db.Write(b.Context(), func(ctx context.Context, q table.Querier) error {
		for _, statement := range []string{
			"INSERT INTO accounts (id, name, created_at) VALUES ('a', 'a', 1)",
			`INSERT INTO instances (id, account_id, name, status, reason, device, profile_jid, profile_lid, profile_name, profile_picture_url, created_at, updated_at) ` +
				many + "SELECT 'instance-with-a-long-identifier-' || i, 'a', 'shop', 'connected', '', 'device', '', '', '', '', i, i FROM n",
			"INSERT INTO events (instance_id, sequence, id, kind, chat, source_key, happened_at, created_at, data) " + many +
				"SELECT 'instance-with-a-long-identifier-' || i, j, i || '-' || j, 'message.sent', 'chat', '', j, j, CAST('" +
				"some data that is about as long as that of an event, which names a chat and a message" + "' AS BYTEA) FROM n, m",
			"INSERT INTO webhooks (instance_id, id, place, url, secret, secret_seal, previous_secret, previous_secret_seal, previous_secret_until, headers, headers_seal, kinds, chats, active, created_at, updated_at, status, reason, cursor, failures, failing_since, next_try_at, attempts) " + many +
				"SELECT 'instance-with-a-long-identifier-' || i, 'w' || i, 'w' || i, 'https://example.com', '', 0, '', 0, 0, '', 0, '[]', '[]', TRUE, 1, 1, 'ok', '', CASE WHEN i % 10 = 0 THEN 50 ELSE 100 END, 0, 0, 0, 0 FROM n",
		} {
			if _, err := q.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}
