// Package directory holds the use cases around people: whether numbers have an account,
// presence, profile pictures, blocking, and the people whom an account knows. Messaging and groups ask it for the addresses of
// people.
package directory

import (
	"context"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/required"
)

// How long the platform's answer that a number has an account is used again.
const (
	// sendAge is used for sending: recipients hardly ever give up their account, and
	// a look-up before each message would be expensive.
	sendAge = 30 * 24 * time.Hour
	// checkAge is used for checking numbers: it only avoids that the platform is asked
	// for the same list twice in a row.
	checkAge = time.Hour
)

// lookupBatch is how many numbers the platform is asked about at once.
const lookupBatch = 100

// Store remembers the platform's answers about numbers, and how often it was asked.
type Store interface {
	FindRegistrations(ctx context.Context, numbers []string, since time.Time) (map[string]gateway.Registration, error)
	SaveRegistrations(ctx context.Context, registrations []gateway.Registration, at time.Time) error
	GetInstance(ctx context.Context, id string) (gateway.Instance, error)
	ListNumberChecks(ctx context.Context, instanceID string, since time.Time) ([]gateway.NumberChecks, error)
	TakeNumberChecks(ctx context.Context, instanceID string, taken gateway.NumberChecks, since time.Time,
		permit func(spent []gateway.NumberChecks) error) error
}

// Sessions finds the session of an instance that is connected, and what the device of one that is
// linked knows, connected or not.
type Sessions interface {
	gateway.Sessions

	Known(ctx context.Context, instanceID string) (people gateway.KnownPeople, linked bool, err error)
}

// Config holds what the service needs.
type Config struct {
	Store    Store            // required
	Sessions Sessions         // required
	Now      func() time.Time // nil: the wall clock
}

// Service carries out the use cases. It is safe for concurrent use. Besides the
// errors that a method names, it may return Conflict, PaymentRequired, RateLimited,
// PlatformFailed and PlatformTimeout.
type Service struct {
	store    Store
	sessions Sessions
	now      func() time.Time
}

// New makes the service.
func New(config Config) (*Service, error) {
	if err := required.Check("directory", config, "Now"); err != nil {
		return nil, err
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	return &Service{store: config.Store, sessions: config.Sessions, now: config.Now}, nil
}

// Party finds the addresses of a recipient through the people of a session. A chat ID is used
// as it is; a number is looked up, because only the platform knows under which
// form an account exists (Brazilian numbers have two). Its error is Invalid for
// a number without an account.
func (s *Service) Party(ctx context.Context, through gateway.People, to gateway.Recipient) (gateway.Party, error) {
	switch {
	case to.Chat.IsLID():
		return gateway.Party{LID: to.Chat}, nil
	case to.Chat != "":
		return gateway.Party{JID: to.Chat}, nil
	}
	registrations, err := s.lookUp(ctx, through, []string{to.Number}, sendAge, nil)
	if err != nil {
		return gateway.Party{}, err
	}
	registration := registrations[to.Number]
	if !registration.Exists {
		return gateway.Party{}, gateway.Errorf(gateway.Invalid, gateway.CodeNotRegistered,
			"the number has no account on the platform")
	}
	return gateway.Party{JID: registration.JID, LID: registration.LID}, nil
}

// Parties finds the addresses of people through a session, as Party does, with few
// questions to the platform. The result has the order of the people; a number without an
// account has neither address.
func (s *Service) Parties(ctx context.Context, through gateway.People, people []gateway.Recipient) ([]gateway.Party, error) {
	var numbers []string
	for _, who := range people {
		if who.Chat == "" {
			numbers = append(numbers, who.Number)
		}
	}
	known := map[string]gateway.Registration{}
	if len(numbers) > 0 {
		var err error
		if known, err = s.lookUp(ctx, through, numbers, sendAge, nil); err != nil {
			return nil, err
		}
	}
	parties := make([]gateway.Party, len(people))
	for i, who := range people {
		switch found := known[who.Number]; {
		case who.Chat.IsLID():
			parties[i].LID = who.Chat
		case who.Chat != "":
			parties[i].JID = who.Chat
		case found.Exists:
			parties[i] = gateway.Party{JID: found.JID, LID: found.LID}
		}
	}
	return parties, nil
}

// Candidates returns the addresses that a recipient may have, one of which is the right
// one. It reads what earlier look-ups have found, and does not ask the platform: of a number
// that was not looked up it returns both forms that a Brazilian one may have.
func (s *Service) Candidates(ctx context.Context, to gateway.Recipient) ([]gateway.Party, error) {
	switch {
	case to.Chat.IsLID():
		return []gateway.Party{{LID: to.Chat}}, nil
	case to.Chat != "":
		return []gateway.Party{{JID: to.Chat}}, nil
	}
	known, err := s.store.FindRegistrations(ctx, []string{to.Number}, s.now().Add(-sendAge))
	if err != nil {
		return nil, err
	}
	if found, ok := known[to.Number]; ok {
		return []gateway.Party{{JID: found.JID, LID: found.LID}}, nil
	}
	var candidates []gateway.Party
	for _, form := range gateway.NumberForms(to.Number) {
		candidates = append(candidates, gateway.Party{JID: gateway.JID(form + "@" + gateway.PersonalSuffix)})
	}
	return candidates, nil
}

// CheckNumbers says which numbers, in digits with country code, have an account. The
// platform's answers may be an hour old; what it is asked counts towards the budget of the
// instance, and more than that is RateLimited and not asked. The result has one entry for each number, in
// the same order, even if a number occurs twice.
func (s *Service) CheckNumbers(ctx context.Context, instanceID string, numbers []string) ([]gateway.Registration, error) {
	session, err := s.sessions.Session(ctx, instanceID)
	if err != nil {
		return nil, err
	}
	known, err := s.lookUp(ctx, session.People(), numbers, checkAge, func(missing int) error {
		return s.take(ctx, instanceID, missing)
	})
	if err != nil {
		return nil, err
	}
	registrations := make([]gateway.Registration, len(numbers))
	for i, number := range numbers {
		registrations[i] = known[number]
		registrations[i].Number = number
	}
	return registrations, nil
}

// lookUp returns what is known about the numbers. It takes answers of up to that age from
// the store, asks the platform for the rest and stores its answers. Numbers without an
// account are asked for every time, because they may get one. Before it asks, it calls
// permit, which may be nil, with how many numbers it would ask for.
func (s *Service) lookUp(
	ctx context.Context, through gateway.People, numbers []string, age time.Duration, permit func(missing int) error,
) (map[string]gateway.Registration, error) {
	now := s.now()
	known, err := s.store.FindRegistrations(ctx, numbers, now.Add(-age))
	if err != nil {
		return nil, err
	}
	missing := missingFrom(known, numbers)
	if len(missing) > 0 && permit != nil {
		if err := permit(len(missing)); err != nil {
			return nil, err
		}
	}
	for len(missing) > 0 {
		batch := missing[:min(len(missing), lookupBatch)]
		missing = missing[len(batch):]
		answers, err := through.Resolve(ctx, batch)
		if err != nil {
			return nil, err
		}
		if err := s.store.SaveRegistrations(ctx, answers, now); err != nil {
			return nil, err
		}
		for _, answer := range answers {
			known[answer.Number] = answer
		}
	}
	return known, nil
}

// missingFrom returns the numbers that are not known, each of them once.
func missingFrom(known map[string]gateway.Registration, numbers []string) []string {
	var missing []string
	seen := make(map[string]bool, len(numbers))
	for _, number := range numbers {
		if _, ok := known[number]; !ok && !seen[number] {
			seen[number] = true
			missing = append(missing, number)
		}
	}
	return missing
}

// SendPresence shows a presence: typing and recording to a chat; online and offline to
// everybody, whatever the chat.
func (s *Service) SendPresence(ctx context.Context, instanceID string, to gateway.Recipient, presence gateway.Presence) error {
	session, err := s.sessions.Session(ctx, instanceID)
	if err != nil {
		return err
	}
	chat, err := s.Party(ctx, session.People(), to)
	if err != nil {
		return err
	}
	return session.People().SetPresence(ctx, chat.Address(), presence)
}

// ProfilePicture returns the URL of the picture of a person or group. It is empty if
// there is no picture, if this account may not see it, or if the number has no account.
func (s *Service) ProfilePicture(ctx context.Context, instanceID string, of gateway.Recipient) (string, error) {
	session, err := s.sessions.Session(ctx, instanceID)
	if err != nil {
		return "", err
	}
	party, err := s.Party(ctx, session.People(), of)
	if isNotRegistered(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return session.People().ProfilePicture(ctx, party.Address())
}

// Block blocks a person, or unblocks him. Doing either twice changes nothing. Its error
// is Invalid for the account itself.
func (s *Service) Block(ctx context.Context, instanceID string, who gateway.Recipient, blocked bool) error {
	session, err := s.sessions.Session(ctx, instanceID)
	if err != nil {
		return err
	}
	party, err := s.Party(ctx, session.People(), who)
	if err != nil {
		return err
	}
	if self := session.Account().Self(); self.Is(party.JID) || self.Is(party.LID) {
		return gateway.InvalidField("phone", "must be somebody else: this is the instance's own account")
	}
	return session.Account().SetBlocked(ctx, party.Address(), blocked)
}

func isNotRegistered(err error) bool {
	refusal, ok := gateway.AsError(err)
	return ok && refusal.Code == gateway.CodeNotRegistered
}
