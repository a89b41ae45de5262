package gateway

import "strings"

// MessageRef is a message identifier as a client gives it, in one of three
// forms (design note on the API, "Identifiers").
type MessageRef struct {
	// ID is the platform's identifier, or the internal one: both are looked up.
	ID string
	// Chat is the chat of the composite form; it decides if two chats hold the same
	// identifier. Empty in the other forms.
	Chat JID
}

// ParseMessageRef reads an identifier: the platform's, the composite
// "<chat id>_<platform identifier>" with an optional "true_" or "false_" in
// front, or the internal UUID. Every text is an identifier; whether its message exists
// shows only when it is looked up.
func ParseMessageRef(text string) MessageRef {
	text = strings.TrimSpace(text)
	cut := strings.LastIndexByte(text, '_')
	if cut < 0 {
		return MessageRef{ID: text}
	}
	chat := text[:cut]
	if rest, ok := strings.CutPrefix(chat, "true_"); ok {
		chat = rest
	} else if rest, ok := strings.CutPrefix(chat, "false_"); ok {
		chat = rest
	}
	jid, ok := ParseJID(chat)
	if !ok {
		return MessageRef{ID: text}
	}
	return MessageRef{ID: text[cut+1:], Chat: jid}
}
