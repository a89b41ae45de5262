package docstest_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/testkit/cases"
)

// docs/versions.md says what the packages ask for, and all of them have one version.
func TestVersionsAreThoseOfThePackages(t *testing.T) {
	t.Parallel()
	page := readFile(t, "docs/versions.md")
	asked := map[string]string{} // the last column, by the first word of a row
	for _, row := range regexp.MustCompile(`(?m)^\| ([\w.]+),.* \| .* \| (.*) \|$`).FindAllStringSubmatch(page, -1) {
		asked[row[1]] = row[2]
	}
	for file, want := range cases.Sorted(map[string]struct{ named, as string }{
		"go.mod":                             {"Go", `(?m)^go (\d+\.\d+)`},
		"sdks/typescript/package.json":       {"Node.js", `"node": ">=([\d.]+)"`},
		"sdks/testing-node/package.json":     {"Node.js", `"node": ">=([\d.]+)"`},
		"sdks/python/pyproject.toml":         {"Python", `requires-python = ">=([\d.]+)"`},
		"sdks/testing-python/pyproject.toml": {"Python", `requires-python = ">=([\d.]+)"`},
		"sdks/php/composer.json":             {"PHP", `"php": ">=([\d.]+)"`},
	}) {
		content := readFile(t, file)
		found := regexp.MustCompile(want.as).FindStringSubmatch(content)
		if len(found) != 2 || !regexp.MustCompile(`(^|[ ,])`+regexp.QuoteMeta(found[1])+`($|[ ,;])`).MatchString(asked[want.named]) {
			t.Errorf("%s asks for %v, and docs/versions.md says %q of %s", file, found, asked[want.named], want.named)
		}
		if file != "go.mod" && !strings.Contains(content, `"1.0.0"`) {
			t.Errorf("%s is not of the version that the others have", file)
		}
	}
}
