package platform

import (
	"fmt"
	"strconv"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"
)

// attrString returns an attribute as text, "" if it is absent. A JID comes in
// its written form.
func attrString(n waBinary.Node, key string) string {
	switch value := n.Attrs[key].(type) {
	case string:
		return value
	case types.JID:
		return value.String()
	default:
		return ""
	}
}

// attrInt returns an attribute as a number, 0 if it is absent or none.
func attrInt(n waBinary.Node, key string) int {
	value, err := strconv.Atoi(attrString(n, key))
	if err != nil {
		return 0
	}
	return value
}

// attrJID returns an attribute as a JID; the zero JID where it is none.
func attrJID(n waBinary.Node, key string) types.JID {
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

// child returns the first child with the tag, and whether there is one.
func child(n waBinary.Node, tags ...string) (waBinary.Node, bool) {
	return n.GetOptionalChildByTag(tags...)
}

// content returns the bytes inside a node, nil where there are none.
func content(n waBinary.Node) []byte {
	switch value := n.Content.(type) {
	case []byte:
		return value
	case string:
		return []byte(value)
	default:
		return nil
	}
}

// childContent returns the bytes inside the first child with the tag.
func childContent(n waBinary.Node, tags ...string) []byte {
	found, ok := child(n, tags...)
	if !ok {
		return nil
	}
	return content(found)
}

// encodeStanza makes a stanza ready to be kept.
func encodeStanza(n waBinary.Node) (encoded []byte, err error) {
	// The encoder panics at an attribute that it has no form for; parts of a
	// stanza come from a client.
	defer func() {
		if cause := recover(); cause != nil {
			encoded, err = nil, fmt.Errorf("platform: encode %s stanza: %v", n.Tag, cause)
		}
	}()
	encoded, err = waBinary.Marshal(n)
	if err != nil {
		return nil, fmt.Errorf("platform: encode %s stanza: %w", n.Tag, err)
	}
	return encoded, nil
}

// decodeStanza is the inverse of encodeStanza.
func decodeStanza(encoded []byte) (waBinary.Node, error) {
	raw, err := waBinary.Unpack(encoded)
	if err != nil {
		return waBinary.Node{}, fmt.Errorf("platform: unpack stanza: %w", err)
	}
	n, err := waBinary.Unmarshal(raw)
	if err != nil {
		return waBinary.Node{}, fmt.Errorf("platform: decode stanza: %w", err)
	}
	return *n, nil
}
