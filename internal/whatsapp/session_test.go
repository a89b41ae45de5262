package whatsapp_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/sandbox"
	"github.com/recado-project/recado/internal/sandbox/fault"
	"github.com/recado-project/recado/internal/sandbox/webclient"
	"github.com/recado-project/recado/internal/testkit/await"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/whatsapp"
)

func TestSessionLinksByScan(t *testing.T) {
	t.Parallel()
	w := newWorld(t, whatsapp.Config{})
	session, e := w.open(t, "")
	if session.Linked() {
		t.Error("linked before anybody scanned")
	}
	shown := e.await(t, "code").code
	if shown.Attempt != 1 || time.Until(shown.ExpiresAt) < 50*time.Second {
		t.Errorf("first code: attempt %d, expires in %s", shown.Attempt, time.Until(shown.ExpiresAt))
	}
	if err := w.box.Linking.Scan(t.Context(), ownNumber, shown.Code); err != nil {
		t.Fatal(err)
	}
	e.await(t, "pairing")
	e.await(t, "paired")
	profile := e.await(t, "connected").profile
	if profile.JID != gateway.JID(ownNumber+"@"+gateway.PersonalSuffix) || !profile.LID.IsLID() {
		t.Errorf("profile %+v", profile)
	}
	if !session.Linked() || session.Account().Self().JID != profile.JID {
		t.Errorf("linked %v, self %+v", session.Linked(), session.Account().Self())
	}
	if name := e.await(t, "profile").profile.Name; name == "" {
		t.Error("the account's name did not arrive")
	}
}

func TestSessionLinksByPairingCode(t *testing.T) {
	t.Parallel()
	w := newWorld(t, whatsapp.Config{})
	session, e := w.open(t, "")
	e.await(t, "code")
	code, err := session.PairingCode(t.Context(), ownNumber)
	if err != nil {
		t.Fatal(err)
	}
	if len(code.Code) != 8 || time.Until(code.ExpiresAt) < 2*time.Minute {
		t.Errorf("code of %d characters, expires in %s", len(code.Code), time.Until(code.ExpiresAt))
	}
	if err := w.box.Linking.EnterCode(t.Context(), ownNumber, code.Code); err != nil {
		t.Fatal(err)
	}
	if profile := e.await(t, "connected").profile; profile.JID != gateway.JID(ownNumber+"@"+gateway.PersonalSuffix) {
		t.Errorf("profile %+v", profile)
	}
}

func TestSessionShowsCodesUntilTheyRunOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t, whatsapp.Config{FirstCode: time.Millisecond, NextCodes: time.Millisecond})
	_, e := w.open(t, "")
	for attempt := 1; attempt <= 6; attempt++ {
		if got := e.await(t, "code").code.Attempt; got != attempt {
			t.Fatalf("attempt %d, want %d", got, attempt)
		}
	}
	e.await(t, "codes expired")
}

func TestSessionComesBackWithItsKeys(t *testing.T) {
	t.Parallel()
	w := newWorld(t, whatsapp.Config{})
	session, _, device := w.link(t)
	session.Close()
	again, e := w.open(t, device)
	if !again.Linked() {
		t.Fatal("the keys are gone")
	}
	if profile := e.await(t, "connected").profile; profile.JID != gateway.JID(ownNumber+"@"+gateway.PersonalSuffix) {
		t.Errorf("profile %+v", profile)
	}
}

// rowsToWrite are changes of the keys.
type rowsToWrite []gateway.DeviceKey

func (r rowsToWrite) Rows() []gateway.DeviceKey { return r }
func (rowsToWrite) Written()                    {}

// The process may end between the moment in which it was given the keys of the account's settings and
// the one in which it has read them. The next session reads them.
func TestSettingsThatWereNotReadAreRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t, whatsapp.Config{})
	session, e, device := w.link(t)
	e.await(t, "profile") // its name is among the settings
	session.Close()
	number, found, err := w.keys.Devices.FindDevice(t.Context(), device)
	if err != nil || !found {
		t.Fatal(found, err)
	}
	read := func(kind string) []gateway.DeviceKey {
		rows, err := w.keys.Devices.ListDeviceKeys(t.Context(), number, kind, "")
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	versions := read("app state")
	if len(versions) == 0 {
		t.Fatal("nothing was read")
	}
	unread := slices.Concat(versions, read("app state mutation"))
	for i := range unread {
		unread[i].Device, unread[i].Value = number, nil
	}
	if err := w.keys.Devices.WriteDeviceKeys(t.Context(), instanceID, rowsToWrite(unread)); err != nil {
		t.Fatal(err)
	}
	w.open(t, device)
	await.Until(t, "the settings are read", func() bool { return len(read("app state")) == len(versions) })
}

func TestForgottenKeysAreGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, whatsapp.Config{})
	session, _, device := w.link(t)
	session.Close()
	for range 2 { // twice is no error
		if err := w.connector.Forget(t.Context(), device); err != nil {
			t.Fatal(err)
		}
	}
	again, e := w.open(t, device)
	if again.Linked() {
		t.Error("the keys are still there")
	}
	e.await(t, "code")
}

func TestSessionComesBackAfterACut(t *testing.T) {
	t.Parallel()
	w := newWorld(t, whatsapp.Config{})
	session, e, _ := w.link(t)
	for range 3 {
		if err := w.box.Sessions.Disconnect(t.Context(), ownNumber); err != nil {
			t.Fatal(err)
		}
		e.await(t, "lost")
		e.await(t, "connected")
	}
	if _, err := w.send(t, session, "still here"); err != nil {
		t.Error(err)
	}
}

func TestSessionHearsWhyItIsRefused(t *testing.T) {
	t.Parallel()
	set, err := whatsapp.ParseVersion("2.3000.1")
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		do     func(ctx context.Context, box *sandbox.Server) error
		reason gateway.Reason
	}{
		"replaced": {func(ctx context.Context, box *sandbox.Server) error {
			return box.Sessions.Replace(ctx, ownNumber)
		}, gateway.ReasonReplaced},
		"banned for a while": {func(ctx context.Context, box *sandbox.Server) error {
			return box.Sessions.Ban(ctx, ownNumber, time.Hour)
		}, gateway.ReasonBanned},
		"banned for good": {func(ctx context.Context, box *sandbox.Server) error {
			return box.Sessions.Ban(ctx, ownNumber, 0)
		}, gateway.ReasonBanned},
		"version outdated that an operator has set": {func(ctx context.Context, box *sandbox.Server) error {
			return errors.Join(box.Faults.Set(fault.Faults{Outdated: true}), box.Sessions.Disconnect(ctx, ""))
		}, gateway.ReasonClientOutdated},
	}
	for name, c := range cases.Sorted(tests) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, whatsapp.Config{ClientVersion: &set})
			_, e, _ := w.link(t)
			if err := c.do(t.Context(), w.box); err != nil {
				t.Fatal(err)
			}
			if got := e.await(t, "refused").reason; got != c.reason {
				t.Errorf("reason %q, want %q", got, c.reason)
			}
		})
	}
}

// A session whose version is refused says why it is not there, and comes back by itself.
func TestSessionComesBackWithANewerVersion(t *testing.T) {
	t.Parallel()
	w := newWorld(t, whatsapp.Config{LookUpPauseMin: 20 * time.Millisecond, LookUpPauseMax: 20 * time.Millisecond})
	session, e, _ := w.link(t)
	older, newer := webclient.Newest(), webclient.Newest()
	older[2]--
	newer[2]++
	refuse := fault.Faults{OldestVersion: newer, NewestVersion: older}
	if err := errors.Join(w.box.Faults.Set(refuse), w.box.Sessions.Disconnect(t.Context(), "")); err != nil {
		t.Fatal(err)
	}
	if why := e.await(t, "outdated").why; gateway.KindOf(why) != gateway.PlatformFailed || !strings.Contains(why.Error(), older.String()) {
		t.Errorf("the reason is %v", why)
	}
	refuse.NewestVersion = newer
	if err := w.box.Faults.Set(refuse); err != nil {
		t.Fatal(err)
	}
	e.await(t, "connected")
	if _, err := w.send(t, session, "back again"); err != nil {
		t.Error(err)
	}
	if got := w.connector.ClientVersion(); got.Version != newer.String() || !got.RefusedSince.IsZero() {
		t.Errorf("reported %+v", got)
	}
}

func TestSessionIsUnlinkedOnThePhone(t *testing.T) {
	t.Parallel()
	t.Run("while it is up", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, whatsapp.Config{})
		_, e, _ := w.link(t)
		if err := w.box.Linking.Unlink(t.Context(), ownNumber); err != nil {
			t.Fatal(err)
		}
		e.await(t, "logged out")
	})
	t.Run("while it is away", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, whatsapp.Config{})
		session, _, device := w.link(t)
		session.Close()
		if err := w.box.Linking.Unlink(t.Context(), ownNumber); err != nil {
			t.Fatal(err)
		}
		_, e := w.open(t, device)
		e.await(t, "logged out")
	})
}

func TestLogoutRemovesTheDeviceFromThePhone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, whatsapp.Config{})
	session, _, _ := w.link(t)
	if err := session.Logout(t.Context()); err != nil {
		t.Fatal(err)
	}
	phone, err := w.box.Profiles.Get(t.Context(), ownNumber)
	if err != nil {
		t.Fatal(err)
	}
	if len(phone.Devices) != 0 {
		t.Errorf("the phone still lists %v", phone.Devices)
	}
}
