// The check that everybody can use a page.

package browser

import (
	_ "embed"
	"fmt"
	"strings"
)

// axe is axe-core, which knows the rules; tools/vendor.sh fetches it.
//
//go:embed axe.min.js
var axe string

// Violations returns what axe-core finds on the page against the rules with these tags, such
// as wcag2aa, or of that name, such as color-contrast: a line for each rule, with the first
// elements that break it.
func (p *Page) Violations(rules ...string) []string {
	p.tb.Helper()
	var there bool
	p.Eval(`typeof axe !== "undefined"`, &there)
	if !there {
		p.Eval(axe+";1", nil)
	}
	kind := "tag"
	if len(rules) == 1 && strings.Contains(rules[0], "-") && rules[0] != "best-practice" {
		kind = "rule"
	}
	values := make([]string, len(rules))
	for n, rule := range rules {
		values[n] = quoted(rule)
	}
	var found []struct {
		ID, Help string
		Nodes    []struct{ HTML, FailureSummary string }
	}
	p.Eval(`axe.run(document, { resultTypes: ["violations"], runOnly: { type: "`+kind+`", values: [`+strings.Join(values, ",")+`] } }).then((result) =>
		result.violations.map((v) => ({ ID: v.id, Help: v.help, Nodes: v.nodes.slice(0, 3).map((n) => ({ HTML: n.html, FailureSummary: n.failureSummary })) })))`, &found)
	list := make([]string, len(found))
	for n, violation := range found {
		list[n] = fmt.Sprintf("%s (%s)", violation.ID, violation.Help)
		for _, node := range violation.Nodes {
			list[n] += fmt.Sprintf("\n    %s\n      %s", cut(node.HTML, 300), strings.ReplaceAll(node.FailureSummary, "\n", " "))
		}
	}
	return list
}
