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
	"github.com/recado-project/recado/internal/whatsapp"
)

// statuses is a stream of what is told of an instance's status.
type statuses struct{ stream *client.EventStream }

// followStatuses opens the stream; what happens from now on is in it.
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

// want fails the test unless these are the next ones.
func (s statuses) want(t *testing.T, want ...gateway.Status) {
	t.Helper()
	var got []gateway.Status
	for range want {
		event, err := s.stream.Next()
		if err != nil {
			t.Fatalf("told %v, then %v; want %v", got, err, want)
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
		t.Fatalf("told %v, want %v", got, want)
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
	if _, err := g.Partner.SetPayment(t.Context(), id, pending); err != nil {
		t.Fatal(err)
	}
}

// Logging out tells the platform also where no session is up: the phone once went
// on listing a device whose keys were forgotten, for ever. Nobody is told that the
// instance was connected for that.
func TestLogoutWithoutSessionReachesThePhone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prepare func(t *testing.T, g *testkit.Gateway, id string, told statuses)
		status  gateway.Status // logged out
		// then makes something happen that is told, where the logout itself is not.
		then func(t *testing.T, g *testkit.Gateway, id string)
		told gateway.Status // from the logout on
	}{
		"stopped": {
			prepare: func(t *testing.T, g *testkit.Gateway, id string, told statuses) {
				t.Helper()
				stop(t, g, id)
				told.want(t, gateway.StatusManuallyStopped)
			},
			status: gateway.StatusManuallyStopped,
			then:   restart, told: gateway.StatusConnecting,
		},
		"payment pending": {
			prepare: func(t *testing.T, g *testkit.Gateway, id string, told statuses) {
				t.Helper()
				setPayment(t, g, id, true)
				told.want(t, gateway.StatusPaymentPending)
			},
			status: gateway.StatusPaymentPending,
			then:   func(t *testing.T, g *testkit.Gateway, id string) { t.Helper(); setPayment(t, g, id, false) },
			told:   gateway.StatusCreated,
		},
		"refused, and no more": {
			prepare: func(t *testing.T, g *testkit.Gateway, _ string, told statuses) {
				t.Helper()
				g.Phones.Faults(t, map[string]any{"outdated": true})
				g.Phones.Disconnect(t, "")
				told.want(t, gateway.StatusConnecting, gateway.StatusError)
				g.Phones.Faults(t, map[string]any{})
			},
			status: gateway.StatusStopped, told: gateway.StatusStopped,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := testkit.Start(t, testkit.Options{})
			id := g.Link(t, shopNumber)
			told := followStatuses(t, g, id)
			c.prepare(t, g, id, told)
			if devices := g.Phones.Get(t, shopNumber).Devices; len(devices) != 1 {
				t.Fatalf("before the logout the phone lists the devices %v", devices)
			}
			if err := g.Client.Logout(t.Context(), id); err != nil {
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
			told.want(t, c.told)
		})
	}
}

// failedTry notes whether a log told of a try to connect that failed.
type failedTry struct{ told atomic.Bool }

func (f *failedTry) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte("Got 503")) || bytes.Contains(line, []byte("platform not reached")) {
		f.told.Store(true)
	}
	return len(line), nil
}

// A session that waits for an hour before it tries to connect again does not keep
// the goodbye waiting.
func TestLogoutInALongPauseReachesThePhone(t *testing.T) {
	t.Parallel()
	failed := &failedTry{}
	g := testkit.Start(t, testkit.Options{Log: failed, Platform: whatsapp.Config{ReconnectMin: time.Hour, ReconnectMax: time.Hour}})
	id := g.Link(t, shopNumber)
	told := followStatuses(t, g, id)
	// The first try after a loss comes at once, the next one after the pause.
	g.Phones.Faults(t, map[string]any{"refuseLogins": true})
	g.Phones.Disconnect(t, "")
	testkit.Await(t, "a try that fails", failed.told.Load)
	told.want(t, gateway.StatusConnecting)
	g.Phones.Faults(t, map[string]any{})
	if err := g.Client.Logout(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if devices := g.Phones.Get(t, shopNumber).Devices; len(devices) != 0 {
		t.Errorf("the phone still lists the devices %v", devices)
	}
	told.want(t, gateway.StatusStopped)
}

// Deleting an instance does the same.
func TestDeletionOfAStoppedInstanceReachesThePhone(t *testing.T) {
	t.Parallel()
	g := testkit.Start(t, testkit.Options{})
	id := g.Link(t, shopNumber)
	stop(t, g, id)
	if err := g.Partner.DeleteInstance(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if devices := g.Phones.Get(t, shopNumber).Devices; len(devices) != 0 {
		t.Errorf("the phone still lists the devices %v", devices)
	}
}

// The gateway may not know yet that the connection is gone over which it would
// say goodbye.
func TestLogoutReachesThePhoneWhileTheConnectionBreaks(t *testing.T) {
	t.Parallel()
	g := testkit.Start(t, testkit.Options{})
	id := g.Link(t, shopNumber)
	g.Phones.Disconnect(t, "")
	if err := g.Client.Logout(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if devices := g.Phones.Get(t, shopNumber).Devices; len(devices) != 0 {
		t.Errorf("the phone still lists the devices %v", devices)
	}
	if instance := g.Instance(t, id); instance.Status != "stopped" || instance.MessengerJID != "" {
		t.Errorf("logged out: %+v", instance)
	}
}

// What arrived for a stopped instance and comes in with the goodbye's connection
// does not keep the goodbye from being said.
func TestLogoutReachesThePhoneWithMessagesWaiting(t *testing.T) {
	t.Parallel()
	g := testkit.Start(t, testkit.Options{})
	id := g.Link(t, shopNumber)
	stop(t, g, id)
	for range 20 {
		g.Phones.SendText(t, customerNumber, shopNumber, "are you there?")
	}
	if err := g.Client.Logout(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if devices := g.Phones.Get(t, shopNumber).Devices; len(devices) != 0 {
		t.Errorf("the phone still lists the devices %v", devices)
	}
	if status := g.Instance(t, id).Status; status != "manually_stopped" {
		t.Errorf("logged out: status %s", status)
	}
}

// A platform that refuses the session can't be told; the user is logged out all
// the same, and at once.
func TestLogoutWhereThePlatformRefusesTheSession(t *testing.T) {
	t.Parallel()
	g := testkit.Start(t, testkit.Options{})
	id := g.Link(t, shopNumber)
	stop(t, g, id)
	g.Phones.Do(t, shopNumber, "ban")
	if err := g.Client.Logout(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if instance := g.Instance(t, id); instance.Status != "manually_stopped" || instance.MessengerJID != "" {
		t.Errorf("logged out: %+v", instance)
	}
}

// Asking for the code of a linked instance that was stopped once brought it back,
// and answered a refusal.
func TestCodeOfAStoppedInstanceLeavesItStopped(t *testing.T) {
	t.Parallel()
	g := testkit.Start(t, testkit.Options{})
	id := g.Link(t, shopNumber)
	told := followStatuses(t, g, id)
	stop(t, g, id)
	_, err := g.Client.QRCode(t.Context(), id)
	testkit.Refused(t, err, http.StatusConflict, "INSTANCE_ALREADY_CONNECTED")
	_, err = g.Client.PairingCode(t.Context(), id, shopNumber)
	testkit.Refused(t, err, http.StatusConflict, "INSTANCE_ALREADY_CONNECTED")
	if status := g.Instance(t, id).Status; status != "manually_stopped" {
		t.Errorf("asked for a code: status %s", status)
	}
	restart(t, g, id)
	told.want(t, gateway.StatusManuallyStopped, gateway.StatusConnecting, gateway.StatusConnected)
	stop(t, g, id)
	if err := g.Client.Logout(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	g.Scan(t, id, otherNumber) // as the refusal advises
}

// Who is told that the platform refuses the session reads so in the list.
func TestRefusedCodeHasItsStatus(t *testing.T) {
	t.Parallel()
	g := testkit.Start(t, testkit.Options{})
	created, err := g.Partner.CreateInstance(t.Context(), "shop")
	if err != nil {
		t.Fatal(err)
	}
	g.Phones.Faults(t, map[string]any{"outdated": true})
	for range 5 {
		_, err := g.Client.QRCode(t.Context(), created.InstanceID)
		testkit.Refused(t, err, http.StatusBadGateway, "PLATFORM_ERROR")
		if status := g.Instance(t, created.InstanceID).Status; status != "error" {
			t.Errorf("refused: status %s", status)
		}
	}
	g.Phones.Faults(t, map[string]any{})
	g.Scan(t, created.InstanceID, shopNumber)
}
