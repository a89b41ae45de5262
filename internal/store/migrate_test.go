package store

import (
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/postgres"
)

// onBoth runs a test on an empty database of each kind.
func onBoth(t *testing.T, test func(t *testing.T, config Config)) {
	t.Helper()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		test(t, Config{Path: filepath.Join(t.TempDir(), "recado.db"), Logger: slog.New(slog.DiscardHandler)})
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		test(t, Config{URL: postgres.Start(t), Logger: slog.New(slog.DiscardHandler)})
	})
}

// openEmpty opens the database without its tables.
func openEmpty(t *testing.T, config Config) *migrator {
	t.Helper()
	s, err := connect(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// filled is the store of a database that has its tables.
func filled(t *testing.T, m *migrator, config Config) *Store {
	t.Helper()
	s, err := newStore(t.Context(), m, config)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func execute(t *testing.T, s *migrator, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		if _, err := s.db.Exec(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

func shipped(t *testing.T, s *migrator) []migration {
	t.Helper()
	known, err := readMigrations(migrationFiles, s.db.name)
	if err != nil {
		t.Fatal(err)
	}
	return known
}

func TestMigrateTwice(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, config Config) {
		t.Helper()
		applied, err := Migrate(t.Context(), config)
		if err != nil || len(applied) == 0 || applied[0] != "0001_start" {
			t.Errorf("applied %v, %v", applied, err)
		}
		applied, err = Migrate(t.Context(), config)
		if err != nil || len(applied) != 0 {
			t.Errorf("the second time it applied %v, %v", applied, err)
		}
	})
}

func TestMigrateAtOnce(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, config Config) {
		t.Helper()
		var mu sync.Mutex
		var applied []string
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				names, err := Migrate(t.Context(), config)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				applied = append(applied, names...)
			})
		}
		group.Wait()
		if !slices.IsSorted(applied) || len(slices.Compact(applied)) != len(applied) {
			t.Errorf("a migration was applied twice: %v", applied)
		}
	})
}

func TestOpenRefusesANewerDatabase(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, config Config) {
		t.Helper()
		s := openEmpty(t, config)
		if _, err := s.migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		execute(t, s, "INSERT INTO schema_migrations (version, name, applied_at) VALUES (9000, '9000_future', 1)")
		if again, err := Open(t.Context(), config); err == nil {
			_ = again.Close()
			t.Error("it was opened")
		} else if !strings.Contains(err.Error(), "version 9000 and was written by a newer program") {
			t.Errorf("the reason given is %q", err)
		}
	})
}

func TestFailedMigrationLeavesNothing(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, config Config) {
		t.Helper()
		s := openEmpty(t, config)
		good := shipped(t, s)
		bad := append(slices.Clone(good), migration{
			version: len(good) + 1, name: "bad",
			script: "CREATE TABLE half (n BIGINT);\nINSERT INTO nowhere VALUES (1);",
		})
		if _, err := s.applyMigrations(t.Context(), bad); err == nil || !strings.Contains(err.Error(), "bad: ") {
			t.Errorf("answered %v", err)
		}
		applied, err := s.applyMigrations(t.Context(), good)
		if err != nil || len(applied) != len(good) {
			t.Errorf("afterwards it applied %v, %v, want all", applied, err)
		}
		execute(t, s, "CREATE TABLE half (n BIGINT)")
	})
}

// rowsAt holds, by version, rows as a program of that version wrote them. The
// migrations after it must keep them.
func rowsAt() map[int][]string {
	return map[int][]string{1: {
		`INSERT INTO accounts (id, name, created_at) VALUES ('a1', 'default', 1)`,
		`INSERT INTO api_keys (id, account_id, name, hash, instance_ids, partner, created_at, expires_at, revoked_at, last_used_at)
			VALUES ('k1', 'a1', 'key', '', '["i1"]', TRUE, 1, 0, 0, 0)`,
		`INSERT INTO instances (id, account_id, name, status, reason, device, profile_jid, profile_lid, profile_name,
			profile_picture_url, created_at, updated_at) VALUES ('i1', 'a1', 'phone', 'connected', '', '', '', '', '', '', 1, 1)`,
		`INSERT INTO messages (id, instance_id, platform_id, chat_jid, chat_lid, chat_name, sender_jid, sender_lid, sender_name,
			from_me, source, type, text, quoted_id, status, status_at, sent_at, payload, wire_key, created_at)
			VALUES ('m1', 'i1', '3EB0', '', '', '', '', '', '', FALSE, 'peer', 'text', 'hello', '', 2, 1, 1, '', 'wire', 1)`,
		`INSERT INTO registrations (number, jid, lid, checked_at) VALUES ('55', '55@s.whatsapp.net', '', 1)`,
		`INSERT INTO idempotency (key_id, key, request_hash, instance_id, message_id, failure, created_at)
			VALUES ('k1', 'key', '', 'i1', 'm1', '', 1)`,
	}}
}

// Events that were appended before only some had a source key keep theirs, and come no
// second time. What has none comes as often as it is appended.
func TestMigrateKeepsSourceKeys(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, config Config) {
		t.Helper()
		const version = 5
		s := openEmpty(t, config)
		all := shipped(t, s)
		if _, err := s.applyMigrations(t.Context(), all[:version]); err != nil {
			t.Fatal(err)
		}
		execute(t, s, `INSERT INTO events (instance_id, sequence, id, kind, chat, source_key, happened_at, created_at, data)
			VALUES ('i1', 1, 'e1', 'message.sent', '', 'sent/m1', 1, 1, '{}'), ('i1', 2, 'e2', 'group.updated', '', 'group/1', 1, 1, '{}')`)
		if _, err := s.applyMigrations(t.Context(), all); err != nil {
			t.Fatal(err)
		}
		opened := filled(t, s, config)
		for n, event := range []eventlog.Event{
			{ID: "e3", SourceKey: "group/1"}, {ID: "e4", SourceKey: "sent/m1"}, {ID: "e5"}, {ID: "e6"}, {ID: "e7", SourceKey: "group/2"}, {ID: "e8", SourceKey: "group/2"},
		} {
			if err := opened.AppendEvents(t.Context(), "i1", event); err != nil {
				t.Errorf("event %d: %v", n, err)
			}
		}
		events, err := opened.ReadEvents(t.Context(), "i1", 0, 10)
		var got []string
		for _, event := range events {
			got = append(got, event.ID)
		}
		if want := []string{"e1", "e2", "e5", "e6", "e7"}; err != nil || !slices.Equal(got, want) {
			t.Errorf("the events are %v (%v), want %v", got, err, want)
		}
	})
}

// A message that came before the index of wire keys was dropped comes no second time.
func TestMigrateKeepsWireKeys(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, config Config) {
		t.Helper()
		s := openEmpty(t, config)
		all := shipped(t, s)
		if _, err := s.applyMigrations(t.Context(), all[:1]); err != nil {
			t.Fatal(err)
		}
		execute(t, s, rowsAt()[1]...)
		if _, err := s.applyMigrations(t.Context(), all); err != nil {
			t.Fatal(err)
		}
		opened := filled(t, s, config)
		again := gateway.Message{ID: "m2", InstanceID: "i1", PlatformID: "3EB0", WireKey: "wire", Status: gateway.MessageDelivered}
		if added, err := opened.AddMessage(t.Context(), again); added || err != nil {
			t.Errorf("a second delivery: %v, %v", added, err)
		}
		again.WireKey = "other"
		if added, err := opened.AddMessage(t.Context(), again); !added || err != nil {
			t.Errorf("another message: %v, %v", added, err)
		}
	})
}

// A webhook of the time when an instance had one keeps all that is known of it, and its sealed
// secrets stay where they were sealed for.
func TestMigrateKeepsWebhooks(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, config Config) {
		t.Helper()
		s := openEmpty(t, config)
		all := shipped(t, s)
		if _, err := s.applyMigrations(t.Context(), all[:13]); err != nil {
			t.Fatal(err)
		}
		execute(t, s,
			"INSERT INTO accounts (id, name, created_at) VALUES ('a1', 'default', 1)",
			`INSERT INTO instances (id, account_id, name, status, reason, device, profile_jid, profile_lid, profile_name, profile_picture_url, created_at, updated_at)
				VALUES ('i1', 'a1', 'shop', 'connected', '', '', '', '', '', '', 1, 1)`,
			`INSERT INTO webhooks (instance_id, id, url, secret, secret_seal, previous_secret, previous_secret_seal, previous_secret_until, active,
				created_at, updated_at, status, reason, cursor, failures, failing_since, next_try_at, attempts)
				VALUES ('i1', 'w1', 'https://example.com', 'sealed', 3, 'before', 2, 5, TRUE, 6, 7, 'backoff', 'r', 8, 9, 10, 11, 12)`,
			"INSERT INTO webhook_blocked_chats VALUES ('i1', 'c', 1, 2, 'e', 'k', 3, 4, 5, 6, 'x')",
			"INSERT INTO webhook_dead_letters VALUES ('i1', 1, 'e', 'k', 'c', 2, 'x', 3)",
			"INSERT INTO webhook_attempts VALUES ('i1', 1, 2, 3, 'e', 'k', 'c', 4, 5, 6, 'x', 'y')",
		)
		if _, err := s.applyMigrations(t.Context(), all); err != nil {
			t.Fatal(err)
		}
		for query, want := range cases.Sorted(map[string]int64{
			`SELECT count(*) FROM webhooks WHERE id = 'w1' AND instance_id = 'i1' AND place = 'i1' AND url = 'https://example.com'
				AND secret = 'sealed' AND secret_seal = 3 AND previous_secret = 'before' AND previous_secret_seal = 2 AND previous_secret_until = 5
				AND active AND created_at = 6 AND updated_at = 7 AND status = 'backoff' AND reason = 'r' AND cursor = 8 AND failures = 9
				AND failing_since = 10 AND next_try_at = 11 AND attempts = 12 AND kinds = '[]' AND chats = '[]'`: 1,
			"SELECT through FROM webhook_blocked_chats WHERE webhook_id = 'w1' AND chat = 'c'":  2,
			"SELECT died_at FROM webhook_dead_letters WHERE webhook_id = 'w1' AND sequence = 1": 3,
			"SELECT duration_ms FROM webhook_attempts WHERE webhook_id = 'w1' AND answer = 'y'": 5,
		}) {
			var got int64
			if err := s.db.Reader().QueryRowContext(t.Context(), query).Scan(&got); err != nil || got != want {
				t.Errorf("%s: %d (%v), want %d", query, got, err, want)
			}
		}
		// What the webhook has goes with it.
		execute(t, s, "DELETE FROM instances WHERE id = 'i1'")
		var left int64
		if err := s.db.Reader().QueryRowContext(t.Context(), `SELECT (SELECT count(*) FROM webhook_blocked_chats) +
			(SELECT count(*) FROM webhook_dead_letters) + (SELECT count(*) FROM webhook_attempts) + (SELECT count(*) FROM webhooks)`).Scan(&left); err != nil || left != 0 {
			t.Errorf("%d rows are left (%v)", left, err)
		}
	})
}

func TestMigrateKeepsRows(t *testing.T) {
	t.Parallel()
	for version, rows := range rowsAt() {
		onBoth(t, func(t *testing.T, config Config) {
			t.Helper()
			s := openEmpty(t, config)
			all := shipped(t, s)
			// One more than there are, so that each has rows to keep.
			all = append(all, migration{
				version: len(all) + 1, name: "next",
				script: "ALTER TABLE instances ADD COLUMN next TEXT NOT NULL DEFAULT '';\nCREATE INDEX next ON instances (next);",
			})
			if _, err := s.applyMigrations(t.Context(), all[:version]); err != nil {
				t.Fatal(err)
			}
			execute(t, s, rows...)
			applied, err := s.applyMigrations(t.Context(), all)
			if err != nil || len(applied) != len(all)-version {
				t.Fatalf("applied %v, %v", applied, err)
			}
			wantRows(t.Context(), t, filled(t, s, config))
		})
	}
}

func wantRows(ctx context.Context, t *testing.T, s *Store) {
	t.Helper()
	if account, found, err := s.FindAccount(ctx, "default"); err != nil || !found || account.ID != "a1" {
		t.Errorf("account: %+v, %v, %v", account, found, err)
	}
	if keys, err := s.ListKeys(ctx, "a1", gateway.PageRequest{Page: 1, Limit: 5}); err != nil || keys.Total != 1 || !keys.Items[0].Partner {
		t.Errorf("keys: %+v, %v", keys, err)
	}
	if instance, err := s.GetInstance(ctx, "i1"); err != nil || instance.Status != gateway.StatusConnected {
		t.Errorf("instance: %+v, %v", instance, err)
	}
	if messages, err := s.FindMessages(ctx, "i1", "m1"); err != nil || len(messages) != 1 || messages[0].Text != "hello" {
		t.Errorf("messages: %+v, %v", messages, err)
	}
	if found, err := s.FindRegistrations(ctx, []string{"55"}, time.Time{}); err != nil || len(found) != 1 {
		t.Errorf("registrations: %+v, %v", found, err)
	}
	if record, found, err := s.FindIdempotency(ctx, "k1", "key"); err != nil || !found || record.MessageID != "m1" {
		t.Errorf("idempotency: %+v, %v, %v", record, found, err)
	}
}

func TestReadMigrations(t *testing.T) {
	t.Parallel()
	for name, test := range cases.Sorted(map[string]struct {
		files string
		want  string // names, or the beginning of an error
	}{
		"in order":          {"0002_b.sql 0001_a.sql", "0001_a 0002_b"},
		"of this database":  {"0001_a.sqlite.sql 0001_a.postgres.sql", "0001_a"},
		"a gap":             {"0001_a.sql 0003_c.sql", "0003_c: want version 2"},
		"only of the other": {"0001_a.sql 0002_b.postgres.sql 0003_c.sql", "0003_c: want version 2"},
		"a double":          {"0001_a.sql 0001_b.sql", "0001_b: want version 2"},
		"no version":        {"a.sql", "migrations/a.sql: the name does not begin with a version"},
		"none":              {"0001_a.txt", "there are none"},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := fstest.MapFS{}
			for file := range strings.FieldsSeq(test.files) {
				files["migrations/"+file] = &fstest.MapFile{}
			}
			all, err := readMigrations(files, "sqlite")
			var names []string
			for _, step := range all {
				names = append(names, step.name)
			}
			got := strings.Join(names, " ")
			if err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
