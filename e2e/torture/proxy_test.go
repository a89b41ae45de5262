package torture_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit/await"
	"github.com/recado-project/recado/internal/testkit/proxyserver"
)

// The proxy of an instance outlives kill -9, and so does the promise that nothing goes past
// it: every connection that does not come through the proxy is counted.
func TestProxyOutlivesAKill(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "", 0)
	w.gateway.Kill()
	at := slices.IndexFunc(w.flags, func(flag string) bool { return strings.HasPrefix(flag, "ws://") })
	platform := strings.TrimPrefix(w.flags[at], "ws://")
	straight := proxyserver.Relay(t, platform)
	w.flags[at] = "ws://" + straight.Address()
	w.startGateway()
	w.link("5511999990199")
	id := w.shops[0].id

	proxy := proxyserver.SOCKS(t, proxyserver.Options{User: "ana", Password: "segredo", Target: platform})
	set, err := w.client.ChangeInstance(t.Context(), id, client.InstanceChange{Proxy: client.Set(proxy.URL())})
	if err != nil || !strings.Contains(set.Proxy, "ana:***@") {
		t.Fatalf("the proxy was set to %q (%v)", set.Proxy, err)
	}
	before := len(straight.Asked())
	if before < 2 {
		t.Errorf("the link made %d connections straight to the platform", before)
	}
	come := func(what string) {
		t.Helper()
		await.Until(t, what, func() bool {
			now, err := w.client.GetInstance(t.Context(), id)
			return err == nil && now.Status == client.StatusConnected
		})
		if _, err := w.client.SendText(t.Context(), id, client.Text{To: "5511988887766", Message: what}); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	come("a session through the proxy that was set while it was connected")
	w.gateway.Kill()
	w.startGateway()
	come("a session through the proxy after kill -9")
	through := len(proxy.Asked())
	if through < 3 { // one that tried it, one session, and one after the kill
		t.Errorf("%d connections went through the proxy", through)
	}

	proxy.Close()
	w.gateway.Kill()
	w.startGateway()
	await.Until(t, "the proxy's failure", func() bool {
		now, err := w.client.GetInstance(t.Context(), id)
		return err == nil && now.ProxyProblem == client.ReasonProxyUnreachable
	})
	if now := len(straight.Asked()); now != before {
		t.Errorf("%d connections went past the proxy", now-before)
	}
	if _, err := w.client.ChangeInstance(t.Context(), id, client.InstanceChange{Proxy: client.Null[string]()}); err != nil {
		t.Fatal(err)
	}
	come("a session without the proxy")
	if now := len(straight.Asked()); now == before {
		t.Error("nothing is counted, so that the count above means nothing")
	}
}
