package docpages_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/testkit/cases"
)

var results = regexp.MustCompile(`(?s)<li lang="[^"]*"><a href="([^"]*)">`)

// found returns where the results of a search lead, the best first.
func found(page string) (to []string) {
	_, list, _ := strings.Cut(page, `docs-found"`)
	list, _, _ = strings.Cut(list, "</section>")
	for _, one := range results.FindAllStringSubmatch(list, -1) {
		to = append(to, one[1])
	}
	return to
}

func TestSearchFindsTheSection(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	for search, want := range cases.Sorted(map[string]string{
		"message.received":    "/docs/events#messagereceived",
		"Send a TEXT":         "/docs/api/sendText",
		"/api/message/":       "/docs/api/sendText",
		"mark as read":        "/docs/guide#mark-as-read",
		"check the signature": "/docs/webhooks#check-the-signature",
		"signat check":        "/docs/webhooks#check-the-signature",
		"recado serve":        "/docs/config#recado-serve",
		"the dashboard":       "/docs/dashboard",
	}) {
		got := found(r.page(t, "/docs/search?search="+strings.ReplaceAll(search, " ", "+")))
		if len(got) == 0 || got[0] != want {
			t.Errorf("%q finds %v first, want %s", search, got[:min(3, len(got))], want)
		}
	}
}

func TestSearch(t *testing.T) {
	t.Parallel()
	r := newRig(t, of(map[string]string{
		"a.md": "# Proxies\n\n## Café\n\nOne <b> two " + strings.Repeat("word ", 100) + "needle and `more` needles.\n\n## Other\n\nNeedle.",
		"b.md": "# Plain\n\nNothing.",
	}))
	for name, c := range cases.Sorted(map[string]struct {
		search string
		want   []string // the results
		has    []string
	}{
		"words are marked":           {"NEEDLE", []string{"/docs/a#caf%c3%a9", "/docs/a#other"}, []string{"<mark>needle</mark> and more <mark>needle</mark>s", "… word"}},
		"accents do not matter":      {"cafe", []string{"/docs/a#caf%c3%a9"}, []string{"<mark>Café</mark>"}},
		"all words have to be there": {"needle+nothing", nil, []string{"Nothing has all of these words: needle nothing"}},
		"also in two places":         {"proxies+other", []string{"/docs/a#other"}, nil},
		"what is found is escaped":   {"one", []string{"/docs/a#caf%c3%a9"}, []string{"<mark>One</mark> two"}},
		"and what is searched for":   {"%3Cscript%3E", nil, []string{"&lt;script&gt;"}},
		"too long":                   {strings.Repeat("x", 101), nil, nil},
		"many words":                 {strings.Repeat("a+", 50), nil, nil},
		"nothing":                    {"++", nil, nil},
		"no text at all":             {"%ff%fe", nil, nil},
	}) {
		page := r.page(t, "/docs/search?search="+c.search)
		got := found(page)
		if name != "many words" && strings.Join(got, " ") != strings.Join(c.want, " ") {
			t.Errorf("%s: found %v, want %v", name, got, c.want)
		}
		for _, text := range c.has {
			if !strings.Contains(page, text) {
				t.Errorf("%s: the page lacks %s", name, text)
			}
		}
	}
}

// While somebody types, the answer is the results alone.
func TestSearchWhileTyping(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	if got := r.page(t, "/docs/search?search=webhook", "HX-Request: true"); strings.Contains(got, "<html") || len(found(got)) != 20 {
		t.Errorf("%d results: %s", len(found(got)), got)
	}
	if got := r.page(t, "/docs/search?search=", "HX-Request: true"); strings.TrimSpace(got) != "" {
		t.Errorf("an empty search answers %q", got)
	}
}
