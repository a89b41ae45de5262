// Which events a webhook takes.

package webhook

import (
	"fmt"
	"slices"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
)

// ChatKind says what a chat is.
type ChatKind string

// The kinds of chats.
const (
	ChatDirect  ChatKind = "direct" // with a person
	ChatGroup   ChatKind = "group"
	ChatChannel ChatKind = "channel"
	ChatStatus  ChatKind = "status" // what people show to all their contacts for a day
)

// ChatKinds returns all kinds of chats.
func ChatKinds() []ChatKind { return []ChatKind{ChatDirect, ChatGroup, ChatChannel, ChatStatus} }

// kindOfChat says what a chat is.
func kindOfChat(chat gateway.JID) ChatKind {
	switch {
	case chat.IsStatus():
		return ChatStatus
	case chat.IsGroup():
		return ChatGroup
	case chat.IsChannel():
		return ChatChannel
	default:
		return ChatDirect
	}
}

// Filter says which events a webhook takes. The zero value takes all.
type Filter struct {
	Kinds []eventlog.Kind // nil: all
	// Chats are the kinds of chats whose events are taken; nil: all. Events that belong to
	// no chat are taken in any case.
	Chats []ChatKind
}

// takesAll reports whether nothing is left out.
func (f Filter) takesAll() bool { return len(f.Kinds) == 0 && len(f.Chats) == 0 }

// Takes reports whether an event is delivered.
func (f Filter) Takes(event eventlog.Event) bool {
	if len(f.Kinds) > 0 && !slices.Contains(f.Kinds, event.Kind) {
		return false
	}
	return len(f.Chats) == 0 || event.Chat == "" || slices.Contains(f.Chats, kindOfChat(event.Chat))
}

// takes returns what a backlog asks; nil if nothing is left out.
func (f Filter) takes() func(event eventlog.Event) bool {
	if f.takesAll() {
		return nil
	}
	return f.Takes
}

// cleaned returns the filter without doubles, in order.
func (f Filter) cleaned() Filter {
	return Filter{Kinds: sorted(f.Kinds), Chats: sorted(f.Chats)}
}

func sorted[T ~string](values []T) []T {
	if len(values) == 0 {
		return nil
	}
	values = slices.Clone(values)
	slices.Sort(values)
	return slices.Compact(values)
}

// check says what is wrong with a filter.
func (f Filter) check() (wrong []gateway.FieldError) {
	for _, kind := range f.Kinds {
		if !kind.Known() || kind == eventlog.KindWebhookTest {
			wrong = append(wrong, gateway.FieldError{Field: "events", Message: fmt.Sprintf("must name types of events, and %.64q is none", kind)})
			break
		}
	}
	for _, chat := range f.Chats {
		if !slices.Contains(ChatKinds(), chat) {
			wrong = append(wrong, gateway.FieldError{Field: "chats", Message: "must be some of direct, group, channel, status"})
			break
		}
	}
	return wrong
}
