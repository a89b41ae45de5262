// The menus of polls, and the answers to them.

package storetest

import (
	"crypto/sha256"
	"reflect"
	"testing"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
)

// menuOf makes a poll with a menu in a chat.
func (f *fixture) menuOf(instance gateway.Instance, n int, chat gateway.Party) gateway.Message {
	f.t.Helper()
	poll := f.message(instance, n)
	poll.Chat, poll.Type, poll.Text, poll.Status = chat, gateway.TypePoll, "When?", gateway.MessageSent
	poll.Menu = gateway.Menu{Options: []gateway.MenuOption{{ID: "t", Text: "today"}, {ID: "m", Text: "tomorrow"}}, Reference: "step 1"}
	return poll
}

// says adds a text of somebody in a chat, and returns the platform's identifier of the menu that may be answered by it;
// empty for none. answers is what the report says to that.
func (f *fixture) says(message gateway.Message, answers bool) (asked string) {
	f.t.Helper()
	event, answer := f.event(gateway.Instance{ID: message.InstanceID}, 1), f.event(gateway.Instance{ID: message.InstanceID}, 2)
	event.SourceKey, answer.SourceKey = "message/"+message.WireKey, "message/"+message.WireKey
	_, err := f.AddText(f.ctx(), message, event, func(poll gateway.Message) (eventlog.Event, bool, error) {
		asked = poll.PlatformID
		return answer, answers, nil
	})
	f.check(err)
	return asked
}

func testMenus(t *testing.T, f *fixture) {
	t.Helper()
	account := f.account()
	instance, other := f.instance(account.ID, 1), f.instance(account.ID, 2)
	chat, ana := gateway.Party{JID: "1@s.whatsapp.net"}, gateway.Party{JID: "1@s.whatsapp.net", LID: "11@lid"}
	n := 10
	text := func(by, to gateway.Party) gateway.Message {
		n++
		message := f.came(instance, n, to, "1")
		message.Sender = by
		return message
	}
	want := func(when, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s, a text may answer %q, want %q", when, got, want)
		}
	}
	want("before there is a menu", f.says(text(ana, chat), true), "")
	first := f.menuOf(instance, 1, chat)
	f.check(f.accept(first, nil))
	if kept := f.get(instance, first.ID); !reflect.DeepEqual(kept.Menu, first.Menu) {
		t.Errorf("kept %+v, want %+v", kept.Menu, first.Menu)
	}
	want("with a menu in the chat", f.says(text(ana, chat), false), first.PlatformID)
	want("in another chat", f.says(text(ana, gateway.Party{JID: "2@s.whatsapp.net"}), true), "")
	elsewhere := text(ana, chat)
	elsewhere.InstanceID = other.ID
	want("in another instance", f.says(elsewhere, true), "")
	// Her LID is known by now, which joins nothing: the chat is the same.
	answer := text(ana, ana)
	want("under both addresses", f.says(answer, true), first.PlatformID)
	answer.ID = newID()
	want("when it comes again", f.says(answer, true), "")
	want("after an answer", f.says(text(gateway.Party{LID: ana.LID}, ana), true), "")
	ben := gateway.Party{LID: "22@lid"}
	want("of somebody else", f.says(text(ben, ana), false), first.PlatformID)

	second := f.menuOf(instance, 2, ana)
	f.check(f.accept(second, nil))
	want("with a second menu", f.says(text(ana, ana), false), second.PlatformID)
	// A vote is an answer as well, and so is a text for a vote.
	vote := func(poll gateway.Message, by gateway.Party, at int, choices ...[sha256.Size]byte) (answers bool) {
		t.Helper()
		f.check(f.KeepVote(f.ctx(), poll, gateway.StoredVote{By: by, Choices: choices, At: after(at)}, func(_ []gateway.StoredVote, is bool) (eventlog.Event, error) {
			answers, n = is, n+1
			return f.event(instance, n), nil
		}))
		return answers
	}
	today := sha256.Sum256([]byte("today"))
	plain := f.message(instance, 3)
	plain.Chat = ben
	f.check(f.accept(plain, nil))
	for _, c := range []struct {
		name    string
		poll    gateway.Message
		by      gateway.Party
		choices [][sha256.Size]byte
		want    bool
	}{
		{"that is none", second, ana, nil, false},
		{"after it was none", second, ana, [][sha256.Size]byte{today}, true},
		{"once more", second, gateway.Party{LID: ana.LID}, [][sha256.Size]byte{today}, false},
		{"of somebody else", second, ben, [][sha256.Size]byte{today}, true},
		{"after a text", first, ana, [][sha256.Size]byte{today}, false},
		{"in a poll without a menu", plain, ana, [][sha256.Size]byte{today}, false},
	} {
		n++
		if got := vote(c.poll, c.by, n, c.choices...); got != c.want {
			t.Errorf("a vote %s answers: %v, want %v", c.name, got, c.want)
		}
	}
	want("after a vote", f.says(text(ana, ana), true), "")

	third := f.menuOf(instance, 4, chat)
	f.check(f.accept(third, nil))
	failed := f.message(instance, 5)
	failed.Chat, failed.Status = chat, gateway.MessageFailed
	f.add(failed, true)
	want("after a message that was not sent", f.says(text(ana, chat), false), third.PlatformID)
	f.check(f.accept(func() gateway.Message { m := f.message(instance, 6); m.Chat = chat; return m }(), nil))
	want("after another message of the account", f.says(text(ana, chat), true), "")
	f.check(f.DeleteMessages(f.ctx(), instance.ID, []string{second.ID}))
	if err := f.accept(f.menuOf(instance, 7, ben), nil); err != nil {
		t.Error(err)
	}
}

// A chat that is found to be that of another one keeps the menu of the one with the later message.
func testMenusAreJoined(t *testing.T, f *fixture) {
	t.Helper()
	instance := f.instance(f.account().ID, 1)
	byNumber, byLID := gateway.Party{JID: "1@s.whatsapp.net"}, gateway.Party{LID: "11@lid"}
	older, newer := f.menuOf(instance, 1, byNumber), f.menuOf(instance, 2, byLID)
	f.check(f.accept(older, nil))
	f.check(f.accept(newer, nil))
	if got := f.says(f.came(instance, 3, gateway.Party{JID: byNumber.JID, LID: byLID.LID}, "1"), false); got != newer.PlatformID {
		t.Errorf("a text may answer %q, want %q", got, newer.PlatformID)
	}
}
