package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
)

func refuse(w http.ResponseWriter, _ *http.Request) {
	w.WriteHeader(http.StatusForbidden)
	_, _ = io.WriteString(w, `{"statusCode":403,"message":"m","error":"FORBIDDEN"}`) // the client has its own eyes
}

// Lists are read to their end, but not further than the caller wants.
func TestPagesAreOneSequence(t *testing.T) {
	t.Parallel()
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Query().Get("page"))
		switch page := r.URL.Query().Get("page"); page {
		case "1", "2":
			_, _ = fmt.Fprintf(w, `{"data":[{"id":"%sa","name":"a"},{"id":"%sb"}],"isLastPage":%t}`, page, page, page == "2") // as above
		default:
			refuse(w, r)
		}
	}))
	defer server.Close()
	var ids []string
	for key, err := range client.New(server.URL, "key").APIKeys(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, key.ID)
	}
	if fmt.Sprint(ids, asked) != "[1a 1b 2a 2b] [1 2]" {
		t.Errorf("got %v with %v", ids, asked)
	}
	for _, err := range client.New(server.URL, "key").Instances(t.Context(), client.ListInstancesParams{}) {
		if err != nil {
			t.Error(err)
		}
		break
	}
	if len(asked) != 3 {
		t.Errorf("asked for %v", asked)
	}
	server.Config.Handler = http.HandlerFunc(refuse)
	count := 0
	for _, err := range client.New(server.URL, "key").WebhookDeliveries(t.Context(), instance, "hook") {
		count++
		if !client.IsCode(err, client.CodeForbidden) {
			t.Errorf("ended with %v", err)
		}
	}
	if count != 1 {
		t.Errorf("%d items", count)
	}
}

// Failures that may pass are distinguished from those that will not.
func TestTemporary(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		temporary bool
		refusals  []client.Error
	}{
		{true, []client.Error{
			{StatusCode: 408},
			{StatusCode: 429},
			{StatusCode: 500},
			{StatusCode: 502},
			{StatusCode: 504},
			{StatusCode: 409, Code: client.CodeInstanceNotConnected},
			{StatusCode: 409, RetryAfter: 1},
		}},
		{false, []client.Error{{StatusCode: 400}, {StatusCode: 401}, {StatusCode: 404}, {StatusCode: 409}, {StatusCode: 410}, {StatusCode: 413}}},
	} {
		for _, refusal := range test.refusals {
			if refusal.Temporary() != test.temporary {
				t.Errorf("%+v: %t", refusal, !test.temporary)
			}
		}
	}
	if got := (&client.Error{StatusCode: 401, Code: "UNAUTHORIZED", Message: "m"}).Error(); got != "401 UNAUTHORIZED: m" {
		t.Errorf("says %q", got)
	}
}

// The caller sets time-outs and the user agent.
func TestOptions(t *testing.T) {
	t.Parallel()
	agents := make(chan string, 3)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		agents <- r.UserAgent()
		_, _ = io.Copy(io.Discard, r.Body) // so that the end of the client is noticed
		<-r.Context().Done()
	}))
	defer server.Close()
	c := client.New(server.URL, "key", client.WithUserAgent("shop/1"), client.WithTimeout(1), client.WithSendTimeout(1),
		client.WithHTTPClient(server.Client()))
	if _, err := c.ListInstances(t.Context(), client.ListInstancesParams{}, 0, 0); err == nil {
		t.Error("the list came in no time")
	}
	c = client.New(server.URL, "key", client.WithUserAgent("shop/1"), client.WithSendTimeout(50*time.Millisecond))
	if _, err := c.SendText(t.Context(), instance, client.Text{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the send ended with %v", err)
	}
	if agent := <-agents; agent != "shop/1" {
		t.Errorf("the agent is %q", agent)
	}
}
