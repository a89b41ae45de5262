package reference_test

import (
	"bytes"
	"encoding/json"
	"go/format"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/reference"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/needs"
)

// nasty has what some language takes for the end of a string, or for more than a letter.
const nasty = `it's "q" \ $HOME ${x} %s ` + "`id` \n\ttwo ol\u00e1 \u2028 </pre> \U0001f600"

// send is an operation with a parameter of each kind.
func send() reference.Operation {
	return reference.Operation{
		ID: "send", Method: http.MethodPost, Path: "/api/{instanceId}/text",
		Parameters: []reference.Field{
			{Name: "instanceId", Where: "path", Required: true, Example: "019a"},
			{Name: "search", Where: "query", Example: "a"},
			{Name: "Prefer", Where: "header", Example: "b"},
		},
		Body: []reference.Field{{Name: "to"}},
	}
}

func TestRequestOfAnOperation(t *testing.T) {
	t.Parallel()
	key := reference.Header{Name: "x-api-key", Value: reference.KeyMark}
	kind := reference.Header{Name: "content-type", Value: "application/json"}
	for name, c := range cases.Sorted(map[string]struct {
		change func(*reference.Operation)
		given  map[string]string
		body   string
		want   reference.Request
	}{
		"with what must be given": {
			nil,
			map[string]string{"instanceId": "019a"},
			" {} ",
			reference.Request{Method: "POST", URL: "http://x/api/019a/text", Headers: []reference.Header{key, kind}, Body: "{}"},
		},
		"with everything": {
			nil,
			map[string]string{"instanceId": "a/b ?", "search": "c&d=é", "Prefer": "e\r\nf: g"},
			"",
			reference.Request{Method: "POST", URL: "http://x/api/a%2Fb%20%3F/text?search=c%26d%3D%C3%A9", Headers: []reference.Header{key, {Name: "Prefer", Value: "e  f: g"}}},
		},
		"with nothing":           {nil, nil, "", reference.Request{Method: "POST", URL: "http://x/api/{instanceId}/text", Headers: []reference.Header{key}}},
		"for everybody":          {func(o *reference.Operation) { o.Audience = reference.Everybody }, nil, "", reference.Request{Method: "POST", URL: "http://x/api/{instanceId}/text"}},
		"one that reads no body": {func(o *reference.Operation) { o.Body = nil }, nil, "{}", reference.Request{Method: "POST", URL: "http://x/api/{instanceId}/text", Headers: []reference.Header{key}}},
	}) {
		op := send()
		if c.change != nil {
			c.change(&op)
		}
		if got := op.RequestTo("http://x/", func(f reference.Field) string { return c.given[f.Name] }, c.body); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// came is a request as it came.
type came struct {
	method, target string
	headers        http.Header
	body           string
}

// A sample makes the request that it was made of, in every language, whatever is in it.
func TestSamplesMakeTheRequest(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(nasty)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range cases.Sorted(map[string]reference.Request{
		"nothing but an address":  {Method: http.MethodGet},
		"an address with a query": {Method: http.MethodDelete, URL: "/a%27b?c=%22%24HOME%5C&d=%25s%60"},
		"headers":                 {Method: http.MethodPut, Headers: []reference.Header{{Name: "x-api-key", Value: `it's "q" \ $HOME %s` + " `id`"}, {Name: "prefer", Value: "a=1"}}},
		"a body with everything": {
			Method: http.MethodPost, Headers: []reference.Header{{Name: "content-type", Value: "application/json"}, {Name: "prefer", Value: `it's "q" \ %s` + " `id`"}},
			Body: "{\n  \"z\": " + string(text) + ",\n  \"a\": {},\n  \"b\": [], \"c\": [1, -2.5e3, true, false, null, {\"" + `it's \"q\" $x` + "\": []}]\n}",
		},
		"a body that is no JSON":      {Method: http.MethodPost, Headers: []reference.Header{{Name: "content-type", Value: "text/plain"}}, Body: "{" + nasty},
		"a body that names a file":    {Method: http.MethodPatch, Headers: []reference.Header{{Name: "content-type", Value: "text/plain"}}, Body: "@/etc/hostname"},
		"a body of many levels":       {Method: http.MethodPost, Headers: []reference.Header{{Name: "content-type", Value: "text/plain"}}, Body: strings.Repeat("[", 500) + strings.Repeat("]", 500)},
		"an answer that is read on":   {Method: http.MethodGet, Stream: true},
		"a word and what comes after": {Method: http.MethodPost, Headers: []reference.Header{{Name: "content-type", Value: "text/plain"}}, Body: "true false"},
	}) {
		for _, program := range []struct {
			language, need, ending string
			command                []string
		}{
			{"curl", "curl", ".sh", []string{"sh"}},
			{"node", "node", ".mjs", []string{"node"}},
			{"python", "python3", ".py", []string{"python3"}},
			{"php", "php", ".php", []string{"php"}},
			{"go", "", ".go", []string{"go", "run"}},
		} {
			if program.language == "go" && name != "a body with everything" {
				continue // it has all that is different in Go, and each takes the linker seconds
			}
			t.Run(name+" in "+program.language, func(t *testing.T) {
				t.Parallel()
				if program.need != "" {
					needs.Require(t, program.need)
				}
				requests := make(chan came, 1)
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					body, _ := io.ReadAll(r.Body) // what is lacking is noticed below
					requests <- came{r.Method, r.RequestURI, r.Header, string(body)}
					_, _ = io.WriteString(w, "the answer")
				}))
				defer server.Close()
				made := c
				if made.URL == "" {
					made.URL = "/"
				}
				target := made.URL
				made.URL = server.URL + made.URL
				output := run(t, made, program.language, program.ending, program.command)
				if !strings.Contains(output, "the answer") {
					t.Errorf("it prints %q", output)
				}
				got := <-requests
				if got.method != c.Method || got.target != target || !same(got.body, c.Body) {
					t.Errorf("it makes %s %s with %q", got.method, got.target, got.body)
				}
				for _, header := range c.Headers {
					if got.headers.Get(header.Name) != header.Value {
						t.Errorf("the header %s is %q", header.Name, got.headers.Values(header.Name))
					}
				}
			})
		}
	}
}

// run runs a sample, and returns what it prints.
func run(t *testing.T, request reference.Request, language, ending string, command []string) string {
	t.Helper()
	for _, sample := range request.Samples() {
		if sample.ID != language {
			continue
		}
		file := filepath.Join(t.TempDir(), "sample"+ending)
		if err := os.WriteFile(file, []byte(sample.Code), 0o600); err != nil {
			t.Fatal(err)
		}
		program := command[0]
		if program != "go" && program != "sh" {
			program = needs.Find(program)
		}
		output, err := exec.CommandContext(t.Context(), program, append(command[1:], file)...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s\n%s", err, output, sample.Code)
		}
		return string(output)
	}
	t.Fatalf("there is no sample in %s", language)
	return ""
}

// same reports whether two bodies are the same: as JSON, or to the letter.
func same(a, b string) bool {
	var x, y any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return a == b
	}
	return reflect.DeepEqual(x, y)
}

// A reader sees the fields in the order in which they were written, and Go as gofmt has it.
func TestSamplesAreReadable(t *testing.T) {
	t.Parallel()
	body := "{\n  \"to\": \"5511988887766\",\n  \"message\": \"Oi!\"\n}"
	request := reference.Request{
		Method: http.MethodPost, URL: "http://127.0.0.1:8080/api/message/019a/text", Body: body,
		Headers: []reference.Header{{Name: "x-api-key", Value: reference.KeyMark}, {Name: "content-type", Value: "application/json"}},
	}
	for _, sample := range request.Samples() {
		if sample.ID == "go" {
			if formatted, err := format.Source([]byte(sample.Code)); err != nil || strings.TrimSpace(string(formatted)) != sample.Code {
				t.Errorf("gofmt would have the Go sample otherwise (%v):\n%s", err, formatted)
			}
		}
		golden := filepath.Join("testdata", "text."+sample.ID+".txt")
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(append([]byte(sample.Code), '\n'), want) {
			t.Errorf("%s is not what %s has:\n%s", sample.Language, golden, sample.Code)
		}
	}
}

// A body of many levels does not make a sample that moves further to the right with each of them.
func TestSamplesStaySmall(t *testing.T) {
	t.Parallel()
	request := reference.Request{Method: http.MethodPost, URL: "http://x", Body: strings.Repeat("[", 500) + strings.Repeat("]", 500)}
	for _, sample := range request.Samples() {
		if len(sample.Code) > 2_000 {
			t.Errorf("%s: a body of 1,000 bytes becomes %d", sample.Language, len(sample.Code))
		}
	}
}

func TestOperationsAreFound(t *testing.T) {
	t.Parallel()
	all := reference.Reference{Groups: []reference.Group{
		{Name: "A", Operations: []reference.Operation{{ID: "one"}, {ID: "two"}}}, {Name: "B"}, {Name: "C", Operations: []reference.Operation{{ID: "three"}}},
	}}
	for id, want := range cases.Sorted(map[string]string{"one": "A: -, two", "two": "A: one, three", "three": "C: two, -", "four": ""}) {
		group, op, before, next := all.Find(id)
		name := func(o *reference.Operation) string {
			if o == nil {
				return "-"
			}
			return o.ID
		}
		got := ""
		if op != nil {
			got = group.Name + ": " + name(before) + ", " + name(next)
		}
		if got != want || op != nil && op.ID != id {
			t.Errorf("%s: %q", id, got)
		}
	}
}

func TestCodeInTexts(t *testing.T) {
	t.Parallel()
	for text, want := range cases.Sorted(map[reference.Text][]reference.Part{
		"":          nil,
		"a `b` c":   {{Text: "a "}, {Text: "b", Code: true}, {Text: " c"}},
		"`a``b`":    {{Text: "a", Code: true}, {Text: "b", Code: true}},
		"an open `": {{Text: "an open "}},
	}) {
		if got := text.Parts(); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %v", text, got)
		}
	}
}
