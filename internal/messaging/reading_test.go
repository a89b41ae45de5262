package messaging

import (
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

func TestCountUnanswered(t *testing.T) {
	t.Parallel()
	at := func(hour int) time.Time {
		if hour == 0 {
			return time.Time{}
		}
		return time.Date(2026, 5, 4, hour, 0, 0, 0, time.UTC)
	}
	with := func(jid, lid gateway.JID, written, first, received int) gateway.Correspondence {
		return gateway.Correspondence{
			Chat: gateway.Party{JID: jid, LID: lid}, Written: written, FirstWritten: at(first), LastReceived: at(received),
		}
	}
	const ana, anaLID, bia = "1@s.whatsapp.net", "11@lid", "2@s.whatsapp.net"
	for name, test := range cases.Sorted(map[string]struct {
		with                     []gateway.Correspondence
		messages, chats, ofChats int
	}{
		"nobody":                      {nil, 0, 0, 0},
		"no answer":                   {[]gateway.Correspondence{with(ana, anaLID, 3, 8, 0)}, 3, 1, 1},
		"an answer":                   {[]gateway.Correspondence{with(ana, anaLID, 3, 8, 9)}, 0, 0, 1},
		"a word before is no answer":  {[]gateway.Correspondence{with(ana, anaLID, 3, 8, 7)}, 3, 1, 1},
		"nothing was written":         {[]gateway.Correspondence{with(ana, anaLID, 0, 0, 7)}, 0, 0, 0},
		"two people":                  {[]gateway.Correspondence{with(ana, "", 1, 8, 9), with(bia, "", 2, 8, 0)}, 2, 1, 2},
		"answered under the LID":      {[]gateway.Correspondence{with(ana, "", 1, 8, 0), with("", anaLID, 0, 0, 9), with(ana, anaLID, 1, 10, 0)}, 0, 0, 1},
		"written under both, no word": {[]gateway.Correspondence{with("", anaLID, 2, 8, 0), with(ana, anaLID, 1, 10, 7)}, 3, 1, 1},
		"unrelated addresses":         {[]gateway.Correspondence{with(ana, "", 1, 8, 0), with("", anaLID, 0, 0, 9)}, 1, 1, 1},
	}) {
		want := gateway.Unanswered{Days: unansweredDays, Messages: test.messages, Chats: test.chats, OfChats: test.ofChats}
		if got := countUnanswered(test.with); got != want {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
	}
}
