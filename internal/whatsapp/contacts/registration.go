// Who has an account on the platform, and the picture of one.

package contacts

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/whatsapp/wire"
)

// Resolve asks which numbers have an account (gateway.People).
func (c *Contacts) Resolve(ctx context.Context, numbers []string) ([]gateway.Registration, error) {
	ctx, cancel := context.WithTimeout(ctx, c.line.Wait)
	defer cancel()
	answers, err := c.line.Client().IsOnWhatsApp(ctx, numbers)
	if err != nil {
		return nil, wire.Failure(err)
	}
	byNumber := make(map[string]gateway.Registration, len(answers))
	for _, answer := range answers {
		number := strings.TrimPrefix(answer.Query, "+")
		if !answer.IsIn {
			continue
		}
		party := wire.PartyOf(answer.JID, answer.PhoneNumber, "")
		byNumber[number] = gateway.Registration{Number: number, Exists: true, JID: party.JID, LID: party.LID}
	}
	registrations := make([]gateway.Registration, len(numbers))
	for i, number := range numbers {
		registration, ok := byNumber[number]
		if !ok {
			registration = gateway.Registration{Number: number}
		}
		registrations[i] = registration
	}
	return registrations, nil
}

// CheckRegistered refuses a person that the platform does not know: whatsmeow would send
// such a message to no device, and report success. The answers of the platform are
// remembered, here or by whatsmeow.
func (c *Contacts) CheckRegistered(ctx context.Context, to types.JID) error {
	client, lid := c.line.Client(), to
	switch to.Server {
	case types.GroupServer, types.NewsletterServer, types.BroadcastServer:
		return nil
	case types.DefaultUserServer:
		var err error
		if lid, err = client.Store.LIDs.GetLIDForPN(ctx, to); err != nil {
			return fmt.Errorf("contacts: look for the recipient's LID: %w", err)
		}
		if lid.IsEmpty() {
			answers, err := c.Resolve(ctx, []string{to.User})
			if err != nil {
				return err
			}
			if !answers[0].Exists || answers[0].LID == "" {
				return wire.NotRegistered()
			}
			if lid, err = wire.ToJID(answers[0].LID); err != nil {
				return err
			}
		}
	}
	devices, err := client.GetUserDevices(ctx, []types.JID{lid})
	if err != nil {
		return wire.Failure(err)
	}
	if len(devices) == 0 {
		return wire.NotRegistered()
	}
	return nil
}

// ProfilePicture returns the URL of a picture (gateway.People).
func (c *Contacts) ProfilePicture(ctx context.Context, of gateway.JID) (string, error) {
	jid, err := wire.ToJID(of)
	if err != nil {
		return "", err
	}
	picture, err := c.line.Client().GetProfilePictureInfo(ctx, jid, nil)
	switch {
	case errors.Is(err, whatsmeow.ErrProfilePictureNotSet), errors.Is(err, whatsmeow.ErrProfilePictureUnauthorized):
		return "", nil // none, or hidden from this account
	case err != nil:
		return "", wire.Failure(err)
	case picture == nil:
		return "", nil
	}
	return picture.URL, nil
}
