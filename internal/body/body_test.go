package body

import (
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// While one account works on as many large bodies as it may, its next one waits for its turn; small ones
// and those of others don't.
func TestLargeBodiesShareTheProcessors(t *testing.T) {
	t.Parallel()
	reader := NewReader(Config{TempDir: t.TempDir()})
	requester := func(account string) gateway.Requester {
		return gateway.Requester{AccountID: account, ID: "key", Kind: "this API key"}
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		read, err := reader.Read(w, r.WithContext(gateway.WithRequester(r.Context(), requester(r.Header.Get("Account")))), "image")
		defer func() { _ = read.Close() }()
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
		}
	}))
	t.Cleanup(server.Close)
	work := reader.Pools()[1]
	all, err := work.Take(gateway.WithRequester(t.Context(), requester("red")), work.Largest())
	if err != nil {
		t.Fatal(err)
	}
	send := func(account string, size int) error {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, strings.NewReader(`{"text":"`+strings.Repeat("a", size)+`"}`))
		if err != nil {
			return err
		}
		request.Header.Set("Account", account)
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		return answer.Body.Close()
	}
	const small, large = smallBody / 2, 4 * smallBody
	for account, size := range cases.Sorted(map[string]int{"red": small, "blue": large}) {
		if err := send(account, size); err != nil {
			t.Errorf("a body of %d bytes of %s: %v", size, account, err)
		}
	}
	sent := make(chan error, 1)
	go func() { sent <- send("red", large) }()
	for work.Usage().Waiting == 0 {
		select {
		case err := <-sent:
			t.Fatalf("a large body did not wait: %v", err)
		default:
			runtime.Gosched()
		}
	}
	all.Release()
	if err := <-sent; err != nil {
		t.Error(err)
	}
	if left := work.Usage(); left.Held != 0 {
		t.Errorf("afterwards %+v", left)
	}
}
