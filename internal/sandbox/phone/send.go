package phone

import (
	"context"
	"strings"

	"go.mau.fi/whatsmeow/proto/waE2E"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/chat"
	"github.com/recado-project/recado/internal/sandbox/content"
	"github.com/recado-project/recado/internal/sandbox/refusal"
	"github.com/recado-project/recado/internal/sandbox/wire"
)

// SendMessage lets the phone of a number send a message. It returns the ID of the
// message once the message and its deliveries are committed.
func (s *Service) SendMessage(ctx context.Context, number string, m content.Outgoing) (messageID string, err error) {
	from, to, err := s.senderAndChat(ctx, number, m.To)
	if err != nil {
		return "", err
	}
	if m.Unavailable && (to.IsShared() || !m.ViewOnce) {
		return "", refusal.Invalidf("unavailable", "needs viewOnce, and a person as the receiver")
	}
	if err := checkPost(to, m); err != nil {
		return "", err
	}
	message, err := s.compose(ctx, from, to, m)
	if err != nil {
		return "", err
	}
	from.LockPhone()
	defer from.UnlockPhone()
	u := s.config.Accounts.NewUnit()
	messageID = wire.NewMessageID()
	out := phoneMessage{id: messageID, chat: to, at: s.now().Unix(), message: message, unavailable: m.Unavailable}
	if err := s.openPhone(u, from).sendAs(ctx, out); err != nil {
		return "", err
	}
	if err := u.Commit(ctx); err != nil {
		return "", err
	}
	return messageID, nil
}

// senderAndChat returns the sender of a message and the chat, if the sender may
// write to it.
func (s *Service) senderAndChat(ctx context.Context, number, where string) (from *account.Account, to chat.Chat, err error) {
	if from, err = s.config.Accounts.Named(ctx, number); err != nil {
		return nil, chat.Chat{}, err
	}
	if to, err = s.holding(ctx, "to", where); err != nil {
		return nil, chat.Chat{}, err
	}
	switch {
	case !from.IsRegistered():
		return nil, chat.Chat{}, refusal.Conflictf("the number is not registered")
	case to.Person != nil && !to.Person.IsRegistered():
		return nil, chat.Chat{}, refusal.Invalidf("to", "the number is not registered")
	case to.Group != nil && !to.Group.Has(from):
		return nil, chat.Chat{}, refusal.Invalidf("to", "the phone is not in this group")
	case to.Group != nil && to.Group.Announcement && !to.Group.IsAdmin(from):
		return nil, chat.Chat{}, refusal.Invalidf("to", "only admins may write to this group")
	}
	return from, to, nil
}

// compose builds the content of a message.
func (s *Service) compose(ctx context.Context, from *account.Account, to chat.Chat, m content.Outgoing) (*waE2E.Message, error) {
	reply, err := s.quote(ctx, from, to, m.QuotedMessageID)
	if err != nil {
		return nil, err
	}
	if reply, err = s.mention(ctx, to, &m, reply); err != nil {
		return nil, err
	}
	if m.Contact != nil {
		// A card says that its number is an account, so there is one: composing refuses what is no number.
		if _, err := s.config.Accounts.Named(ctx, m.Contact.PhoneNumber); err != nil {
			return nil, refusal.Invalidf("contact.phoneNumber", "must be a phone number")
		}
	}
	return content.Compose(m, reply, s.config.Media.Put, s.now())
}

// mention adds those whom a message mentions to its context, which may be nil. The text names
// them by LID then, and phones show the names.
func (s *Service) mention(ctx context.Context, to chat.Chat, m *content.Outgoing, about *waE2E.ContextInfo) (*waE2E.ContextInfo, error) {
	if about == nil && (len(m.Mentions) > 0 || m.Everyone) {
		about = &waE2E.ContextInfo{}
	}
	if m.Everyone {
		if to.Group == nil {
			return nil, refusal.Invalidf("mentionsEveryone", "must be in a group")
		}
		about.NonJIDMentions = new(uint32(1))
	}
	for _, number := range m.Mentions {
		who, err := s.config.Accounts.NamedIn(ctx, "mentions", number)
		if err != nil {
			return nil, err
		}
		about.MentionedJID = append(about.MentionedJID, who.LIDJID().String())
		named, lid := "@"+number, "@"+who.LIDJID().User
		m.Text, m.Caption = strings.ReplaceAll(m.Text, named, lid), strings.ReplaceAll(m.Caption, named, lid)
	}
	return about, nil
}

// quote names the message that another one answers. It returns nil if id is empty.
func (s *Service) quote(ctx context.Context, from *account.Account, to chat.Chat, id string) (*waE2E.ContextInfo, error) {
	if id == "" {
		return nil, nil
	}
	quoted, err := s.findAnyMessage(ctx, from, id)
	if err != nil {
		return nil, err
	}
	if quoted == nil {
		return nil, refusal.Invalidf("quoteMessageId", "the phone has no message with this id")
	}
	original, err := quoted.message()
	if err != nil {
		return nil, err
	}
	author, err := s.authorOfStored(ctx, quoted)
	if err != nil {
		return nil, err
	}
	return &waE2E.ContextInfo{
		StanzaID: &quoted.id, Participant: new(to.MemberJID(author).String()), QuotedMessage: original,
	}, nil
}
