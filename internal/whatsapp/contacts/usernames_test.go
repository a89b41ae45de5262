package contacts

import (
	"strconv"
	"testing"

	"go.mau.fi/whatsmeow/types"
)

// A username belongs to one message of one sender, is there for each part of the message, and not held for ever.
func TestUsernames(t *testing.T) {
	t.Parallel()
	ana, bruno := types.NewJID("1", types.HiddenUserServer), types.NewJID("2", types.HiddenUserServer)
	var names Usernames
	if got := names.Of(ana, "A"); got != "" {
		t.Errorf("before any: %q", got)
	}
	names.put(types.JID{User: "1", Device: 3, Server: types.HiddenUserServer}, "A", "ana.souza")
	names.put(bruno, "A", "bruno")
	for n, want := range []string{"ana.souza", "ana.souza"} {
		if got := names.Of(ana, "A"); got != want {
			t.Errorf("look %d: %q", n, got)
		}
	}
	for n := range maxUsernames {
		names.put(ana, strconv.Itoa(n), "ana.souza")
	}
	if got := names.Of(bruno, "A"); got != "" {
		t.Errorf("after many others: %q", got)
	}
	if got := names.Of(ana, "0"); got != "ana.souza" {
		t.Errorf("the oldest that fits: %q", got)
	}
}
