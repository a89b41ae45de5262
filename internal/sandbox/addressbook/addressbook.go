// Package addressbook is the address book of a phone: the names that its owner gives to people.
// All devices of an account have it, by the app state.
package addressbook

import (
	"context"
	"strings"

	wmstate "go.mau.fi/whatsmeow/appstate"
	"go.mau.fi/whatsmeow/proto/waSyncAction"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/refusal"
	"github.com/recado-project/recado/internal/sandbox/setting"
)

// Service reads and changes address books. It is safe for concurrent use.
type Service struct {
	accounts *account.Directory
	settings *setting.Service
}

// New returns the service.
func New(accounts *account.Directory, settings *setting.Service) *Service {
	return &Service{accounts, settings}
}

// Entry is somebody in an address book.
type Entry struct {
	Contact string `json:"contact"` // a chat ID by number
	Name    string `json:"name"`
}

// Of returns the address book on the phone of a number, in the order of the changes.
func (s *Service) Of(ctx context.Context, number string) ([]Entry, error) {
	of, err := s.accounts.Named(ctx, number)
	if err != nil {
		return nil, err
	}
	values, err := s.settings.Values(ctx, of, wmstate.IndexContact)
	if err != nil {
		return nil, err
	}
	entries := []Entry{}
	for _, value := range values {
		if len(value.Index) < 2 {
			continue
		}
		jid, err := types.ParseJID(value.Index[1])
		if err != nil {
			continue // clients set what they like
		}
		who, err := s.accounts.ByJID(ctx, jid)
		if err != nil {
			return nil, err
		}
		if who != nil {
			entries = append(entries, Entry{who.PN().String(), value.Value.GetContactAction().GetFullName()})
		}
	}
	return entries, nil
}

// Name lets the owner of a phone give somebody a name. Whom the caller names by a LID is in the
// address book by that, and may be there by the number as well.
func (s *Service) Name(ctx context.Context, number, contact, name string) error {
	of, err := s.accounts.Named(ctx, number)
	if err != nil {
		return err
	}
	who, err := s.accounts.NamedIn(ctx, "contact", contact)
	if err != nil {
		return err
	}
	if strings.TrimSpace(name) == "" {
		return refusal.Invalidf("name", "must not be empty")
	}
	address := who.PN()
	if strings.HasSuffix(contact, "@"+types.HiddenUserServer) {
		address = who.LIDJID()
	}
	action := &waSyncAction.ContactAction{FullName: &name, LidJID: new(who.LIDJID().String())}
	if username := who.Username(); username != "" {
		action.Username = &username
	}
	return s.settings.Set(ctx, of, wmstate.PatchInfo{
		Type: wmstate.WAPatchCriticalUnblockLow,
		Mutations: []wmstate.MutationInfo{{
			Index: []string{wmstate.IndexContact, address.String()}, Version: 2,
			Value: &waSyncAction.SyncActionValue{ContactAction: action},
		}},
	})
}
