package server_test

import (
	"bytes"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// warning notes whether a log warned of a logout that the platform did not get.
type warning struct{ given atomic.Bool }

func (w *warning) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte("level=WARN")) && bytes.Contains(line, []byte("the phone may still list the device")) {
		w.given.Store(true)
	}
	return len(line), nil
}

// A platform that refuses logins prevents neither a logout nor the deletion of an
// instance; the log says what that leaves behind.
func TestLogoutDoesNotWaitForThePlatformForEver(t *testing.T) {
	t.Parallel()
	for name, c := range cases.Sorted(map[string]struct {
		prepare func(t *testing.T, g *testkit.Gateway, id string)
		status  gateway.Status // before
		after   gateway.Status
	}{
		"stopped": {
			prepare: func(t *testing.T, g *testkit.Gateway, id string) {
				t.Helper()
				if err := g.Partner.StopInstance(t.Context(), id); err != nil {
					t.Fatal(err)
				}
			},
			status: gateway.StatusManuallyStopped, after: gateway.StatusManuallyStopped,
		},
		"connection cut": {
			prepare: func(t *testing.T, g *testkit.Gateway, _ string) { t.Helper(); g.Phones.Disconnect(t, "") },
			status:  gateway.StatusConnecting, after: gateway.StatusStopped,
		},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			warned := &warning{}
			g := testkit.Start(t, testkit.Options{Log: warned, LogoutWait: 300 * time.Millisecond})
			id := g.Link(t, shopNumber)
			g.Phones.Faults(t, map[string]any{"refuseLogins": true})
			c.prepare(t, g, id)
			g.AwaitStatus(t, id, c.status)
			if err := g.Client.LogoutInstance(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			if instance := g.Instance(t, id); instance.Status != string(c.after) || instance.MessengerJID != "" {
				t.Errorf("logged out: %+v", instance)
			}
			if !warned.given.Load() {
				t.Error("the log does not say that the platform did not get the logout")
			}
			if devices := g.Phones.Get(t, shopNumber).Devices; len(devices) != 1 {
				t.Errorf("the platform got the logout after all: the phone lists %v", devices)
			}
			g.Phones.Faults(t, map[string]any{})
			g.Scan(t, id, shopNumber)
			g.Phones.Faults(t, map[string]any{"refuseLogins": true})
			c.prepare(t, g, id)
			g.AwaitStatus(t, id, c.status)
			if err := g.Partner.DeleteInstance(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		})
	}
}
