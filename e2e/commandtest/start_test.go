package commandtest_test

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/testkit/process"
)

// Every command pays for what packages make before it begins, and a running gateway keeps it.
func TestPackagesMakeLittleBeforeACommandBegins(t *testing.T) {
	t.Parallel()
	const mostAllowed = 4_100_000 // bytes; it was 3.74 million, and 7.0 when tables were read and patterns with many repetitions compiled
	command := exec.Command(process.Plain(t), "--version")
	command.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	type made struct {
		bytes int
		name  string
	}
	var packages []made
	sum := 0
	for _, found := range regexp.MustCompile(`init (\S+) @.* (\d+) bytes`).FindAllStringSubmatch(string(output), -1) {
		count, err := strconv.Atoi(found[2])
		if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, made{count, found[1]})
		sum += count
	}
	const fewest = 100
	if len(packages) < fewest {
		t.Fatalf("only %d packages say what they made: %s", len(packages), output)
	}
	t.Logf("%d bytes", sum)
	if sum <= mostAllowed {
		return
	}
	slices.SortFunc(packages, func(a, b made) int { return b.bytes - a.bytes })
	var most strings.Builder
	for _, one := range packages[:15] {
		most.WriteString("\n" + strconv.Itoa(one.bytes) + " " + one.name)
	}
	t.Errorf("packages make %d bytes before the command begins, want %d at most:%s", sum, mostAllowed, most.String())
}
