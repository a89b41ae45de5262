// Failures, stream errors and acknowledgements, as clients expect them.

package wire

import (
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"
)

// The reasons of a failure node. Each client reacts to them in its own way: usually
// it forgets its keys at 401, keeps them and stays away at 402 and 405, and comes
// back by itself at 503.
const (
	FailureLoggedOut   = 401
	FailureBanned      = 402
	FailureOutdated    = 405
	FailureUnavailable = 503
)

// Failure builds the node that refuses a client after the handshake.
func Failure(reason int) waBinary.Node {
	return waBinary.Node{Tag: "failure", Attrs: waBinary.Attrs{"reason": reason}}
}

// StreamError builds the node that ends a stream: a code, or a conflict, or both.
func StreamError(code, conflict string) waBinary.Node {
	n := waBinary.Node{Tag: "stream:error", Attrs: waBinary.Attrs{"code": code}}
	if conflict != "" {
		n.Content = []waBinary.Node{{Tag: "conflict", Attrs: waBinary.Attrs{"type": conflict}}}
	}
	return n
}

// Acknowledge builds the ack of a stanza that a client sent.
func Acknowledge(n waBinary.Node) waBinary.Node {
	attrs := waBinary.Attrs{"class": n.Tag, "id": n.Attrs["id"], "from": n.Attrs["to"]}
	if attrs["from"] == nil {
		attrs["from"] = types.ServerJID
	}
	if n.Tag == "receipt" {
		attrs["type"] = n.Attrs["type"]
	}
	if participant, ok := n.Attrs["participant"]; ok {
		attrs["participant"] = participant
	}
	return waBinary.Node{Tag: "ack", Attrs: attrs}
}
