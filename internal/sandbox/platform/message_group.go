package platform

import (
	"context"

	waBinary "go.mau.fi/whatsmeow/binary"
)

// codeNotMember refuses a message to a group that the sender may not write to.
const codeNotMember = 403

// resolveGroup finds out whom a client's message to a group is for: every device
// of every member, but for the one that sent it. The part that all can read
// comes once; clients list only those devices that need its key before.
func (c *connection) resolveGroup(ctx context.Context, m outgoing) (outgoing, error) {
	found, err := c.s.groups.find(ctx, m.address.User)
	if err != nil {
		return m, err
	}
	sender := c.device.account
	switch {
	case found == nil:
		m.refusal = codeNoSuchChat
		return m, nil
	case !found.has(sender), found.Announcement && !found.isAdmin(sender):
		m.refusal = codeNotMember
		return m, nil
	}
	m.group = found
	common := m.stanza.GetChildrenByTag("enc")
	keys, err := c.pairwiseParts(ctx, m.stanza)
	if err != nil {
		return m, err
	}
	people, err := c.s.people(ctx, found)
	if err != nil {
		return m, err
	}
	// With a participant it is a repetition, for the device that asked for it.
	only := attrJID(m.stanza, "participant")
	for _, of := range people {
		devices := []uint16{0}
		for _, linked := range of.companions() {
			devices = append(devices, linked.id)
		}
		for _, id := range devices {
			t := target{account: of, device: id}
			asked := only.User == of.number || only.User == of.lid
			if t.ref() == c.device.ref() || (only.User != "" && (!asked || only.Device != id)) {
				continue
			}
			if key, ok := keys[t.ref()]; ok {
				t.encs = append(t.encs, key)
			}
			if t.encs = append(t.encs, common...); len(t.encs) > 0 {
				m.targets = append(m.targets, t)
			}
		}
	}
	return m, nil
}

// pairwiseParts returns what a message has for single devices.
func (c *connection) pairwiseParts(ctx context.Context, n waBinary.Node) (map[string]waBinary.Node, error) {
	parts := map[string]waBinary.Node{}
	list, _ := child(n, "participants")
	for _, to := range list.GetChildrenByTag("to") {
		enc, ok := child(to, "enc")
		if !ok {
			continue
		}
		jid := attrJID(to, "jid")
		owner, err := c.s.directory.byJID(ctx, jid)
		if err != nil {
			return nil, err
		}
		if owner != nil {
			parts[deviceRef(owner.lid, jid.Device)] = enc
		}
	}
	return parts, nil
}
