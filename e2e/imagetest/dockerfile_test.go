package imagetest_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// root is the repository's.
const root = "../.."

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// instruction is one of a Dockerfile, with its continued lines as one text.
type instruction struct{ word, arguments string }

// stages reads the Dockerfile: the instructions of each stage, by its name.
func stages(t *testing.T) map[string][]instruction {
	t.Helper()
	text := regexp.MustCompile(`(?m)^#.*\n`).ReplaceAllString(read(t, "Dockerfile"), "")
	text = strings.ReplaceAll(text, "\\\n", "")
	found := map[string][]instruction{}
	name := ""
	for line := range strings.Lines(text) {
		word, arguments, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case "":
		case "FROM":
			_, alias, ok := strings.Cut(arguments, " AS ")
			if !ok {
				t.Fatalf("a stage without a name: %s", line)
			}
			name = alias
			found[name] = nil
		default:
			found[name] = append(found[name], instruction{word, arguments})
		}
	}
	return found
}
