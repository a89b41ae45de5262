package watchtest_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/testkit"
)

// A program that is told to stop says so at once, and goes on answering until the balancer
// has had the time to learn of it.
func TestReadinessDrainsFirst(t *testing.T) {
	t.Parallel()
	g := testkit.Start(t, testkit.Options{Admin: true, DrainWait: 2 * time.Second})
	admin := g.Server.AdminURL()
	for _, path := range []string{"/healthz", "/readyz", "/"} {
		if status, said := get(t, admin+path); status != http.StatusOK {
			t.Errorf("%s answers %d %s", path, status, said)
		}
	}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		g.Stop()
	}()
	testkit.Await(t, "it is not ready any more", func() bool {
		status, said := get(t, admin+"/readyz")
		return status == http.StatusServiceUnavailable && strings.TrimSpace(said) == "stopping"
	})
	// Both listeners still answer.
	if status, _ := get(t, g.BaseURL+"/readyz"); status != http.StatusServiceUnavailable {
		t.Errorf("while it drains, the API's own readiness answers %d", status)
	}
	if status, _ := get(t, g.BaseURL+"/healthz"); status != http.StatusOK {
		t.Errorf("while it drains, a request is answered %d", status)
	}
	if status, _ := get(t, admin+"/healthz"); status != http.StatusOK {
		t.Errorf("while it drains, the process does not seem to live: %d", status)
	}
	<-stopped
}
