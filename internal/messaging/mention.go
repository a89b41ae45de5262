package messaging

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

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

// peopleWait bounds how long the platform is asked about the people whom a message for the queue names.
const peopleWait = 5 * time.Second

// findPeopleSoon is findPeople for a message that waits in the queue: the platform is asked, and where
// it does not answer, what earlier look-ups have found has to do.
func (s *Service) findPeopleSoon(ctx context.Context, request Request, content *gateway.Content) error {
	session, err := s.config.Sessions.Session(ctx, request.InstanceID)
	if err == nil && len(request.Mentions.People)+len(content.Contacts)+len(request.Audience) > 0 {
		bounded, cancel := context.WithTimeout(ctx, peopleWait)
		defer cancel()
		found := *content
		if err = s.findPeople(bounded, session, request, &found); err == nil || gateway.KindOf(err) == gateway.Invalid {
			*content = found
			return err
		}
	}
	return s.findPeople(ctx, nil, request, content)
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

// readdress puts the address in the place of each "@" with one of the names, unless more digits
// follow. A number may be written in every form that a recipient may have.
func readdress(text string, address gateway.JID, names ...string) string {
	var written strings.Builder
	for {
		before, after, found := strings.Cut(text, "@")
		written.WriteString(before)
		if !found {
			return written.String()
		}
		written.WriteString("@")
		length := named(after, names)
		if length > 0 {
			written.WriteString(address.User())
		}
		text = after[length:]
	}
}

// maxSpelling is how long a number may be as people write it, in bytes.
const maxSpelling = 64

// named returns how much of the beginning of a text is one of the names, as a number is written; 0 for
// none.
func named(text string, names []string) int {
	end := min(len(text), maxSpelling)
	if n := strings.IndexFunc(text[:end], func(r rune) bool { return !gateway.IsOfNumber(r) }); n >= 0 {
		end = n
	}
	for ; end > 0; end-- {
		if !isDigit(text[end-1]) || end < len(text) && isDigit(text[end]) {
			continue // a number ends with a digit, and whole
		}
		number, ok := gateway.ParseNumber(text[:end])
		if slices.Contains(names, text[:end]) || ok && slices.Contains(names, number) {
			return end
		}
	}
	return 0
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
