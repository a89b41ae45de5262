package needs_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/recado-project/recado/needs"
)

// With every line of the list somebody can be told what is missing, what for, and what brings it.
func TestListIsWhole(t *testing.T) {
	t.Parallel()
	var names []string
	for _, need := range needs.All() {
		if need.Name == "" || strings.Contains(need.Name, " ") || len(need.Programs) == 0 || need.LeftOut == "" || slices.Contains(names, need.Name) {
			t.Errorf("%+v", need)
		}
		names = append(names, need.Name)
	}
	if len(names) == 0 {
		t.Error("the list is empty")
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	if path := needs.Find("go"); path == "" {
		t.Error("the go command runs this test, and is not found")
	}
	if path := needs.Find("recado-has-no-such-program"); path != "" {
		t.Errorf("found %s", path)
	}
}

// asReporter is set in the environment of the process that reports after the go command.
const asReporter = "RECADO_TEST_REPORTS_AFTER"

func TestMain(m *testing.M) {
	if goCommand := os.Getenv(asReporter); goCommand != "" {
		reportAfter(goCommand)
		return
	}
	os.Exit(m.Run())
}

// This package is the last of `go test ./...`. The go command shows nothing of what a package prints
// that passes, so what was left out is said behind its last line, by a process that waits for its
// end.
func TestSaysWhatIsLeftOut(t *testing.T) {
	t.Parallel()
	report := reportOf(needs.All())
	if report == "" || os.Getenv("CI") == "true" {
		return // CI fails without them, or says itself what it leaves out
	}
	if err := startReporter(report); err != nil {
		t.Log(err)
	}
	t.Log(report)
}

func TestReport(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		needs []needs.Need
		want  []string
	}{
		{needs: []needs.Need{{Name: "Go", Programs: []string{"go"}, LeftOut: "everything"}}},
		{
			needs: []needs.Need{{Name: "Go", Programs: []string{"go"}}, {Name: "Two", Programs: []string{"go", "recado-two"}, LeftOut: "pairs"}},
			want:  []string{"Two", "recado-two", "pairs", "needs/install.sh"},
		},
	} {
		report := reportOf(c.needs)
		for _, want := range c.want {
			if !strings.Contains(report, want) {
				t.Errorf("the report has no %q: %s", want, report)
			}
		}
		if (report == "") != (c.want == nil) || strings.Contains(report, "Go ") {
			t.Errorf("the report of %+v is %q", c.needs, report)
		}
	}
}

// reportOf says what is left out; empty if nothing is.
func reportOf(all []needs.Need) string {
	var lines []string
	for _, need := range all {
		if missing := need.Missing(); len(missing) > 0 {
			lines = append(lines, fmt.Sprintf("  %-11s %s (no %s)", need.Name, need.LeftOut, strings.Join(missing, ", ")))
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return "\nLeft out, because this machine has not what they need:\n" + strings.Join(lines, "\n") +
		"\nOn Debian, this brings all of it and tests again:\n  needs/install.sh && go test -count=1 ./...\n"
}
