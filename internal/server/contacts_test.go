package server_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"

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
