package architecture_test

import (
	"regexp"
	"strings"
	"testing"
)

// The glossary has at most forty-five words, each explained once.
func TestGlossaryIsShort(t *testing.T) {
	t.Parallel()
	_, section, ok := strings.Cut(read(t, "ARCHITECTURE.md"), "\n## Glossary\n")
	if !ok {
		t.Fatal("ARCHITECTURE.md has no glossary")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	words := regexp.MustCompile(`(?m)^- \*\*(.+?)\*\*: \S`).FindAllStringSubmatch(section, -1)
	if len(words) == 0 || len(words) > 45 {
		t.Errorf("the glossary has %d words", len(words))
	}
	explained := map[string]bool{}
	for _, word := range words {
		if explained[word[1]] {
			t.Errorf("the glossary explains %q twice", word[1])
		}
		explained[word[1]] = true
	}
}
