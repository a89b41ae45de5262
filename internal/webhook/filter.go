// Which events a webhook takes.

package webhook

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

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

// Parts of kinds, which a filter may name as it names kinds.
const (
	PartSentByAPI    = eventlog.KindMessageSent + partMark + eventlog.Kind(gateway.SourceAPI)
	PartSentByDevice = eventlog.KindMessageSent + partMark + eventlog.Kind(gateway.SourceDevice)
	// PartVoteSelects is the votes that answer a menu, PartVoteOther the others.
	PartVoteSelects = eventlog.KindMessagePollVote + partMark + "selection"
	PartVoteOther   = eventlog.KindMessagePollVote + partMark + "other"

	partMark = ":" // stands between a kind and the name of its part
)

// Choices returns what a filter may name: every kind but that of tests, and behind it its parts.
func Choices() (choices []eventlog.Kind) {
	for _, kind := range eventlog.Kinds() {
		if kind == eventlog.KindWebhookTest {
			continue
		}
		choices = append(choices, kind)
		for _, part := range []eventlog.Kind{PartSentByAPI, PartSentByDevice, PartVoteSelects, PartVoteOther} {
			if wholeOf(part) == kind {
				choices = append(choices, part)
			}
		}
	}
	return choices
}

// partOf returns the part to which an event belongs; empty for a kind that has no parts.
func partOf(event eventlog.Event) eventlog.Kind {
	var data struct {
		Source    eventlog.Kind `json:"source"`
		Selection *struct{}     `json:"selection"`
	}
	switch event.Kind {
	case eventlog.KindMessageSent:
		if json.Unmarshal(event.Data, &data) == nil && data.Source == eventlog.Kind(gateway.SourceDevice) {
			return PartSentByDevice
		}
		return PartSentByAPI
	case eventlog.KindMessagePollVote:
		if json.Unmarshal(event.Data, &data) == nil && data.Selection != nil {
			return PartVoteSelects
		}
		return PartVoteOther
	default:
		return ""
	}
}

// Filter says which events a webhook takes. The zero value takes all.
type Filter struct {
	Kinds []eventlog.Kind // some of Choices; nil: all
	// Chats are the kinds of chats whose events are taken; nil: all. Events that belong to
	// no chat are taken in any case.
	Chats []ChatKind
}

// takesAll reports whether nothing is left out.
func (f Filter) takesAll() bool { return len(f.Kinds) == 0 && len(f.Chats) == 0 }

// Takes reports whether an event is delivered.
func (f Filter) Takes(event eventlog.Event) bool {
	if len(f.Kinds) > 0 && !slices.Contains(f.Kinds, event.Kind) && !f.takesPart(event) {
		return false
	}
	return len(f.Chats) == 0 || event.Chat == "" || slices.Contains(f.Chats, kindOfChat(event.Chat))
}

// takesPart reports whether the filter names the part to which an event belongs. Only where it names a part of the event's
// kind the event is read.
func (f Filter) takesPart(event eventlog.Event) bool {
	named := slices.ContainsFunc(f.Kinds, func(kind eventlog.Kind) bool { return wholeOf(kind) == event.Kind })
	return named && slices.Contains(f.Kinds, partOf(event))
}

// Whole returns the kinds of which at least a part is taken; nil: all.
func (f Filter) Whole() []eventlog.Kind {
	var kinds []eventlog.Kind
	for _, kind := range f.Kinds {
		kinds = append(kinds, wholeOf(kind))
	}
	return sorted(kinds)
}

// wholeOf returns the kind of a part, and a kind itself.
func wholeOf(kind eventlog.Kind) eventlog.Kind {
	whole, _, _ := strings.Cut(string(kind), partMark)
	return eventlog.Kind(whole)
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
	choices := Choices()
	for _, kind := range f.Kinds {
		if !slices.Contains(choices, kind) {
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
