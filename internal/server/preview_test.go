package server_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/sandbox/content"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// A text shows the page behind its link, if that is asked for; then it has one in events too,
// and still has it when it is forwarded. A phone's own preview is told.
func TestLinkPreviews(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if r.URL.Path == "/" {
			_, _ = io.WriteString(w, `<title>Loja</title><meta name="description" content="Tudo"><meta property="og:image" content="/missing">`)
		}
	}))
	t.Cleanup(shop.Close)
	g, id := testkit.StartLinked(t, testkit.Options{})
	for _, later := range []bool{false, true} {
		sent, err := g.Client.SendText(t.Context(), id, client.Text{To: customerNumber, Message: "Veja " + shop.URL + "/", LinkPreview: true, Prefer: testkit.Prefer(later)})
		if err != nil {
			t.Fatal(err)
		}
		got := g.Phones.AwaitMessage(t, customerNumber, sent.MessageID)
		if got.Text != "Veja "+shop.URL+"/" || got.Preview == nil || *got.Preview != (content.Preview{URL: shop.URL + "/", Title: "Loja", Description: "Tudo"}) {
			t.Errorf("the phone shows %+v with %+v", got, got.Preview)
		}
		forwarded, err := g.Client.ForwardMessage(t.Context(), id, client.Forward{To: customerNumber, MessageID: sent.MessageID})
		if err != nil {
			t.Fatal(err)
		}
		if got := g.Phones.AwaitMessage(t, customerNumber, forwarded.MessageID); got.Preview == nil || got.Preview.Title != "Loja" {
			t.Errorf("forwarded: %+v", got)
		}
	}
	before := asked.Load()
	for message, preview := range cases.Sorted(map[string]bool{"Veja " + shop.URL: false, "Veja " + shop.URL + "/nothing": true, "Oi": true}) {
		sent, err := g.Client.SendText(t.Context(), id, client.Text{To: customerNumber, Message: message, LinkPreview: preview})
		if err != nil {
			t.Fatal(err)
		}
		if got := g.Phones.AwaitMessage(t, customerNumber, sent.MessageID); got.Text != message || got.Preview != nil {
			t.Errorf("%q: %+v", message, got)
		}
	}
	if now := asked.Load(); now != before+1 {
		t.Errorf("%d pages were fetched, want one", now-before)
	}
	received := g.Phones.Send(t, customerNumber, map[string]any{
		"to": shopNumber, "type": "text", "text": "Vi http://a.example", "preview": map[string]any{"url": "http://a.example", "title": "A\u202e", "description": ""},
	})
	awaitMessage(t, g, id, received)
	message, err := g.Client.GetMessage(t.Context(), id, received)
	if err != nil || message.Preview == nil || message.Preview.URL != "http://a.example" || message.Preview.Title == nil || *message.Preview.Title != "A" || message.Preview.Description != nil {
		t.Errorf("received %+v with %+v (%v)", message, message.Preview, err)
	}
}
