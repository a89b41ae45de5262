package server_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
)

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
