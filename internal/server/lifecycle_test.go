package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/sandbox/scan"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/whatsapp"
)

func TestInstanceIsLinkedByQR(t *testing.T) {
	t.Parallel()
	g := testkit.Start(t, testkit.Options{})
	created, err := g.Partner.CreateInstance(t.Context(), client.NewInstance{Name: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	if created.Status != "created" || created.MessengerJID != "" || created.UpdatedAt.IsZero() {
		t.Errorf("created %+v", created)
	}
	code, err := g.Client.GetQRCode(t.Context(), created.InstanceID, client.GetQRCodeParams{Format: client.FormatRaw})
	if err != nil {
		t.Fatal(err)
	}
	if g.Instance(t, created.InstanceID).Status != "pending_qr_code_scan" {
		t.Errorf("status %s while the code is shown", g.Instance(t, created.InstanceID).Status)
	}
	again, err := g.Client.GetQRCode(t.Context(), created.InstanceID, client.GetQRCodeParams{Format: client.FormatRaw})
	if err != nil || again != code {
		t.Errorf("asked again: %+v (%v), want the same code %+v", again, err, code)
	}
	if left := time.Until(time.UnixMilli(code.ExpiresAt)); code.Attempt != 1 || left < 30*time.Second || left > time.Minute {
		t.Errorf("attempt %d, expires in %s", code.Attempt, left)
	}
	drawn, err := g.Client.GetQRCode(t.Context(), created.InstanceID, client.GetQRCodeParams{})
	if err != nil {
		t.Fatal(err)
	}
	read, err := scan.Read(drawn.QRCode)
	if err != nil || read == "" || read != drawn.Code || read != code.Code || read != code.QRCode {
		t.Errorf("the picture encodes %q (%v), code is %q, and of the raw answer %q and %q", read, err, drawn.Code, code.Code, code.QRCode)
	}
	stream, err := g.Client.Events(t.Context(), created.InstanceID, client.EventsParams{After: new(int64(0)), Types: []string{client.TypeInstanceQR}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stream.Close() }()
	event, err := stream.Next()
	if err != nil {
		t.Fatal(err)
	}
	if data, err := event.Decode(); err != nil || data.(client.InstanceQREvent) != client.InstanceQREvent(drawn) {
		t.Errorf("the event has %+v (%v), want the answer %+v", data, err, drawn)
	}
	g.Phones.Scan(t, shopNumber, code.Code)
	linked := g.AwaitStatus(t, created.InstanceID, gateway.StatusConnected)
	if linked.MessengerID != shopNumber || linked.MessengerJID != shopNumber+"@s.whatsapp.net" || linked.MessengerLID == "" {
		t.Errorf("linked %+v", linked)
	}
	if !linked.UpdatedAt.After(created.UpdatedAt) {
		t.Error("updatedAt did not move")
	}
	testkit.Await(t, "the account's name", func() bool {
		return g.Instance(t, created.InstanceID).MessengerName != ""
	})
	_, err = g.Client.GetQRCode(t.Context(), created.InstanceID, client.GetQRCodeParams{})
	testkit.Refused(t, err, http.StatusConflict, "INSTANCE_ALREADY_CONNECTED")
}

func TestInstanceIsLinkedByPairingCode(t *testing.T) {
	t.Parallel()
	g := testkit.Start(t, testkit.Options{})
	created, err := g.Partner.CreateInstance(t.Context(), client.NewInstance{Name: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	code, err := g.Client.GetPairingCode(t.Context(), created.InstanceID, client.NewPairingCode{Phone: "(11) 99999-0100"})
	if err != nil {
		t.Fatal(err)
	}
	if len(code.PairingCode) != 8 || time.Until(time.UnixMilli(code.ExpiresAt)) < time.Minute {
		t.Errorf("code %+v", code)
	}
	g.Phones.EnterPairingCode(t, shopNumber, code.PairingCode)
	g.AwaitStatus(t, created.InstanceID, gateway.StatusConnected)
}

func TestInstanceTimesOutWhenNobodyScans(t *testing.T) {
	t.Parallel()
	g := testkit.Start(t, testkit.Options{Platform: whatsapp.Config{FirstCode: 20 * time.Millisecond, NextCodes: time.Millisecond}})
	created, err := g.Partner.CreateInstance(t.Context(), client.NewInstance{Name: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Client.GetQRCode(t.Context(), created.InstanceID, client.GetQRCodeParams{}); err != nil {
		t.Fatal(err)
	}
	g.AwaitStatus(t, created.InstanceID, gateway.StatusQRTimeout)
	// Asking again starts anew.
	if _, err := g.Client.GetQRCode(t.Context(), created.InstanceID, client.GetQRCodeParams{}); err != nil {
		t.Error(err)
	}
}

func TestInstanceIsRestarted(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	if err := g.Client.RestartInstance(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	g.AwaitStatus(t, id, gateway.StatusConnected)
	sendText(t, g, id, "after a restart")

	if err := g.Partner.StopInstance(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if status := g.Instance(t, id).Status; status != "manually_stopped" {
		t.Errorf("stopped: status %s", status)
	}
	_, err := trySend(t, g, id, "while stopped")
	testkit.Refused(t, err, http.StatusConflict, "INSTANCE_NOT_CONNECTED")
	if err := g.Client.RestartInstance(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	g.AwaitStatus(t, id, gateway.StatusConnected)
	sendText(t, g, id, "after a stop")
}

func TestInstanceIsLoggedOutAndLinkedToAnotherPhone(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	if err := g.Client.LogoutInstance(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	instance := g.Instance(t, id)
	if instance.Status != "stopped" || instance.MessengerJID != "" || instance.MessengerID != "" || instance.MessengerName != "" {
		t.Errorf("logged out: %+v", instance)
	}
	if devices := g.Phones.Get(t, shopNumber).Devices; len(devices) != 0 {
		t.Errorf("the phone still lists the devices %v", devices)
	}
	if err := g.Client.LogoutInstance(t.Context(), id); err != nil {
		t.Errorf("logging out twice: %v", err)
	}
	g.Scan(t, id, otherNumber)
	if got := g.Instance(t, id).MessengerID; got != otherNumber {
		t.Errorf("linked to %s, want %s", got, otherNumber)
	}
	sendText(t, g, id, "from the other phone")
}

func TestLogoutEndsALinking(t *testing.T) {
	t.Parallel()
	g := testkit.Start(t, testkit.Options{})
	created, err := g.Partner.CreateInstance(t.Context(), client.NewInstance{Name: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Client.LogoutInstance(t.Context(), created.InstanceID); err != nil {
		t.Fatal(err)
	}
	if status := g.Instance(t, created.InstanceID).Status; status != "created" {
		t.Errorf("nothing to log out: status %s", status)
	}
	if _, err := g.Client.GetQRCode(t.Context(), created.InstanceID, client.GetQRCodeParams{}); err != nil {
		t.Fatal(err)
	}
	if err := g.Client.LogoutInstance(t.Context(), created.InstanceID); err != nil {
		t.Fatal(err)
	}
	if status := g.Instance(t, created.InstanceID).Status; status != "stopped" {
		t.Errorf("linking ended: status %s", status)
	}
}

func TestInstanceFollowsWhatThePlatformDoes(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		do     func(t *testing.T, g *testkit.Gateway)
		status gateway.Status
		empty  bool // the messenger fields
		back   func(t *testing.T, g *testkit.Gateway, id string)
	}{
		"unlinked on the phone": {
			do:     func(t *testing.T, g *testkit.Gateway) { t.Helper(); g.Phones.Do(t, shopNumber, "unlink") },
			status: gateway.StatusStopped, empty: true, back: relink,
		},
		"replaced by another client": {
			do:     func(t *testing.T, g *testkit.Gateway) { t.Helper(); g.Phones.Do(t, shopNumber, "replace") },
			status: gateway.StatusError, back: restart,
		},
		"banned": {
			do:     func(t *testing.T, g *testkit.Gateway) { t.Helper(); g.Phones.Do(t, shopNumber, "ban") },
			status: gateway.StatusError,
		},
		"client outdated": {
			do: func(t *testing.T, g *testkit.Gateway) {
				t.Helper()
				g.Phones.Faults(t, map[string]any{"outdated": true})
				g.Phones.Disconnect(t, "")
			},
			status: gateway.StatusError,
			back: func(t *testing.T, g *testkit.Gateway, id string) {
				t.Helper()
				_, err := trySend(t, g, id, "why")
				if err == nil || !strings.Contains(err.Error(), "refuses version") {
					t.Errorf("the error does not say why: %v", err)
				}
				g.Phones.Faults(t, map[string]any{})
				restart(t, g, id)
			},
		},
		"connection lost, logins refused for a while": {
			do: func(t *testing.T, g *testkit.Gateway) {
				t.Helper()
				g.Phones.Faults(t, map[string]any{"refuseLogins": true})
				g.Phones.Disconnect(t, "")
			},
			status: gateway.StatusConnecting,
			back: func(t *testing.T, g *testkit.Gateway, _ string) {
				t.Helper()
				g.Phones.Faults(t, map[string]any{})
			},
		},
	}
	for name, c := range cases.Sorted(tests) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, id := testkit.StartLinked(t, testkit.Options{})
			c.do(t, g)
			instance := g.AwaitStatus(t, id, c.status)
			if empty := instance.MessengerJID == ""; empty != c.empty {
				t.Errorf("messenger fields are empty: %v, want %v", empty, c.empty)
			}
			_, err := trySend(t, g, id, "too late")
			testkit.Refused(t, err, http.StatusConflict, "INSTANCE_NOT_CONNECTED")
			if c.back != nil {
				c.back(t, g, id)
				g.AwaitStatus(t, id, gateway.StatusConnected)
				sendText(t, g, id, "back again")
			}
		})
	}
}

func restart(t *testing.T, g *testkit.Gateway, id string) {
	t.Helper()
	if err := g.Client.RestartInstance(t.Context(), id); err != nil {
		t.Fatal(err)
	}
}

func relink(t *testing.T, g *testkit.Gateway, id string) {
	t.Helper()
	g.Scan(t, id, shopNumber)
}

func TestInstanceWaitsForItsPayment(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	pending, err := g.Partner.SetPayment(t.Context(), id, client.Payment{Pending: true})
	if err != nil || pending.Status != "payment_pending" || pending.MessengerID != shopNumber {
		t.Fatalf("pending: %+v (%v)", pending, err)
	}
	_, err = trySend(t, g, id, "unpaid")
	testkit.Refused(t, err, http.StatusPaymentRequired, "PAYMENT_REQUIRED")
	_, err = g.Client.GetQRCode(t.Context(), id, client.GetQRCodeParams{})
	testkit.Refused(t, err, http.StatusPaymentRequired, "PAYMENT_REQUIRED")
	testkit.Refused(t, g.Client.RestartInstance(t.Context(), id), http.StatusPaymentRequired, "PAYMENT_REQUIRED")
	testkit.Refused(t, g.Partner.StopInstance(t.Context(), id), http.StatusPaymentRequired, "PAYMENT_REQUIRED")

	if _, err := g.Partner.SetPayment(t.Context(), id, client.Payment{Pending: false}); err != nil {
		t.Fatal(err)
	}
	g.AwaitStatus(t, id, gateway.StatusConnected)
	sendText(t, g, id, "paid")
}

func TestInstanceIsDeleted(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	sendText(t, g, id, "soon gone")
	if err := g.Partner.DeleteInstance(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if devices := g.Phones.Get(t, shopNumber).Devices; len(devices) != 0 {
		t.Errorf("the phone still lists the devices %v", devices)
	}
	_, err := trySend(t, g, id, "gone")
	testkit.Refused(t, err, http.StatusNotFound, "INSTANCE_NOT_FOUND")
	testkit.Refused(t, g.Partner.DeleteInstance(t.Context(), id), http.StatusNotFound, "INSTANCE_NOT_FOUND")
}

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
