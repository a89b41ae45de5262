package group

import (
	"context"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"

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
			func(ctx context.Context, ch *groupChange) error {
				ch.next.Invite = newInvite()
				return ch.notifyAll(ctx, waBinary.Node{Tag: "invite", Attrs: waBinary.Attrs{"code": ch.next.Invite}})
			})
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
		return nil, wire.ErrNotAcceptable
	}
	if !join {
		return s.groupNodes(ctx, found)
	}
	step := setMembers("add", []*account.Account{c.Device.Account}, new([]waBinary.Node))
	if _, err := s.changeGroup(ctx, found.ID, c.Device.Account, step); err != nil {
		return nil, groupRefusal(err)
	}
	return []waBinary.Node{{Tag: "group", Attrs: waBinary.Attrs{"jid": types.NewJID(found.ID, types.GroupServer)}}}, nil
}

// newInvite draws an invitation code.
func newInvite() string { return wire.RandomHex(11) }
