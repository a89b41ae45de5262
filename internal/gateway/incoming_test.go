package gateway_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

func TestCleaned(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	dirty := gateway.Party{JID: "1@lid", Name: " An\x00a\u202e "}
	ana := gateway.Party{JID: "1@lid", Name: "Ana"}
	long := strings.Repeat("n", 300)
	for name, c := range cases.Sorted(map[string]struct{ incoming, want gateway.Incoming }{
		"message": {
			gateway.Message{PlatformID: "a\nb", Chat: dirty, Sender: dirty, Text: "x\x00y"},
			gateway.Message{PlatformID: gateway.CleanID("a\nb"), Chat: ana, Sender: ana, Text: "xy", SentAt: now},
		},
		"history": {
			gateway.History{{Chat: dirty, SentAt: now}},
			gateway.History{{Chat: ana, SentAt: now}},
		},
		"change": {
			gateway.Change{By: dirty, Reaction: "👍\x00", SourceKey: long},
			gateway.Change{By: ana, Reaction: "👍", SourceKey: gateway.CleanID(long), At: now},
		},
		"receipt": {
			gateway.Receipt{By: dirty, MessageIDs: []string{"a\x00"}, At: now.AddDate(1, 0, 0)},
			gateway.Receipt{By: ana, MessageIDs: []string{gateway.CleanID("a\x00")}, At: now},
		},
		"presence that shows no last time": {
			gateway.ContactPresence{From: dirty, Chat: dirty, At: now},
			gateway.ContactPresence{From: ana, Chat: ana, At: now},
		},
		"change of a big group": {
			gateway.GroupChange{Actor: dirty, Participants: make([]gateway.Party, gateway.MaxListed+1), At: now},
			gateway.GroupChange{Actor: ana, Participants: make([]gateway.Party, gateway.MaxListed), At: now},
		},
		"contact": {
			gateway.ContactChange{Contact: dirty, At: now},
			gateway.ContactChange{Contact: ana, At: now},
		},
		"contact without an address": {gateway.ContactChange{At: now}, nil},
		"call": {
			gateway.Call{ID: "a\nb", From: dirty, At: now},
			gateway.Call{ID: gateway.CleanID("a\nb"), From: ana, At: now},
		},
		"restriction for a month": {
			gateway.Restriction{Until: now.AddDate(0, 1, 0), Recipient: dirty, At: now},
			gateway.Restriction{Until: now.AddDate(0, 1, 0), Recipient: ana, At: now},
		},
		"restriction for years": {
			gateway.Restriction{Until: now.AddDate(2, 0, 0), At: now},
			gateway.Restriction{At: now},
		},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := c.incoming.Cleaned(now); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}

func TestProfileCleaned(t *testing.T) {
	t.Parallel()
	got := gateway.Profile{Name: " An\x00a ", PictureURL: strings.Repeat("u", 3000)}.Cleaned()
	if want := (gateway.Profile{Name: "Ana"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
