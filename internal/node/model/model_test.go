package model_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/needs"
)

const (
	// maxMegabytes is how much memory the checker may take, and maxTime how much time. A check that needs
	// more fails: it has not seen everything.
	maxMegabytes, maxTime = 1_500, 10 * time.Minute

	tenure, lease = "tenure.pml", "lease.pml"

	twoWrite    = "assertion violated (((row_node==i)||(row_node==254))&&(row_epoch==job_epoch[i]))"
	keysAgain   = "assertion violated  !((used&(1<<job_keys[i])))"
	sentTwice   = "assertion violated ((shown==0)||(shown==job_id[i]))"
	twoWork     = "assertion violated (((held[0]&& !(stopped[0]))+(held[1]&& !(stopped[1])))<=1)"
	neverServed = "acceptance cycle"
)

// check is a model with its bounds, and what is looked for.
type check struct {
	file   string
	nodes  int
	faults int  // that happen; lease.pml has no bound
	served bool // whether somebody takes over, and the message arrives, in the end; else what must never happen
}

// bounded is as much as is gone through with every change: what a message goes through while up to three things
// happen to two nodes, or two to three, and the end of it for up to two and one.
func bounded() map[string]check {
	return map[string]check{
		"two nodes write":                  {file: tenure, nodes: 2, faults: 3},
		"three nodes write":                {file: tenure, nodes: 3, faults: 2},
		"somebody takes over from one":     {file: tenure, nodes: 2, faults: 2, served: true},
		"somebody of two takes over":       {file: tenure, nodes: 3, faults: 1, served: true},
		"two nodes keep to their leases":   {file: lease, nodes: 2},
		"three nodes keep to their leases": {file: lease, nodes: 3},
	}
}

// The models keep to what they promise, whatever happens in whatever order: at most one owner writes, what
// was accepted is sent once and under keys that nothing else was encrypted with, and somebody takes over.
func TestModels(t *testing.T) {
	t.Parallel()
	needs.Require(t, "spin")
	for name, c := range cases.Sorted(bounded()) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			output := c.run(t, "")
			if !strings.Contains(output, "errors: 0") {
				t.Errorf("the model is wrong:\n%s", output)
			}
			states := regexp.MustCompile(`(\d+) states, stored`).FindStringSubmatch(output)
			if states == nil {
				t.Fatalf("nothing was gone through:\n%s", output)
			}
			t.Logf("%d nodes, %d faults: %s states", c.nodes, c.faults, states[1])
		})
	}
}

// planted are the faults of the models, by the macro that plants them.
func planted() map[string]struct {
	check

	want string
} {
	type fault = struct {
		check

		want string
	}
	safety, end := check{file: tenure, nodes: 2, faults: 2}, check{file: tenure, nodes: 2, faults: 2, served: true}
	times := check{file: lease, nodes: 2}
	return map[string]fault{
		"NO_CHECK":           {safety, twoWrite},  // a write does not look at its tenure
		"NODE_ALONE":         {safety, twoWrite},  // it looks at the node, and not at the epoch
		"NO_LOCK":            {safety, twoWrite},  // it looks, and does not keep the tenure until the commit
		"MARK_WITHOUT_CHECK": {safety, twoWrite},  // only the first write of a message looks
		"EPOCH_STAYS":        {safety, keysAgain}, // a takeover leaves the epoch as it is
		"MEMORY_STAYS":       {safety, keysAgain}, // keys in memory outlive the tenure
		"KEYS_LATER":         {safety, keysAgain}, // the keys are written with the acknowledgement
		"SEND_FIRST":         {safety, keysAgain}, // a message leaves before it is kept
		"NEW_IDENTIFIER":     {safety, sentTwice}, // what is sent again has another identifier
		"ANSWER_FIRST":       {end, neverServed},  // the client is told before the commit
		"QUEUE_FORGOTTEN":    {end, neverServed},  // the next owner does not look what is pending
		"NO_RECONCILE":       {end, neverServed},  // tenures whose end was not written stay
		"LOCK_FOR_EVER":      {end, neverServed},  // a transaction of a process that is stopped never ends
		"OWN_CLOCK":          {times, twoWork},    // leases are compared with the clock of the machine
		"NO_LEASE":           {times, twoWork},    // nobody looks at the lease
		"NO_WATCH":           {times, twoWork},    // a node that can't renew its lease goes on
		"PATIENCE_TOO_LONG":  {times, twoWork},    // it goes on for longer than the lease and the grace
		"FROM_THE_ANSWER":    {times, twoWork},    // it counts from the answer to a renewal
	}
}

// Each fault that a model can have is found.
func TestPlantedFaults(t *testing.T) {
	t.Parallel()
	needs.Require(t, "spin")
	for macro, fault := range cases.Sorted(planted()) {
		t.Run(macro, func(t *testing.T) {
			t.Parallel()
			if output := fault.run(t, macro); !strings.Contains(output, fault.want) || !strings.Contains(output, "errors: 1") {
				t.Errorf("the fault is not found, or another one is:\n%s", output)
			}
		})
	}
}

// Every macro of the models that plants a fault is one that is tested.
func TestEveryFaultIsPlanted(t *testing.T) {
	t.Parallel()
	var found []string
	for _, file := range []string{tenure, lease} {
		for _, macro := range regexp.MustCompile(`(?m)^#ifn?def (\w+)`).FindAllStringSubmatch(read(t, file), -1) {
			found = append(found, macro[1])
		}
	}
	slices.Sort(found)
	found = slices.DeleteFunc(slices.Compact(found), func(macro string) bool { return macro == "N" || macro == "FAULTS" })
	var tested []string
	for macro := range cases.Sorted(planted()) {
		tested = append(tested, macro)
	}
	if !slices.Equal(found, tested) {
		t.Errorf("the models have %v, and tested are %v", found, tested)
	}
}

// run goes through the model, with a fault unless it is empty, and returns what the checker says.
func (c check) run(t *testing.T, fault string) string {
	t.Helper()
	dir := t.TempDir()
	file, err := filepath.Abs(c.file)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), maxTime)
	defer cancel()
	command := func(name string, args ...string) string {
		t.Helper()
		run := exec.CommandContext(ctx, name, args...)
		run.Dir = dir
		output, err := run.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, output)
		}
		return string(output)
	}
	generate := []string{"-a", fmt.Sprintf("-DN=%d", c.nodes), fmt.Sprintf("-DFAULTS=%d", c.faults)}
	if fault != "" {
		generate = append(generate, "-D"+fault)
	}
	command("spin", append(generate, file)...)
	build := []string{"-O1", "-w", fmt.Sprintf("-DMEMLIM=%d", maxMegabytes), "-o", "pan", "pan.c"}
	// What is deep is the search of lease.pml, whose times go on and on.
	search := []string{"-m100000"}
	if c.file == lease {
		search = []string{"-m2000000"}
	}
	if c.served {
		build, search = append(build, "-DNFAIR=4"), append(search, "-a", "-f") // weak fairness
	} else {
		build = append(build, "-DSAFETY", "-DNOCLAIM")
	}
	command("gcc", build...)
	output := command("./pan", search...)
	for _, limit := range []string{"max search depth too small", "out of memory", "MEMLIM bound"} {
		if strings.Contains(output, limit) {
			t.Errorf("not everything was gone through: %s", limit)
		}
	}
	return output
}

// What the decision says about the models is so: their parts and the code are there.
func TestMapping(t *testing.T) {
	t.Parallel()
	models := read(t, tenure) + read(t, lease)
	quoted := regexp.MustCompile("`([^`]+)`")
	rows := 0
	for line := range strings.Lines(read(t, "../../../docs/decisions/017-tenures-in-the-database.md")) {
		columns := strings.Split(line, "|")
		if len(columns) < 4 || !strings.Contains(columns[2], ".go`") {
			continue
		}
		rows++
		for _, part := range quoted.FindAllStringSubmatch(columns[1], -1) {
			if !strings.Contains(models, part[1]) {
				t.Errorf("no model has %q", part[1])
			}
		}
		code := ""
		for _, name := range quoted.FindAllStringSubmatch(columns[2], -1) {
			switch {
			case strings.Contains(name[1], "/"):
				code = read(t, "../../../"+name[1])
			case !regexp.MustCompile(`\b` + regexp.QuoteMeta(name[1]) + `\b`).MatchString(code):
				t.Errorf("the file before it has no %q:\n%s", name[1], line)
			}
		}
	}
	if rows < 10 {
		t.Errorf("the decision has %d rows about the code", rows)
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
