package watchtest_test

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/cli"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/postgres"
	"github.com/recado-project/recado/internal/whatsapp"
)

// A program that has sent, received, delivered and refused something shows it, on both
// databases. Prometheus' own linter finds nothing to say against the page, and
// docs/monitoring.md has every metric with its labels.
func TestMetrics(t *testing.T) {
	t.Parallel()
	for name, database := range cases.Sorted(map[string]func(t *testing.T) string{
		"SQLite":     func(*testing.T) string { return "" },
		"PostgreSQL": func(t *testing.T) string { t.Helper(); return postgres.Start(t) },
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder, url := t.TempDir(), database(t)
			g := testkit.Start(t, testkit.Options{Admin: true, DataDir: folder, DatabaseURL: url, Platform: whatsapp.Config{ClockEvery: 10 * time.Millisecond}})
			backUp(t, folder, url)
			live(t, g)
			var found families
			testkit.Await(t, "what was delivered is counted", func() bool {
				found = scrape(t, g)
				return found.value("recado_events_delivered_total", "kind=message.received") == 1 && found["recado_clock_offset_seconds"] != nil &&
					found.value("recado_events_delivered_total", "kind=message.sent") == 3 &&
					found.value("recado_send_duration_seconds", "kind=text", "outcome=sent") == 2
			})
			wantSeen(t, found)
			lint(t, g)
			if name == "SQLite" {
				wantDocumented(t, found)
			}
		})
	}
}

// backUp makes a backup with the command, as a timer does.
func backUp(t *testing.T, folder, url string) {
	t.Helper()
	var said bytes.Buffer
	args := []string{"backup", "--data", folder, filepath.Join(t.TempDir(), "backup.tar.gz")}
	if url != "" {
		args = append(args, "--database-url", url)
	}
	if code := cli.Run(t.Context(), args, strings.NewReader(""), &said, &said); code != 0 {
		t.Fatalf("recado backup ends with %d: %s", code, &said)
	}
}

// live makes the program do one of everything that is counted when it happens.
func live(t *testing.T, g *testkit.Gateway) {
	t.Helper()
	sink := testkit.NewSink(t)
	id := g.Link(t, shopNumber)
	if _, err := g.Client.SaveWebhookConfig(t.Context(), id, client.NewWebhookConfig{WebhookURL: sink.URL}); err != nil {
		t.Fatal(err)
	}
	sent, err := g.Client.SendText(t.Context(), id, client.Text{To: customerNumber, Message: "hello"})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Client.SendReaction(t.Context(), id, client.Reaction{MessageID: sent.ID, Reaction: "👍"}); err != nil {
		t.Fatal(err)
	}
	document, err := g.Client.SendDocument(t.Context(), id, client.Document{
		To: customerNumber, Document: client.DataURI("text/plain", []byte("some words")), FileName: "words.txt",
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Client.GetMediaDownloadLink(t.Context(), id, document.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Client.SendText(t.Context(), id, client.Text{To: customerNumber, Message: "later", Prefer: client.RespondAsync}); err != nil {
		t.Fatal(err)
	}
	g.Phones.SendText(t, customerNumber, shopNumber, "an answer")
	if status, _ := get(t, g.BaseURL+"/api/nothing"); status != http.StatusNotFound {
		t.Errorf("an unknown path answers %d", status)
	}
}

// wantSeen holds the figures to what live has done.
func wantSeen(t *testing.T, found families) {
	t.Helper()
	for _, want := range []struct {
		name   string
		labels []string
		value  float64
	}{
		{"recado_ready", nil, 1},
		{"recado_build_info", []string{"version=test"}, 1},
		{"recado_sessions_connected", nil, 1},
		{"recado_session_connections_total", nil, 1},
		{"recado_instances", []string{"status=connected"}, 1},
		{"recado_webhooks", []string{"state=ok"}, 1},
		{"recado_webhook_events_given_up_total", nil, 0},
		{"recado_instances_held", nil, 1},
		{"recado_instances_moved_total", []string{"event=lost"}, 0},
		{"recado_database_up", nil, 1},
		{"recado_send_duration_seconds", []string{"kind=text", "outcome=sent"}, 2},
		{"recado_send_duration_seconds", []string{"kind=document", "outcome=sent"}, 1},
		{"recado_send_duration_seconds", []string{"kind=reaction", "outcome=sent"}, 1},
		{"recado_media_bytes_total", []string{"direction=out"}, 10},
		{"recado_media_bytes_total", []string{"direction=in"}, 10},
		{"recado_http_request_duration_seconds", []string{"route=/api/message/{instanceId}/text", "method=POST", "status=2xx"}, 2},
		{"recado_http_request_duration_seconds", []string{"route=unknown", "status=4xx"}, 1},
		{"recado_events_appended_total", []string{"kind=message.received"}, 1},
		{"recado_client_version_refused", nil, 0},
		{"recado_settings_refused", nil, 0},
		{"recado_sign_ins_total", []string{"outcome=wrong"}, 0},
		{"recado_sessions_oldest_connecting_seconds", nil, 0},
		{"recado_session_attempts_failed_total", []string{"reason=unreachable"}, 0},
		{"recado_memory_limit_bytes", nil, 64 << 30},
	} {
		if got := found.value(want.name, want.labels...); got != want.value {
			t.Errorf("%s%v is %v, want %v", want.name, want.labels, got, want.value)
		}
	}
	for _, name := range []string{
		"recado_database_transaction_duration_seconds", "recado_file_sync_duration_seconds", "recado_disk_free_bytes", "recado_disk_size_bytes",
		"recado_database_size_bytes", "recado_backup_age_seconds", "recado_shared_limit", "recado_database_connections_limit", "go_goroutines", "process_open_fds",
	} {
		if got := found.value(name); !(got > 0) {
			t.Errorf("%s is %v, want more than nothing", name, got)
		}
	}
}

func lint(t *testing.T, g *testkit.Gateway) {
	t.Helper()
	_, page := get(t, g.Server.AdminURL()+"/metrics")
	problems, err := promlint.New(strings.NewReader(page)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range problems {
		t.Errorf("%s: %s", problem.Metric, problem.Text)
	}
}

const (
	monitoringPage       = "docs/monitoring.md"
	tableBegin, tableEnd = "<!-- the table is generated: go -C e2e test ./watchtest -run Metrics -update -->\n", "<!-- end of the table -->\n"
)

// wantDocumented holds the table of docs/monitoring.md to the metrics.
func wantDocumented(t *testing.T, found families) {
	t.Helper()
	page := readFile(t, monitoringPage)
	before, rest, ok := strings.Cut(page, tableBegin)
	old, after, closed := strings.Cut(rest, tableEnd)
	if !ok || !closed {
		t.Fatalf("%s has no place for the table", monitoringPage)
	}
	table := tableOf(found)
	switch {
	case old == table:
	case *update:
		if err := os.WriteFile(filepath.Join(root, monitoringPage), []byte(before+tableBegin+table+tableEnd+after), 0o600); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("the table of %s is old: go -C e2e test ./watchtest -run Metrics -update\n%s", monitoringPage, table)
	}
}

// tableOf describes our own metrics.
func tableOf(found families) string {
	var table strings.Builder
	table.WriteString("| metric | type | labels | what it says |\n| --- | --- | --- | --- |\n")
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if !strings.HasPrefix(name, "recado_") {
			continue
		}
		family := found[name]
		labels := map[string]bool{}
		for _, metric := range family.GetMetric() {
			for _, pair := range metric.GetLabel() {
				labels["`"+pair.GetName()+"`"] = true
			}
		}
		fmt.Fprintf(&table, "| `%s` | %s | %s | %s |\n", name, kindOf(family), strings.Join(slices.Sorted(maps.Keys(labels)), ", "), family.GetHelp())
	}
	return table.String()
}

func kindOf(family *dto.MetricFamily) string { return strings.ToLower(family.GetType().String()) }
