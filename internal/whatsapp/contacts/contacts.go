// Package contacts is the part of a session about the people whom the account knows
// (gateway.People): the names that this device has, and the address book, which is part of
// the app state.
package contacts

import (
	"context"

	"go.mau.fi/whatsmeow/appstate"
	"go.mau.fi/whatsmeow/proto/waSyncAction"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/whatsapp/caches"
	"github.com/recado-project/recado/internal/whatsapp/chatstate"
	"github.com/recado-project/recado/internal/whatsapp/line"
	"github.com/recado-project/recado/internal/whatsapp/wire"
)

// Contacts finds people and names them. It is safe for concurrent use.
type Contacts struct {
	line     *line.Line
	pairs    Pairs
	state    *chatstate.Chats
	followed caches.Followed // of the connection in use
}

var _ gateway.People = (*Contacts)(nil)

// New returns the contacts of a session. The address book is a part of the app state.
func New(of *line.Line, pairs Pairs, state *chatstate.Chats) *Contacts {
	return &Contacts{line: of, pairs: pairs, state: state}
}

// Addresses returns both addresses of people (gateway.People).
func (c *Contacts) Addresses(ctx context.Context, people []gateway.JID) ([]gateway.Party, error) {
	return Addresses(ctx, c.pairs, people)
}

// ContactDetails asks the platform about somebody (gateway.People).
func (c *Contacts) ContactDetails(ctx context.Context, who gateway.Party) (gateway.ContactDetails, error) {
	parties, err := c.Addresses(ctx, []gateway.JID{who.Address()})
	if err != nil {
		return gateway.ContactDetails{}, err
	}
	party := parties[0]
	if party.LID == "" {
		party.LID = who.LID
	}
	jid, err := wire.ToJID(party.Address())
	if err != nil {
		return gateway.ContactDetails{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.line.Wait)
	defer cancel()
	client := c.line.Client()
	infos, err := client.GetUserInfo(ctx, []types.JID{jid})
	if err != nil {
		return gateway.ContactDetails{}, wire.Failure(err)
	}
	var details gateway.ContactDetails
	for _, info := range infos {
		details.About = gateway.CleanText(info.Status, gateway.MaxText)
		if party.LID == "" && !info.LID.IsEmpty() {
			party.LID = wire.JIDOf(info.LID)
		}
	}
	username, err := c.username(ctx, client, party)
	if err != nil {
		return gateway.ContactDetails{}, err
	}
	business, err := client.GetBusinessProfile(ctx, jid)
	if _, refused := gateway.AsError(wire.Failure(err)); err != nil && refused {
		return gateway.ContactDetails{}, wire.Failure(err)
	}
	if err == nil { // an answer without a profile is an error of the library's
		details.Business = BusinessOf(business)
	}
	details.Contact, err = c.contact(ctx, party)
	details.Username = username
	return details, err
}

// contact is somebody with the names that this device knows.
func (c *Contacts) contact(ctx context.Context, party gateway.Party) (gateway.Contact, error) {
	contact := gateway.Contact{Party: party}
	for _, address := range []gateway.JID{party.JID, party.LID} {
		if address == "" {
			continue
		}
		jid, err := wire.ToJID(address)
		if err != nil {
			return contact, err
		}
		info, err := c.line.Client().Store.Contacts.GetContact(ctx, jid)
		if err != nil {
			return contact, wire.Failure(err)
		}
		contact = named(contact, info)
	}
	return contact, nil
}

// NameContact writes a name into the address book (gateway.People). It is kept here when
// the platform has confirmed it, and read back.
func (c *Contacts) NameContact(ctx context.Context, who gateway.Party, name string) error {
	parties, err := c.Addresses(ctx, []gateway.JID{who.Address()})
	if err != nil {
		return err
	}
	jid, err := wire.ToJID(parties[0].Address())
	if err != nil {
		return err
	}
	action := &waSyncAction.ContactAction{FullName: &name, SaveOnPrimaryAddressbook: new(true)}
	if lid := parties[0].LID; lid != "" {
		action.LidJID = new(string(lid))
	}
	return c.state.Send(ctx, appstate.PatchInfo{
		Type: appstate.WAPatchCriticalUnblockLow,
		Mutations: []appstate.MutationInfo{{
			Index: []string{appstate.IndexContact, jid.String()}, Version: 2, Value: &waSyncAction.SyncActionValue{ContactAction: action},
		}},
	}, gateway.CodeContactRefused)
}

// The bounds of what a business says of itself, which the platform has not checked here.
const (
	maxBusinessText = 512
	maxBusinessList = 32
)

// BusinessOf translates what a business says of itself, cleaned and bounded.
func BusinessOf(found *types.BusinessProfile) *gateway.Business {
	clean := func(text string) string { return gateway.CleanText(text, maxBusinessText) }
	business := &gateway.Business{Address: clean(found.Address), Email: clean(found.Email), TimeZone: clean(found.BusinessHoursTimeZone)}
	for _, category := range found.Categories[:min(len(found.Categories), maxBusinessList)] {
		business.Categories = append(business.Categories, clean(category.Name))
	}
	for _, hours := range found.BusinessHours[:min(len(found.BusinessHours), maxBusinessList)] {
		business.Hours = append(business.Hours, gateway.BusinessHours{
			Day: clean(hours.DayOfWeek), Mode: clean(hours.Mode), Opens: clean(hours.OpenTime), Closes: clean(hours.CloseTime),
		})
	}
	return business
}
