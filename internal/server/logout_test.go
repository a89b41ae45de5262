package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/whatsapp"
)

// statuses is a stream of the events about an instance's status.
type statuses struct{ stream *client.EventStream }

// followStatuses opens a stream of the events from now on.
func followStatuses(t *testing.T, g *testkit.Gateway, id string) statuses {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	t.Cleanup(cancel)
	stream, err := g.Client.Events(ctx, id, client.EventsParams{Types: []string{"instance.status"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stream.Close() })
	return statuses{stream}
}

// want fails the test unless these are the next statuses.
func (s statuses) want(t *testing.T, want ...gateway.Status) {
	t.Helper()
	var got []gateway.Status
	for range want {
		event, err := s.stream.Next()
		if err != nil {
			t.Fatalf("reported were %v, then %v; want %v", got, err, want)
		}
		var data struct {
			Status gateway.Status `json:"status"`
		}
		if err := json.Unmarshal(event.Data, &data); err != nil {
			t.Fatal(err)
		}
		got = append(got, data.Status)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("reported were %v, want %v", got, want)
	}
}

func stop(t *testing.T, g *testkit.Gateway, id string) {
	t.Helper()
	if err := g.Partner.StopInstance(t.Context(), id); err != nil {
		t.Fatal(err)
	}
}

func setPayment(t *testing.T, g *testkit.Gateway, id string, pending bool) {
	t.Helper()
	if _, err := g.Partner.SetPayment(t.Context(), id, client.Payment{Pending: pending}); err != nil {
		t.Fatal(err)
	}
}

// A logout reaches the platform even if the instance has no session. Otherwise the phone
// would list for ever a device whose keys are deleted. The connection that is made for
// this is not reported.
func TestLogoutWithoutSessionReachesThePhone(t *testing.T) {
	t.Parallel()
	for name, c := range cases.Sorted(map[string]struct {
		prepare func(t *testing.T, g *testkit.Gateway, id string, events statuses)
		status  gateway.Status // after the logout
		// then causes an event, if the logout itself causes none.
		then func(t *testing.T, g *testkit.Gateway, id string)
		next gateway.Status // of the first event after the logout
	}{
		"stopped": {
			prepare: func(t *testing.T, g *testkit.Gateway, id string, events statuses) {
				t.Helper()
				stop(t, g, id)
				events.want(t, gateway.StatusManuallyStopped)
			},
			status: gateway.StatusManuallyStopped,
			then:   restart, next: gateway.StatusConnecting,
		},
		"payment pending": {
			prepare: func(t *testing.T, g *testkit.Gateway, id string, events statuses) {
				t.Helper()
				setPayment(t, g, id, true)
				events.want(t, gateway.StatusPaymentPending)
			},
			status: gateway.StatusPaymentPending,
			then:   func(t *testing.T, g *testkit.Gateway, id string) { t.Helper(); setPayment(t, g, id, false) },
			next:   gateway.StatusCreated,
		},
		"refused, and no more": {
			prepare: func(t *testing.T, g *testkit.Gateway, _ string, events statuses) {
				t.Helper()
				g.Phones.Faults(t, map[string]any{"outdated": true})
				g.Phones.Disconnect(t, "")
				events.want(t, gateway.StatusConnecting, gateway.StatusError)
				g.Phones.Faults(t, map[string]any{})
			},
			status: gateway.StatusStopped, next: gateway.StatusStopped,
		},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, id := testkit.StartLinked(t, testkit.Options{})
			events := followStatuses(t, g, id)
			c.prepare(t, g, id, events)
			if devices := g.Phones.Get(t, shopNumber).Devices; len(devices) != 1 {
				t.Fatalf("before the logout the phone lists the devices %v", devices)
			}
			if err := g.Client.LogoutInstance(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			if devices := g.Phones.Get(t, shopNumber).Devices; len(devices) != 0 {
				t.Errorf("the phone still lists the devices %v", devices)
			}
			instance := g.Instance(t, id)
			if instance.Status != string(c.status) || instance.MessengerJID != "" || instance.MessengerID != "" || instance.MessengerName != "" {
				t.Errorf("logged out: %+v, want %s", instance, c.status)
			}
			if c.then != nil {
				c.then(t, g, id)
			}
			events.want(t, c.next)
		})
	}
}

// failedTry is a log that notices a failed try to connect.
type failedTry struct{ seen atomic.Bool }

func (f *failedTry) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte("Got 503")) || bytes.Contains(line, []byte("platform not reached")) {
		f.seen.Store(true)
	}
	return len(line), nil
}

// A logout does not wait for a session that tries to connect again only after an hour.
func TestLogoutInALongPauseReachesThePhone(t *testing.T) {
	t.Parallel()
	failed := &failedTry{}
	g, id := testkit.StartLinked(t, testkit.Options{Log: failed, Platform: whatsapp.Config{ReconnectMin: time.Hour, ReconnectMax: time.Hour}})
	events := followStatuses(t, g, id)
	// After a loss the first try is immediate, and the next one follows the pause.
	g.Phones.Faults(t, map[string]any{"refuseLogins": true})
	g.Phones.Disconnect(t, "")
	testkit.Await(t, "a try that fails", failed.seen.Load)
	events.want(t, gateway.StatusConnecting)
	g.Phones.Faults(t, map[string]any{})
	if err := g.Client.LogoutInstance(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if devices := g.Phones.Get(t, shopNumber).Devices; len(devices) != 0 {
		t.Errorf("the phone still lists the devices %v", devices)
	}
	events.want(t, gateway.StatusStopped)
}

// The deletion of an instance logs it out too.
func TestDeletionOfAStoppedInstanceReachesThePhone(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	stop(t, g, id)
	if err := g.Partner.DeleteInstance(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if devices := g.Phones.Get(t, shopNumber).Devices; len(devices) != 0 {
		t.Errorf("the phone still lists the devices %v", devices)
	}
}

// A logout succeeds even if the gateway has not noticed yet that its connection is broken.
func TestLogoutReachesThePhoneWhileTheConnectionBreaks(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	g.Phones.Disconnect(t, "")
	if err := g.Client.LogoutInstance(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if devices := g.Phones.Get(t, shopNumber).Devices; len(devices) != 0 {
		t.Errorf("the phone still lists the devices %v", devices)
	}
	if instance := g.Instance(t, id); instance.Status != "stopped" || instance.MessengerJID != "" {
		t.Errorf("logged out: %+v", instance)
	}
}

// Messages that waited for a stopped instance arrive over the connection of the logout,
// and don't prevent the logout.
func TestLogoutReachesThePhoneWithMessagesWaiting(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	stop(t, g, id)
	for range 20 {
		g.Phones.SendText(t, customerNumber, shopNumber, "are you there?")
	}
	if err := g.Client.LogoutInstance(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if devices := g.Phones.Get(t, shopNumber).Devices; len(devices) != 0 {
		t.Errorf("the phone still lists the devices %v", devices)
	}
	if status := g.Instance(t, id).Status; status != "manually_stopped" {
		t.Errorf("logged out: status %s", status)
	}
}

// If the platform refuses the session, the instance is logged out immediately all the
// same.
func TestLogoutWhereThePlatformRefusesTheSession(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	stop(t, g, id)
	g.Phones.Do(t, shopNumber, "ban")
	if err := g.Client.LogoutInstance(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if instance := g.Instance(t, id); instance.Status != "manually_stopped" || instance.MessengerJID != "" {
		t.Errorf("logged out: %+v", instance)
	}
}

// A request for the code of a stopped, linked instance is refused, and does not start the
// instance.
func TestCodeOfAStoppedInstanceLeavesItStopped(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	events := followStatuses(t, g, id)
	stop(t, g, id)
	_, err := g.Client.GetQRCode(t.Context(), id, client.GetQRCodeParams{})
	testkit.Refused(t, err, http.StatusConflict, "INSTANCE_ALREADY_CONNECTED")
	_, err = g.Client.GetPairingCode(t.Context(), id, client.NewPairingCode{Phone: shopNumber})
	testkit.Refused(t, err, http.StatusConflict, "INSTANCE_ALREADY_CONNECTED")
	if status := g.Instance(t, id).Status; status != "manually_stopped" {
		t.Errorf("asked for a code: status %s", status)
	}
	restart(t, g, id)
	events.want(t, gateway.StatusManuallyStopped, gateway.StatusConnecting, gateway.StatusConnected)
	stop(t, g, id)
	if err := g.Client.LogoutInstance(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	g.Scan(t, id, otherNumber) // as the refusal advises
}

// If a code is refused because the platform refuses the session, the list of instances
// shows that too.
func TestRefusedCodeHasItsStatus(t *testing.T) {
	t.Parallel()
	g := testkit.Start(t, testkit.Options{})
	created, err := g.Partner.CreateInstance(t.Context(), client.NewInstance{Name: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	g.Phones.Faults(t, map[string]any{"outdated": true})
	for range 5 {
		_, err := g.Client.GetQRCode(t.Context(), created.InstanceID, client.GetQRCodeParams{})
		testkit.Refused(t, err, http.StatusBadGateway, "PLATFORM_ERROR")
		if status := g.Instance(t, created.InstanceID).Status; status != "error" {
			t.Errorf("refused: status %s", status)
		}
	}
	g.Phones.Faults(t, map[string]any{})
	g.Scan(t, created.InstanceID, shopNumber)
}
