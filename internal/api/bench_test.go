package api_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/api"
	"github.com/recado-project/recado/internal/messaging"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// sends accepts every text.
type sends struct{ api.Messages }

// SendText answers at once.
func (sends) SendText(context.Context, messaging.Request, string) (messaging.Result, error) {
	return messaging.Result{ID: "019aa1f4-8d52-7c1e-b3a0-0f4de1c9a7b2", MessageID: "3EB0C431C26A1916E07A"}, nil
}

// BenchmarkRequest is a request without the network: finding its key and instance in
// SQLite, validation, the answer, and the log line, which is kept.
func BenchmarkRequest(b *testing.B) {
	f := newFixture(b, func(c *api.Config) {
		c.Messages = sends{}
	})
	id := f.newInstance(b)
	for name, r := range cases.Sorted(map[string]request{
		"list": {path: "/api/instances", method: http.MethodGet},
		"send": {path: "/api/message/" + id + "/text", method: http.MethodPost, body: `{"to":"5511988887766","message":"Your order is on its way."}`},
		"key":  {path: "/api/partner/api-keys/x", method: http.MethodDelete},
	}) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				made := httptest.NewRequestWithContext(b.Context(), r.method, r.path, strings.NewReader(r.body))
				made.Header.Set("X-Api-Key", f.key)
				f.handler.ServeHTTP(httptest.NewRecorder(), made)
			}
		})
	}
}
