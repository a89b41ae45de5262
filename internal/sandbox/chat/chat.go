// Package chat finds the chat of a message: a person or a group, or where status posts are.
package chat

import (
	"context"
	"strings"

	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/group"
	"github.com/recado-project/recado/internal/sandbox/refusal"
)

// Chat is a chat with a person, or a group. One of the two fields is nil; both are where status
// posts are.
type Chat struct {
	Person *account.Account
	Group  *group.Group
	Status bool // what people show to their contacts
}

// IsShared reports whether a message is encrypted once for all who get it, and says who has
// sent it.
func (c Chat) IsShared() bool { return c.Group != nil || c.Status }

// Announces reports whether it is the group in which a community announces.
func (c Chat) Announces() bool { return c.Group != nil && c.Group.Announces }

// JID is the chat's address as phones show it. A person's is by number.
func (c Chat) JID() types.JID {
	if c.Status {
		return types.StatusBroadcastJID
	}
	if c.Group != nil {
		return c.Group.JID()
	}
	return c.Person.PN()
}

// Name is what people call the chat: the person's name, or the group's subject.
func (c Chat) Name() string {
	if c.Group != nil {
		return c.Group.Subject.Text
	}
	return c.Person.DisplayName()
}

// PictureID is the hash of the file of the chat's picture, "" for none.
func (c Chat) PictureID() string {
	if c.Group != nil {
		return c.Group.Picture
	}
	return c.Person.PictureID()
}

// MemberJID is a member's address as it is used inside messages. In groups it is by
// LID.
func (c Chat) MemberJID(of *account.Account) types.JID {
	if c.IsShared() {
		return of.LIDJID()
	}
	return of.PN()
}

// Finder finds chats.
type Finder struct {
	Accounts *account.Directory
	Groups   *group.Book
}

// At returns the chat with the JID, and whether there is one.
func (s Finder) At(ctx context.Context, jid types.JID) (Chat, bool, error) {
	if jid.Server == types.GroupServer {
		found, err := s.Groups.Find(ctx, jid.User)
		return Chat{Group: found}, found != nil, err
	}
	found, err := s.Accounts.ByJID(ctx, jid)
	return Chat{Person: found}, found != nil, err
}

// Lookup returns what has messages under the JID: a chat, or the status posts.
func (s Finder) Lookup(ctx context.Context, jid types.JID) (Chat, bool, error) {
	if jid == types.StatusBroadcastJID {
		return Chat{Status: true}, true, nil
	}
	return s.At(ctx, jid)
}

// Named returns the chat that a caller names by number, chat ID or LID.
func (s Finder) Named(ctx context.Context, field, name string) (Chat, error) {
	id, isGroup := strings.CutSuffix(name, "@"+types.GroupServer)
	if !isGroup {
		person, err := s.Accounts.NamedIn(ctx, field, name)
		return Chat{Person: person}, err
	}
	found, err := s.Groups.Find(ctx, id)
	if err != nil {
		return Chat{}, err
	}
	if found == nil {
		return Chat{}, refusal.Invalidf(field, "there is no group with this id")
	}
	return Chat{Group: found}, nil
}
