package store

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/recado-project/recado/internal/store/table"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/postgres"
)

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
