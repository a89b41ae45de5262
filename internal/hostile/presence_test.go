package hostile_test

import (
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit"
)

// A contact who toggles as fast as it can fills no webhook, and what it shows in the end is told.
func TestTogglingFloodsNobody(t *testing.T) {
	t.Parallel()
	b := besiege(t, "")
	if _, err := b.Client.SubscribePresence(t.Context(), b.id, customerNumber, client.NewSubscription{Hours: 1}); err != nil {
		t.Fatal(err)
	}
	const times = 500
	for range times {
		b.Phones.Presence(t, customerNumber, shopNumber, "composing")
		b.Phones.Presence(t, customerNumber, shopNumber, "available")
		b.Phones.Presence(t, customerNumber, shopNumber, "unavailable")
	}
	told := 0
	for _, event := range b.unharmed(t) {
		if event.Type == client.TypePresence {
			told++
		}
	}
	if told < 20 || told > 100 {
		t.Errorf("%d events tell of %d changes", told, 3*times)
	}
	// Now that the instance has taken the flood: the platform drops a presence that finds no room.
	b.Phones.Presence(t, customerNumber, shopNumber, "recording")
	testkit.Await(t, "what the contact shows in the end", func() bool {
		now, err := b.Client.GetPresenceSubscription(t.Context(), b.id, customerNumber)
		return err == nil && now.Presence != nil && *now.Presence == client.PresenceRecording
	})
}
