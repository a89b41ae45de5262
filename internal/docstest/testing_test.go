package docstest_test

import (
	"strings"
	"testing"
)

// The page about testing shows what the packages for it are checked with, and nothing else.
func TestTestingShowsWhatIsChecked(t *testing.T) {
	t.Parallel()
	checked := []string{
		"sdks/testing-node/examples/vitest/bot.test.js",
		"sdks/testing-node/examples/playwright/bot.spec.js",
		"sdks/testing-python/examples/test_bot.py",
		"e2e/commandtest/bots_test.go",
		"sdks/testing-node/examples/testcontainers/order.test.js",
		"sdks/testcontainers-go/recado_test.go",
	}
	for _, b := range blocksOf(readFile(t, "docs/testing.md")) {
		if b.language == "sh" || b.language == "yaml" {
			continue // e2e/commandtest
		}
		if len(checked) == 0 {
			t.Fatalf("docs/testing.md:%d: which file is this checked in?", b.line)
		}
		code := readFile(t, checked[0])
		if b.language == "go" { // the body of a function
			code = strings.ReplaceAll(code, "\n\t", "\n")
		}
		if !strings.Contains(code, b.text) {
			t.Errorf("docs/testing.md:%d is not in %s", b.line, checked[0])
		}
		checked = checked[1:]
	}
	if len(checked) > 0 {
		t.Errorf("docs/testing.md does not show %v", checked)
	}
}
