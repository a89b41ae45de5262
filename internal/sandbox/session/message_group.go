// Messages that clients send to groups, and status posts.

package session

import (
	"context"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/wire"
)

// codeNotMember refuses a message to a group in which the sender may not write, or not pin.
const codeNotMember = 403

// resolveGroup finds the targets of a message to a group: every device of every
// member, but not the device that sent it. The part that all members can decrypt
// comes once, and the list has only devices that need its key first.
func (c *client) resolveGroup(ctx context.Context, m outgoing) (outgoing, error) {
	found, err := c.s.config.Groups.Find(ctx, m.address.User)
	if err != nil {
		return m, err
	}
	sender := c.device.Account
	switch {
	case found == nil:
		m.refusal = codeNoSuchChat
		return m, nil
	case !found.Has(sender), found.Announcement && !found.IsAdmin(sender) && (!found.Announces || wire.AttrString(m.stanza, "type") != "reaction"),
		wire.AttrString(m.stanza, "edit") == string(types.EditAttributePinInChat) && !found.MayPin(sender):
		m.refusal = codeNotMember
		return m, nil
	}
	m.group = found
	common := m.stanza.GetChildrenByTag("enc")
	keys, err := c.pairwiseParts(ctx, m.stanza)
	if err != nil {
		return m, err
	}
	people, err := c.s.config.Groups.People(ctx, found)
	if err != nil {
		return m, err
	}
	// A message with a participant is sent again, to the device that asked for it.
	only := wire.AttrJID(m.stanza, "participant")
	for _, of := range people {
		devices := []uint16{0}
		for _, linked := range of.Companions() {
			devices = append(devices, linked.ID)
		}
		for _, id := range devices {
			t := target{account: of, device: id}
			asked := only.User == of.Number || only.User == of.LID
			if t.ref() == c.device.Ref() || (only.User != "" && (!asked || only.Device != id)) {
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

// resolveStatus finds the targets of a status post: the client names every device that may see
// it, with the key for the part that all of them can decrypt.
func (c *client) resolveStatus(ctx context.Context, m outgoing) (outgoing, error) {
	m.status = true
	seen, common := map[string]bool{c.device.Ref(): true}, m.stanza.GetChildrenByTag("enc")
	// A post with a participant is sent again, to the device that asked for it.
	if only := wire.AttrJID(m.stanza, "participant"); only.User != "" && len(common) > 0 {
		err := c.addTarget(ctx, &m, seen, only, common[0])
		return m, err
	}
	list, _ := wire.Child(m.stanza, "participants")
	for _, to := range list.GetChildrenByTag("to") {
		if enc, ok := wire.Child(to, "enc"); ok {
			if err := c.addTarget(ctx, &m, seen, wire.AttrJID(to, "jid"), enc); err != nil {
				return m, err
			}
		}
	}
	for n := range m.targets {
		m.targets[n].encs = append(m.targets[n].encs, common...)
	}
	return m, nil
}

// pairwiseParts returns the parts of a message that are for single devices.
func (c *client) pairwiseParts(ctx context.Context, n waBinary.Node) (map[string]waBinary.Node, error) {
	parts := map[string]waBinary.Node{}
	list, _ := wire.Child(n, "participants")
	for _, to := range list.GetChildrenByTag("to") {
		enc, ok := wire.Child(to, "enc")
		if !ok {
			continue
		}
		jid := wire.AttrJID(to, "jid")
		owner, err := c.s.config.Accounts.ByJID(ctx, jid)
		if err != nil {
			return nil, err
		}
		if owner != nil {
			parts[account.DeviceRef(owner.LID, jid.Device)] = enc
		}
	}
	return parts, nil
}
