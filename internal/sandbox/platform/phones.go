package platform

import (
	"context"
	"strings"

	"go.mau.fi/whatsmeow/types"
)

// Phone is a simulated handset as the control API shows it.
type Phone struct {
	Number         string `json:"number"`
	JID            string `json:"jid"` // a chat ID by number
	LID            string `json:"lid"` // a chat ID by LID
	Name           string `json:"name"`
	Registered     bool   `json:"registered"`
	Online         bool   `json:"online"`
	Devices        []int  `json:"devices"` // the linked ones, without the phone itself
	ProfilePicture bool   `json:"profilePicture"`
}

// PhoneUpdate is a change of a phone; what is nil stays as it is.
type PhoneUpdate struct {
	Name       *string
	Registered *bool
	Online     *bool
	HideNumber *bool // what the phone sends says nothing of its number

	// Picture, where SetPicture says so, becomes the profile picture; an empty one
	// takes it away.
	SetPicture bool
	Picture    []byte
}

// phoneOf returns the account of a number as people write it; naming it is
// enough for it to exist.
func (s *Server) phoneOf(ctx context.Context, number string) (*account, error) {
	digits, err := ParseNumber(number)
	if err != nil {
		return nil, err
	}
	return s.directory.ensure(ctx, digits)
}

// chatOf returns the account that a number or a chat ID names. field is the
// name of what the caller was asked for.
func (s *Server) chatOf(ctx context.Context, field, chat string) (*account, error) {
	if user, isLID := strings.CutSuffix(chat, "@"+types.HiddenUserServer); isLID {
		found, err := s.directory.findLID(ctx, user)
		if err != nil {
			return nil, err
		}
		if found == nil {
			return nil, invalidf(field, "nobody has this LID")
		}
		return found, nil
	}
	digits, err := ParseNumber(chat)
	if err != nil {
		return nil, invalidf(field, "must be a phone number or a personal chat ID")
	}
	return s.directory.ensure(ctx, digits)
}

// Phones returns all phones, in the order in which they came into being.
func (s *Server) Phones(ctx context.Context) ([]Phone, error) {
	accounts, err := s.directory.all(ctx)
	if err != nil {
		return nil, err
	}
	phones := make([]Phone, 0, len(accounts))
	for _, of := range accounts {
		phones = append(phones, of.show())
	}
	return phones, nil
}

// Phone returns the phone of a number.
func (s *Server) Phone(ctx context.Context, number string) (Phone, error) {
	of, err := s.phoneOf(ctx, number)
	if err != nil {
		return Phone{}, err
	}
	return of.show(), nil
}

func (a *account) show() Phone {
	devices := []int{}
	for _, linked := range a.companions() {
		devices = append(devices, int(linked.id))
	}
	a.mu.RLock()
	defer a.mu.RUnlock()
	return Phone{
		Number: a.number, JID: a.pn().String(), LID: a.lidJID().String(), Name: a.name,
		Registered: a.registered, Online: a.online, Devices: devices, ProfilePicture: a.picture != "",
	}
}

// UpdatePhone changes a phone and returns it. A phone that comes online gets
// what has waited for it.
func (s *Server) UpdatePhone(ctx context.Context, number string, change PhoneUpdate) (Phone, error) {
	of, err := s.phoneOf(ctx, number)
	if err != nil {
		return Phone{}, err
	}
	if change.Name != nil {
		if strings.TrimSpace(*change.Name) == "" {
			return Phone{}, invalidf("name", "must not be empty")
		}
		if err := s.rename(ctx, of, *change.Name); err != nil {
			return Phone{}, err
		}
	}
	u := s.newUnit()
	if change.Registered != nil {
		u.exec("UPDATE accounts SET registered = $1 WHERE number = $2", *change.Registered, of.number)
	}
	if change.Online != nil {
		u.exec("UPDATE accounts SET online = $1 WHERE number = $2", *change.Online, of.number)
		u.phones[of] = struct{}{}
	}
	if change.HideNumber != nil {
		u.exec("UPDATE accounts SET number_hidden = $1 WHERE number = $2", *change.HideNumber, of.number)
	}
	if change.SetPicture {
		if err := u.setPicture(ctx, of, change.Picture); err != nil {
			return Phone{}, err
		}
	}
	u.then(func() {
		of.mu.Lock()
		defer of.mu.Unlock()
		if change.Registered != nil {
			of.registered = *change.Registered
		}
		if change.Online != nil {
			of.online = *change.Online
		}
		if change.HideNumber != nil {
			of.numberHidden = *change.HideNumber
		}
	})
	if err := u.commit(ctx); err != nil {
		return Phone{}, err
	}
	return of.show(), nil
}

// rename changes the name that the account gives itself.
func (s *Server) rename(ctx context.Context, of *account, name string) error {
	u := s.newUnit()
	u.exec("UPDATE accounts SET name = $1 WHERE number = $2", name, of.number)
	u.then(func() {
		of.mu.Lock()
		of.name = name
		of.mu.Unlock()
	})
	if err := u.commit(ctx); err != nil {
		return err
	}
	return s.renameSetting(ctx, of, name)
}
