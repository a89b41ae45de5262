package whatsapp

import (
	"cmp"
	"context"
	"log/slog"

	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/whatsapp/contacts"
	"github.com/recado-project/recado/internal/whatsapp/keys"
	"github.com/recado-project/recado/internal/whatsapp/profiles"
	"github.com/recado-project/recado/internal/whatsapp/wire"
)

// Known is what the device of an instance knows of people (gateway.Connector).
func (c *Connector) Known(instance gateway.Instance) gateway.KnownPeople {
	var self gateway.Party
	if device, err := types.ParseJID(instance.Device); err == nil {
		self.JID = wire.JIDOf(device)
	}
	if instance.Profile.JID == self.JID { // else it has not been connected since it was linked
		self.LID = instance.Profile.LID
	}
	return contacts.Known{Self: self, Names: c.keys.Names(instance.Device), Pairs: c.keys.People()}
}

// nameArrived reports that a contact goes by another name: whatsmeow has seen it on a
// message.
func (s *session) nameArrived(event *events.PushName) {
	s.renamed(event.JID, event.JIDAlt, event.NewPushName, event.Message)
}

// businessNameArrived reports that a business goes by another name.
func (s *session) businessNameArrived(event *events.BusinessName) {
	s.renamed(event.JID.ToNonAD(), types.EmptyJID, event.NewBusinessName, event.Message)
}

func (s *session) renamed(one, other types.JID, name string, info *types.MessageInfo) {
	contact := s.line.Person(one, other, name)
	if self := s.line.Self(); self.Is(contact.Key()) {
		return // it is reported as a change of the account's profile
	}
	s.line.Report(s.ctx, wire.NameChange(contact, name, info, s.line.Now()), "change of a contact")
}

// addressBookArrived reports that the account's owner has given a contact another name.
// Names from before the link come in bulk, and are not reported. A username that comes with one is
// kept.
func (s *session) addressBookArrived(event *events.Contact) {
	if username := contacts.Username(event.Action.GetUsername()); username != "" {
		if err := keys.PutUsername(s.ctx, s.line.Client().Store, event.JID, username); err != nil && s.ctx.Err() == nil {
			s.logger.WarnContext(s.ctx, "username not kept", slog.Any("error", err))
		}
	}
	if event.FromFullSync {
		return
	}
	name := cmp.Or(event.Action.GetFullName(), event.Action.GetFirstName())
	if name == "" {
		return // the contact was removed from the address book
	}
	s.line.Report(s.ctx, wire.AddressBookChange(s.line.Person(event.JID, types.EmptyJID, name), name, event.Timestamp), "change of a contact")
}

// pictureArrived reports another picture: of the account, a group, or a contact.
func (s *session) pictureArrived(event *events.Picture) bool {
	if event.JID.Server == types.GroupServer {
		return s.groupPictureArrived(event)
	}
	contact := s.line.Person(event.JID, types.EmptyJID, "")
	if self := s.line.Self(); self.Is(contact.Key()) || self.Is(contact.Address()) {
		s.signals.send(signal{kind: pictureMoved})
		change := gateway.AccountChange{Kind: gateway.AccountPictureChanged, At: event.Timestamp.UTC()}
		if event.PictureID != "" {
			change.SourceKey = profiles.PictureKey(event.PictureID)
		}
		return s.accountChanged(change)
	}
	return s.line.Receive(wire.PictureChange(contact, event), "picture of a contact")
}

// aboutArrived reports what the account says about itself now. What contacts say is read
// when somebody asks.
func (s *session) aboutArrived(event *events.UserAbout) bool {
	if self := s.line.Self(); !self.Is(wire.JIDOf(event.JID)) {
		return true
	}
	return s.accountChanged(gateway.AccountChange{Kind: gateway.AccountAboutChanged, Text: event.Status, At: event.Timestamp.UTC()})
}

// accountChanged passes on changes of the account that the platform has reported.
func (s *session) accountChanged(changes ...gateway.AccountChange) bool {
	for _, change := range changes {
		if !s.line.Receive(change, "change of the account") {
			return false
		}
	}
	return true
}

// loadPicture asks for the account's own picture in the background and passes its URL to
// the lifecycle.
func (s *session) loadPicture() {
	s.connector.running.Go(func() {
		ctx, cancel := context.WithTimeout(s.ctx, s.line.Wait)
		defer cancel()
		url, err := s.contacts.ProfilePicture(ctx, s.line.Self().Address())
		if err != nil {
			s.logger.DebugContext(ctx, "own profile picture not known", slog.Any("error", err))
			return
		}
		s.line.WhileOpen(func() { s.lifecycle.PictureChanged(s.ctx, gateway.CleanURL(url)) })
	})
}
