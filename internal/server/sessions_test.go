package server_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit"
)

// How long a session has been connecting is known, whatever restarts it meanwhile, and so are the
// attempts that have failed. One that is being linked, or was stopped, is not waited for.
func TestSessionsThatDoNotComeBack(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{Admin: true})
	if other, err := g.Partner.CreateInstance(t.Context(), client.NewInstance{Name: "being linked"}); err != nil {
		t.Fatal(err)
	} else if _, err := g.Client.GetQRCode(t.Context(), other.InstanceID, client.GetQRCodeParams{}); err != nil {
		t.Fatal(err)
	}
	if connected, longest := g.Server.Instances().Sessions(); connected != 1 || longest != 0 {
		t.Errorf("%d are connected, and one connects for %s", connected, longest)
	}
	g.Phones.Faults(t, map[string]any{"refuseLogins": true})
	g.Phones.Disconnect(t, shopNumber)
	metric := func() string {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, g.Server.AdminURL()+"/metrics", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = response.Body.Close() }() // it was read
		page, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(page)
	}
	testkit.Await(t, "three attempts that fail", func() bool {
		page := metric()
		return !strings.Contains(page, `recado_session_attempts_failed_total{reason="hung_up"} 0`) &&
			!strings.Contains(page, `recado_session_attempts_failed_total{reason="hung_up"} 1`+"\n") &&
			!strings.Contains(page, `recado_session_attempts_failed_total{reason="hung_up"} 2`+"\n")
	})
	connected, before := g.Server.Instances().Sessions()
	if connected != 0 || before <= 0 {
		t.Errorf("%d are connected, and one connects for %s", connected, before)
	}
	if err := g.Client.RestartInstance(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if _, after := g.Server.Instances().Sessions(); after < before {
		t.Errorf("after a restart it connects for %s, and before for %s", after, before)
	}
	stop(t, g, id)
	if _, longest := g.Server.Instances().Sessions(); longest != 0 {
		t.Errorf("it is stopped, and connects for %s", longest)
	}
	g.Phones.Faults(t, map[string]any{})
	if err := g.Client.RestartInstance(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	g.AwaitStatus(t, id, gateway.StatusConnected)
	testkit.Await(t, "nobody connects", func() bool {
		connected, longest := g.Server.Instances().Sessions()
		return connected == 1 && longest == time.Duration(0)
	})
}
