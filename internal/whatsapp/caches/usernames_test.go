package caches

import (
	"strconv"
	"testing"

	"go.mau.fi/whatsmeow/types"
)

// A username belongs to one message of one sender, is taken once, and not held for ever.
func TestUsernames(t *testing.T) {
	t.Parallel()
	ana, bruno := types.NewJID("1", types.HiddenUserServer), types.NewJID("2", types.HiddenUserServer)
	var names Usernames
	if got := names.Take(ana, "A"); got != "" {
		t.Errorf("before any: %q", got)
	}
	names.Put(types.JID{User: "1", Device: 3, Server: types.HiddenUserServer}, "A", "ana.souza")
	names.Put(bruno, "A", "bruno")
	for n, want := range []string{"ana.souza", ""} {
		if got := names.Take(ana, "A"); got != want {
			t.Errorf("take %d: %q", n, got)
		}
	}
	for n := range maxUsernames {
		names.Put(ana, strconv.Itoa(n), "ana.souza")
	}
	if got := names.Take(bruno, "A"); got != "" {
		t.Errorf("after many others: %q", got)
	}
	if got := names.Take(ana, "0"); got != "ana.souza" {
		t.Errorf("the oldest that fits: %q", got)
	}
}
