package wire

import (
	"fmt"
	"strconv"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"
)

// AttrString returns an attribute as text, or "" if it is absent. A JID is returned
// in its written form.
func AttrString(n waBinary.Node, key string) string {
	switch value := n.Attrs[key].(type) {
	case string:
		return value
	case types.JID:
		return value.String()
	default:
		return ""
	}
}

// AttrInt returns an attribute as a number, or 0 if it is absent or no number.
func AttrInt(n waBinary.Node, key string) int {
	value, err := strconv.Atoi(AttrString(n, key))
	if err != nil {
		return 0
	}
	return value
}

// AttrJID returns an attribute as a JID, or the zero JID if it is absent or not
// valid.
func AttrJID(n waBinary.Node, key string) types.JID {
	switch value := n.Attrs[key].(type) {
	case types.JID:
		return value
	case string:
		jid, err := types.ParseJID(value)
		if err != nil || jid.User == "" {
			return types.JID{}
		}
		return jid
	default:
		return types.JID{}
	}
}

// Child returns the first child with the tag, and whether there is one.
func Child(n waBinary.Node, tags ...string) (waBinary.Node, bool) {
	return n.GetOptionalChildByTag(tags...)
}

// Content returns the bytes inside a node, or nil if there are none.
func Content(n waBinary.Node) []byte {
	switch value := n.Content.(type) {
	case []byte:
		return value
	case string:
		return []byte(value)
	default:
		return nil
	}
}

// ChildContent returns the bytes inside the first child with the tag.
func ChildContent(n waBinary.Node, tags ...string) []byte {
	found, ok := Child(n, tags...)
	if !ok {
		return nil
	}
	return Content(found)
}

// EncodeStanza encodes a stanza for the database.
func EncodeStanza(n waBinary.Node) (encoded []byte, err error) {
	// The encoder panics at an attribute that it can't encode, and parts of a
	// stanza come from clients.
	defer func() {
		if cause := recover(); cause != nil {
			encoded, err = nil, fmt.Errorf("wire: encode %s stanza: %v", n.Tag, cause)
		}
	}()
	encoded, err = waBinary.Marshal(n)
	if err != nil {
		return nil, fmt.Errorf("wire: encode %s stanza: %w", n.Tag, err)
	}
	return encoded, nil
}

// DecodeStanza is the inverse of EncodeStanza.
func DecodeStanza(encoded []byte) (waBinary.Node, error) {
	raw, err := waBinary.Unpack(encoded)
	if err != nil {
		return waBinary.Node{}, fmt.Errorf("wire: unpack stanza: %w", err)
	}
	n, err := waBinary.Unmarshal(raw)
	if err != nil {
		return waBinary.Node{}, fmt.Errorf("wire: decode stanza: %w", err)
	}
	return *n, nil
}
