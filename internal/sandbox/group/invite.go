package group

import (
	"context"

	waBinary "go.mau.fi/whatsmeow/binary"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/wire"
)

// iqInvite answers with a group's invitation code, or renews it. If the request has
// a code instead of a group, it answers with the group that the code leads to, or
// makes the account a member.
func (s *Book) iqInvite(ctx context.Context, c account.Asker, iq waBinary.Node) ([]waBinary.Node, error) {
	request, _ := wire.Child(iq, "invite")
	if wire.AttrJID(iq, "to").User == "" {
		return s.useInvite(ctx, c, wire.AttrString(request, "code"), wire.AttrString(iq, "type") == "set")
	}
	found, err := s.groupOf(ctx, c, iq)
	if err != nil {
		return nil, err
	}
	if !found.IsAdmin(c.Device.Account) {
		return nil, wire.ErrNotAuthorized
	}
	if wire.AttrString(iq, "type") == "set" {
		found, err = s.changeGroup(ctx, found.ID, c.Device.Account,
			resetInvite)
		if err != nil {
			return nil, groupRefusal(err)
		}
	}
	return []waBinary.Node{{Tag: "invite", Attrs: waBinary.Attrs{"code": found.Invite}}}, nil
}

// useInvite answers with the group that a code leads to, or makes the account a
// member of it.
func (s *Book) useInvite(ctx context.Context, c account.Asker, code string, join bool) ([]waBinary.Node, error) {
	found, err := s.invited(ctx, code)
	if err != nil {
		return nil, err
	}
	if found == nil {
		gone, err := s.revoked(ctx, code)
		if err == nil && gone {
			return nil, wire.ErrLinkGone
		}
		if err != nil {
			return nil, err
		}
		return nil, wire.ErrNotAcceptable
	}
	if !join {
		return s.groupNodes(ctx, found)
	}
	joined, err := s.joinByLink(ctx, c.Device.Account, found)
	switch {
	case err != nil:
		return nil, groupRefusal(err)
	case joined:
		return []waBinary.Node{{Tag: "group", Attrs: waBinary.Attrs{"jid": found.JID()}}}, nil
	default:
		return []waBinary.Node{{Tag: "membership_approval_request", Attrs: waBinary.Attrs{"jid": found.JID()}}}, nil
	}
}

// resetInvite replaces the invitation code.
func resetInvite(ctx context.Context, ch *groupChange) error {
	ch.next.Revoked = append(ch.next.Revoked, ch.next.Invite)
	ch.next.Invite = newInvite()
	return ch.notifyAll(ctx, waBinary.Node{Tag: "invite", Attrs: waBinary.Attrs{"code": ch.next.Invite}})
}

// newInvite draws an invitation code.
func newInvite() string { return wire.RandomHex(11) }
