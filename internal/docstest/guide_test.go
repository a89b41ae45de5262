package docstest_test

import (
	"bytes"
	"context"
	"flag"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/recado-project/recado/internal/cli/demo"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/contract"
	"github.com/recado-project/recado/internal/testkit/leak"
	"github.com/recado-project/recado/needs"
)

//nolint:gochecknoglobals // flags of a test are registered before it runs
var update = flag.Bool("update", false, "write the answers of docs/guide.md anew")

const (
	guidePath = "docs/guide.md"
	// guideURL is the address that the guide shows in the place of the real one.
	guideURL = "http://127.0.0.1:8080"
)

// block is a fenced piece of the guide. What a shell block answers is the block
// after it.
type block struct {
	language, text string
	start, end     int // of the text in the guide
	line           int
}

func blocksOf(guide string) []block {
	var blocks []block
	fenced := regexp.MustCompile("(?s)```([a-z]+)\n(.*?)```\n")
	for _, at := range fenced.FindAllStringSubmatchIndex(guide, -1) {
		blocks = append(blocks, block{
			language: guide[at[2]:at[3]], text: guide[at[4]:at[5]], start: at[4], end: at[5],
			line: 1 + strings.Count(guide[:at[4]], "\n"),
		})
	}
	return blocks
}

func TestMain(m *testing.M) {
	testkit.Tune()
	// All paths of these tests begin at the root of the repository.
	if err := os.Chdir("../.."); err != nil {
		panic(err)
	}
	leak.Check(m)
}

// Every example of the guide, in its order, answers what the guide says.
func TestGuide(t *testing.T) {
	t.Parallel()
	needs.Require(t, "curl")
	guide, document := readFile(t, guidePath), readFile(t, "docs/openapi.yaml")
	g := testkit.Start(t, testkit.Options{})
	made, err := demo.Prepare(t.Context(), g.Server, t.TempDir(), "", false)
	if err != nil {
		t.Fatal(err)
	}
	recorded := &recorder{next: contract.Transport(t, []byte(document), http.DefaultTransport)}
	front := frontOf(t, g.BaseURL, recorded)
	r := &reader{folder: t.TempDir()}
	r.values = newValues(map[string]string{g.BaseURL: guideURL, front: guideURL})
	r.values.know(assigned(t, guide, "URL"), front)
	r.values.know(assigned(t, guide, "KEY"), made.APIKey)
	r.values.know(assigned(t, guide, "PARTNER"), made.PartnerKey)

	blocks := append(blocksOf(guide), block{}) // so that every block has a next one
	for i, b := range blocks[:len(blocks)-1] {
		next := blocks[i+1]
		switch {
		case b.language == "sh" && isAnswer(next):
			r.try(t, b, &next)
		case b.language == "sh":
			r.try(t, b, nil)
		case isAnswer(b) && (i == 0 || blocks[i-1].language != "sh"):
			t.Errorf("%s:%d: the answer to what?", guidePath, b.line)
		}
		if t.Failed() {
			t.FailNow() // the examples after it build on it
		}
	}
	if *update {
		guide = r.rewrite(guide)
		writeFile(t, guidePath, guide)
		for _, translation := range translationsOf(t, filepath.Base(guidePath)) {
			writeFile(t, translation, withCode(readFile(t, translation), guide))
		}
	}
	recorded.requireEvery(t, document)
}

// The guide's table names every code that the reference names.
func TestGuideNamesEveryCode(t *testing.T) {
	t.Parallel()
	guide := readFile(t, guidePath)
	for _, code := range regexp.MustCompile("`[A-Z]+(_[A-Z]+)*`").FindAllString(readFile(t, "docs/openapi.yaml"), -1) {
		if !strings.Contains(guide, "| "+code+" |") {
			t.Errorf("the guide's table does not have %s", code)
		}
	}
}

// isAnswer tells what a shell prints from what a person types.
func isAnswer(b block) bool { return b.language == "json" || b.language == "text" }

// reader does what somebody does who works through the guide.
type reader struct {
	folder   string // where the shell runs
	values   *values
	settings []string // assignments so far, which every later block needs
	changes  []change // for a rewrite
}

// change is what an example really answered.
type change struct {
	at   block
	text string
}

// try runs one example until it answers what the guide says. What only looks may
// be early, and what was refused has changed nothing: both are tried again.
func (r *reader) try(t *testing.T, example block, answer *block) {
	t.Helper()
	for line := range strings.Lines(example.text) {
		if regexp.MustCompile(`^[A-Z_]+=`).MatchString(line) {
			r.settings = append(r.settings, line)
		}
	}
	patience := 30 * time.Second
	if *update {
		patience = 3 * time.Second
	}
	script := r.values.real(strings.Join(r.settings, "") + example.text)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		output := r.run(t, script)
		if answer == nil {
			if output != "" {
				t.Errorf("%s:%d: the answer is not shown: %s", guidePath, example.line, output)
			}
			return
		}
		seen, wrong := r.values.compare(answer.language, answer.text, output)
		if len(wrong) > 0 && ctx.Err() == nil && (onlyLooks(example.text) || refused(output)) {
			<-again.C
			continue
		}
		if len(wrong) == 0 || *update {
			r.values.learn(seen)
			r.changes = append(r.changes, change{*answer, r.values.render(answer.language, output)})
			return
		}
		t.Errorf("%s:%d: %s\nthe answer: %s", guidePath, answer.line, strings.Join(wrong, "\n"), output)
		return
	}
}

func (r *reader) run(t *testing.T, script string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-e")
	cmd.Dir = r.folder
	cmd.Stdin = strings.NewReader(script)
	var failure bytes.Buffer
	cmd.Stderr = &failure
	output, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s\n%s", err, failure.String(), script)
	}
	return strings.ReplaceAll(string(output), "\r\n", "\n")
}

func onlyLooks(script string) bool {
	return !regexp.MustCompile(` -([dXo]) `).MatchString(script)
}

func refused(output string) bool {
	return regexp.MustCompile(`^([45]\d\d\s*$|\{"statusCode":[45])`).MatchString(output)
}

// rewrite puts the new answers into the guide, and their values wherever else
// the old ones stood.
func (r *reader) rewrite(guide string) string {
	var text strings.Builder
	at := 0
	for _, c := range r.changes {
		text.WriteString(r.values.renamed(guide[at:c.at.start]))
		text.WriteString(c.text)
		at = c.at.end
	}
	text.WriteString(r.values.renamed(guide[at:]))
	return text.String()
}

// assigned returns what the guide sets a variable to, the first time.
func assigned(t *testing.T, guide, name string) string {
	t.Helper()
	found := regexp.MustCompile(`(?m)^` + name + `=(\S+)$`).FindStringSubmatch(guide)
	if found == nil {
		t.Fatalf("the guide does not set %s", name)
	}
	return found[1]
}

// frontOf stands before the gateway and lets a transport see what goes by.
func frontOf(t *testing.T, gateway string, transport http.RoundTripper) (address string) {
	t.Helper()
	target, err := url.Parse(gateway)
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(&httputil.ReverseProxy{
		Transport: transport,
		Rewrite: func(request *httputil.ProxyRequest) {
			request.SetURL(target)
			request.Out.Host = request.In.Host // links in answers begin with it
		},
	})
	t.Cleanup(front.Close)
	return front.URL
}

// recorder notes the requests that were carried out.
type recorder struct {
	next http.RoundTripper

	mu   sync.Mutex
	done []string // method and path
}

// RoundTrip carries one request.
func (r *recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := r.next.RoundTrip(request)
	if err == nil && response.StatusCode < http.StatusBadRequest {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.done = append(r.done, request.Method+" "+request.URL.Path)
	}
	return response, err
}

// requireEvery fails the test for every operation of the document without an
// example that succeeded.
func (r *recorder) requireEvery(t *testing.T, document string) {
	t.Helper()
	spec, err := openapi3.NewLoader().LoadFromData([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for path, item := range spec.Paths.Map() {
		pattern := regexp.MustCompile(`\\\{[a-zA-Z]+\\\}`).ReplaceAllString(regexp.QuoteMeta(path), `[^/]+`)
		for method := range item.Operations() {
			if !slices.ContainsFunc(r.done, regexp.MustCompile("^"+method+" "+pattern+"$").MatchString) {
				t.Errorf("the guide has no example of %s %s", method, path)
			}
		}
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
