package messaging_test

import (
	"slices"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// What the owner does with a message counts for that message alone: in its chat, by its sender,
// and once. What is on its way keeps its content.
func TestMessageUpdates(t *testing.T) {
	t.Parallel()
	const elsewhere = "5521966660144@s.whatsapp.net"
	for name, c := range cases.Sorted(map[string]struct {
		status gateway.MessageStatus
		change func(update *gateway.MessageUpdate)
		events []string
	}{
		"starred":          {gateway.MessageSent, func(*gateway.MessageUpdate) {}, []string{"message.starred"}},
		"no star to take":  {gateway.MessageSent, func(u *gateway.MessageUpdate) { u.Starred = new(false) }, nil},
		"in another chat":  {gateway.MessageSent, func(u *gateway.MessageUpdate) { u.Chat = gateway.Party{JID: elsewhere} }, nil},
		"by somebody else": {gateway.MessageSent, func(u *gateway.MessageUpdate) { u.FromMe = false }, nil},
		"unknown":          {gateway.MessageSent, func(u *gateway.MessageUpdate) { u.PlatformID = "3EB0UNKNOWN" }, nil},
		"from before":      {gateway.MessageSent, func(u *gateway.MessageUpdate) { u.Earlier = true }, nil},
		"deleted":          {gateway.MessageSent, func(u *gateway.MessageUpdate) { u.Starred, u.Deleted = nil, true }, []string{"message.deleted_for_me"}},
		"on its way":       {gateway.MessagePending, func(u *gateway.MessageUpdate) { u.Starred, u.Deleted = nil, true }, nil},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			message := d.message(customer, c.status)
			update := gateway.MessageUpdate{Chat: message.Chat, PlatformID: message.PlatformID, FromMe: message.FromMe, Starred: new(true), At: time.UnixMilli(5)}
			c.change(&update)
			for range 2 {
				d.check(d.Receive(t.Context(), update))
			}
			if got := d.events(); !slices.Equal(got, c.events) {
				t.Errorf("the events are %q, want %q", got, c.events)
			}
			found, err := d.store.FindMessages(t.Context(), d.instance.ID, message.ID)
			if err != nil || len(found) != 1 {
				t.Fatalf("found %+v (%v)", found, err)
			}
			if found[0].Starred != (name == "starred" || name == "from before") || found[0].DeletedAt.IsZero() != (name != "deleted") || (len(found[0].Payload) == 0) != (name == "deleted") {
				t.Errorf("kept %+v", found[0])
			}
		})
	}
}
