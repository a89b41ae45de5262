package sandbox_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/sandbox/webclient"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// A real client finds the newest version on the page as it finds it on the messenger's own.
func TestPageNamesTheNewestVersion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	found, err := whatsmeow.GetLatestVersion(t.Context(), w.dial)
	if err != nil || *found != store.GetWAVersion() {
		t.Errorf("nothing is set: found %v (%v), want the library's own", found, err)
	}
	w.do(http.MethodPut, "/faults", map[string]string{"newestVersion": "2.3000.1999999999"}, nil)
	found, err = whatsmeow.GetLatestVersion(t.Context(), w.dial)
	if err != nil || found.String() != "2.3000.1999999999" {
		t.Errorf("found %v (%v)", found, err)
	}
	for failure, want := range cases.Sorted(map[webclient.Failure]string{
		webclient.Down: "status 503", webclient.Garbage: "not found", webclient.Huge: "", webclient.Endless: "deadline exceeded",
	}) {
		w.do(http.MethodPut, "/faults", map[string]any{"versionPage": failure}, nil)
		wait := time.Minute
		if failure == webclient.Endless {
			wait = 100 * time.Millisecond
		}
		ctx, cancel := context.WithTimeout(t.Context(), wait)
		_, err := whatsmeow.GetLatestVersion(ctx, w.dial)
		cancel()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the error is %v", failure, err)
		}
	}
	for _, wrong := range []string{"2.3000", "2.3000.x", "2.3000.-1", "2.3000.4294967296", "3.3000.1"} {
		if status := w.call(http.MethodPut, "/faults", map[string]string{"oldestVersion": wrong}, nil); status != http.StatusBadRequest {
			t.Errorf("%s: %d", wrong, status)
		}
	}
}

// The platform refuses versions that are too old, to link and to log in, and no others.
func TestOldVersionsAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newClient().link(gateway)
	own := webclient.Newest()
	newer := own
	newer[2]++
	w.do(http.MethodPut, "/faults", map[string]string{"oldestVersion": newer.String()}, nil)
	w.do(http.MethodPost, "/faults/disconnect", nil, nil)
	expect[*events.ClientOutdated](c, nil)
	unlinked := w.newClient()
	unlinked.connect()
	expect[*events.ClientOutdated](unlinked, nil)
	w.do(http.MethodPut, "/faults", map[string]string{"oldestVersion": own.String()}, nil)
	c.restart()
	expect[*events.Connected](c, nil)
}
