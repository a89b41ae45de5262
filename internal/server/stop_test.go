package server_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit"
)

// From the moment at which the program is told to stop, nothing is begun that was not begun, and
// everything is answered: a send that waits for its turn is refused at once, with the word that nothing was
// done, one that the platform has is answered, and a body that is still being sent is given up.
func TestStopAnswersEveryRequest(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	text := client.Text{To: customerNumber, Message: "Oi!"}
	if _, err := g.Client.SendText(t.Context(), id, text); err != nil {
		t.Fatal(err)
	}
	g.Phones.Faults(t, map[string]any{"ackDelayMs": 1000})
	const sends = 8
	outcomes := make(chan error, sends+1)
	var asking sync.WaitGroup
	for range sends {
		asking.Go(func() {
			_, err := g.Client.SendText(t.Context(), id, text)
			outcomes <- err
		})
	}
	testkit.Await(t, "a send that the platform has", func() bool { return len(g.Phones.Messages(t, customerNumber, "")) >= 2 })
	from, to := io.Pipe()
	asking.Go(func() {
		// The client of the tests reads a body before it sends it.
		_, err := g.Client.WithHTTPClient(http.DefaultClient).SendImage(t.Context(), id, client.Image{To: customerNumber, File: &client.File{Content: from}})
		_ = from.Close()
		outcomes <- err
	})
	if _, err := to.Write([]byte(strings.Repeat("a", 1000))); err != nil {
		t.Fatal(err)
	}
	g.Stop()
	asking.Wait()
	_ = to.Close()
	close(outcomes)
	answered, refused := 0, 0
	for err := range outcomes {
		refusal, known := errors.AsType[*client.Error](err)
		switch {
		case err == nil:
			answered++
		case known && refusal.StatusCode == http.StatusServiceUnavailable && refusal.Code == gateway.CodeUnavailable && refusal.RetryAfter > 0:
			refused++
		default:
			t.Errorf("a request ended with %v", err)
		}
	}
	if answered == 0 || refused < sends/2 {
		t.Errorf("%d were answered, %d refused", answered, refused)
	}
}

// A send that the platform does not acknowledge in time is answered before the program ends: it may have
// been done.
func TestStopWaitsForThePlatformOnlySoLong(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{LastAnswer: 50 * time.Millisecond})
	text := client.Text{To: customerNumber, Message: "Oi!"}
	if _, err := g.Client.SendText(t.Context(), id, text); err != nil {
		t.Fatal(err)
	}
	g.Phones.Faults(t, map[string]any{"ackDelayMs": 25_000})
	outcome := make(chan error, 1)
	go func() {
		_, err := g.Client.SendText(t.Context(), id, text)
		outcome <- err
	}()
	testkit.Await(t, "a send that the platform has", func() bool { return len(g.Phones.Messages(t, customerNumber, "")) == 2 })
	g.Stop()
	testkit.Refused(t, <-outcome, http.StatusGatewayTimeout, gateway.CodePlatformTimeout)
}
