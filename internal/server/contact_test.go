package server_test

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/postgres"
)

// The people whom the account knows are listed under the names that they have on the phone and
// give themselves, and named here for the phone as well.
func TestContacts(t *testing.T) {
	t.Parallel()
	g := testkit.Start(t, testkit.Options{})
	const before, stranger = "5511966660100", "5511955550100"
	g.Phones.Update(t, customerNumber, map[string]any{"name": "Aninha"})
	g.Phones.Update(t, stranger, map[string]any{"name": "Zé", "about": "At the beach"})
	g.Phones.NameContact(t, shopNumber, before, "Bruno (work)")
	id := g.Link(t, shopNumber)
	wrote(t, g, id, customerNumber, "hello")
	customer := g.Phones.Get(t, customerNumber)
	list := func(search string) (names []string) {
		t.Helper()
		for contact, err := range g.Client.Contacts(t.Context(), id, client.ListContactsParams{Search: search}) {
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, *contact.Name)
		}
		return names
	}
	testkit.Await(t, "the contacts", func() bool { return slices.Equal(list(""), []string{"Aninha", "Bruno (work)"}) })

	// Named through the API: the phone has it, and both addresses are one contact.
	named, err := g.Client.NameContact(t.Context(), id, customerNumber, client.ContactName{Name: "Ana Souza"})
	if err != nil || named.ID != customerNumber+"@s.whatsapp.net" || named.LID == nil || *named.LID != customer.LID ||
		*named.Name != "Ana Souza" || *named.AddressBookName != "Ana Souza" || *named.PushName != "Aninha" {
		t.Fatalf("the contact is %+v, %v", named, err)
	}
	if book := g.Phones.AddressBook(t, shopNumber); book[named.ID] != "Ana Souza" {
		t.Errorf("the phone has %v", book)
	}
	// Named on the phone.
	g.Phones.NameContact(t, shopNumber, before, "Bruno Lima")
	testkit.Await(t, "another name", func() bool { return slices.Equal(list(""), []string{"Ana Souza", "Bruno Lima"}) })
	for search, want := range cases.Sorted(map[string][]string{"ANINHA": {"Ana Souza"}, before[4:]: {"Bruno Lima"}, "lima": {"Bruno Lima"}, "nobody": nil}) {
		if got := list(search); !slices.Equal(got, want) {
			t.Errorf("the search for %s finds %v", search, got)
		}
	}
	if page, err := g.Client.ListContacts(t.Context(), id, client.ListContactsParams{}, 2, 1); err != nil || page.TotalCount != 2 || len(page.Data) != 1 || *page.Data[0].Name != "Bruno Lima" {
		t.Errorf("the second page is %+v, %v", page, err)
	}

	// A person who is not known yet is asked for.
	found, err := g.Client.GetContact(t.Context(), id, stranger)
	if err != nil || found.About != "At the beach" || found.Name != nil || found.LID == nil || *found.LID != g.Phones.Get(t, stranger).LID || found.Business != nil {
		t.Errorf("the stranger is %+v, %v", found, err)
	}
	for said, want := range cases.Sorted(map[string]string{"ana.souza": "ana.souza", "": "", "ana\u202eazuos": ""}) { // the last one no client would take
		g.Phones.Update(t, stranger, map[string]any{"username": said})
		if found, err = g.Client.GetContact(t.Context(), id, stranger); err != nil || (found.Username == nil) != (want == "") || found.Username != nil && *found.Username != want {
			t.Errorf("the username %q is told as %v, %v", said, found.Username, err)
		}
	}
	// A username is listed as well, learned from the address book or from an answer; the last one counts.
	username := func(want string) func() bool {
		return func() bool {
			page, err := g.Client.ListContacts(t.Context(), id, client.ListContactsParams{Search: "bruno"}, 0, 0)
			if err != nil || len(page.Data) != 1 {
				t.Fatalf("the contacts are %+v, %v", page, err)
			}
			of := page.Data[0].Username
			return (of == nil) == (want == "") && (of == nil || *of == want)
		}
	}
	g.Phones.Update(t, before, map[string]any{"username": "bruno.lima"})
	g.Phones.NameContact(t, shopNumber, before, "Bruno L.")
	testkit.Await(t, "the username", username("bruno.lima"))
	if got := list("bruno.li"); !slices.Equal(got, []string{"Bruno L."}) {
		t.Errorf("the search for a username finds %v", got)
	}
	g.Phones.Update(t, before, map[string]any{"username": ""})
	if _, err := g.Client.GetContact(t.Context(), id, before); err != nil || !username("")() {
		t.Errorf("the contact still has a username, %v", err)
	}
	g.Phones.Update(t, before, map[string]any{"username": "bru no"}) // which none can be
	g.Phones.NameContact(t, shopNumber, before, "Bruno Lima")
	testkit.Await(t, "the name", func() bool { return slices.Equal(list("bruno"), []string{"Bruno Lima"}) })
	if !username("")() {
		t.Error("what can be no username is listed as one")
	}
	_, err = g.Client.GetContact(t.Context(), id, "5511900000000")
	testkit.Refused(t, err, http.StatusBadRequest, "RECIPIENT_NOT_REGISTERED")

	addresses, err := g.Client.FindAddresses(t.Context(), id, client.FindAddresses{Addresses: []string{customerNumber, customer.LID, "123456789@lid", "+55 11 94444-0001"}})
	if err != nil || len(addresses.Results) != 4 {
		t.Fatalf("the addresses are %+v, %v", addresses, err)
	}
	for n, want := range []client.Address{
		{Address: customerNumber, JID: &named.ID, LID: named.LID},
		{Address: customer.LID, JID: &named.ID, LID: named.LID},
		{Address: "123456789@lid", LID: new("123456789@lid")},
		{Address: "+55 11 94444-0001"},
	} {
		same := func(one, other *string) bool { return (one == nil) == (other == nil) && (one == nil || *one == *other) }
		if got := addresses.Results[n]; got.Address != want.Address || !same(got.JID, want.JID) || !same(got.LID, want.LID) {
			t.Errorf("address %d is %+v", n, got)
		}
	}
	_, err = g.Client.FindAddresses(t.Context(), id, client.FindAddresses{Addresses: []string{customerNumber, "1-2@g.us", "nobody"}})
	testkit.Refused(t, err, http.StatusBadRequest, gateway.CodeValidation)
	_, err = g.Client.NameContact(t.Context(), id, customerNumber, client.ContactName{Name: " "})
	testkit.Refused(t, err, http.StatusBadRequest, gateway.CodeValidation)
}

// Who is known, and under which addresses, is answered while the instance is not connected, as it is
// while it is. Reading it takes nothing from the session, which comes back and goes on.
func TestContactsOfAnInstanceThatIsNotConnected(t *testing.T) {
	t.Parallel()
	for name, database := range cases.Sorted(map[string]func(t *testing.T) string{
		"SQLite":     func(*testing.T) string { return "" },
		"PostgreSQL": func(t *testing.T) string { t.Helper(); return postgres.Start(t) },
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := testkit.Start(t, testkit.Options{DataDir: t.TempDir(), DatabaseURL: database(t)})
			g.Phones.Update(t, customerNumber, map[string]any{"name": "Aninha"})
			g.Phones.NameContact(t, shopNumber, "5511966660100", "Bruno (work)")
			made, err := g.Partner.CreateInstance(t.Context(), client.NewInstance{Name: "shop"})
			if err != nil {
				t.Fatal(err)
			}
			id, customer := made.InstanceID, g.Phones.Get(t, customerNumber)
			know := func(when string, names []string, lid *string) {
				t.Helper()
				page, err := g.Client.ListContacts(t.Context(), id, client.ListContactsParams{}, 1, 10)
				if err != nil {
					t.Fatalf("%s: %v", when, err)
				}
				got := []string{}
				for _, contact := range page.Data {
					got = append(got, *contact.Name)
				}
				if !slices.Equal(got, names) || page.TotalCount != len(names) {
					t.Errorf("%s: the contacts are %q, want %q", when, got, names)
				}
				addresses, err := g.Client.FindAddresses(t.Context(), id, client.FindAddresses{Addresses: []string{customerNumber, customer.LID}})
				if err != nil || len(addresses.Results) != 2 {
					t.Fatalf("%s: the addresses are %+v, %v", when, addresses, err)
				}
				if got := addresses.Results[0].LID; (got == nil) != (lid == nil) || got != nil && *got != *lid {
					t.Errorf("%s: the LID is %v, want %v", when, got, lid)
				}
				if got := addresses.Results[1].JID; (got == nil) != (lid == nil) || got != nil && *got != customerNumber+"@s.whatsapp.net" {
					t.Errorf("%s: the number is %v", when, got)
				}
			}
			know("before it is linked", []string{}, nil)
			g.Scan(t, id, shopNumber)
			wrote(t, g, id, customerNumber, "hello")
			both := []string{"Aninha", "Bruno (work)"}
			testkit.Await(t, "the address book", func() bool {
				page, err := g.Client.ListContacts(t.Context(), id, client.ListContactsParams{}, 1, 10)
				return err == nil && page.TotalCount == len(both)
			})
			know("connected", both, &customer.LID)

			g.Phones.Faults(t, map[string]any{"refuseLogins": true})
			g.Phones.Disconnect(t, "")
			g.AwaitStatus(t, id, gateway.StatusConnecting)
			know("on the way back", both, &customer.LID)
			_, err = g.Client.GetContact(t.Context(), id, customerNumber)
			testkit.Refused(t, err, http.StatusConflict, gateway.CodeNotConnected)
			g.Phones.Faults(t, map[string]any{})
			g.AwaitStatus(t, id, gateway.StatusConnected)
			wrote(t, g, id, customerNumber, "again")
			sendText(t, g, id, "of course")

			if err := g.Partner.StopInstance(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			know("stopped", both, &customer.LID)
			if _, err := g.Partner.SetPayment(t.Context(), id, client.Payment{Pending: true}); err != nil {
				t.Fatal(err)
			}
			know("waiting for its payment", both, &customer.LID)
			if _, err := g.Partner.SetPayment(t.Context(), id, client.Payment{Pending: false}); err != nil {
				t.Fatal(err)
			}
			know("started", both, &customer.LID)
			g.AwaitStatus(t, id, gateway.StatusConnected)
			know("connected again", both, &customer.LID)
			wrote(t, g, id, customerNumber, "and again")
			sendText(t, g, id, "always")

			if err := g.Client.LogoutInstance(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			know("logged out", []string{}, nil)
		})
	}
}

// The username that the platform gives with a message is in its event, in a chat and in a group, and
// known of its author from then on. What can be none is left out.
func TestUsernamesComeWithMessages(t *testing.T) {
	t.Parallel()
	g := testkit.Start(t, testkit.Options{})
	g.Phones.Update(t, customerNumber, map[string]any{"name": "Ana", "hideNumber": true})
	id := g.Link(t, shopNumber)
	sink := followChats(t, g, id).Sink
	group := g.Phones.CreateGroup(t, "Clients", customerNumber, shopNumber)
	for _, c := range []struct {
		said string
		want *string
	}{{"ana.souza", new("ana.souza")}, {"", nil}, {"<b>ana</b>", nil}} {
		said, want := c.said, c.want
		g.Phones.Update(t, customerNumber, map[string]any{"username": said})
		for _, to := range []string{group.ID, shopNumber} { // the first message in a group brings its keys as well
			sent := g.Phones.SendText(t, customerNumber, to, "Oi!")
			sink.AwaitType("message.received", func(d testkit.Delivered) bool {
				var event client.MessageReceivedEvent
				if err := json.Unmarshal(d.Event.Data, &event); err != nil {
					t.Error(err)
				}
				if event.MessageID == sent && ((event.SenderUsername == nil) != (want == nil) || want != nil && *event.SenderUsername != *want) {
					t.Errorf("a message to %s of %q comes from %v", to, said, event.SenderUsername)
				}
				return event.MessageID == sent
			})
		}
	}
	page, err := g.Client.ListContacts(t.Context(), id, client.ListContactsParams{Search: "ana.souza"}, 0, 0)
	if err != nil || len(page.Data) != 1 || *page.Data[0].Name != "Ana" || *page.Data[0].Username != "ana.souza" {
		t.Errorf("the contacts are %+v, %v", page, err)
	}
}

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

// An instance that has subscribed to a contact hears when it comes and goes, also after a reconnect and a
// restart, and hears no more of it after the end.
func TestPresenceSubscriptions(t *testing.T) {
	t.Parallel()
	options := testkit.Options{DataDir: t.TempDir()}
	g, id := testkit.StartLinked(t, options)
	customer := g.Phones.Get(t, customerNumber)
	_, err := g.Client.GetPresenceSubscription(t.Context(), id, customerNumber)
	testkit.Refused(t, err, http.StatusNotFound, gateway.CodeNotSubscribed)
	testkit.Refused(t, g.Client.UnsubscribePresence(t.Context(), id, customerNumber), http.StatusNotFound, gateway.CodeNotSubscribed)
	for who, code := range cases.Sorted(map[string]string{shopNumber: gateway.CodeValidation, "1-2@g.us": gateway.CodeValidation, "5511900000000": gateway.CodeNotRegistered}) {
		_, err := g.Client.SubscribePresence(t.Context(), id, who, client.NewSubscription{Hours: 0})
		testkit.Refused(t, err, http.StatusBadRequest, code)
	}
	_, err = g.Client.SubscribePresence(t.Context(), id, customerNumber, client.NewSubscription{Hours: 721})
	testkit.Refused(t, err, http.StatusBadRequest, gateway.CodeValidation)

	stream, err := g.Client.Events(t.Context(), id, client.EventsParams{Types: []string{client.TypePresence}})
	if err != nil {
		t.Fatal(err)
	}
	next := func(want string) client.PresenceEvent {
		t.Helper()
		event, err := stream.Next()
		if err != nil {
			t.Fatal(err)
		}
		data, err := event.Decode()
		if shown, ok := data.(client.PresenceEvent); err == nil && ok && shown.Presence == want && shown.From != nil && *shown.From.LID == customer.LID {
			return shown
		}
		t.Fatalf("told %+v, want %s (%v)", data, want, err)
		return client.PresenceEvent{}
	}
	g.Phones.Presence(t, customerNumber, "", "available") // nobody hears of it
	kept, err := g.Client.SubscribePresence(t.Context(), id, customerNumber, client.NewSubscription{Hours: 0})
	if err != nil || kept.ID != customerNumber+"@s.whatsapp.net" || kept.LID == nil || *kept.LID != customer.LID || kept.EndsAt.Sub(kept.CreatedAt) != 168*time.Hour {
		t.Fatalf("subscribed to %+v, %v", kept, err)
	}
	next(client.PresenceAvailable) // how it is now
	g.Phones.Presence(t, customerNumber, "", "unavailable")
	if gone := next(client.PresenceUnavailable); gone.LastSeen == nil {
		t.Error("nothing says when the contact was online")
	}
	now, err := g.Client.GetPresenceSubscription(t.Context(), id, customer.LID)
	if err != nil || now.Presence == nil || *now.Presence != client.PresenceUnavailable || now.LastSeen == nil || now.ShownAt == nil {
		t.Errorf("the contact is %+v, %v", now, err)
	}
	g.Phones.Disconnect(t, shopNumber)
	next(client.PresenceUnavailable) // asked for again
	prolonged, err := g.Client.SubscribePresence(t.Context(), id, customer.LID, client.NewSubscription{Hours: 1})
	if err != nil || prolonged.EndsAt.After(kept.EndsAt) || !prolonged.CreatedAt.Equal(kept.CreatedAt) {
		t.Errorf("the subscription is %+v, %v", prolonged, err)
	}
	next(client.PresenceUnavailable)
	_ = stream.Close()

	g.Stop()
	g = testkit.Start(t, options)
	g.AwaitStatus(t, id, gateway.StatusConnected)
	if page, err := g.Client.ListPresenceSubscriptions(t.Context(), id, 1, 10); err != nil || page.TotalCount != 1 || page.Data[0].ID != kept.ID || *page.Data[0].Presence != client.PresenceUnavailable {
		t.Errorf("subscribed to %+v, %v", page, err)
	}
	testkit.Await(t, "the presence after a restart", func() bool {
		g.Phones.Presence(t, customerNumber, "", "available")
		now, err = g.Client.GetPresenceSubscription(t.Context(), id, customerNumber)
		return err == nil && *now.Presence == client.PresenceAvailable
	})
	if err := g.Client.UnsubscribePresence(t.Context(), id, customer.LID); err != nil {
		t.Fatal(err)
	}
	if stream, err = g.Client.Events(t.Context(), id, client.EventsParams{Types: []string{client.TypePresence}}); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stream.Close() }()
	g.Phones.Presence(t, customerNumber, "", "unavailable")
	g.Phones.Presence(t, customerNumber, shopNumber, "composing")
	for { // what was under way comes first
		event, err := stream.Next()
		if err != nil {
			t.Fatal(err)
		}
		data, _ := event.Decode()
		shown, ok := data.(client.PresenceEvent)
		if !ok || shown.Presence == client.PresenceUnavailable {
			t.Errorf("told %+v after the end", data)
		}
		if shown.Presence == client.PresenceComposing {
			break
		}
	}
}
