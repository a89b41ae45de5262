package store

import (
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/store/table"
	"github.com/recado-project/recado/internal/testkit/cases"
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
		findMessages:              "messages_by_platform_id (instance_id=? AND platform_id=?)",
		messageByPlatformID:       "messages_by_platform_id (instance_id=? AND platform_id=?)",
		s.dialect.messagesByIDs(): "messages_by_platform_id (instance_id=? AND platform_id=?)",
		messageByID:               "sqlite_autoindex_messages_1 (id=?)",
		insertNewMessage:          "messages_by_platform_id (instance_id=? AND platform_id=?)",
		insertRequestedMessage:    "sqlite_autoindex_idempotency_1 (key_id=? AND key=?)",
		findSentChange:            "sqlite_autoindex_sent_changes_1 (instance_id=? AND platform_id=?)",
		appendEvent:               "sqlite_autoindex_events_1 (instance_id=?)",
		readEvents:                "sqlite_autoindex_events_1 (instance_id=? AND sequence>?)",
		eventBounds:               "sqlite_autoindex_events_1 (instance_id=?)",
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
		countTraffic:               {"messages_in_order (instance_id=? AND created_at>? AND created_at<?)"},
		chatKnown:                  {"messages_in_order (instance_id=?)"},
		listCorrespondence:         {"messages_in_order (instance_id=? AND created_at>?)"},
		s.dialect.messagesByID():   {byID},
		newestEvents:               {"sqlite_autoindex_events_1 (instance_id=? AND sequence>? AND sequence<?)"},
		s.dialect.newestEventsOf(): {"sqlite_autoindex_events_1 (instance_id=? AND sequence>? AND sequence<?)"},
	}) {
		plan := explain(t, s, query)
		rest := plan
		for _, step := range want {
			_, after, found := strings.Cut(rest, step)
			if rest = after; !found || strings.Contains(plan, "SCAN messages") || strings.Contains(plan, "TEMP B-TREE") && strings.Contains(plan, "events") {
				t.Errorf("%s\nis planned as\n%s", query, plan)
			}
		}
	}
}

func explain(t *testing.T, s *Store, query string) string {
	t.Helper()
	steps, err := table.Collect(t.Context(), s.db.reader(), func(row table.Scanner) (string, error) {
		var id, parent, unused int
		var detail string
		err := row.Scan(&id, &parent, &unused, &detail)
		return detail, err
	}, "EXPLAIN QUERY PLAN "+query, make([]any, 25)...)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(steps, "\n")
}
