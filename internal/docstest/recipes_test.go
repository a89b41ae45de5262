package docstest_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/cli/demo"
	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/sink"
	"github.com/recado-project/recado/needs"
)

// The requests of the recipe for Make, filled from an event as Make fills them, do what the page says: events come with the key
// of the webhook, a file has a link, and the answer is sent once however often the scenario runs.
func TestMakeRecipe(t *testing.T) {
	t.Parallel()
	needs.Require(t, "curl")
	g := testkit.Start(t, testkit.Options{})
	made, err := demo.Prepare(t.Context(), g.Server, t.TempDir(), "", false)
	if err != nil {
		t.Fatal(err)
	}
	events := testkit.NewSink(t)
	var requests []string
	for _, b := range blocksOf(readFile(t, "docs/recipes/make.md")) {
		switch b.language {
		case "sh":
			command := exec.CommandContext(t.Context(), "sh", "-ec", strings.Replace(b.text, "https://hook.eu2.make.com/ADDRESS", events.URL, 1))
			command.Env = append(command.Environ(), "URL="+g.BaseURL, "KEY="+made.APIKey, "INSTANCE="+made.InstanceID)
			if said, err := command.CombinedOutput(); err != nil || !strings.Contains(string(said), `"headerNames":["X-Make-Apikey"]`) {
				t.Fatalf("the webhook: %v: %s", err, said)
			}
		case "http":
			requests = append(requests, b.text)
		}
	}
	if len(requests) != 2 {
		t.Fatalf("the page has %d requests, want one that answers and one for a link", len(requests))
	}
	const customer = "5511988887766"
	sent := g.Phones.Send(t, customer, map[string]any{"to": "5511999990100", "type": "document", "media": "data:text/plain;base64,T2khCg==", "fileName": "oi.txt"})
	event := events.AwaitType(string(eventlog.KindMessageReceived), func(d sink.Delivered) bool { return strings.Contains(string(d.Body), sent) })
	if got := event.Header.Get("x-make-apikey"); got != "MAKE KEY" {
		t.Errorf("the event comes with the key %q", got)
	}

	first := perform(t, requests[0], g.BaseURL, made.APIKey, event.Body)
	shown := g.Phones.AwaitMessage(t, customer, first["messageId"].(string))
	if shown.Text != "We got it, and answer soon." || shown.QuotedMessageID != sent {
		t.Errorf("the phone shows %+v", shown)
	}
	if again := perform(t, requests[0], g.BaseURL, made.APIKey, event.Body); again["messageId"] != first["messageId"] {
		t.Errorf("the same event is answered by %v and %v", first["messageId"], again["messageId"])
	}
	link := perform(t, requests[1], g.BaseURL, made.APIKey, event.Body)["url"].(string)
	response, err := http.Get(link)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if file, err := io.ReadAll(response.Body); err != nil || string(file) != "Oi!\n" {
		t.Errorf("the link leads to %q, %v", file, err)
	}
}

// mapping is where Make puts a value of the event.
var mapping = regexp.MustCompile(`\{\{1\.([\w.]+)\}\}`)

// perform sends a request of the page, filled from an event, and returns the answer.
func perform(t *testing.T, page, baseURL, apiKey string, event []byte) (answer map[string]any) {
	t.Helper()
	var values any
	if err := json.Unmarshal(event, &values); err != nil {
		t.Fatal(err)
	}
	filled := mapping.ReplaceAllStringFunc(page, func(found string) string {
		value := values
		for name := range strings.SplitSeq(mapping.FindStringSubmatch(found)[1], ".") {
			value = value.(map[string]any)[name]
		}
		return value.(string)
	})
	filled = strings.NewReplacer("https://recado.example.org", baseURL, "API KEY", apiKey).Replace(filled)
	head, body, _ := strings.Cut(filled, "\n\n")
	lines := bufio.NewScanner(strings.NewReader(head))
	lines.Scan()
	method, address, _ := strings.Cut(lines.Text(), " ")
	request, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	said, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != http.StatusOK && response.StatusCode != http.StatusCreated || json.Unmarshal(said, &answer) != nil {
		t.Fatalf("%s is answered %s with %s", filled, response.Status, said)
	}
	return answer
}
