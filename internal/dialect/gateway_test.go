package dialect_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/dialect"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// A call without a network is answered as one with it.
func TestCallsAreAnswered(t *testing.T) {
	t.Parallel()
	handler := http.NewServeMux()
	handler.HandleFunc("POST /api/message/one/text", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if r.Header.Get("x-api-key") != "K" || r.RemoteAddr != "192.0.2.1:1234" || r.Host != "recado.example.org" ||
			r.Header.Get("X-Forwarded-Proto") != "https" || !strings.HasPrefix(r.UserAgent(), "cloud ") || !strings.Contains(string(body), `"Oi!"`) {
			t.Errorf("asked with %v, %s, %s, %s", r.Header, r.RemoteAddr, r.Host, body)
		}
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"id":"1","messageId":"3EB0"}`)
	})
	handler.HandleFunc("POST /api/message/two/text", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"error":"INSTANCE_NOT_FOUND","message":"there is none"}`)
	})
	handler.HandleFunc("POST /api/message/three/text", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	handler.HandleFunc("POST /api/message/four/text", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"id":`)
		panic(http.ErrAbortHandler)
	})
	asked := httptest.NewRequest(http.MethodPost, "https://recado.example.org/cloud/v21.0/1/messages", http.NoBody)
	asked.Header.Set("X-Forwarded-Proto", "https")
	as := dialect.NewGateway(handler, nil).As(asked, "cloud", "K")
	for instance, want := range cases.Sorted(map[string]int{"one": 0, "two": http.StatusNotFound, "three": -1, "four": -1}) {
		sent, err := as.SendText(t.Context(), instance, client.Text{To: "5511988887766", Message: "Oi!"})
		refusal, refused := errors.AsType[*client.Error](err)
		switch {
		case want == 0 && (err != nil || sent.MessageID != "3EB0"),
			want > 0 && (!refused || refusal.StatusCode != want),
			want < 0 && (err == nil || refused):
			t.Errorf("%s: %+v, %v", instance, sent, err)
		}
	}
}
