package server_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/sandbox/webclient"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/amount"
	"github.com/recado-project/recado/internal/whatsapp"
)

// newer returns a version some steps newer than that of the client library.
func newer(steps uint32) string {
	version := webclient.Newest()
	version[2] += steps
	return version.String()
}

// The platform refuses the version of many connected instances, fifty in the long run, and cuts them. All are back
// within a minute, without a restart, and a restart keeps what they have found.
func TestOutdatedInstancesComeBack(t *testing.T) {
	t.Parallel()
	options := testkit.Options{DataDir: t.TempDir(), Platform: whatsapp.Config{ // production's own pauses
		ReconnectMin: time.Second, ReconnectMax: time.Minute,
	}}
	g := testkit.Start(t, options)
	fleet := amount.Of(5, 50)
	ids := make([]string, fleet)
	for i := range ids {
		ids[i] = g.Link(t, fmt.Sprintf("55119999%05d", 20_010+2*i))
	}
	g.Phones.Faults(t, map[string]any{"oldestVersion": newer(7), "newestVersion": newer(9)})
	began := time.Now()
	g.Phones.Disconnect(t, "")
	testkit.Await(t, "the refusal", func() bool { return g.Server.ClientVersion().Version == newer(9) })
	for _, id := range ids {
		g.AwaitStatus(t, id, gateway.StatusConnected)
	}
	took := time.Since(began)
	t.Logf("%d of %d instances are back %.1f s after the platform refused their version", fleet, fleet, took.Seconds())
	if took > time.Minute {
		t.Errorf("it took %s", took)
	}
	if version := g.Server.ClientVersion(); version.Source != gateway.VersionLookedUp || !version.RefusedSince.IsZero() || version.Trouble != "" {
		t.Errorf("claimed is %+v", version)
	}
	for _, id := range ids {
		sendText(t, g, id, "back again")
	}
	g.Stop()

	// The sandbox has forgotten its faults and would name the library's version, but nothing
	// is looked up for a day.
	g = testkit.Start(t, options)
	testkit.Await(t, "what was found is read", func() bool { return !g.Server.ClientVersion().LookedUpAt.IsZero() })
	if version := g.Server.ClientVersion(); version.Version != newer(9) || version.Source != gateway.VersionLookedUp {
		t.Errorf("after a restart: %+v", version)
	}
	g.AwaitStatus(t, ids[0], gateway.StatusConnected)
}

// If the page that names the newest version is of no use, instances say why. They come back
// by themselves when it is.
func TestOutdatedInstanceWaitsForANewerVersion(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{Platform: whatsapp.Config{LookUpPauseMin: 20 * time.Millisecond, LookUpPauseMax: 20 * time.Millisecond}})
	events := followStatuses(t, g, id)
	faults := map[string]any{"oldestVersion": newer(1), "newestVersion": newer(1), "versionPage": "down"}
	g.Phones.Faults(t, faults)
	g.Phones.Disconnect(t, "")
	events.want(t, gateway.StatusConnecting, gateway.StatusError)
	testkit.Await(t, "the reason", func() bool { return g.Server.ClientVersion().Trouble == "the page was answered with status 503" })
	delete(faults, "versionPage")
	g.Phones.Faults(t, faults)
	events.want(t, gateway.StatusConnected)
	sendText(t, g, id, "back again")
}

// An operator's version is claimed whatever the page names, and nothing is looked up.
func TestSetVersionIsNotLookedUp(t *testing.T) {
	t.Parallel()
	set, err := whatsapp.ParseVersion("2.3000.17")
	if err != nil {
		t.Fatal(err)
	}
	g := testkit.Start(t, testkit.Options{Platform: whatsapp.Config{ClientVersion: &set}})
	g.Phones.Faults(t, map[string]any{"oldestVersion": "2.3000.17", "newestVersion": newer(9)})
	id := g.Link(t, shopNumber)
	g.Phones.Faults(t, map[string]any{"oldestVersion": "2.3000.18", "newestVersion": newer(9)})
	g.Phones.Disconnect(t, "")
	g.AwaitStatus(t, id, gateway.StatusError)
	version := g.Server.ClientVersion()
	if version.Version != "2.3000.17" || version.Source != gateway.VersionSet || !version.LookedUpAt.IsZero() || version.RefusedSince.IsZero() {
		t.Errorf("claimed is %+v", version)
	}
}
