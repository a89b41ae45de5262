package platform

import (
	"context"
	"crypto/subtle"
	"strconv"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"
)

// The reasons of a failure node. What a client does about one is its own
// affair: at 401 it forgets its keys, at 402 and 405 it keeps them and stays
// away, at 503 it comes back by itself.
const (
	failureLoggedOut   = 401
	failureBanned      = 402
	failureOutdated    = 405
	failureUnavailable = 503
)

// banCode is the reason of a ban that clients are told: too many messages to
// people who do not know the sender.
const banCode = 101

// login lets a linked device in that shows the key it was linked with.
func (c *connection) login(ctx context.Context) error {
	payload := c.noise.Payload()
	switch f := c.s.faults.current(); {
	case f.RefuseLogins:
		return c.refuse(ctx, failure(failureUnavailable))
	case f.Outdated:
		return c.refuse(ctx, failure(failureOutdated))
	}
	owner, err := c.s.directory.find(ctx, Canonical(strconv.FormatUint(payload.GetUsername(), 10)))
	if err != nil {
		return err
	}
	if owner == nil {
		return c.refuse(ctx, failure(failureLoggedOut))
	}
	if left, banned := owner.ban(c.s.now()); banned {
		refusal := failure(failureBanned)
		refusal.Attrs["code"] = banCode
		if left > 0 {
			refusal.Attrs["expire"] = int64(left.Seconds()) + 1
		}
		return c.refuse(ctx, refusal)
	}
	key := c.noise.ClientKey()
	linked := owner.companion(uint16(payload.GetDevice())) //nolint:gosec // a number too large names no device
	if linked == nil || payload.GetDevice() > maxDevice || subtle.ConstantTimeCompare(linked.noise[:], key[:]) != 1 {
		return c.refuse(ctx, failure(failureLoggedOut))
	}
	c.device = linked
	// Before anything else is sent: success is the first node after the handshake.
	if err := c.write(ctx, waBinary.Node{Tag: "success", Attrs: waBinary.Attrs{
		"t": c.s.now().Unix(), "lid": linked.jid(),
	}}); err != nil {
		return err
	}
	if old := linked.conn.Swap(c); old != nil {
		old.closeAfter(streamError("", "replaced"))
	}
	// A device that was removed meanwhile is not found any more, and nobody
	// would cut this connection.
	if owner.companion(linked.id) != linked {
		c.closeAfter(streamError(strconv.Itoa(failureLoggedOut), "device_removed"))
	}
	return nil
}

func failure(reason int) waBinary.Node {
	return waBinary.Node{Tag: "failure", Attrs: waBinary.Attrs{"reason": reason}}
}

// streamError builds the node that ends a stream: a code, or a conflict, or both.
func streamError(code, conflict string) waBinary.Node {
	n := waBinary.Node{Tag: "stream:error", Attrs: waBinary.Attrs{"code": code}}
	if conflict != "" {
		n.Content = []waBinary.Node{{Tag: "conflict", Attrs: waBinary.Attrs{"type": conflict}}}
	}
	return n
}

// acknowledge builds the ack of a stanza that a client sent.
func acknowledge(n waBinary.Node) waBinary.Node {
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
