package watchtest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/testkit/cases"
)

const rulesFile = "deploy/prometheus/alerts.yml"

// stretch is what every scrape finds for some time; an empty page means that nobody answers.
type stretch struct {
	Content string `json:"content"`
	Minutes int    `json:"minutes"`
	Gone    bool   `json:"gone"` // Prometheus does not know whom to ask
}

// question and verdict are what tools/alerts reads and writes.
type question struct {
	Rules       string               `json:"rules"`
	Cases       map[string][]stretch `json:"cases"`
	Expressions []string             `json:"expressions"`
}

type verdict struct {
	Rules []struct {
		Alert       string            `json:"alert"`
		Labels      map[string]string `json:"labels"`
		Annotations map[string]string `json:"annotations"`
	} `json:"rules"`
	Firing map[string][]struct {
		Name        string            `json:"name"`
		Annotations map[string]string `json:"annotations"`
	} `json:"firing"`
	Metrics map[string][]string `json:"metrics"`
}

// judge asks the rules engine of Prometheus.
func judge(t *testing.T, asked question) verdict {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	program := filepath.Join(t.TempDir(), "alerts")
	build := exec.CommandContext(ctx, "go", "build", "-o", program, ".")
	build.Dir = filepath.Join(root, "tools", "alerts")
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("tools/alerts is not built: %v\n%s", err, output)
	}
	input, err := json.Marshal(asked)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(ctx, program)
	command.Stdin = bytes.NewReader(input)
	var problems bytes.Buffer
	command.Stderr = &problems
	output, err := command.Output()
	if err != nil {
		t.Fatalf("the rules can't be tried: %v\n%s", err, &problems)
	}
	var said verdict
	if err := json.Unmarshal(output, &said); err != nil {
		t.Fatal(err)
	}
	return said
}

// set replaces the value of one series of a page. The series must be there.
func set(t *testing.T, page, series string, value float64) string {
	t.Helper()
	line := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(series) + ` .*$`)
	if !line.MatchString(page) {
		t.Fatalf("the page has no %s", series)
	}
	return line.ReplaceAllLiteralString(page, series+" "+strconv.FormatFloat(value, 'g', -1, 64))
}

// growing is a counter that grows by so much in each of some minutes.
func growing(t *testing.T, page string, minutes int, each float64, series ...string) []stretch {
	t.Helper()
	var stretches []stretch
	for n := range minutes {
		for _, one := range series {
			page = set(t, page, one, float64(n+1)*each+1_000)
		}
		stretches = append(stretches, stretch{Content: page, Minutes: 1})
	}
	return stretches
}

// Every alert fires when what it is for happens, and no other then. Nothing fires while all
// is well. What can be provoked is provoked in the real program; for the others a value is
// changed in a page that it has written.
//
//nolint:tparallel // its subtests bring what it judges at its end
func TestAlertsFire(t *testing.T) {
	t.Parallel()
	well := healthyPage(t)
	tests, want := map[string][]stretch{}, map[string][]string{}
	add := func(alert string, stretches ...stretch) {
		tests[alert] = append([]stretch{{Content: well, Minutes: 30}}, stretches...)
		want[alert] = []string{alert}
	}
	tests["all is well"] = []stretch{{Content: well, Minutes: 180}}
	add("RecadoDown", stretch{Minutes: 10})
	tests["RecadoAbsent"], want["RecadoAbsent"] = []stretch{{Content: well, Minutes: 30}, {Minutes: 15, Gone: true}}, []string{"RecadoAbsent"}
	add("RecadoMemoryNearlyFull", stretch{Content: set(t, well, "process_resident_memory_bytes", 62<<30), Minutes: 10})
	add("RecadoBackupOld", stretch{Content: set(t, well, "recado_backup_age_seconds", 2*86_400), Minutes: 2})
	add("RecadoSessionNotBack", stretch{Content: set(t, well, "recado_sessions_oldest_connecting_seconds", 2_000), Minutes: 2})
	add("RecadoNotReady", stretch{Content: set(t, well, "recado_ready", 0), Minutes: 10})
	add("RecadoDiskNearlyFull", stretch{Content: set(t, well, "recado_disk_free_bytes", 900<<20), Minutes: 10})
	add("RecadoFileDescriptors", stretch{Content: set(t, well, "process_open_fds", 1<<40), Minutes: 10})
	add("RecadoInstancesLost", stretch{Content: set(t, well, `recado_instances_moved_total{event="lost"}`, 40), Minutes: 2})
	add("RecadoInstancesWithoutNode", stretch{Content: set(t, well, "recado_instances_held", 0), Minutes: 4})
	add("RecadoPoolExhausted", growing(t, well, 20, 60, `recado_shared_refused_total{pool="bodies"}`)...)
	add("RecadoDatabaseConnectionsExhausted", growing(t, well, 20, 200, "recado_database_connection_wait_seconds_total")...)
	add("RecadoSignInsFail", growing(t, well, 10, 20, `recado_sign_ins_total{outcome="held_up"}`)...)
	add("RecadoRequestsLimited", growing(t, well, 25, 100, `recado_http_requests_limited_total{limit="key"}`)...)
	for alert, metric := range cases.Sorted(map[string]string{
		"RecadoDatabaseSlow": "recado_database_transaction_duration_seconds", "RecadoDiskSlow": "recado_file_sync_duration_seconds",
	}) {
		add(alert, growing(t, well, 20, 60, metric+`_bucket{le="+Inf"}`, metric+"_count")...)
	}
	maps.Copy(tests, provoked(t, want))
	// The platform is away for an hour, from one and from many.
	away := tests[platformAway]
	for _, instances := range []float64{10, 500} {
		name := fmt.Sprintf("%s from %v instances", platformAway, instances)
		before := set(t, set(t, set(t, away[0].Content, `recado_instances{status="connected"}`, instances), "recado_sessions_connected", instances), "recado_instances_held", instances)
		after := set(t, set(t, away[1].Content, `recado_instances{status="connecting"}`, instances), "recado_instances_held", instances)
		after = set(t, after, `recado_session_losses_total{reason="connection_lost"}`, instances)
		tests[name] = []stretch{{Content: before, Minutes: 30}, {Content: after, Minutes: 60}}
		want[name] = want[platformAway]
	}
	said := judge(t, question{Rules: readFile(t, rulesFile), Cases: tests})
	for name := range cases.Sorted(tests) {
		var fired []string
		for _, alert := range said.Firing[name] {
			fired = append(fired, alert.Name)
			if summary := alert.Annotations["summary"]; summary == "" || strings.Contains(summary, "{{") || strings.Contains(summary, "<error") {
				t.Errorf("%s says %q", alert.Name, summary)
			}
		}
		slices.Sort(fired)
		slices.Sort(want[name])
		if fired = slices.Compact(fired); !slices.Equal(fired, want[name]) {
			t.Errorf("%s: %v fire, want %v", name, fired, want[name])
		}
	}
	wantTried(t, said, want)
	wantMetrics(t, well, said.Metrics)
}

// wantTried fails the test unless each alert has been tried, and has a place in the document.
func wantTried(t *testing.T, said verdict, want map[string][]string) {
	t.Helper()
	tried := slices.Concat(slices.Collect(maps.Values(want))...)
	document := readFile(t, monitoringPage)
	for _, rule := range said.Rules {
		if !slices.Contains(tried, rule.Alert) {
			t.Errorf("%s is fired by nothing", rule.Alert)
		}
		if !strings.Contains(document, "\n### "+rule.Alert+"\n") {
			t.Errorf("%s does not say what to do about %s", monitoringPage, rule.Alert)
		}
		if severity := rule.Labels["severity"]; !slices.Contains([]string{"critical", "warning", "info"}, severity) {
			t.Errorf("%s is of the severity %q", rule.Alert, severity)
		}
	}
	for _, heading := range regexp.MustCompile(`(?m)^### (Recado\w+)$`).FindAllStringSubmatch(document, -1) {
		if !slices.Contains(tried, heading[1]) {
			t.Errorf("%s explains %s, which is no alert", monitoringPage, heading[1])
		}
	}
}

// wantMetrics fails the test if an expression uses a metric that a page does not have.
func wantMetrics(t *testing.T, page string, used map[string][]string) {
	t.Helper()
	for expression, names := range cases.Sorted(used) {
		if len(names) == 0 {
			t.Errorf("%s uses no metric", expression)
		}
		for _, name := range names {
			if name != "up" && !strings.Contains(page, "\n"+name+" ") && !strings.Contains(page, "\n"+name+"{") {
				t.Errorf("%s uses %s, which is not there", expression, name)
			}
		}
	}
}
