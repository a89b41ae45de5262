package messaging

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/recado-project/recado/internal/gateway"
)

// Mentions are the people whom a text mentions.
type Mentions struct {
	People   []gateway.Recipient // persons, no groups
	Everyone bool                // all members of the group that the message goes to
}

// findPeople finds the addresses of the people whom a message names: those whom it mentions, and those
// alone who are shown a status post. Without a session, what earlier look-ups have found has to
// do. Its error is Invalid for a number without an account, and for everyone outside of a group.
func (s *Service) findPeople(ctx context.Context, session gateway.Session, request Request, content *gateway.Content) error {
	if err := s.mention(ctx, session, request, content); err != nil {
		return err
	}
	if err := s.findCarded(ctx, session, content); err != nil {
		return err
	}
	for n, who := range request.Audience {
		party, err := s.findPerson(ctx, session, who, fmt.Sprintf("audience[%d]", n))
		if err != nil {
			return err
		}
		content.Audience = append(content.Audience, party.Address())
	}
	return nil
}

// mention finds the addresses of those whom a message mentions. In its text, "@" with the
// number or the address that the client has given becomes "@" with the address that phones
// put the name for.
func (s *Service) mention(ctx context.Context, session gateway.Session, request Request, content *gateway.Content) error {
	if request.Mentions.Everyone && !request.To.Chat.IsGroup() {
		return gateway.InvalidFields(gateway.FieldError{Field: "mentionEveryone", Message: "needs a group as the recipient"})
	}
	content.MentionsEveryone = request.Mentions.Everyone
	for n, who := range request.Mentions.People {
		party, err := s.findPerson(ctx, session, who, fmt.Sprintf("mentions[%d]", n))
		if err != nil {
			return err
		}
		address := party.Key()
		content.Text = readdress(content.Text, address, who.Number, who.Chat.User(), party.JID.User())
		if !slices.Contains(content.Mentions, address) {
			content.Mentions = append(content.Mentions, address)
		}
	}
	return nil
}

// findCarded finds the accounts of those whose cards are sent, with which phones offer to write. The
// card of a number without one says so.
func (s *Service) findCarded(ctx context.Context, session gateway.Session, content *gateway.Content) error {
	content.Contacts = slices.Clone(content.Contacts) // a second attempt begins with what was asked for
	for n := range content.Contacts {
		card := &content.Contacts[n]
		party, err := s.findPerson(ctx, session, gateway.Recipient{Number: card.PhoneNumber}, "phoneNumber")
		if refusal, ok := gateway.AsError(err); ok && refusal.Code == gateway.CodeNotRegistered {
			err = nil
		}
		if err != nil {
			return err
		}
		card.Account = party.JID.User()
	}
	return nil
}

// findPerson finds the addresses of one person, whom a field of the request names.
func (s *Service) findPerson(ctx context.Context, session gateway.Session, who gateway.Recipient, field string) (gateway.Party, error) {
	if session == nil {
		candidates, err := s.config.Directory.Candidates(ctx, who)
		if err != nil {
			return gateway.Party{}, fmt.Errorf("messaging: look up %s: %w", field, err)
		}
		return candidates[0], nil
	}
	party, err := s.config.Directory.Party(ctx, session, who)
	if refusal, ok := gateway.AsError(err); ok && refusal.Code == gateway.CodeNotRegistered {
		return gateway.Party{}, gateway.Errorf(gateway.Invalid, gateway.CodeNotRegistered, "%s: the number has no account on the platform", field)
	}
	if err != nil {
		return gateway.Party{}, fmt.Errorf("messaging: look up %s: %w", field, err)
	}
	return party, nil
}

// readdress puts the address in the place of each "@" with one of the names, unless more
// digits follow.
func readdress(text string, address gateway.JID, names ...string) string {
	for _, name := range names {
		if name == "" || name == address.User() {
			continue
		}
		var written strings.Builder
		for {
			before, after, found := strings.Cut(text, "@"+name)
			written.WriteString(before)
			if !found {
				break
			}
			text = after
			if after != "" && after[0] >= '0' && after[0] <= '9' { // a longer number
				written.WriteString("@" + name)
			} else {
				written.WriteString("@" + address.User())
			}
		}
		text = written.String()
	}
	return text
}
