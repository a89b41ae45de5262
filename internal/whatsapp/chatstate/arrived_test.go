package chatstate

import (
	"errors"
	"testing"
	"time"

	"go.mau.fi/whatsmeow/appstate"
	"go.mau.fi/whatsmeow/proto/waSyncAction"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

func TestMutedUntil(t *testing.T) {
	t.Parallel()
	for name, c := range cases.Sorted(map[string]struct {
		muted bool
		end   int64
		want  time.Time
	}{
		"not muted":      {false, 5, time.Time{}},
		"until a time":   {true, 1_893_553_445_000, time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)},
		"for ever":       {true, -1, gateway.MutedForever()},
		"without an end": {true, 0, gateway.MutedForever()},
		"beyond time":    {true, 1<<63 - 1, gateway.MutedForever()},
		"before time":    {true, -1 << 63, gateway.MutedForever()},
	}) {
		if got := mutedUntil(&waSyncAction.MuteAction{Muted: &c.muted, MuteEndTimestamp: &c.end}); !got.Equal(c.want) {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

// A change reaches no further than the time at which it was made.
func TestThrough(t *testing.T) {
	t.Parallel()
	at := time.Unix(1_000, 0)
	for last, want := range cases.Sorted(map[int64]int64{0: 1_000, 900: 900, 1_100: 1_000, -5: 1_000, 1<<63 - 1: 1_000}) {
		got := through(&waSyncAction.SyncActionMessageRange{LastMessageTimestamp: &last}, at)
		if got.Unix() != want || got.Nanosecond() != int(999*time.Millisecond) {
			t.Errorf("a range until %d ends at %s", last, got)
		}
	}
}

// What could not be kept is read again after every login until that succeeds.
func TestReadAgainUntilItIsRead(t *testing.T) {
	t.Parallel()
	chats := New(newLine(t, time.Now, func(gateway.Incoming) error { return errors.New("on purpose") }))
	if chats.keep(appstate.WAPatchRegularLow, gateway.ChatUpdate{Chat: gateway.Party{JID: "1@s.whatsapp.net"}, ChatChange: gateway.ChatChange{Archived: new(true)}}) {
		t.Fatal("it was kept")
	}
	for login := 1; login <= 2; login++ {
		chats.ReadAgain(t.Context())
		if len(chats.unkept) != 1 {
			t.Errorf("after login %d the collections to be read are %v", login, chats.unkept)
		}
	}
}
