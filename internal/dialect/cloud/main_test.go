package cloud_test

import (
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/docs"
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
	otherNumber    = "5511999990200"
	customerNumber = "5511988887766"
)

// rig is a gateway with an instance, and a key that may use everything.
type rig struct {
	*testkit.Gateway

	id, key string
}

func start(t *testing.T) *rig {
	t.Helper()
	g, id := testkit.StartLinked(t, testkit.Options{})
	return &rig{Gateway: g, id: id, key: newKey(t, g)}
}

func newKey(t *testing.T, g *testkit.Gateway, instances ...string) string {
	t.Helper()
	key, err := g.Partner.CreateAPIKey(t.Context(), client.NewKey{Name: "cloud", InstanceIDs: instances})
	if err != nil {
		t.Fatal(err)
	}
	return key.Key
}

// answered is an answer, with what refusals say.
type answered struct {
	status int
	body   string
	header http.Header

	Error struct {
		Message string `json:"message"`
		Code    int    `json:"code"`
		Subcode int    `json:"error_subcode"`
	} `json:"error"`
	Messages []struct {
		ID string `json:"id"`
	} `json:"messages"`

	Media struct {
		ID       string `json:"id"`
		URL      string `json:"url"`
		MimeType string `json:"mime_type"`
		SHA256   string `json:"sha256"`
		Size     int64  `json:"file_size"`
	} `json:"-"`
}

// ask sends a request with the rig's key, unless its header says otherwise. body is JSON.
func (r *rig) ask(t *testing.T, method, path, body string, headers ...string) (got answered) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, r.BaseURL+"/cloud/"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+r.key)
	request.Header.Set("Content-Type", "application/json")
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	read, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	got.status, got.body, got.header = response.StatusCode, string(read), response.Header
	if err := json.Unmarshal(read, &got); err != nil {
		t.Fatalf("%s %s answers %s", method, path, read)
	}
	_ = json.Unmarshal(read, &got.Media) // where it is one
	return got
}

// send sends a message, and returns its identifier.
func (r *rig) send(t *testing.T, body string) string {
	t.Helper()
	got := r.ask(t, http.MethodPost, "v21.0/"+r.id+"/messages", body)
	if got.status != http.StatusOK || len(got.Messages) != 1 {
		t.Fatalf("%s answers %d %s", body, got.status, got.body)
	}
	return got.Messages[0].ID
}

// subscription is the request of a recipe with which a program gets a webhook: its path and its body.
var subscription = regexp.MustCompile(`(?s)curl -X POST https://recado\.example\.org/cloud/(\S+/subscribed_apps) .*?-d '(.*?)'`)

// subscribeByRecipe makes the request of a page of docs/recipes, with the number of the account, and the address and the token that
// the program shows in place of the page's.
func (r *rig) subscribeByRecipe(t *testing.T, page, pageAddress, address, token string) {
	t.Helper()
	recipe, err := docs.Guides.ReadFile("recipes/" + page)
	if err != nil {
		t.Fatal(err)
	}
	found := subscription.FindStringSubmatch(string(recipe))
	if len(found) == 0 || !strings.Contains(found[2], pageAddress) {
		t.Fatalf("%s has no request to subscribe %s", page, pageAddress)
	}
	path := strings.Replace(found[1], "5511999990100", shopNumber, 1)
	body := strings.NewReplacer(pageAddress, address, `"TOKEN"`, `"`+token+`"`).Replace(found[2])
	if got := r.ask(t, http.MethodPost, path, body); got.status != http.StatusOK {
		t.Fatalf("the request of %s is answered %d with %s", page, got.status, got.body)
	}
}
