package server_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/gateway"
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
	g.Phones.Scan(t, shopNumber, code.QRCode)
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
