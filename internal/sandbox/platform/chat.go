package platform

import (
	"context"
	"strings"

	"go.mau.fi/whatsmeow/types"
)

// chat is what messages belong to: a group, or a person where group is nil.
type chat struct {
	person *account
	group  *group
}

// jid names the chat as phones show it: a person by number.
func (c chat) jid() types.JID {
	if c.group != nil {
		return c.group.jid()
	}
	return c.person.pn()
}

// memberJID names somebody in the chat as messages do that are about others:
// groups know people by LID.
func (c chat) memberJID(of *account) types.JID {
	if c.group != nil {
		return of.lidJID()
	}
	return of.pn()
}

// chatAt returns the chat that a JID names; false where there is none.
func (s *Server) chatAt(ctx context.Context, jid types.JID) (chat, bool, error) {
	if jid.Server == types.GroupServer {
		found, err := s.groups.find(ctx, jid.User)
		return chat{group: found}, found != nil, err
	}
	found, err := s.directory.byJID(ctx, jid)
	return chat{person: found}, found != nil, err
}

// chatNamed returns the chat that a caller names: by number, chat ID or LID.
func (s *Server) chatNamed(ctx context.Context, field, name string) (chat, error) {
	id, isGroup := strings.CutSuffix(name, "@"+types.GroupServer)
	if !isGroup {
		person, err := s.chatOf(ctx, field, name)
		return chat{person: person}, err
	}
	found, err := s.groups.find(ctx, id)
	if err != nil {
		return chat{}, err
	}
	if found == nil {
		return chat{}, invalidf(field, "there is no group with this id")
	}
	return chat{group: found}, nil
}
