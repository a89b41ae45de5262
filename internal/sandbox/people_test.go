package sandbox_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/sandbox/account"
)

func TestProfilePictures(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newClient().link(gateway).synchronised()
	ctx := context.Background()
	if _, err := c.GetProfilePictureInfo(ctx, pn(friend), nil); !errors.Is(err, whatsmeow.ErrProfilePictureNotSet) {
		t.Errorf("asked for a missing picture, the client got %v", err)
	}
	drawn := picture(t, 8, 8)
	var phone account.Phone
	w.do(http.MethodPut, "/phones/"+friend, map[string]any{"profilePicture": dataURI("image/png", drawn)}, &phone)
	if !phone.ProfilePicture {
		t.Errorf("the phone is %+v", phone)
	}
	w.down()
	expect[*events.Disconnected](c, nil)
	c.forget()
	w.start()
	expect[*events.Connected](c, nil)
	lid, err := types.ParseJID(phone.LID)
	if err != nil {
		t.Fatal(err)
	}
	for _, jid := range []types.JID{pn(friend), lid} {
		info, err := c.GetProfilePictureInfo(ctx, jid, nil)
		if err != nil {
			t.Fatal(err)
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, info.URL, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := w.web.Client().Do(request) // it does not use the world's dialler
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(response.Body)
		if err := errors.Join(err, response.Body.Close()); err != nil || !bytes.Equal(got, drawn) || response.Header.Get("Content-Type") != "image/png" {
			t.Errorf("%s gave %d bytes of %s (%v)", info.URL, len(got), response.Header.Get("Content-Type"), err)
		}
		if same, err := c.GetProfilePictureInfo(ctx, jid, &whatsmeow.GetProfilePictureParams{ExistingID: info.ID}); same != nil || err != nil {
			t.Errorf("a known picture was answered with %+v (%v)", same, err)
		}
	}
	about, err := c.GetUserInfo(ctx, []types.JID{pn(friend)})
	if err != nil || about[pn(friend)].PictureID == "" {
		t.Errorf("the look-up says %+v (%v)", about, err)
	}
	w.do(http.MethodPut, "/phones/"+friend, map[string]any{"name": "Friend"}, &phone)
	if !phone.ProfilePicture {
		t.Error("a new name took the picture away")
	}
	w.do(http.MethodPut, "/phones/"+friend, map[string]any{"profilePicture": nil}, &phone)
	if phone.ProfilePicture {
		t.Error("the picture is still there")
	}
	if _, err := c.GetProfilePictureInfo(ctx, pn(friend), nil); !errors.Is(err, whatsmeow.ErrProfilePictureNotSet) {
		t.Errorf("asked for a missing picture, the client got %v", err)
	}
	if _, err := c.GetProfilePictureInfo(ctx, types.NewJID("120363", types.GroupServer), nil); !errors.Is(err, whatsmeow.ErrProfilePictureNotSet) {
		t.Errorf("asked for the picture of a group, the client got %v", err)
	}
}

// Everybody chooses their own picture. A page in its place must not be shown as one.
func TestPicturesAreNoPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.do(http.MethodPut, "/phones/"+friend, map[string]any{"profilePicture": dataURI("image/png", []byte("<html><script>alert(1)</script>"))}, nil)
	phone, found, err := w.server.Profiles.Look(t.Context(), friend)
	if err != nil || !found || phone.PictureID == "" {
		t.Fatalf("the phone is %+v, %v", phone, err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://sandbox/sandbox/pictures/"+phone.PictureID, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := w.dial.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	header := response.Header
	if header.Get("Content-Type") != "application/octet-stream" || header.Get("X-Content-Type-Options") != "nosniff" ||
		!strings.HasPrefix(header.Get("Content-Security-Policy"), "sandbox") {
		t.Errorf("it was answered with %v", header)
	}
}

func TestLookingCreatesNoPhone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, number := range []string{friend, "", "none", "0"} {
		if _, found, err := w.server.Profiles.Look(t.Context(), number); found || err != nil {
			t.Errorf("%q: found %t, %v", number, found, err)
		}
	}
	w.do(http.MethodGet, "/phones/"+friend, nil, nil)
	if phone, found, err := w.server.Profiles.Look(t.Context(), "+"+friend); !found || err != nil || phone.Number != friend {
		t.Errorf("found %t %+v, %v", found, phone, err)
	}
}

func TestMessagesOfBlockedPeopleAreDropped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c, also, blocked := w.newClient().link(gateway), w.newClient().link(gateway), w.newClient().link(partner)
	ctx := context.Background()
	w.send(friend, gateway, "before")
	c.got("before")
	list, err := c.UpdateBlocklist(ctx, pn(friend), events.BlocklistChangeActionBlock)
	if err != nil || len(list.JIDs) != 1 || list.JIDs[0].Server != types.HiddenUserServer {
		t.Fatalf("the list is %+v (%v)", list, err)
	}
	if _, err := c.UpdateBlocklist(ctx, pn(partner), events.BlocklistChangeActionBlock); err != nil {
		t.Fatal(err)
	}
	expect[*events.Blocklist](also, nil)
	known, err := also.GetBlocklist(ctx)
	if err != nil || len(known.JIDs) != 2 || known.DHash == list.DHash {
		t.Errorf("the other device knows %+v (%v)", known, err)
	}
	w.activity(friend, func(a account.Activity) bool { return a.Type == "blocked" && a.From == pn(gateway).String() })
	unheard := w.send(friend, gateway, "unheard")
	w.message(partner, blocked.text(gateway, "unheard"), hasStatus("sent"))
	w.message(friend, unheard, hasStatus("sent"))
	if _, err := c.UpdateBlocklist(ctx, pn(friend), events.BlocklistChangeActionUnblock); err != nil {
		t.Fatal(err)
	}
	w.activity(friend, func(a account.Activity) bool { return a.Type == "unblocked" })
	w.send(friend, gateway, "after")
	c.got("after")
	for _, m := range w.messages(gateway) {
		if m.Text == "unheard" {
			t.Errorf("the phone shows %+v", m)
		}
	}
	for _, m := range seen[*events.Message](c) {
		if m.Message.GetConversation() == "unheard" {
			t.Errorf("the client got %+v", m)
		}
	}
}
