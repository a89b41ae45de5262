package watchtest_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// startReady starts a program that answers for some time after it was told to stop, and returns when
// it says that it is ready.
func startReady(t *testing.T, drainWait time.Duration) *testkit.Gateway {
	t.Helper()
	g := testkit.Start(t, testkit.Options{Admin: true, DrainWait: drainWait})
	testkit.Await(t, "it is ready", func() bool { return answers(t, g.Server.AdminURL()+"/readyz") == http.StatusOK })
	return g
}

// A program that is told to stop says so at once, and goes on answering until the balancer
// has had the time to learn of it.
func TestReadinessDrainsFirst(t *testing.T) {
	t.Parallel()
	g := startReady(t, 2*time.Second)
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

// A balancer that asks now and then whether the program is ready takes it out before a request
// is refused. The control is a program that does not wait for it.
func TestNoRequestIsRefused(t *testing.T) {
	t.Parallel()
	for name, wait := range cases.Sorted(map[string]time.Duration{"it drains": time.Second, "it does not": 0}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := startReady(t, wait)
			admin, base := g.Server.AdminURL(), g.BaseURL
			var ready atomic.Bool
			ready.Store(true)
			var group sync.WaitGroup
			group.Go(func() { // the balancer
				ticker := time.NewTicker(50 * time.Millisecond)
				defer ticker.Stop()
				for ready.Load() {
					<-ticker.C
					ready.Store(answers(t, admin+"/readyz") == http.StatusOK)
				}
			})
			refused, answered := 0, make(chan struct{})
			begun := sync.OnceFunc(func() { close(answered) })
			group.Go(func() { // a client behind it
				for ready.Load() {
					if answers(t, base+"/healthz") != http.StatusOK {
						refused++
					}
					begun()
				}
			})
			<-answered
			g.Stop()
			group.Wait()
			if (refused > 0) != (wait == 0) {
				t.Errorf("%d requests were refused", refused)
			}
		})
	}
}

// answers returns the status that an address answers with; 0 where it does not.
func answers(t *testing.T, url string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Error(err)
		return 0
	}
	request.Close = true // a connection that is open already would hide that no new one is taken
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0
	}
	if response.Body.Close() != nil {
		return 0
	}
	return response.StatusCode
}
