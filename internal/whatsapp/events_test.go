package whatsapp_test

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/sandbox/content"
	"github.com/recado-project/recado/internal/sandbox/group"
	"github.com/recado-project/recado/internal/sandbox/profile"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/whatsapp"
)

// lidOf returns the LID of a phone.
func (w world) lidOf(t *testing.T, number string) gateway.JID {
	t.Helper()
	phone, err := w.box.Profiles.Get(t.Context(), number)
	if err != nil {
		t.Fatal(err)
	}
	return gateway.JID(phone.LID)
}

// isPerson reports whether a party is the phone of a number, under both addresses.
func (w world) isPerson(t *testing.T, party gateway.Party, number string) bool {
	t.Helper()
	return party.JID == gateway.JID(number+"@"+gateway.PersonalSuffix) && party.LID == w.lidOf(t, number)
}

// say has a phone send a message.
func (w world) say(t *testing.T, number string, message content.Outgoing) (id string) {
	t.Helper()
	id, err := w.box.Phones.SendMessage(t.Context(), number, message)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// awaitAnswers waits until the client has the answers to what it asks by itself, after
// it was linked and after the first message to somebody: whatsmeow has a data race
// where two of its requests are open while a connection ends.
func (w world) awaitAnswers(t *testing.T, session gateway.SupervisedSession) {
	t.Helper()
	const collections = 5 // of the app state, fetched one after another
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for answered := w.box.Sessions.AnsweredRequests(); answered["set w:sync:app:state sync"] < collections ||
		answered["set privacy tokens"] < 1; answered = w.box.Sessions.AnsweredRequests() {
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatalf("waited in vain for requests; answered were %v", answered)
		}
	}
	// Answers come in the order of the questions.
	if _, err := session.People().Resolve(t.Context(), []string{peerNumber}); err != nil {
		t.Fatal(err)
	}
}

// png is the smallest picture there is.
func png(t *testing.T) []byte {
	t.Helper()
	picture, err := base64.StdEncoding.DecodeString(
		"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
	if err != nil {
		t.Fatal(err)
	}
	return picture
}

// The content of a message is described when it arrives, and again from its payload.
func TestMessageOfEveryKindIsDescribed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, whatsapp.Config{})
	_, e, _ := w.link(t)
	card := &content.Contact{FullName: "Ana; Lima", PhoneNumber: "5511977776666", Organization: "Acme, Ltda"}
	tests := []struct {
		message content.Outgoing
		kind    gateway.MessageType
		text    string
		check   func(details gateway.Details) bool
	}{
		{
			content.Outgoing{Type: "image", Media: png(t), MimeType: "image/png", Caption: "look"},
			gateway.TypeImage, "look",
			func(d gateway.Details) bool {
				return d.Media.MimeType == "image/png" && d.Media.Size == int64(len(png(t))) && d.Media.Width == 1 && !d.ViewOnce
			},
		},
		{
			content.Outgoing{Type: "image", Media: png(t), MimeType: "image/png", ViewOnce: true},
			gateway.TypeImage, "",
			func(d gateway.Details) bool { return d.ViewOnce && d.Media != nil },
		},
		{
			content.Outgoing{Type: "document", Media: []byte("x"), MimeType: "text/plain", FileName: "a b.txt", Caption: "read"},
			gateway.TypeDocument, "read",
			func(d gateway.Details) bool { return d.Media.FileName == "a b.txt" },
		},
		{
			content.Outgoing{Type: "location", Latitude: new(-23.5), Longitude: new(-46.6), Name: "Sé", Address: "São Paulo"},
			gateway.TypeLocation, "",
			func(d gateway.Details) bool {
				return *d.Location == gateway.Location{Latitude: -23.5, Longitude: -46.6, Name: "Sé", Address: "São Paulo"}
			},
		},
		{
			content.Outgoing{Type: "contact", Contact: card},
			gateway.TypeContact, "",
			func(d gateway.Details) bool {
				return len(d.Contacts) == 1 && d.Contacts[0].FullName == "Ana; Lima" && d.Contacts[0].PhoneNumber == "5511977776666" && d.Contacts[0].Organization == "Acme, Ltda"
			},
		},
		{
			content.Outgoing{Type: "poll", Text: "Who comes?", Options: []string{"I", "not me"}},
			gateway.TypePoll, "Who comes?",
			func(d gateway.Details) bool { return d.Unsupported == "" },
		},
		{
			content.Outgoing{Type: "event", Text: "Lunch", Event: &content.Event{Start: "2031-05-06T13:00:00Z", JoinLink: "https://a/b", Location: &content.Place{Name: "Bar"}}},
			gateway.TypeEvent, "Lunch",
			func(d gateway.Details) bool {
				return d.Event.Start.Unix() == 1_935_838_800 && d.Event.End.IsZero() && d.Event.JoinLink == "https://a/b" && d.Event.Place.Name == "Bar" && d.Event.Place.Latitude == nil
			},
		},
		{
			content.Outgoing{Type: "order", Text: "today, please", Order: &content.Order{ID: "7", Title: "Shirt", Items: 2, Total: 99.8, Currency: "BRL"}},
			gateway.TypeOrder, "today, please",
			func(d gateway.Details) bool {
				return *d.Order == gateway.Order{ID: "7", Title: "Shirt", Items: 2, Total: 99_800, Currency: "BRL"}
			},
		},
		{
			content.Outgoing{Type: "group_invite", Caption: "join", Invite: &content.Invite{GroupID: "1@g.us", Code: "abc", Name: "Team", ExpiresAt: 1_800_000_000}},
			gateway.TypeGroupInvite, "join",
			func(d gateway.Details) bool {
				return *d.Invite == gateway.GroupInvite{Group: "1@g.us", Code: "abc", Name: "Team", ExpiresAt: time.Unix(1_800_000_000, 0).UTC()}
			},
		},
		{
			content.Outgoing{Type: "selection", Text: "Yes", SelectedID: "yes"},
			gateway.TypeText, "Yes",
			func(d gateway.Details) bool { return *d.Selection == gateway.Selection{ID: "yes"} },
		},
		{
			content.Outgoing{Type: "selection", Kind: "list", Text: "Yes", SelectedID: "yes"},
			gateway.TypeText, "Yes",
			func(d gateway.Details) bool { return *d.Selection == gateway.Selection{ID: "yes"} },
		},
		{
			content.Outgoing{Type: "text", Text: "I saw it", Referral: &content.Referral{
				SourceType: "ad", SourceID: "12", SourceURL: "https://fb.me/a", Headline: "Shirts", Body: "Buy", ClickID: "clid",
			}},
			gateway.TypeText, "I saw it",
			func(d gateway.Details) bool {
				return *d.Referral == gateway.Referral{SourceType: "ad", SourceID: "12", SourceURL: "https://fb.me/a", Headline: "Shirts", Body: "Buy", ClickID: "clid"}
			},
		},
		{
			content.Outgoing{Type: "content", Content: []byte(`{"productMessage": {"product": {"productID": "7", "title": "Blue shirt"}, "body": "Is it there?"}}`)},
			gateway.TypeProduct, "Blue shirt\nIs it there?",
			func(d gateway.Details) bool {
				return d.Product != nil && d.Product.ID == "7" && d.Product.Title == "Blue shirt"
			},
		},
		{
			content.Outgoing{Type: "unsupported", Kind: "pin"},
			gateway.TypeUnsupported, "",
			func(d gateway.Details) bool { return d.Unsupported == "pinInChatMessage" },
		},
		{
			content.Outgoing{Type: "unsupported", Kind: "future", Text: "?"},
			gateway.TypeUnsupported, "",
			func(d gateway.Details) bool { return d.Unsupported == "unknown:9999" },
		},
	}
	for _, c := range tests {
		c.message.To = ownNumber
		id := w.say(t, peerNumber, c.message)
		message := e.await(t, "message").message
		if message.PlatformID != id || message.Type != c.kind || message.Text != c.text || !w.isPerson(t, message.Sender, peerNumber) {
			t.Errorf("%s arrived as %+v", c.message.Type, message)
			continue
		}
		kept, err := w.connector.Encoder.Describe(t.Context(), message.Payload)
		if err != nil {
			t.Fatal(err)
		}
		for name, details := range cases.Sorted(map[string]gateway.Details{"arrived": message.Details, "kept": kept}) {
			if !c.check(details) {
				t.Errorf("%s %s: %s: %+v", c.message.Type, c.message.Kind, name, details)
			}
		}
	}
}

// A message that is withheld from linked devices is received, not dropped.
func TestMessageForOneShowingIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, whatsapp.Config{})
	_, e, _ := w.link(t)
	id := w.say(t, peerNumber, content.Outgoing{
		To: ownNumber, Type: "image", Media: png(t), MimeType: "image/png", ViewOnce: true, Unavailable: true,
	})
	message := e.await(t, "message").message
	if message.PlatformID != id || message.Type != gateway.TypeUnsupported || message.Details.Unsupported != "unavailable:view_once" ||
		!w.isPerson(t, message.Sender, peerNumber) || message.Payload == nil {
		t.Errorf("arrived as %+v", message)
	}
}

func TestMessageOfTheOwnPhoneIsADevices(t *testing.T) {
	t.Parallel()
	w := newWorld(t, whatsapp.Config{})
	_, e, _ := w.link(t)
	id := w.say(t, ownNumber, content.Outgoing{To: peerNumber, Type: "text", Text: "from the phone"})
	message := e.await(t, "message").message
	if message.PlatformID != id || !message.FromMe || message.Source != gateway.SourceDevice ||
		!w.isPerson(t, message.Chat, peerNumber) || !w.isPerson(t, message.Sender, ownNumber) {
		t.Errorf("arrived as %+v", message)
	}
}

func TestPresenceArrives(t *testing.T) {
	t.Parallel()
	w := newWorld(t, whatsapp.Config{})
	_, e, _ := w.link(t)
	team, err := w.box.Groups.Create(t.Context(), group.Draft{
		Subject: "Team", Owner: peerNumber, Members: []group.NewMember{{Number: ownNumber}},
	})
	if err != nil {
		t.Fatal(err)
	}
	e.await(t, "group")
	for _, presence := range []gateway.Presence{
		gateway.PresenceComposing, gateway.PresenceRecording, gateway.PresencePaused, gateway.PresenceAvailable, gateway.PresenceUnavailable,
	} {
		for _, to := range []string{ownNumber, team.ID} {
			direct := to == ownNumber
			if !direct && (presence == gateway.PresenceAvailable || presence == gateway.PresenceUnavailable) {
				continue
			}
			if err := w.box.Presences.Set(t.Context(), peerNumber, to, string(presence)); err != nil {
				t.Fatal(err)
			}
			got := e.await(t, "presence").presence
			if got.Presence != presence || !w.isPerson(t, got.From, peerNumber) {
				t.Errorf("%s: got %+v", presence, got)
			}
			if direct && !w.isPerson(t, got.Chat, peerNumber) || !direct && got.Chat != (gateway.Party{JID: gateway.JID(team.ID)}) {
				t.Errorf("%s: in %+v", presence, got.Chat)
			}
			if seen := !got.LastSeen.IsZero(); seen != (presence == gateway.PresenceUnavailable) {
				t.Errorf("%s: last seen %s", presence, got.LastSeen)
			}
		}
	}
}

// Everybody who is written to is followed; that hides nobody's presence, and shows
// nobody's own.
func TestPresenceOfWhoWasWrittenToIsFollowed(t *testing.T) {
	t.Parallel()
	const third = "5511977776666"
	w := newWorld(t, whatsapp.Config{})
	session, e, _ := w.link(t)
	if _, err := w.send(t, session, "hello"); err != nil {
		t.Fatal(err)
	}
	// The wish is a stanza of its own, behind the message; when it has come, the
	// phone's presence goes to whoever follows it, although it is meant for another.
	deadline := time.Now().Add(patience)
	for {
		if err := w.box.Presences.Set(t.Context(), peerNumber, third, "available"); err != nil {
			t.Fatal(err)
		}
		select {
		case call := <-e.calls:
			if call.what != "presence" {
				continue
			}
			if got := call.presence; got.Presence != gateway.PresenceAvailable || !w.isPerson(t, got.From, peerNumber) {
				t.Errorf("got %+v", got)
			}
		default:
			if time.Now().After(deadline) {
				t.Fatal("the contact is not followed")
			}
			continue
		}
		break
	}
	seen, err := w.box.Activities.Of(t.Context(), peerNumber)
	if err != nil {
		t.Fatal(err)
	}
	for _, activity := range seen {
		if activity.Type == "presence" {
			t.Errorf("the account showed itself: %+v", activity)
		}
	}
}

func TestGroupChangesArrive(t *testing.T) {
	t.Parallel()
	const owner, third = peerNumber, "5511977776666"
	w := newWorld(t, whatsapp.Config{})
	session, e, _ := w.link(t)
	team, err := w.box.Groups.Create(t.Context(), group.Draft{
		Subject: "Team", Owner: owner, Members: []group.NewMember{{Number: ownNumber}},
	})
	if err != nil {
		t.Fatal(err)
	}
	created := e.await(t, "group").group
	if created.Kind != gateway.GroupCreated || created.Group != gateway.JID(team.ID) || !w.isPerson(t, created.Actor, owner) ||
		len(created.Participants) != 2 || created.SourceKey == "" {
		t.Errorf("got %+v", created)
	}
	for _, c := range []struct {
		change group.Update
		kind   gateway.GroupChangeKind
		people []string
	}{
		{group.Update{Subject: new("The team")}, gateway.GroupSubjectChanged, nil},
		{group.Update{Description: new("who work together")}, gateway.GroupDescriptionChanged, nil},
		{group.Update{Add: []string{third}}, gateway.GroupParticipantsAdded, []string{third}},
		{group.Update{Promote: []string{third}}, gateway.GroupAdminsAdded, []string{third}},
		{group.Update{Demote: []string{third}}, gateway.GroupAdminsRemoved, []string{third}},
		{group.Update{Announce: new(true)}, gateway.GroupSettingsChanged, nil},
		{group.Update{Approval: new(true)}, gateway.GroupSettingsChanged, nil},
		{group.Update{AdminsAdd: new(true)}, gateway.GroupSettingsChanged, nil},
		{group.Update{Disappearing: new(86400)}, gateway.GroupSettingsChanged, nil},
		{group.Update{ResetInvite: true}, gateway.GroupInviteReset, nil},
		{group.Update{SetPicture: true, Picture: png(t)}, gateway.GroupPictureChanged, nil},
		{group.Update{Remove: []string{third}}, gateway.GroupParticipantsRemoved, []string{third}},
	} {
		if _, err := session.Groups().Group(t.Context(), gateway.JID(team.ID)); err != nil { // now it is in the cache
			t.Fatal(err)
		}
		c.change.By = owner
		if _, err := w.box.Groups.Update(t.Context(), team.ID, c.change); err != nil {
			t.Fatal(err)
		}
		got := e.await(t, "group").group
		if got.Kind != c.kind || got.Group != gateway.JID(team.ID) || !w.isPerson(t, got.Actor, owner) ||
			len(got.Participants) != len(c.people) || got.SourceKey == "" || got.At.IsZero() {
			t.Errorf("%s: got %+v", c.kind, got)
			continue
		}
		for i, number := range c.people {
			if !w.isPerson(t, got.Participants[i], number) {
				t.Errorf("%s: of %+v", c.kind, got.Participants[i])
			}
		}
	}
	if known, err := session.Groups().Group(t.Context(), gateway.JID(team.ID)); err != nil || known.Subject != "The team" {
		t.Errorf("the group is %+v (%v)", known, err)
	}
}

func TestCallArrives(t *testing.T) {
	t.Parallel()
	w := newWorld(t, whatsapp.Config{})
	_, e, _ := w.link(t)
	team, err := w.box.Groups.Create(t.Context(), group.Draft{
		Subject: "Team", Owner: peerNumber, Members: []group.NewMember{{Number: ownNumber}},
	})
	if err != nil {
		t.Fatal(err)
	}
	e.await(t, "group")
	for _, to := range []string{ownNumber, team.ID} {
		for _, video := range []bool{false, true} {
			id, err := w.box.Calls.Call(t.Context(), peerNumber, to, video)
			if err != nil {
				t.Fatal(err)
			}
			call := e.await(t, "call").call
			if call.ID != id || call.Video != video || !w.isPerson(t, call.From, peerNumber) || call.At.IsZero() {
				t.Errorf("got %+v", call)
			}
			if direct := to == ownNumber; direct && !w.isPerson(t, call.Chat, peerNumber) || !direct && call.Chat.JID != gateway.JID(team.ID) {
				t.Errorf("got it in %+v", call.Chat)
			}
		}
	}
}

// The end of a call that could not be kept comes again, and is one of the same call: in its group.
func TestEndOfACallComesAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, whatsapp.Config{})
	_, e, _ := w.link(t)
	team, err := w.box.Groups.Create(t.Context(), group.Draft{
		Subject: "Team", Owner: peerNumber, Members: []group.NewMember{{Number: ownNumber}},
	})
	if err != nil {
		t.Fatal(err)
	}
	e.await(t, "group")
	id, err := w.box.Calls.Call(t.Context(), peerNumber, team.ID, false)
	if err != nil {
		t.Fatal(err)
	}
	e.await(t, "call")
	e.refuseNext("end of a call")
	if err := w.box.Calls.End(t.Context(), peerNumber, id, "hangup"); err != nil {
		t.Fatal(err)
	}
	for _, what := range []string{"end of a call refused", "end of a call"} {
		if end := e.await(t, what).callEnd; end.ID != id || end.Chat.JID != gateway.JID(team.ID) || end.Reason != gateway.CallMissed {
			t.Errorf("%s: got %+v", what, end)
		}
	}
}

func TestContactChangesArrive(t *testing.T) {
	t.Parallel()
	w := newWorld(t, whatsapp.Config{})
	_, e, _ := w.link(t)
	w.say(t, peerNumber, content.Outgoing{To: ownNumber, Type: "text", Text: "hello"})
	awaitContact := func(prefix string) gateway.ContactChange {
		t.Helper()
		for { // a name and a pair come with the message, in no order
			if change := e.await(t, "contact").contact; strings.HasPrefix(change.SourceKey, prefix) {
				return change
			}
		}
	}
	// The library keeps the name of each message in a goroutine of its own; that of the first one ends with its event.
	first := awaitContact("name/").Contact.Name
	if _, err := w.box.Profiles.Update(t.Context(), peerNumber, profile.Update{Name: new("Another name")}); err != nil {
		t.Fatal(err)
	}
	w.say(t, peerNumber, content.Outgoing{To: ownNumber, Type: "text", Text: "it is me"})
	if change := awaitContact("name/"); change.Contact.Name != "Another name" || first == "Another name" || !w.isPerson(t, change.Contact, peerNumber) {
		t.Errorf("after %q, got %+v", first, change)
	}
	if _, err := w.box.Profiles.Update(t.Context(), peerNumber, profile.Update{SetPicture: true, Picture: png(t)}); err != nil {
		t.Fatal(err)
	}
	if change := awaitContact("picture/"); !w.isPerson(t, change.Contact, peerNumber) || change.Contact.Name != "Another name" {
		t.Errorf("got %+v", change)
	}
}

// Somebody whose number is not known is shown by LID alone; when the number
// becomes known, that is an event.
func TestNumberThatBecomesKnownIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, whatsapp.Config{})
	_, e, _ := w.link(t)
	if _, err := w.box.Profiles.Update(t.Context(), peerNumber, profile.Update{HideNumber: new(true)}); err != nil {
		t.Fatal(err)
	}
	w.say(t, peerNumber, content.Outgoing{To: ownNumber, Type: "text", Text: "who am I"})
	if message := e.await(t, "message").message; message.Sender.JID != "" || message.Sender.LID != w.lidOf(t, peerNumber) || message.Chat.JID != "" {
		t.Errorf("arrived from %+v in %+v", message.Sender, message.Chat)
	}
	if _, err := w.box.Profiles.Update(t.Context(), peerNumber, profile.Update{HideNumber: new(false)}); err != nil {
		t.Fatal(err)
	}
	w.say(t, peerNumber, content.Outgoing{To: ownNumber, Type: "text", Text: "this is my number"})
	for {
		change := e.await(t, "contact").contact
		if !strings.HasPrefix(change.SourceKey, "lid/") {
			continue // the name, which comes from a goroutine of its own
		}
		if !w.isPerson(t, change.Contact, peerNumber) {
			t.Errorf("got %+v", change)
		}
		return
	}
}

func TestRestrictionArrives(t *testing.T) {
	t.Parallel()
	w := newWorld(t, whatsapp.Config{})
	session, e, _ := w.link(t)
	if err := w.box.Sessions.Restrict(t.Context(), ownNumber, time.Hour); err != nil {
		t.Fatal(err)
	}
	got := e.await(t, "restricted").restriction
	if left := time.Until(got.Until); left < 50*time.Minute || left > time.Hour || got.Recipient != (gateway.Party{}) {
		t.Errorf("got %+v", got)
	}
	_, err := w.send(t, session, "hello")
	refusal, ok := gateway.AsError(err)
	if !ok || refusal.Code != gateway.CodeRecipientRestricted || refusal.RetryAfter < 50*time.Minute {
		t.Errorf("answered %v", err)
	}
	got = e.await(t, "restricted").restriction
	if got.Until.IsZero() || !w.isPerson(t, got.Recipient, peerNumber) {
		t.Errorf("got %+v", got)
	}
	if err := w.box.Sessions.Restrict(t.Context(), ownNumber, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := w.send(t, session, "hello"); err != nil {
		t.Error(err)
	}
}
