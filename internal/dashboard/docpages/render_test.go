package docpages_test

import (
	"html"
	"io/fs"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/recado-project/recado/docs"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/sdks"
)

func TestDocumentsAreRendered(t *testing.T) {
	t.Parallel()
	for name, c := range cases.Sorted(map[string]struct {
		markdown string
		want     []string
		never    []string
	}{
		"a heading links to itself": {"## Send a `text`", []string{`<h2 id="send-a-text"><a href="#send-a-text">Send a <code>text</code></a></h2>`}, nil},
		"anchors are GitHub's": {
			"## message.poll_vote\n\n## Não é?\n\n## Twice\n\n## Twice", []string{`id="messagepoll_vote"`, `id="não-é"`, `id="twice"`, `id="twice-1"`}, nil,
		},
		"a heading with a link is none": {"## See [there](b.md)", []string{`<h2 id="see-there">See <a href="/docs/b">there</a></h2>`}, nil},
		"code can be copied": {
			"```json\n{\"a\": \"<b>\"}\n```", []string{`<pre tabindex="0" id="docs-code-1">{&#34;a&#34;: &#34;&lt;b&gt;&#34;}</pre><button`, `data-copy="docs-code-1"`}, nil,
		},
		"code in a list can be copied": {"- one\n\n  ```\n  two\n  ```\n- three", []string{`>two</pre><button`, `data-copy="docs-code-1"`, "three"}, nil},
		"a prompt is not copied":       {"```console\n$ recado dev\nready\n```", []string{"<span class=\"typed\">recado dev</span>\nready</pre>"}, []string{"$ "}},
		"a table": {
			"| | n |\n| --- | ---: |\n| a \\| b | 1 |", []string{`<div class="scroll" tabindex="0"><table>`, `<th scope="col" class="right">n</th>`, `<td class="right">1</td>`, "a | b"}, []string{"style", "<th></th>", `<th scope="col"></th>`},
		},
		"HTML is left out":                {"<script>alert(1)</script>\n\na <b onclick=x>b</b>", []string{"b"}, []string{"<script", "onclick", "alert"}},
		"remarks are gone":                {"<!-- generated -->\n| a |\n| --- |\n| 1 |", []string{"<table>"}, []string{"generated", "omitted"}},
		"what is text stays text":         {"1 < 2 & \\<i\\> &lt;u&gt;", []string{"1 &lt; 2 &amp; &lt;i&gt; &lt;u&gt;"}, nil},
		"a link that runs something":      {"[x](javascript:alert(1))", []string{`<a href="">x</a>`}, []string{"javascript"}},
		"another document":                {"[b](b.md#there) [here](#here)", []string{`href="/docs/b#there"`, `href="#here"`}, nil},
		"the list":                        {"[all](README.md)", []string{`href="/docs"`}, nil},
		"the API":                         {"[api](openapi.yaml)", []string{`href="/docs/api"`}, nil},
		"a file of the documents":         {"[go](webhooks/receiver.go)", []string{`href="/docs/webhooks/receiver.go"`}, nil},
		"a file of the source":            {"[c](../client/README.md#use)", []string{`href="https://github.com/recado-project/recado/blob/HEAD/client/README.md#use" rel="noreferrer"`}, nil},
		"another site":                    {"[e](https://example.org/a?b=1&c) https://example.com", []string{`href="https://example.org/a?b=1&amp;c" rel="noreferrer"`, `<a href="https://example.com" rel="noreferrer">`}, nil},
		"a picture":                       {`![Two "phones"](pictures/a.png)`, []string{`<img src="/docs/pictures/a.png" alt="Two &quot;phones&quot;" loading="lazy">`}, nil},
		"bytes that no document may have": {"a\x00docs-code-1\x00b", []string{"docs-code-1"}, []string{"data-copy"}},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, of(map[string]string{"a.md": "# A\n\n" + c.markdown, "b.md": "# B", "webhooks/receiver.go": "package x", "pictures/a.png": "x"}))
			shown := article(t, r.page(t, "/docs/a"))
			for _, want := range c.want {
				if !strings.Contains(shown, want) {
					t.Errorf("it lacks %s: %s", want, shown)
				}
			}
			for _, never := range c.never {
				if strings.Contains(shown, never) {
					t.Errorf("it has %s: %s", never, shown)
				}
			}
		})
	}
}

// A document in two languages is shown in the reader's, and a link is good in both.
func TestTranslations(t *testing.T) {
	t.Parallel()
	r := newRig(t, of(map[string]string{
		"a.md": "# Events\n\n## Send them\n\n## Read them", "b.md": "# Other\n\n[there](a.md#read-them)",
		"pt-BR/a.md": "# Eventos\n\n## Enviar\n\n## Ler\n\n[outra](../b.md), [aqui](a.md), [abaixo](#ler), [antes](a.md#enviar), [lá](../b.md#other)",
	}))
	const portuguese = "Accept-Language: pt-BR,pt;q=0.9"
	for path, want := range cases.Sorted(map[string][]string{
		"/docs/a": {
			`lang="pt-BR"><h1 id="events">Eventos`, `<h2 id="read-them"><a href="#read-them">Ler`, `href="/docs/b"`, `href="/docs/a"`,
			`<a href="#read-them">abaixo`, `href="/docs/a#send-them"`, `href="/docs/b#other"`,
		},
		"/docs/a?lang=en":    {`lang="en"><h1 id="events">Events`},
		"/docs/b":            {`lang="en"><h1 id="other">Other`},
		"/docs/b?lang=pt-BR": {`lang="en"><h1 id="other">Other`},
	}) {
		shown := article(t, r.page(t, path, portuguese))
		for _, text := range want {
			if !strings.Contains(shown, text) {
				t.Errorf("%s lacks %s: %s", path, text, shown)
			}
		}
	}
	if page := r.page(t, "/docs/a", portuguese); !strings.Contains(page, `<a href="/docs/a?lang=en" lang="en" hreflang="en">English</a>`) {
		t.Error("the translation has no link to the original")
	}
	if page := r.page(t, "/docs/a"); !strings.Contains(article(t, page), "Events") || !strings.Contains(page, ">Português</a>") {
		t.Error("the original has no link to the translation")
	}
	if page := r.page(t, "/docs/search?search=enviar", portuguese); !strings.Contains(page, `href="/docs/a#send-them"`) {
		t.Error("a search in Portuguese does not find the translation")
	}
}

var (
	links = regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	ids   = regexp.MustCompile(` id="([^"]*)"`)
)

// reserved are the addresses that others than these pages serve.
func reserved(path string) bool {
	return path == "/instances" || path == "/openapi.json" || path == "/openapi.yaml" || strings.HasPrefix(path, "/assets/")
}

// Every link of every document leads to a page and a heading that are there, and no two parts of a page have the same name.
func TestLinksOfDocumentsLeadSomewhere(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	const portuguese = "?lang=pt-BR"
	paths := []string{"/docs", "/docs" + portuguese, "/docs/api", "/docs/api/errors", "/docs/api/sendText", "/docs/api/deleteChat", "/docs/api/getHealth"}
	err := fs.WalkDir(docs.Guides, ".", func(name string, _ fs.DirEntry, err error) error {
		if page, ok := strings.CutSuffix(name, ".md"); ok && name != "README.md" && name != "pt-BR/README.md" {
			page, translation := strings.CutPrefix(strings.TrimSuffix(page, "/README"), "pt-BR/")
			paths = append(paths, "/docs/"+page+map[bool]string{true: portuguese, false: ""}[translation])
		}
		return err
	})
	if err != nil || len(paths) < 40 {
		t.Fatalf("%d pages: %v", len(paths), err)
	}
	there := map[string][]string{} // the ids of a page, by its path
	visit := func(path string) string {
		reader := "Accept-Language: en"
		if strings.HasSuffix(path, portuguese) {
			reader = "Accept-Language: pt-BR"
		}
		page := r.page(t, path, reader)
		for _, id := range ids.FindAllStringSubmatch(page, -1) {
			there[path] = append(there[path], html.UnescapeString(id[1]))
		}
		return page
	}
	texts := map[string]string{}
	for _, path := range paths {
		texts[path] = visit(path)
		sorted := slices.Sorted(slices.Values(there[path]))
		if len(slices.Compact(slices.Clone(sorted))) != len(sorted) {
			t.Errorf("%s has two parts of the same name: %v", path, sorted)
		}
	}
	checked := 0
	for path, page := range cases.Sorted(texts) {
		for _, link := range links.FindAllStringSubmatch(page, -1) {
			target, err := url.Parse(html.UnescapeString(link[1]))
			switch {
			case err != nil:
				t.Errorf("%s: %v", path, err)
				continue
			case target.Host != "":
				continue
			case target.Path == "":
				target.Path = strings.TrimSuffix(path, portuguese)
			case reserved(target.Path):
				continue
			}
			checked++
			if there[target.Path] == nil {
				if got := r.get(t, target.RequestURI()); got.Code != http.StatusOK {
					t.Errorf("%s links to %s, which answers %d", path, link[1], got.Code)
				}
			}
			if target.Fragment != "" && !slices.Contains(there[target.Path], target.Fragment) {
				t.Errorf("%s links to %s, and there is no such heading", path, link[1])
			}
		}
	}
	if checked < 3000 {
		t.Errorf("only %d links were found", checked)
	}
}

// The list names every document, but for those that have a list of their own.
func TestTheListIsWhole(t *testing.T) {
	t.Parallel()
	front := newRig(t, nil).page(t, "/docs")
	files, err := fs.Glob(docs.Guides, "*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if file != "README.md" && !strings.Contains(front, `<a href="/docs/`+strings.TrimSuffix(file, ".md")+`">`) {
			t.Errorf("docs/README.md does not list %s", file)
		}
	}
	if decisions := newRig(t, nil).page(t, "/docs/decisions"); strings.Count(decisions, `<a href="/docs/decisions/0`) < 18 {
		t.Error("docs/decisions/README.md does not list the decisions")
	}
}

// The order of the list is that of reading.
func TestPagesFollowEachOther(t *testing.T) {
	t.Parallel()
	page := newRig(t, nil).page(t, "/docs/webhooks")
	if !strings.Contains(page, `href="/docs/guide" rel="prev"`) || !strings.Contains(page, `href="/docs/events" rel="next"`) {
		t.Error("the page of webhooks does not stand between the guide and the events")
	}
	if first := newRig(t, nil).page(t, "/docs/tour"); strings.Contains(first, `rel="prev"`) {
		t.Error("there is something before the first page")
	}
}

// Each example of the guide is there in every language, and no other page has a choice.
func TestGuideIsInEveryLanguage(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	for _, address := range []string{"/docs/guide", "/docs/guide?lang=pt-BR"} {
		guide := r.page(t, address)
		examples := strings.Count(guide, `data-language="curl"`)
		if examples == 0 || !strings.Contains(guide, `<input type="radio" name="language" value="curl" checked>`) {
			t.Fatalf("%s has no examples to choose the language of", address)
		}
		for _, language := range sdks.Languages() {
			if !strings.Contains(guide, `value="`+language.ID+`">`+language.Name) {
				t.Errorf("%s does not offer %s", address, language.Name)
			}
			if found := strings.Count(guide, `data-language="`+language.ID+`"`); found != examples {
				t.Errorf("%s has %d examples, and %d in %s", address, examples, found, language.Name)
			}
		}
		_, text, _ := strings.Cut(guide, `<h3 id="text">`)
		text, _, _ = strings.Cut(text, `<h3 id="reply">`)
		for _, call := range []string{"recado.sendText({", "recado.send_text(", "$recado-&gt;sendText(", "recado.SendText(ctx,"} {
			if strings.Count(text, call) != 1 {
				t.Errorf("%s: the step text does not have %s once", address, call)
			}
		}
	}
	if other := r.page(t, "/docs/webhooks"); strings.Contains(other, "data-language") || strings.Contains(other, `class="languages"`) {
		t.Error("the page of webhooks offers languages")
	}
}
