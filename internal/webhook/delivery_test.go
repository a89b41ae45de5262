package webhook_test

import (
	"net/http"
	"testing"

	"github.com/recado-project/recado/internal/webhook"
)

// Events come once, in the order of their chat, many chats at a time.
func TestDeliversInOrder(t *testing.T) {
	t.Parallel()
	const chats, each = 40, 25
	gate := make(chan struct{})
	endpoint := receive(t, func(http.ResponseWriter, *http.Request, received) int {
		<-gate
		return http.StatusNoContent
	})
	r := newRig(t, webhook.Config{AllowPrivateURLs: true})
	id := r.hooked(endpoint.server.URL)
	r.spread(id, chats, each)
	eventually(t, "as many are in flight as may be at first", func() bool { return endpoint.busyNow() == 8 })
	close(gate)
	endpoint.waitFor(chats * each)
	endpoint.wantOrder(chats, each)
	if n := len(endpoint.came()); n != chats*each {
		t.Errorf("%d requests came for %d events", n, chats*each)
	}
	if endpoint.widest > 32 {
		t.Errorf("%d requests were in flight at the same time", endpoint.widest)
	}
	eventually(t, "the cursor is at the end", func() bool { return r.health(id).Cursor == chats*each })
	if n := r.service.InMemory(id); n != 0 {
		t.Errorf("%d events are in memory of a webhook that has nothing to do", n)
	}
}
