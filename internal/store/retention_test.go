package store

import (
	"context"
	"log/slog"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/groupcommit"
	"github.com/recado-project/recado/internal/store/table"
)

// watched notes how much is removed at a time.
type watched struct {
	database

	most     int64
	messages int // that are left
	atLast   int // messages and events that are left for the last transaction
	counted  func() (messages, events int)
}

func (w *watched) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	n, err := w.database.Exec(ctx, query, args...)
	w.most = max(w.most, n)
	return n, err
}

func (w *watched) Begin(
	ctx context.Context, id string, fn func(ctx context.Context, q table.Querier) error, committed func(),
) groupcommit.Pending {
	messages, events := w.counted()
	w.most = max(w.most, int64(w.messages-messages))
	w.messages, w.atLast = messages, messages+events
	return w.database.Begin(ctx, id, fn, committed)
}

// An instance with many messages is deleted in slices: in one transaction it would
// keep every other write waiting, and on PostgreSQL run into its time-out.
func TestDeleteInstanceInSlices(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), Config{Path: filepath.Join(t.TempDir(), "recado.db"), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	const n = 2*sliceRows + 1
	check(s.CreateAccount(t.Context(), gateway.Account{ID: "account", Name: "account"}))
	check(s.CreateInstance(t.Context(), gateway.Instance{ID: "instance", AccountID: "account"}))
	messages, events := make([]gateway.Message, n), make([]eventlog.Event, n)
	for i := range n {
		id := strconv.Itoa(i)
		messages[i] = gateway.Message{ID: id, InstanceID: "instance", PlatformID: id}
		events[i] = eventlog.Event{ID: id, SourceKey: id}
	}
	check(s.AddHistory(t.Context(), "instance", messages))
	check(s.AppendEvents(t.Context(), "instance", events...))
	w := &watched{database: s.db.database, messages: n}
	w.counted = func() (messages, events int) {
		check(w.Reader().QueryRowContext(t.Context(),
			"SELECT (SELECT count(*) FROM messages), (SELECT count(*) FROM events)").Scan(&messages, &events))
		return messages, events
	}
	s.db.database = w
	check(s.DeleteInstance(t.Context(), "instance"))
	if w.most > sliceRows || w.atLast > 0 {
		t.Errorf("%d rows were removed at once, and %d at last", w.most, w.atLast)
	}
}
