package architecture_test

import (
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// CI runs what a change can break, so its table knows every folder, every folder of the table is
// there, and the steps are those that CI has.
func TestTableOfCIHasEveryFolder(t *testing.T) {
	t.Parallel()
	steps := strings.Fields(regexp.MustCompile(`(?m)^all_steps=\((.*)\)$`).FindStringSubmatch(read(t, ".ci/run"))[1])
	table := map[string][]string{}
	for line := range strings.Lines(read(t, ".ci/table")) {
		columns := strings.Fields(line)
		if len(columns) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		folder, asked := columns[0], columns[1:]
		if table[folder] != nil || len(asked) == 0 {
			t.Errorf("%s is there twice, or without a step; none is said by -", folder)
		}
		for _, step := range asked {
			if !slices.Contains(steps, step) && step != "all" && step != "-" {
				t.Errorf("%s needs %s, which is no step of CI", folder, step)
			}
		}
		table[folder] = asked
		if !exists(root + "/" + folder) {
			t.Errorf("%s is not there", folder)
		}
	}
	for folder := range folders(t) {
		if table[folder] == nil {
			t.Errorf("%s is missing in .ci/table: which steps can a change of it break?", folder)
		}
	}
}

// folders returns those that have a line of their own in the table of CI: the ones at the root, the
// rooms of internal and of e2e.
func folders(t *testing.T) map[string]bool {
	t.Helper()
	command := exec.CommandContext(t.Context(), "git", "ls-files")
	command.Dir = root
	files, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for file := range strings.Lines(string(files)) {
		parts := strings.Split(path.Dir(strings.TrimSpace(file)), "/")
		if parts[0] == "." {
			continue
		}
		if (parts[0] == "internal" || parts[0] == "e2e") && len(parts) > 1 {
			found[parts[0]+"/"+parts[1]] = true
			continue
		}
		found[parts[0]] = true
	}
	return found
}
