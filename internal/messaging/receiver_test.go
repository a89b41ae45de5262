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
