package evolution_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/leak"
)

func TestMain(m *testing.M) {
	testkit.Tune()
	leak.Check(m)
}

// Phones of the tests.
const (
	shopNumber     = "5511999990100"
	customerNumber = "5511988887766"
	otherNumber    = "14155550124"
	nobody         = "5511900000001"
)

type object = map[string]any

// tool is a program that knows the Evolution API.
type tool struct {
	t        *testing.T
	base     string
	key      string
	instance string // as its paths name it
}

// newTool makes a key of an instance, and a tool with it.
func newTool(t *testing.T, g *testkit.Gateway, instanceID string) *tool {
	t.Helper()
	key, err := g.Partner.CreateAPIKey(t.Context(), client.NewKey{Name: "tool", InstanceIDs: []string{instanceID}})
	if err != nil {
		t.Fatal(err)
	}
	return &tool{t: t, base: g.BaseURL + "/evolution", key: key.Key, instance: "shop"}
}

// newPartner is a tool that may make instances.
func newPartner(t *testing.T, g *testkit.Gateway) *tool {
	t.Helper()
	key, err := g.Partner.CreateAPIKey(t.Context(), client.NewKey{Name: "tool", Partner: true})
	if err != nil {
		t.Fatal(err)
	}
	return &tool{t: t, base: g.BaseURL + "/evolution", key: key.Key, instance: "shop"}
}

// ask makes a request, and returns what is answered, as JSON. body is JSON, or anything that is encoded.
func (o *tool) ask(method, path string, body any) (status int, answer any) {
	o.t.Helper()
	text, ok := body.(string)
	if !ok && body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			o.t.Fatal(err)
		}
		text = string(encoded)
	}
	return o.post(method, path, "application/json", text)
}

func (o *tool) post(method, path, contentType, body string) (status int, answer any) {
	o.t.Helper()
	request, err := http.NewRequestWithContext(o.t.Context(), method, o.base+path, strings.NewReader(body))
	if err != nil {
		o.t.Fatal(err)
	}
	request.Header.Set("Content-Type", contentType)
	if o.key != "" {
		request.Header.Set("apikey", o.key)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		o.t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // it is read to its end
	content, err := io.ReadAll(response.Body)
	if err != nil {
		o.t.Fatal(err)
	}
	if err := json.NewDecoder(bytes.NewReader(content)).Decode(&answer); err != nil {
		o.t.Fatalf("%s %s is answered %d with %q", method, path, response.StatusCode, content)
	}
	return response.StatusCode, answer
}

// does makes a request of the tool's instance that has to succeed with a status, and returns the answer.
func (o *tool) does(want int, method, operation string, body any) any {
	o.t.Helper()
	operation, query, _ := strings.Cut(operation, "?")
	path := operation + "/" + url.PathEscape(o.instance)
	if query != "" {
		path += "?" + query
	}
	status, answer := o.ask(method, path, body)
	if status != want {
		o.t.Fatalf("%s %s is answered %d with %v", method, path, status, answer)
	}
	return answer
}

// refused makes a request that has to be refused with a status, and returns the message.
func (o *tool) refused(want int, method, path string, body any) any {
	o.t.Helper()
	status, answer := o.ask(method, path, body)
	if status != want || at(answer, "status") != float64(want) || at(answer, "error") != http.StatusText(want) {
		o.t.Fatalf("%s %s is answered %d with %v, want %d", method, path, status, answer, want)
	}
	return at(answer, "response", "message")
}

// at returns what stands in a value under names, and numbers of lists; nil where there is nothing.
func at(value any, path ...any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			inside, _ := value.(object)
			value = inside[step]
		case int:
			list, _ := value.([]any)
			if step >= len(list) {
				return nil
			}
			value = list[step]
		}
	}
	return value
}

// text is at for a text.
func text(value any, path ...any) string {
	found, _ := at(value, path...).(string)
	return found
}
