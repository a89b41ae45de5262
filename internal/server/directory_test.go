package server_test

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit"
)

func TestCheckNumbersKeepsOrderAndDoubles(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	for range 2 { // the second time from memory
		results, err := g.Client.CheckNumbers(t.Context(), id, client.CheckNumbers{Numbers: []string{
			"11988887766", "+55 11 98888-0000", "5511977776655", customerNumber + "@s.whatsapp.net", "5511988887766",
		}})
		if err != nil {
			t.Fatal(err)
		}
		const jid = customerNumber + "@s.whatsapp.net"
		want := []client.NumberCheck{
			{Number: "5511988887766", Exists: true, JID: jid},
			{Number: "5511988880000"},
			{Number: "5511977776655", Exists: true, JID: "551177776655@s.whatsapp.net"},
			{Number: "5511988887766", Exists: true, JID: jid},
			{Number: "5511988887766", Exists: true, JID: jid},
		}
		if len(results.Results) != len(want) {
			t.Fatalf("answered %+v", results)
		}
		for i := range want {
			if results.Results[i] != want[i] {
				t.Errorf("%d: answered %+v, want %+v", i, results.Results[i], want[i])
			}
		}
	}
	empty, err := g.Client.CheckNumbers(t.Context(), id, client.CheckNumbers{Numbers: []string{}})
	if err != nil || len(empty.Results) != 0 {
		t.Errorf("of none: answered %+v (%v)", empty, err)
	}
}

// A check notices within an hour that a number has left the platform. From then on
// sending to it fails too.
func TestCheckNumbersAsksAnew(t *testing.T) {
	t.Parallel()
	var later atomic.Int64
	g, id := testkit.StartLinked(t, testkit.Options{Now: func() time.Time { return time.Now().Add(time.Duration(later.Load())) }})
	exists := func(want bool) {
		t.Helper()
		results, err := g.Client.CheckNumbers(t.Context(), id, client.CheckNumbers{Numbers: []string{"5511955550100"}})
		if err != nil || len(results.Results) != 1 || results.Results[0].Exists != want {
			t.Errorf("answered %+v (%v), want %v", results, err, want)
		}
	}
	exists(true)
	g.Phones.Update(t, "5511955550100", map[string]any{"registered": false})
	exists(true)
	later.Store(int64(time.Hour + time.Minute))
	exists(false)
	_, err := g.Client.SendText(t.Context(), id, client.Text{To: "5511955550100", Message: "Oi!"})
	testkit.Refused(t, err, http.StatusBadRequest, "RECIPIENT_NOT_REGISTERED")
}

func TestPresenceIsSeenOnThePhone(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	sendText(t, g, id, "Oi!")
	testkit.Await(t, "the account's name", func() bool { return g.Instance(t, id).MessengerName != "" })
	lid := g.Phones.Get(t, customerNumber).LID
	for _, c := range []struct {
		presence    string
		to          string
		kind, value string
	}{
		{client.PresenceAvailable, customerNumber, "presence", "available"},
		{client.PresenceComposing, customerNumber, "chatstate", "composing"},
		{client.PresenceRecording, lid, "chatstate", "recording"},
		{client.PresencePaused, customerNumber + "@c.us", "chatstate", "paused"},
		{client.PresenceUnavailable, customerNumber, "presence", "unavailable"},
	} {
		if err := g.Client.SendPresence(t.Context(), id, client.Presence{To: c.to, Presence: c.presence}); err != nil {
			t.Fatalf("%s: %v", c.presence, err)
		}
		g.Phones.AwaitActivity(t, customerNumber, c.kind, c.value)
	}
}

func TestProfilePicture(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	if shown, err := g.Client.GetProfilePicture(t.Context(), id, customerNumber); err != nil || shown.URL != nil {
		t.Errorf("without a picture: %+v (%v)", shown, err)
	}
	if shown, err := g.Client.GetProfilePicture(t.Context(), id, "5511988880000"); err != nil || shown.URL != nil {
		t.Errorf("of nobody: %+v (%v)", shown, err)
	}
	g.Phones.Update(t, customerNumber, map[string]any{"profilePicture": client.DataURI("image/png", picture(t))})
	for _, phone := range []string{customerNumber, "11988887766", g.Phones.Get(t, customerNumber).LID} {
		shown, err := g.Client.GetProfilePicture(t.Context(), id, phone)
		if err != nil || shown.URL == nil {
			t.Fatalf("%s: %+v (%v)", phone, shown, err)
		}
		response, err := http.Get(*shown.URL)
		if err != nil {
			t.Fatal(err)
		}
		content, _ := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if response.StatusCode != http.StatusOK || len(content) == 0 {
			t.Errorf("%s: the picture answers %d", phone, response.StatusCode)
		}
	}
}

// The list shows the picture of the account that an instance is linked to.
func TestInstanceShowsItsOwnPicture(t *testing.T) {
	t.Parallel()
	g := testkit.Start(t, testkit.Options{})
	g.Phones.Update(t, shopNumber, map[string]any{"profilePicture": client.DataURI("image/png", picture(t))})
	id := g.Link(t, shopNumber)
	testkit.Await(t, "the picture", func() bool {
		return strings.HasPrefix(g.Instance(t, id).MessengerProfilePicURL, "http")
	})
}

func TestBlockKeepsMessagesAway(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	sendText(t, g, id, "Oi!")
	lid := g.Phones.Get(t, customerNumber).LID
	for _, phone := range []string{customerNumber, lid} { // twice is no error
		if err := g.Client.BlockContact(t.Context(), id, phone); err != nil {
			t.Fatal(err)
		}
	}
	g.Phones.AwaitActivity(t, customerNumber, "blocked", "")
	g.Phones.SendText(t, customerNumber, shopNumber, "unheard")
	for range 2 {
		if err := g.Client.UnblockContact(t.Context(), id, customerNumber); err != nil {
			t.Fatal(err)
		}
	}
	g.Phones.AwaitActivity(t, customerNumber, "unblocked", "")
	awaitMessage(t, g, id, g.Phones.SendText(t, customerNumber, shopNumber, "heard"))
	for _, nobody := range []string{"5511988880000", "5511988880000@s.whatsapp.net", "1@s.whatsapp.net", "999999@lid"} {
		testkit.Refused(t, g.Client.BlockContact(t.Context(), id, nobody), http.StatusBadRequest, "RECIPIENT_NOT_REGISTERED")
		testkit.Refused(t, g.Client.UnblockContact(t.Context(), id, nobody), http.StatusBadRequest, "RECIPIENT_NOT_REGISTERED")
	}
	testkit.Refused(t, g.Client.BlockContact(t.Context(), id, "120363012345678901@g.us"), http.StatusBadRequest, "VALIDATION_ERROR")
	self := g.Instance(t, id)
	for _, phone := range []string{self.MessengerID, self.MessengerJID, self.MessengerLID} {
		testkit.Refused(t, g.Client.BlockContact(t.Context(), id, phone), http.StatusBadRequest, "VALIDATION_ERROR")
	}
}
