package cli_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/cli"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// The health command succeeds where a gateway serves, and says why it does not.
func TestHealth(t *testing.T) {
	t.Parallel()
	g := testkit.Start(t, testkit.Options{})
	if code, out, said := run(t, "", "health", "--url", g.BaseURL); code != 0 || !strings.HasPrefix(out, "ok\nweb client 2.3000.") {
		t.Errorf("exit code %d: %s%s", code, out, said)
	}
	g.Phones.Faults(t, map[string]any{"outdated": true, "versionPage": "down"})
	created, err := g.Partner.CreateInstance(t.Context(), client.NewInstance{Name: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Client.GetQRCode(t.Context(), created.InstanceID, client.GetQRCodeParams{}); err == nil {
		t.Error("a code is shown by a platform that refuses the version")
	}
	if code, out, said := run(t, "", "health", "--url", g.BaseURL); code != 0 || !strings.Contains(out, "refuses it since 20") || !strings.Contains(out, "status 503") {
		t.Errorf("exit code %d: %s%s", code, out, said)
	}
	if code, out, said := run(t, "", "health", "--json", "--url", g.BaseURL); code != 0 || !strings.Contains(out, `"trouble":"the page was answered with status 503"`) {
		t.Errorf("exit code %d: %s%s", code, out, said)
	}
	ill := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }))
	defer ill.Close()
	for address, want := range cases.Sorted(map[string]string{
		ill.URL:                    "is not ready: it answered 503",
		ill.URL + "/sandbox/trust": "is not ready: it answered 503",
		"http://127.0.0.1:1":       "no gateway answers at",
		"gateway":                  "needs http:// or https://",
	}) {
		if code, _, said := run(t, "", "health", "--url", address); code == 0 || !strings.Contains(said, want) {
			t.Errorf("%s: exit code %d: %s", address, code, said)
		}
	}
}

// Every command about status posts asks for what it says, and prints what it gets.
func TestStatusCommands(t *testing.T) {
	t.Parallel()
	const sent, page = `{"id":"019a","messageId":"3EB1"}`, `{"rule":"only","data":[{"id":"1@lid","lid":null,"name":"Ana"}],"isLastPage":true,"currentPage":1,"pageCount":1,"totalCount":1}`
	for name, test := range cases.Sorted(map[string]struct {
		args               []string
		want, answer, says string
	}{
		"text":     {[]string{"text", "a", "--background", "#102030", "--font", "bold"}, `POST /text {"message":"a","background":"#102030","font":"bold"}`, sent, "3EB1"},
		"image":    {[]string{"image", "http://a/b.png", "--caption", "c"}, `POST /image {"image":"http://a/b.png","caption":"c"}`, sent, "3EB1"},
		"video":    {[]string{"video", "http://a/b.mp4"}, `POST /video {"video":"http://a/b.mp4"}`, sent, "3EB1"},
		"voice":    {[]string{"voice", "http://a/b.ogg"}, `POST /audio-note {"audio":"http://a/b.ogg"}`, sent, "3EB1"},
		"list":     {[]string{"list"}, "GET  ", `{"data":[{"messageId":"3EB2","chat":"status@broadcast","type":"text","text":"at the beach"}],"isLastPage":true}`, "at the beach"},
		"audience": {[]string{"audience"}, "GET /audience ", page, "Ana"},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					t.Error(err)
				}
				_, path, _ := strings.Cut(r.URL.Path, "/status")
				if got := r.Method + " " + path + " " + string(body); got != test.want {
					t.Errorf("asked %s\nwant  %s", got, test.want)
				}
				if r.Method == http.MethodPost {
					w.WriteHeader(http.StatusCreated)
				}
				_, _ = io.WriteString(w, test.answer) // the client has its own eyes
			}))
			defer server.Close()
			var out, complaints strings.Builder
			args := append([]string{"status-posts"}, append(test.args, "--url", server.URL, "--api-key", "rcd_x", "--instance", instanceID)...)
			if code := cli.Run(t.Context(), args, strings.NewReader(""), &out, &complaints); code != 0 || !strings.Contains(out.String(), test.says) {
				t.Errorf("exit code %d, printed %q: %s", code, out.String(), complaints.String())
			}
		})
	}
}
