package messaging_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// incomings returns one of each kind of what a session can receive.
func incomings() []gateway.Incoming {
	chat := gateway.Party{JID: customer}
	message := gateway.Message{
		PlatformID: "3EB0A", WireKey: "wire", Chat: chat, Sender: chat, Source: gateway.SourcePeer,
		Type: gateway.TypeText, Payload: []byte("payload"), SentAt: time.Unix(1_800_000_000, 0),
	}
	return []gateway.Incoming{
		message,
		gateway.History{message},
		gateway.Change{PlatformID: "3EB0A", Chat: chat, By: chat, SourceKey: "change"},
		gateway.PollVote{PollID: "3EB0C", Chat: chat, By: chat, SourceKey: "vote"},
		gateway.EventResponse{EventID: "3EB0E", Chat: chat, By: chat, Response: gateway.ResponseGoing, SourceKey: "response"},
		gateway.Receipt{Chat: chat, By: chat, MessageIDs: []string{"3EB0B"}, Status: gateway.MessageRead},
		gateway.ContactPresence{From: chat, Chat: chat, Presence: gateway.PresenceAvailable},
		gateway.GroupChange{Group: group, Kind: gateway.GroupSubjectChanged, SourceKey: "group"},
		gateway.ContactChange{Contact: chat, SourceKey: "contact"},
		gateway.Call{ID: "CALL", From: chat, Chat: chat},
		gateway.ChannelChange{ID: "120363@newsletter", Kind: gateway.ChannelFollowed, SourceKey: "channel/1"},
		gateway.CallEnd{ID: "CALL", From: chat, Chat: chat, Reason: gateway.CallMissed},
		gateway.AccountChange{Kind: gateway.AccountBlocked, People: []gateway.Party{chat}},
		gateway.Restriction{Recipient: chat},
		gateway.HistoryAnswer{Chat: chat, RequestID: "3EB0D"},
		gateway.ChatUpdate{Chat: chat, ChatChange: gateway.ChatChange{Archived: new(true)}},
		gateway.MessageUpdate{Chat: chat, PlatformID: "3EB0A", Starred: new(true)},
		gateway.ChatArrangements{{Chat: chat, ChatChange: gateway.ChatChange{Pinned: new(true)}}},
		gateway.LabelChange{Act: gateway.LabelSet, Label: gateway.Label{ID: "6", Name: "paid"}},
		gateway.LabelChanges{{Act: gateway.LabelSet, Label: gateway.Label{ID: "7", Name: "late"}}},
	}
}

// kindsOfIncoming reads from the source which types are an Incoming.
func kindsOfIncoming(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../gateway/*.go")
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, declaration := range parsed.Decls {
			method, ok := declaration.(*ast.FuncDecl)
			if !ok || method.Recv == nil || method.Name.Name != "incoming" {
				continue
			}
			kind, ok := method.Recv.List[0].Type.(*ast.Ident)
			if !ok {
				t.Fatalf("%s: the method incoming is not one of a value", file)
			}
			kinds = append(kinds, kind.Name)
		}
	}
	slices.Sort(kinds)
	return kinds
}

// A new kind of what a session receives is not forgotten here.
func TestEveryKindOfIncomingIsReceived(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	var received []string
	for _, incoming := range incomings() {
		received = append(received, reflect.TypeOf(incoming).Name())
		if err := d.Receive(t.Context(), incoming); err != nil {
			t.Errorf("%T: %v", incoming, err)
		}
		if cleaned := incoming.Cleaned(time.Unix(1_800_000_000, 0)); reflect.TypeOf(cleaned) != reflect.TypeOf(incoming) {
			t.Errorf("%T becomes a %T when it is cleaned", incoming, cleaned)
		}
	}
	slices.Sort(received)
	if kinds := kindsOfIncoming(t); !slices.Equal(received, kinds) {
		t.Errorf("received are %v, but the kinds are %v", received, kinds)
	}
	if events := d.events(); len(events) != len(received)-6 {
		t.Errorf("the events are %v, want one of each kind but the history, how chats are arranged, which labels there are, the presence, which is reported elsewhere, and the vote and the response, for what is not known", events)
	}
}

// What is of no known kind is refused, so that the platform delivers it again.
func TestUnknownIncomingIsRefused(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	if err := d.Receive(t.Context(), struct{ gateway.Incoming }{}); err == nil {
		t.Error("it was received")
	}
}

// inGroup is something that was received, as it is of a group; false if it can't be.
func inGroup(incoming gateway.Incoming) (gateway.Incoming, bool) {
	moved := reflect.New(reflect.TypeOf(incoming)).Elem()
	moved.Set(reflect.ValueOf(incoming))
	one := moved
	if moved.Kind() == reflect.Slice {
		moved.Set(reflect.MakeSlice(moved.Type(), 1, 1))
		moved.Index(0).Set(reflect.ValueOf(incoming).Index(0))
		one = moved.Index(0)
	}
	chat := one.FieldByName("Chat")
	if !chat.IsValid() {
		_, of := incoming.(gateway.GroupChange)
		return incoming, of
	}
	chat.Set(reflect.ValueOf(gateway.Party{JID: group}))
	return moved.Interface().(gateway.Incoming), true //nolint:forcetypeassert // it has the type of one
}

// An instance that ignores groups keeps nothing of them, of whatever kind it is, and all of others.
func TestGroupsAreIgnored(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.set(gateway.Switches{IgnoreGroups: true})
	kept := 0
	for _, incoming := range incomings() {
		moved, ok := inGroup(incoming)
		if !ok {
			kept++
			if others, some := gateway.WithoutGroups(incoming); some || !reflect.DeepEqual(others, incoming) {
				t.Errorf("%T is of a group", incoming)
			}
			continue
		}
		if others, some := gateway.WithoutGroups(moved); !some || others != nil {
			t.Errorf("of a %T is left %v", incoming, others)
		}
		d.check(d.Receive(t.Context(), moved))
	}
	if events := d.events(); len(events) > 0 || kept != 4 {
		t.Errorf("the events are %v, and %d kinds are of no chat", events, kept)
	}
	for _, message := range []gateway.History{{
		{PlatformID: "GROUP", Chat: gateway.Party{JID: group}, Type: gateway.TypeText},
		{PlatformID: "OTHER", Chat: gateway.Party{JID: customer}, Type: gateway.TypeText},
	}} {
		d.check(d.Receive(t.Context(), message))
	}
	for id, want := range cases.Sorted(map[string]int{"GROUP": 0, "OTHER": 1, "3EB0A": 0}) {
		found, err := d.store.FindMessages(t.Context(), d.instance.ID, id)
		d.check(err)
		if len(found) != want {
			t.Errorf("%d messages %s are kept, want %d", len(found), id, want)
		}
	}
	d.set(gateway.Switches{})
	for _, incoming := range incomings() {
		moved, _ := inGroup(incoming)
		d.check(d.Receive(t.Context(), moved))
	}
	if len(d.events()) == 0 {
		t.Error("nothing of groups is kept although they are not ignored")
	}
}
