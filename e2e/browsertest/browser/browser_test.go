package browser_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/recado-project/recado/e2e/browsertest/browser"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// site serves a page, and tells what is posted to it.
func site(t *testing.T, body string) (base string, posted <-chan string) {
	t.Helper()
	got := make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if r.Method == http.MethodPost {
			file, _, err := r.FormFile("file")
			if err != nil {
				t.Error(err)
				return
			}
			content, err := io.ReadAll(file)
			if err != nil {
				t.Error(err)
			}
			got <- r.FormValue("name") + "/" + r.FormValue("kind") + "/" + string(content)
			body := "<p>Thank you"
			_, _ = io.WriteString(w, body)
			return
		}
		_, _ = io.WriteString(w, "<!doctype html><html lang=en><title>t</title><link rel=icon href=data:,><body>"+body+"<p id=lang>"+r.Header.Get("Accept-Language"))
	}))
	t.Cleanup(server.Close)
	return server.URL, got
}

// A page is used as by a person: with the mouse, the keyboard and a file.
func TestPageIsUsedAsByAPerson(t *testing.T) {
	t.Parallel()
	base, posted := site(t, `<form method=post enctype=multipart/form-data>
		<input name=name value=before><select name=kind><option value=a>A<option value=b>B</select>
		<input name=file type=file><div style="height:3000px"></div><button hidden>no</button><button>Send it</button></form>`)
	file := filepath.Join(t.TempDir(), "file.txt")
	if err := os.WriteFile(file, []byte("content"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := browser.New(t, base)
	p.Open("/form?x=1")
	if path := p.Path(); path != "/form?x=1" {
		t.Errorf("the page is %s", path)
	}
	p.Fill("[name=name]", "Conceição 🙂")
	p.Choose("[name=kind]", "b")
	p.Upload("[name=file]", file)
	p.ClickText("button", "Send")
	p.AwaitText("p", "Thank you")
	if got := <-posted; got != "Conceição 🙂/b/content" {
		t.Errorf("posted %q", got)
	}
}

// A field that its page moves about takes a file like any other.
func TestFileIsChosenInAFieldThatMoves(t *testing.T) {
	t.Parallel()
	base, _ := site(t, `<form><input name=file type=file></form>
		<script>const form = document.querySelector("form");
		(function move() { form.append(form.firstElementChild); setTimeout(move); })();</script>`)
	file := filepath.Join(t.TempDir(), "file.txt")
	if err := os.WriteFile(file, []byte("content"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := browser.New(t, base)
	p.Open("/form")
	for range 20 {
		p.Eval(`form.reset()`, nil)
		p.Upload("[name=file]", file)
		p.AwaitTrue("the file", `form.file.files[0]?.name === "file.txt"`)
	}
}

// The browser pretends to be small, dark and Portuguese.
func TestPageIsSeenByDifferentPeople(t *testing.T) {
	t.Parallel()
	base, _ := site(t, `<style>p { color: rgb(1,2,3) } @media (prefers-color-scheme: dark) { p { color: rgb(4,5,6) } }</style>`)
	p := browser.New(t, base)
	p.Language("pt-BR")
	p.SetSize(390, 800)
	p.Open("/")
	if got := p.Text("#lang"); !strings.HasPrefix(got, "pt-BR") {
		t.Errorf("it asks for %q", got)
	}
	colour := `getComputedStyle(document.querySelector("p")).color + " " + innerWidth`
	for want, set := range cases.Sorted(map[string]func(){"rgb(1, 2, 3) 390": p.Light, "rgb(4, 5, 6) 390": p.Dark}) {
		set()
		var got string
		p.Eval(colour, &got)
		if got != want {
			t.Errorf("it is %s, want %s", got, want)
		}
	}
	file := filepath.Join(t.TempDir(), "folder", "page.png")
	p.Screenshot(file)
	if picture, err := os.ReadFile(file); err != nil || http.DetectContentType(picture) != "image/png" {
		t.Errorf("the picture can't be read (%v)", err)
	}
}

// What a person does not see is found: the console, exceptions, and requests to others.
func TestProblemsAreFound(t *testing.T) {
	t.Parallel()
	base, _ := site(t, `<script>console.error("e1"); console.warn("w1"); console.log("fine"); console.error("forgiven"); setTimeout(() => { throw new Error("thrown"); })</script>
		<img src="http://example.org/x.png" alt=""><img src="data:," alt="">`)
	p := browser.New(t, base)
	p.Forgive("forgiven")
	p.Open("/")
	p.AwaitTrue("the requests", `document.readyState === "complete"`)
	problems := p.Problems()
	for _, want := range []string{"console error: \"e1\"", "console warning: \"w1\"", "thrown", "a request to http://example.org/x.png"} {
		if !slices.ContainsFunc(problems, func(problem string) bool { return strings.Contains(problem, want) }) {
			t.Errorf("%q is not among the problems", want)
		}
	}
	for _, problem := range problems {
		if strings.Contains(problem, "fine") || strings.Contains(problem, "forgiven") || strings.Contains(problem, "data:") {
			t.Errorf("%s is a problem", problem)
		}
	}
	if rest := p.Problems(); len(rest) > 0 {
		t.Errorf("problems are told twice: %q", rest)
	}
	var weight int64
	for _, request := range p.Requests() {
		if request.Kind == "Document" {
			weight += request.Bytes
		}
	}
	if weight < 400 || weight > 2000 {
		t.Errorf("the page has %d bytes", weight)
	}
}

// Colours without contrast and fields without names are found.
func TestViolationsAreFound(t *testing.T) {
	t.Parallel()
	base, _ := site(t, `<main><h1 style="color:#ccc;background:#fff">Pale</h1><input></main>`)
	p := browser.New(t, base)
	p.Open("/")
	all := strings.Join(p.Violations("wcag2a", "wcag2aa"), "\n")
	if !strings.Contains(all, "color-contrast") || !strings.Contains(all, "label") {
		t.Errorf("found only: %s", all)
	}
	if one := p.Violations("color-contrast"); len(one) != 1 || !strings.Contains(one[0], "Pale") {
		t.Errorf("of one rule: %q", one)
	}
}

// Two tests don't share cookies; two tabs of one test do.
func TestTabsHaveTheirCookies(t *testing.T) {
	t.Parallel()
	base, _ := site(t, `<script>document.cookie += ""</script>`)
	one, stranger := browser.New(t, base), browser.New(t, base)
	one.Open("/")
	one.Eval(`document.cookie = "who=me"`, nil)
	beside := one.Beside()
	for _, tab := range []struct {
		*browser.Page
		cookies int
	}{{one, 1}, {beside, 1}, {stranger, 0}} {
		tab.Open("/")
		if got := tab.Cookies(); len(got) != tab.cookies {
			t.Errorf("there are %d cookies, want %d", len(got), tab.cookies)
		}
	}
}
