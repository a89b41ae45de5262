// Package contacts is the part of a session about the people whom the account knows
// (gateway.Contacts): the names that this device has, and the address book, which is part of
// the app state.
package contacts

import (
	"context"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/appstate"
	"go.mau.fi/whatsmeow/proto/waSyncAction"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/whatsapp/profiles"
	"github.com/recado-project/recado/internal/whatsapp/wire"
)

// Config is what the contacts of a session need of it. All of it is required.
type Config struct {
	Client func() *whatsmeow.Client // in use
	Pairs  Pairs
	// Send changes the app state; refused is the code of the error if the platform does not
	// accept that.
	Send func(ctx context.Context, patch appstate.PatchInfo, refused string) error
	Wait time.Duration // how long the platform may take for one answer
}

// Contacts finds people and names them. It is safe for concurrent use.
type Contacts struct{ config Config }

var _ gateway.Contacts = (*Contacts)(nil)

// New returns the contacts of a session.
func New(config Config) *Contacts { return &Contacts{config} }

// Addresses returns both addresses of people (gateway.Contacts).
func (c *Contacts) Addresses(ctx context.Context, people []gateway.JID) ([]gateway.Party, error) {
	return Addresses(ctx, c.config.Pairs, people)
}

// ContactDetails asks the platform about somebody (gateway.Contacts).
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
	ctx, cancel := context.WithTimeout(ctx, c.config.Wait)
	defer cancel()
	client := c.config.Client()
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
		details.Business = profiles.BusinessOf(business)
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
		info, err := c.config.Client().Store.Contacts.GetContact(ctx, jid)
		if err != nil {
			return contact, wire.Failure(err)
		}
		contact = named(contact, info)
	}
	return contact, nil
}

// NameContact writes a name into the address book (gateway.Contacts). It is kept here when
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
	return c.config.Send(ctx, appstate.PatchInfo{
		Type: appstate.WAPatchCriticalUnblockLow,
		Mutations: []appstate.MutationInfo{{
			Index: []string{appstate.IndexContact, jid.String()}, Version: 2, Value: &waSyncAction.SyncActionValue{ContactAction: action},
		}},
	}, gateway.CodeContactRefused)
}
