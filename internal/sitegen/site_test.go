package main

import (
	"html"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/web/webtest"
)

const documentPath = "../../docs/openapi.yaml"

func TestEveryWordIsTranslated(t *testing.T) {
	t.Parallel()
	webtest.Words(t)
}

var (
	anyLink = regexp.MustCompile(`\b(?:href|src|action|hx-get|hx-post)="([^"]*)"`)
	anyID   = regexp.MustCompile(`\bid="([^"]*)"`)
)

// Every link of every page leads to a file and a part that are there, in every language, wherever the site lies.
func TestLinksOfTheSiteLeadSomewhere(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := generate(t.Context(), documentPath, folder); err != nil {
		t.Fatal(err)
	}
	texts, parts := map[string]string{}, map[string][]string{}
	err := filepath.WalkDir(folder, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(folder, file)
		if err != nil {
			return err
		}
		content, err := os.ReadFile(file)
		texts[name] = string(content)
		for _, id := range anyID.FindAllStringSubmatch(string(content), -1) {
			parts[name] = append(parts[name], html.UnescapeString(id[1]))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for name, text := range cases.Sorted(texts) {
		if filepath.Ext(name) != ".html" {
			continue
		}
		for _, link := range anyLink.FindAllStringSubmatch(text, -1) {
			target, err := url.Parse(html.UnescapeString(link[1]))
			switch {
			case err != nil || strings.HasPrefix(target.Path, "/") && target.Host == "" || target.RawQuery != "" && target.Host == "":
				t.Errorf("%s links to %s, which is no relative address (%v)", name, link[1], err)
				continue
			case target.Host != "":
				continue
			}
			checked++
			to := name
			if target.Path != "" {
				to = filepath.Join(filepath.Dir(name), filepath.FromSlash(target.Path))
			}
			if _, there := texts[to]; !there {
				t.Errorf("%s links to %s, and there is no such file", name, link[1])
			} else if target.Fragment != "" && !slices.Contains(parts[to], target.Fragment) {
				t.Errorf("%s links to %s, and there is no such part", name, link[1])
			}
		}
		for _, never := range []string{"<script>", "hx-post", `action="`, "/instances\""} {
			if strings.Contains(text, never) {
				t.Errorf("%s has %s, which needs a gateway or is refused by a policy", name, never)
			}
		}
	}
	if checked < 10_000 {
		t.Errorf("only %d links were found", checked)
	}
	for name, wants := range cases.Sorted(map[string][]string{
		"index.html":              {"go run ./cmd/recado dev", `src="docs/pictures/chats.png"`, `href="docs/guide.html"`, `href="docs/api.html"`, "0 lost"},
		"pt-BR/index.html":        {`lang="pt-BR"`, `src="../docs/pictures/chats.png"`, `href="../index.html"`},
		"docs/index.html":         {`href="guide.html"`},
		"docs/api/sendText.html":  {"http://127.0.0.1:8080/api/message/", "urllib.request", `href="../api.html"`},
		"pt-BR/docs/api.html":     {"Referência da API"},
		"openapi.yaml":            {"operationId: sendText"},
		"docs/guide.md":           {"# The guide"},
		"docs/webhooks.html":      {`id="check-the-signature"`},
		"docs/decisions.html":     {`href="decisions/`},
		"docs/pictures/chats.png": {"PNG"},
	}) {
		for _, want := range wants {
			if !strings.Contains(texts[name], want) {
				t.Errorf("%s lacks %s", name, want)
			}
		}
	}
	if size := len(texts["index.html"]); size > 20_000 {
		t.Errorf("the front page has %d bytes", size)
	}
}

// A link to what the site does not have is an error, and not a page that is missing.
func TestLinkToNothingIsRefused(t *testing.T) {
	t.Parallel()
	if err := generate(t.Context(), filepath.Join(t.TempDir(), "none.yaml"), t.TempDir()); err == nil || !strings.Contains(err.Error(), "/openapi.yaml") {
		t.Errorf("without the API's document it says %v", err)
	}
}
