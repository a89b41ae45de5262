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
	parties, err := s.findAll(ctx, session, request.Audience, "audience")
	if err != nil {
		return err
	}
	for _, party := range parties {
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
		return gateway.InvalidField("mentionEveryone", "needs a group as the recipient")
	}
	content.MentionsEveryone = request.Mentions.Everyone
	parties, err := s.findAll(ctx, session, request.Mentions.People, "mentions")
	if err != nil {
		return err
	}
	written := spellings{}
	for n, party := range parties {
		address, who := party.Key(), request.Mentions.People[n]
		written.add(address, who.Number, who.Chat.User(), party.JID.User())
		if !slices.Contains(content.Mentions, address) {
			content.Mentions = append(content.Mentions, address)
		}
	}
	content.Text = written.readdress(content.Text)
	return nil
}

// findCarded finds the accounts of those whose cards are sent, with which phones offer to write. The
// card of a number without one says so.
func (s *Service) findCarded(ctx context.Context, session gateway.Session, content *gateway.Content) error {
	people := make([]gateway.Recipient, len(content.Contacts))
	for n, card := range content.Contacts {
		people[n].Number = card.PhoneNumber
	}
	parties, err := s.parties(ctx, session, people)
	if err != nil {
		return err
	}
	content.Contacts = slices.Clone(content.Contacts) // a second attempt begins with what was asked for
	for n, party := range parties {
		content.Contacts[n].Account = party.JID.User()
	}
	return nil
}

// findAll finds the addresses of people whom a field of the request names, all of whom need an account.
func (s *Service) findAll(ctx context.Context, session gateway.Session, people []gateway.Recipient, field string) ([]gateway.Party, error) {
	parties, err := s.parties(ctx, session, people)
	if err != nil {
		return nil, err
	}
	for n, party := range parties {
		if party.Address() == "" {
			return nil, gateway.Errorf(gateway.Invalid, gateway.CodeNotRegistered, "%s[%d]: the number has no account on the platform", field, n)
		}
	}
	return parties, nil
}

// parties finds the addresses of people; who has no account has neither. Without a session they are the
// first of those that they may have.
func (s *Service) parties(ctx context.Context, session gateway.Session, people []gateway.Recipient) ([]gateway.Party, error) {
	if len(people) == 0 {
		return nil, nil
	}
	if session != nil {
		parties, err := s.config.Directory.Parties(ctx, session.People(), people)
		if err != nil {
			return nil, fmt.Errorf("messaging: look up people: %w", err)
		}
		return parties, nil
	}
	parties := make([]gateway.Party, len(people))
	for n, who := range people {
		candidates, err := s.config.Directory.Candidates(ctx, who)
		if err != nil {
			return nil, fmt.Errorf("messaging: look up people: %w", err)
		}
		parties[n] = candidates[0]
	}
	return parties, nil
}

// spellings are the addresses of people by what may stand behind "@" in a text: their number or the
// part of an address before its own "@".
type spellings map[string]gateway.JID

// add adds somebody. Who was added before keeps a name that both have.
func (w spellings) add(address gateway.JID, names ...string) {
	for _, name := range names {
		if _, taken := w[name]; name != "" && !taken {
			w[name] = address
		}
	}
}

// readdress puts the address in the place of each "@" with a name, unless more digits follow. A number
// may be written in every form that a recipient may have.
func (w spellings) readdress(text string) string {
	if len(w) == 0 {
		return text
	}
	var written strings.Builder
	for {
		before, after, found := strings.Cut(text, "@")
		written.WriteString(before)
		if !found {
			return written.String()
		}
		written.WriteString("@")
		length, address := w.beginning(after)
		written.WriteString(address.User())
		text = after[length:]
	}
}

// maxSpelling is how long a number may be as people write it, in bytes.
const maxSpelling = 64

// beginning returns how much of the beginning of a text is a name, and whose; 0 for none.
func (w spellings) beginning(text string) (length int, address gateway.JID) {
	end := min(len(text), maxSpelling)
	if n := strings.IndexFunc(text[:end], func(r rune) bool { return !gateway.IsOfNumber(r) }); n >= 0 {
		end = n
	}
	for ; end > 0; end-- {
		if !isDigit(text[end-1]) || end < len(text) && isDigit(text[end]) {
			continue // a number ends with a digit, and whole
		}
		if address, ok := w[text[:end]]; ok {
			return end, address
		}
		if number, ok := gateway.ParseNumber(text[:end]); ok && w[number] != "" {
			return end, w[number]
		}
	}
	return 0, ""
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
