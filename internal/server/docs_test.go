package server_test

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// Documents are pages of the program that everybody may read, the API's reference is among them, and what the reference
// links to is there.
func TestDocumentsArePages(t *testing.T) {
	t.Parallel()
	g := testkit.Start(t, testkit.Options{})
	get := func(path string) (status int, policy, content string) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, g.BaseURL+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultTransport.RoundTrip(request) // without following
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }()
		read, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, answer.Header.Get("Content-Security-Policy"), string(read)
	}
	for path, want := range cases.Sorted(map[string]string{
		"/docs":                               "The guide",
		"/docs/guide":                         `href="/docs/api"`,
		"/docs/guide.md":                      "# The guide",
		"/docs/search?search=/webhook-config": `href="/docs/api/`,
		"/docs/search?search=message.edited":  `href="/docs/events#messageedited"`,
	}) {
		status, policy, content := get(path)
		if status != http.StatusOK || !strings.Contains(content, want) || !strings.Contains(policy, "default-src 'none'") {
			t.Errorf("%s: status %d, policy %s, without %s", path, status, policy, want)
		}
	}
	status, _, reference := get("/docs/api")
	if status != http.StatusOK {
		t.Fatalf("the reference: status %d", status)
	}
	followed := 0
	for _, link := range regexp.MustCompile(`(?:href|src)="(/[^"]*)"`).FindAllStringSubmatch(reference, -1) {
		followed++
		if status, _, _ := get(link[1]); status != http.StatusOK && link[1] != "/instances" {
			t.Errorf("the reference links to %s, which answers %d", link[1], status)
		}
	}
	if followed < 100 {
		t.Errorf("only %d links were found", followed)
	}
	// Each page is one of this gateway, and light: the reference is 1 MB as a whole.
	for path, want := range cases.Sorted(map[string]string{
		"/docs/api": "sendText", "/docs/api/sendText": g.BaseURL + "/api/message/", "/docs/api/changeInstance": "id=\"try\"", "/docs/api/errors": "VALIDATION_ERROR",
	}) {
		if status, policy, content := get(path); status != http.StatusOK || !strings.Contains(content, want) || len(content) > 100_000 || !strings.Contains(policy, "script-src 'self'") {
			t.Errorf("%s: status %d, policy %s, %d bytes", path, status, policy, len(content))
		}
	}
}
