package server_test

import (
	"context"
	"errors"
	"image"
	_ "image/jpeg"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit"
)

// accountChanges returns the changes of the account that events report, up to one that the
// caller waits for, and so many at least: what different devices tell has no order.
func accountChanges(t *testing.T, g *testkit.Gateway, id, last string, least int) []client.AccountUpdatedEvent {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stream, err := g.Client.Events(ctx, id, client.EventsParams{After: new(int64(0)), Types: []string{client.TypeAccountUpdated}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stream.Close() }()
	var changes []client.AccountUpdatedEvent
	for seen := false; !seen || len(changes) < least; {
		event, err := stream.Next()
		if err != nil {
			t.Fatalf("%v, after %+v", err, changes)
		}
		data, err := event.Decode()
		if err != nil {
			t.Fatal(err)
		}
		change, _ := data.(client.AccountUpdatedEvent)
		changes = append(changes, change)
		seen = seen || change.About != nil && *change.About == last
	}
	return changes
}

// The account shows that it is online while its name is changed: the race detector sees both.
func TestNameIsChangedBesidePresences(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	testkit.Await(t, "the account's name", func() bool { return g.Instance(t, id).MessengerName != "" })
	renamed := make(chan error, 1)
	go func() {
		var failures []error
		for _, name := range []string{"Corner shop", "Corner shop, open", "Corner shop, closed", "Corner shop"} {
			_, err := g.Client.ChangeProfile(t.Context(), id, client.ProfileChange{Name: &name})
			failures = append(failures, err)
		}
		renamed <- errors.Join(failures...)
	}()
	for n := 0; ; n++ {
		select {
		case err := <-renamed:
			if err != nil {
				t.Error(err)
			}
			return
		default:
		}
		presence := []string{client.PresenceAvailable, client.PresenceUnavailable}[n%2]
		if err := g.Client.SendPresence(t.Context(), id, client.Presence{To: customerNumber, Presence: presence}); err != nil {
			t.Fatal(err)
		}
	}
}

// A name that another device has written is cleaned before it is compared: one that looks the same is no change.
func TestNameThatLooksTheSameIsNoChange(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	for _, name := range []string{"Loja", "Loja\u202e", "Fim"} {
		g.Phones.Update(t, shopNumber, map[string]any{"name": name})
		testkit.Await(t, "the name "+name, func() bool { return g.Instance(t, id).MessengerName == strings.TrimSuffix(name, "\u202e") })
	}
	g.Phones.Update(t, shopNumber, map[string]any{"about": "Fechado"})
	var told []string
	for _, change := range accountChanges(t, g, id, "Fechado", 0) {
		if change.Name != nil {
			told = append(told, *change.Name)
		}
	}
	if want := []string{"Loja", "Fim"}; !slices.Equal(told, want) {
		t.Errorf("events tell %q, want %q", told, want)
	}
}

// The profile is changed through the API and on the phone; other phones see it, and events
// tell it, each change once.
func TestProfile(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	sendText(t, g, id, "Oi!")
	profile, err := g.Client.GetProfile(t.Context(), id)
	if err != nil || profile.ID != shopNumber+"@s.whatsapp.net" || profile.LID == nil || profile.About != "" || profile.Picture != nil || profile.Business != nil {
		t.Fatalf("the profile is %+v (%v)", profile, err)
	}
	changed, err := g.Client.ChangeProfile(t.Context(), id, client.ProfileChange{
		Name: new("Corner shop"), About: client.Set("Open from 8 to 18"), Picture: client.Set(client.DataURI("image/png", picture(t))),
	})
	if err != nil || changed.Name != "Corner shop" || changed.About != "Open from 8 to 18" || changed.Picture == nil {
		t.Fatalf("changed to %+v (%v)", changed, err)
	}
	response, err := http.Get(*changed.Picture)
	if err != nil {
		t.Fatal(err)
	}
	shown, format, err := image.DecodeConfig(response.Body)
	_ = response.Body.Close()
	if err != nil || format != "jpeg" || shown.Width != shown.Height || shown.Width != 80 {
		t.Errorf("the picture is a %s of %d by %d (%v)", format, shown.Width, shown.Height, err)
	}
	testkit.Await(t, "the phone", func() bool {
		phone := g.Phones.Get(t, shopNumber)
		return phone.Name == "Corner shop" && phone.About == "Open from 8 to 18" && phone.ProfilePicture
	})
	testkit.Await(t, "the instance", func() bool {
		instance := g.Instance(t, id)
		return instance.MessengerName == "Corner shop" && instance.MessengerProfilePicURL == *changed.Picture
	})
	if _, err := g.Client.ChangeProfile(t.Context(), id, client.ProfileChange{Picture: client.Null[string]()}); err != nil {
		t.Fatal(err)
	}
	if g.Phones.Get(t, shopNumber).ProfilePicture {
		t.Error("the phone still has the picture")
	}

	g.Phones.Update(t, shopNumber, map[string]any{
		"name": "Loja", "profilePicture": client.DataURI("image/png", picture(t)), "privacy": map[string]string{"last": "none"}, "about": "Fechado",
		"business": map[string]any{
			"address": "Rua Augusta 100", "email": "shop@example.com", "categories": []string{"Shopping"}, "timeZone": "America/Sao_Paulo",
			"hours": []map[string]string{{"day": "mon", "mode": "specific_hours", "opens": "480", "closes": "1080"}},
		},
	})
	g.Phones.Block(t, shopNumber, otherNumber, true)
	g.Phones.Block(t, shopNumber, otherNumber, false)
	g.Phones.Update(t, shopNumber, map[string]any{"about": "Fim"})
	want := []string{
		"about Fechado", "about Fim", "about Open from 8 to 18", "blocked somebody", "name Corner shop", "name Loja",
		"picture", "picture", "picture", "privacy lastSeen", "unblocked somebody",
	}
	var told []string
	for _, change := range accountChanges(t, g, id, "Fim", len(want)) {
		text := change.Change
		switch {
		case change.Name != nil:
			text += " " + *change.Name
		case change.About != nil:
			text += " " + *change.About
		case len(change.People) == 1:
			text += " somebody"
			if who := change.People[0]; who.LID == nil || *who.LID != g.Phones.Get(t, otherNumber).LID {
				t.Errorf("%s is %+v", text, who)
			}
		}
		told = append(told, strings.TrimSpace(text+" "+strings.Join(change.Settings, " ")))
	}
	slices.Sort(told)
	if !slices.Equal(told, want) {
		t.Errorf("events tell\n%q, want\n%q", told, want)
	}
	profile, err = g.Client.GetProfile(t.Context(), id)
	if err != nil || profile.Name != "Loja" || profile.About != "Fim" || profile.Picture == nil || profile.Business == nil ||
		profile.Business.Address != "Rua Augusta 100" || len(profile.Business.Hours) != 1 || profile.Business.Hours[0].Opens != "480" {
		t.Errorf("the profile is %+v (%v)", profile, err)
	}
}

// Privacy settings are kept by the platform, which honours them: towards the phones, and
// towards the instance.
func TestPrivacy(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	privacy, err := g.Client.GetPrivacy(t.Context(), id)
	if err != nil || privacy.LastSeen == nil || *privacy.LastSeen != "all" || privacy.ReadReceipts == nil || !*privacy.ReadReceipts || privacy.Disappearing != 0 {
		t.Fatalf("the settings are %+v (%v)", privacy, err)
	}
	privacy, err = g.Client.ChangePrivacy(t.Context(), id, client.PrivacyChange{
		LastSeen: new("none"), Online: new("same_as_last_seen"), ProfilePicture: new("contacts"), About: new("contacts"),
		ReadReceipts: new(false), Groups: new("none"), Calls: new("known"), Messages: new("contacts"), Disappearing: new(int64(604800)),
	})
	if err != nil || *privacy.LastSeen != "none" || *privacy.Online != "same_as_last_seen" || *privacy.ProfilePicture != "contacts" || *privacy.About != "contacts" ||
		*privacy.ReadReceipts || *privacy.Groups != "none" || *privacy.Calls != "known" || *privacy.Messages != "contacts" || privacy.Disappearing != 604800 {
		t.Fatalf("changed to %+v (%v)", privacy, err)
	}
	if shown := g.Phones.Get(t, shopNumber).Privacy; shown["last"] != "none" || shown["online"] != "match_last_seen" || shown["readreceipts"] != "none" {
		t.Errorf("the phone shows %v", shown)
	}

	// What others may do now: a message is read, and nobody learns of it; a group that adds
	// the account gets an invitation; a stranger's call does not ring.
	sent := sendText(t, g, id, "Oi!")
	awaitOnPhone(t, g, customerNumber, sent.MessageID, "read", func(m testkit.PhoneMessage) bool { return m.Status == "read" })
	received := g.Phones.SendText(t, customerNumber, shopNumber, "Oi?")
	awaitMessage(t, g, id, received)
	if _, err := g.Client.MarkRead(t.Context(), id, client.MarkRead{MessageID: received}); err != nil {
		t.Fatal(err)
	}
	g.Phones.Call(t, otherNumber, shopNumber, false)
	known := g.Phones.Call(t, customerNumber, shopNumber, true)
	last := sendText(t, g, id, "last")
	stream, err := g.Client.Events(t.Context(), id, client.EventsParams{After: new(int64(0)), Types: []string{"message.status", "call.received"}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stream.Close() }()
	for delivered := false; !delivered; {
		event, err := stream.Next()
		if err != nil {
			t.Fatal(err)
		}
		switch data, _ := event.Decode(); data := data.(type) {
		case client.MessageStatusEvent:
			if data.Status == "read" {
				t.Errorf("told that %s was read", data.MessageID)
			}
			delivered = data.MessageID == last.MessageID && data.Status == "delivered"
		case client.CallReceivedEvent:
			if data.CallID != known {
				t.Error("a stranger's call rings")
			}
		}
	}
	for _, message := range g.Phones.Messages(t, customerNumber, shopNumber) {
		if message.MessageID == received && message.Status == "read" {
			t.Error("the phone learns that its message was read")
		}
	}

	// A choice that nobody knows is none; one that can't be made is refused.
	g.Phones.Update(t, shopNumber, map[string]any{"privacy": map[string]string{"groupadd": "friends_of_friends"}})
	testkit.Await(t, "the choice", func() bool {
		privacy, err := g.Client.GetPrivacy(t.Context(), id)
		return err == nil && privacy.Groups == nil
	})
	_, err = g.Client.ChangePrivacy(t.Context(), id, client.PrivacyChange{Groups: new("contacts_except")})
	testkit.Refused(t, err, http.StatusBadRequest, "VALIDATION_ERROR")
	_, err = g.Client.ChangePrivacy(t.Context(), id, client.PrivacyChange{Disappearing: new(int64(60))})
	testkit.Refused(t, err, http.StatusBadRequest, "VALIDATION_ERROR")
}

// The block list is read in pages, and follows the phone. Who is blocked sees one tick.
func TestBlockList(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	sendText(t, g, id, "Oi!")
	list := func(want ...string) {
		t.Helper()
		testkit.Await(t, "the block list "+strings.Join(want, " "), func() bool {
			var people []string
			for who, err := range g.Client.Blocks(t.Context(), id) {
				if err != nil {
					t.Fatal(err)
				}
				people = append(people, who.ID)
			}
			slices.Sort(people)
			slices.Sort(want)
			return slices.Equal(people, want)
		})
	}
	list()
	const customer, other = customerNumber + "@s.whatsapp.net", otherNumber + "@s.whatsapp.net"
	for _, phone := range []string{"+" + customerNumber, g.Phones.Get(t, customerNumber).LID} { // twice is no error
		if err := g.Client.PutBlock(t.Context(), id, phone); err != nil {
			t.Fatal(err)
		}
	}
	list(customer)
	unheard := g.Phones.SendText(t, customerNumber, shopNumber, "unheard")
	g.Phones.Block(t, shopNumber, otherNumber, true)
	list(customer, other)
	page, err := g.Client.ListBlocks(t.Context(), id, 2, 1)
	if err != nil || page.TotalCount != 2 || len(page.Data) != 1 || !page.IsLastPage {
		t.Errorf("the second page is %+v (%v)", page, err)
	}
	for _, message := range g.Phones.Messages(t, customerNumber, shopNumber) {
		if message.MessageID == unheard && message.Status != "sent" {
			t.Errorf("a message of somebody blocked is %s", message.Status)
		}
	}
	g.Phones.Block(t, shopNumber, otherNumber, false)
	if err := g.Client.DeleteBlock(t.Context(), id, customerNumber); err != nil {
		t.Fatal(err)
	}
	list()
	testkit.Refused(t, g.Client.PutBlock(t.Context(), id, shopNumber), http.StatusBadRequest, "VALIDATION_ERROR")
	testkit.Refused(t, g.Client.PutBlock(t.Context(), id, "5511988880000"), http.StatusBadRequest, "RECIPIENT_NOT_REGISTERED")
	testkit.Refused(t, g.Client.PutBlock(t.Context(), id, "120363000000000000@g.us"), http.StatusBadRequest, "VALIDATION_ERROR")
}

// Every call that rings has one end, whoever ends it.
func TestCallsEnd(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	stream, err := g.Client.Events(t.Context(), id, client.EventsParams{After: new(int64(0)), Types: []string{client.TypeCallReceived, client.TypeCallEnded}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stream.Close() }()
	next := func() any {
		event, err := stream.Next()
		if err != nil {
			t.Fatal(err)
		}
		data, err := event.Decode()
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	rings := func() string {
		callID := g.Phones.Call(t, customerNumber, shopNumber, false)
		if data, ok := next().(client.CallReceivedEvent); !ok || data.CallID != callID {
			t.Fatalf("told %+v of %s", data, callID)
		}
		return callID
	}
	ended := func(callID, reason string) {
		t.Helper()
		data, ok := next().(client.CallEndedEvent)
		if !ok || data.CallID != callID || data.Reason != reason || data.From == nil || *data.From.LID != g.Phones.Get(t, customerNumber).LID {
			t.Errorf("told %+v of %s, want %s", data, callID, reason)
		}
	}
	for _, end := range []struct{ by, how, reason string }{
		{customerNumber, "hangup", "missed"},
		{customerNumber, "timeout", "missed"},
		{shopNumber, "answer", "accepted_elsewhere"},
		{shopNumber, "reject", "rejected"},
	} {
		callID := rings()
		g.Phones.EndCall(t, end.by, callID, end.how)
		ended(callID, end.reason)
		testkit.Refused(t, g.Client.RejectCall(t.Context(), id, callID), http.StatusNotFound, "CALL_NOT_FOUND")
	}
	callID := rings()
	if err := g.Client.RejectCall(t.Context(), id, callID); err != nil {
		t.Fatal(err)
	}
	ended(callID, "rejected")
	g.Phones.AwaitActivity(t, customerNumber, "call", "rejected_elsewhere")
	testkit.Refused(t, g.Client.RejectCall(t.Context(), id, callID), http.StatusNotFound, "CALL_NOT_FOUND")
}

// An instance that rejects all calls tells a caller so once, and leaves groups alone.
func TestAllCallsAreRejected(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	const text = "We don't take calls. Please write."
	changed, err := g.Client.ChangeInstance(t.Context(), id, client.InstanceChange{RejectCalls: client.Set(true), RejectCallsText: client.Set(text)})
	if err != nil || !changed.RejectCalls || changed.RejectCallsText != text {
		t.Fatalf("changed to %+v (%v)", changed, err)
	}
	_, err = g.Client.ChangeInstance(t.Context(), id, client.InstanceChange{RejectCallsText: client.Set(strings.Repeat("a", 1025))})
	testkit.Refused(t, err, http.StatusBadRequest, "VALIDATION_ERROR")
	group := g.Phones.CreateGroup(t, "Customers", otherNumber, shopNumber)
	grouped := g.Phones.Call(t, otherNumber, group.ID, false)
	const calls = 5
	for range calls {
		g.Phones.Call(t, customerNumber, shopNumber, false)
	}
	testkit.Await(t, "the rejections", func() bool {
		rejected := 0
		for _, activity := range g.Phones.Activity(t, customerNumber) {
			if activity.Type == "call" && activity.Value == "rejected_elsewhere" {
				rejected++
			}
		}
		return rejected == calls
	})
	texts := func() []string {
		var texts []string
		for _, number := range []string{customerNumber, otherNumber} {
			for _, message := range g.Phones.Messages(t, number, "") {
				texts = append(texts, number+" "+message.Text)
			}
		}
		return texts
	}
	testkit.Await(t, "the text", func() bool { return slices.Contains(texts(), customerNumber+" "+text) })
	if _, err := g.Client.ChangeInstance(t.Context(), id, client.InstanceChange{RejectCalls: client.Set(false)}); err != nil {
		t.Fatal(err)
	}
	rings := g.Phones.Call(t, customerNumber, shopNumber, false)
	testkit.Await(t, "a call that rings", func() bool { return g.Client.RejectCall(t.Context(), id, rings) == nil })
	if got, want := texts(), []string{customerNumber + " " + text}; !slices.Equal(got, want) {
		t.Errorf("phones have %q, want %q", got, want)
	}
	if err := g.Client.RejectCall(t.Context(), id, grouped); err != nil {
		t.Errorf("the call of the group rings no more: %v", err)
	}
}

// change changes settings of an instance.
func change(t *testing.T, g *testkit.Gateway, id string, settings client.InstanceChange) client.Instance {
	t.Helper()
	changed, err := g.Client.ChangeInstance(t.Context(), id, settings)
	if err != nil {
		t.Fatal(err)
	}
	return changed
}

// awaitRead waits until somebody sees that a message was read.
func awaitRead(t *testing.T, g *testkit.Gateway, number, messageID string) {
	t.Helper()
	testkit.Await(t, "that "+number+" sees it is read", func() bool { return g.Phones.AwaitMessage(t, number, messageID).Status == "read" })
}

// From when it is set, what people write is read, in groups too, and status posts are not: they have a setting of
// their own.
func TestMessagesAreReadByThemselves(t *testing.T) {
	t.Parallel()
	g := testkit.Start(t, testkit.Options{})
	g.Phones.NameContact(t, customerNumber, shopNumber, "The shop") // so that it gets the posts
	id := g.Link(t, shopNumber)
	group := g.Phones.CreateGroup(t, "Customers", otherNumber, shopNumber)
	before := g.Phones.SendText(t, customerNumber, shopNumber, "are you there?")
	awaitMessage(t, g, id, before)
	if changed := change(t, g, id, client.InstanceChange{ReadMessages: client.Set(true)}); !changed.ReadMessages || changed.ReadStatuses {
		t.Errorf("changed to %+v", changed)
	}
	post := g.Phones.SendText(t, customerNumber, client.StatusChat, "at the beach")
	inGroup := g.Phones.SendText(t, otherNumber, group.ID, "hello all")
	direct := g.Phones.SendText(t, customerNumber, shopNumber, "hello?")
	awaitRead(t, g, otherNumber, inGroup)
	awaitRead(t, g, customerNumber, direct)
	testkit.Await(t, "that nothing is unread", func() bool {
		chat, err := g.Client.GetChat(t.Context(), id, customerNumber)
		return err == nil && chat.UnreadCount == 0
	})
	g.Phones.Disconnect(t, shopNumber)
	away := g.Phones.SendText(t, customerNumber, shopNumber, "written while it was away")
	awaitRead(t, g, customerNumber, away)
	for _, unread := range []string{before, post} {
		if status := g.Phones.AwaitMessage(t, customerNumber, unread).Status; status == "read" {
			t.Errorf("the message %s is read", unread)
		}
	}

	change(t, g, id, client.InstanceChange{ReadMessages: client.Null[bool](), ReadStatuses: client.Set(true)})
	last := g.Phones.SendText(t, customerNumber, shopNumber, "bye")
	seen := g.Phones.SendText(t, customerNumber, client.StatusChat, "back home")
	awaitRead(t, g, customerNumber, seen)
	awaitMessage(t, g, id, last)
	for _, unread := range []string{last, post} {
		if status := g.Phones.AwaitMessage(t, customerNumber, unread).Status; status == "read" {
			t.Errorf("the message %s is read", unread)
		}
	}
}

// An account that is always online is so from then on, also though its name is not known yet, and after each
// connection, and is offline at once when it no longer is.
func TestTheAccountIsAlwaysOnline(t *testing.T) {
	t.Parallel()
	g := testkit.Start(t, testkit.Options{})
	observer := g.Link(t, customerNumber)
	if _, err := g.Client.SubscribePresence(t.Context(), observer, shopNumber, client.NewSubscription{Hours: 1}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	stream, err := g.Client.Events(ctx, observer, client.EventsParams{Types: []string{client.TypePresence}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stream.Close() }()
	shown := func(want string) {
		t.Helper()
		for presence := ""; presence != want; {
			event, err := stream.Next()
			if err != nil {
				t.Fatalf("before %s was shown: %v", want, err)
			}
			data, err := event.Decode()
			if err != nil {
				t.Fatal(err)
			}
			presence = data.(client.PresenceEvent).Presence //nolint:forcetypeassert // the stream has no other type
		}
	}
	created, err := g.Partner.CreateInstance(t.Context(), client.NewInstance{Name: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	id := created.InstanceID
	change(t, g, id, client.InstanceChange{AlwaysOnline: client.Set(true)})
	g.Scan(t, id, shopNumber) // the account's name comes after that
	shown(client.PresenceAvailable)
	g.Phones.Disconnect(t, shopNumber)
	shown(client.PresenceAvailable)
	change(t, g, id, client.InstanceChange{AlwaysOnline: client.Set(false)})
	shown(client.PresenceUnavailable)
	change(t, g, id, client.InstanceChange{AlwaysOnline: client.Set(true)})
	shown(client.PresenceAvailable)
}

// Nothing of groups is stored or delivered while they are ignored, nor does the platform bring it again; what comes
// later is understood.
func TestGroupsAreIgnored(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	change(t, g, id, client.InstanceChange{IgnoreGroups: client.Set(true)})
	sink := testkit.NewSink(t)
	if _, err := g.Client.CreateWebhook(t.Context(), id, client.NewWebhook{URL: sink.URL}); err != nil {
		t.Fatal(err)
	}
	group := g.Phones.CreateGroup(t, "Customers", otherNumber, shopNumber)
	g.Phones.SendText(t, otherNumber, group.ID, "for nobody")
	g.Phones.SendText(t, shopNumber, group.ID, "from the phone")
	sent, err := g.Client.SendText(t.Context(), id, client.Text{To: group.ID, Message: "from the gateway"})
	if err != nil {
		t.Fatal(err)
	}
	g.Phones.AwaitMessage(t, otherNumber, sent.MessageID)
	g.Phones.UpdateGroup(t, group.ID, map[string]any{"subject": "Clients"})
	g.Phones.Disconnect(t, shopNumber) // what was not taken would come again
	direct := g.Phones.SendText(t, customerNumber, shopNumber, "hello")
	received := func(messageID string) {
		t.Helper()
		sink.AwaitType("message.received", func(d testkit.Delivered) bool { return strings.Contains(string(d.Event.Data), messageID) })
	}
	received(direct)
	change(t, g, id, client.InstanceChange{IgnoreGroups: client.Null[bool]()})
	last := g.Phones.SendText(t, otherNumber, group.ID, "for all")
	received(last)
	for _, delivered := range sink.Delivered() {
		if data := string(delivered.Event.Data); strings.Contains(data, group.ID) && !strings.Contains(data, sent.MessageID) && !strings.Contains(data, last) {
			t.Errorf("%s was delivered: %s", delivered.Event.Type, data)
		}
	}
	page, err := g.Client.ListChatMessages(t.Context(), id, group.ID, client.ListChatMessagesParams{}, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, message := range page.Data {
		texts = append(texts, *message.Text)
	}
	if !slices.Equal(texts, []string{"for all", "from the gateway"}) {
		t.Errorf("stored are %q", texts)
	}
}
