package profiles

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"go.mau.fi/whatsmeow"
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

func TestFailure(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err  error
		want string
	}{
		{&whatsmeow.IQError{Code: 400}, gateway.CodeBlockRefused},
		{&whatsmeow.IQError{Code: 406}, gateway.CodeBlockRefused},
		{fmt.Errorf("wrapped: %w", &whatsmeow.IQError{Code: 419}), gateway.CodeBlockRefused},
		{whatsmeow.ErrInvalidImageFormat, gateway.CodeBlockRefused},
		{&whatsmeow.IQError{Code: 429}, gateway.CodeRateLimited},
		{&whatsmeow.IQError{Code: 503}, gateway.CodePlatformError},
		{whatsmeow.ErrIQTimedOut, gateway.CodePlatformTimeout},
		{whatsmeow.ErrNotConnected, gateway.CodeNotConnected},
	} {
		if refusal, ok := gateway.AsError(failure(test.err, gateway.CodeBlockRefused, "this")); !ok || refusal.Code != test.want {
			t.Errorf("%v is %v, want %s", test.err, refusal, test.want)
		}
	}
	if refusal, ok := gateway.AsError(SettingFailure(errors.New("no app state keys found, creating app state keys is not yet supported"))); !ok || refusal.Code != gateway.CodeNotSynced {
		t.Errorf("without keys: %v", refusal)
	}
	if refusal, ok := gateway.AsError(SettingFailure(fmt.Errorf("%w: 409", whatsmeow.ErrAppStateUpdate))); !ok || refusal.Code != gateway.CodeProfileRefused {
		t.Errorf("a conflict: %v", refusal)
	}
}

// Every setting and every choice has a word of the platform's; what it says besides is no
// choice.
func TestWordsOfPrivacy(t *testing.T) {
	t.Parallel()
	for choice, word := range choices() {
		if got := choiceOf(word); got != choice {
			t.Errorf("%s is read as %s, want %s", word, got, choice)
		}
	}
	for _, word := range []types.PrivacySetting{"", "friends_of_friends", "ALL", "all\x00", types.PrivacySettingOnStandard} {
		if got := choiceOf(word); got != "" {
			t.Errorf("%q is read as %s", word, got)
		}
	}
	for text, want := range cases.Sorted(map[string]time.Duration{"604800": 7 * 24 * time.Hour, "0": 0, "-1": 0, "": 0, "9999999999999": 0, "1e3": 0}) {
		if got := seconds(text); got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
}

// A block list is taken up to its bound, each person once, and only people.
func TestBlockListIsBounded(t *testing.T) {
	t.Parallel()
	item := func(address, number types.JID) waBinary.Node {
		return waBinary.Node{Tag: "item", Attrs: waBinary.Attrs{"jid": address, "pn_jid": number}}
	}
	lid := func(n int) types.JID { return types.NewJID(fmt.Sprint(100_000_000_000_000+n), types.HiddenUserServer) }
	number := types.NewJID("5511988887766", types.DefaultUserServer)
	list := people(waBinary.Node{Tag: "list", Content: []waBinary.Node{
		item(lid(2), number), item(lid(1), types.NewJID("120363", types.GroupServer)), item(lid(2), number),
		item(types.NewJID("120363", types.GroupServer), number), item(types.EmptyJID, number),
		{Tag: "item"},
		{Tag: "other"},
	}})
	if len(list) != 2 || list[0].address != lid(1) || !list[0].other.IsEmpty() || list[1].address != lid(2) || list[1].other != number {
		t.Errorf("the list is %v", list)
	}
	flood := make([]waBinary.Node, gateway.MaxBlocked+1000)
	for i := range flood {
		flood[i] = item(lid(i), types.EmptyJID)
	}
	if got := len(people(waBinary.Node{Tag: "list", Content: flood})); got != gateway.MaxBlocked {
		t.Errorf("%d people are taken, want %d", got, gateway.MaxBlocked)
	}
	if got := people(waBinary.Node{}); len(got) != 0 {
		t.Errorf("of no list: %v", got)
	}
}
