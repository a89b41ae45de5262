package whatsapp

import (
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
	contact := s.person(one, other, name)
	if self := s.Self(); self.Is(contact.Key()) {
		return // it is reported as a change of the account's profile
	}
	s.contactChanged(wire.NameChange(contact, name, info, s.now()))
}

// addressBookArrived reports that the account's owner has given a contact another name.
// Names from before the link come in bulk, and are not reported. A username that comes with one is
// kept.
func (s *session) addressBookArrived(event *events.Contact) {
	if username := contacts.Username(event.Action.GetUsername()); username != "" {
		if err := keys.PutUsername(s.ctx, s.current().Store, event.JID, username); err != nil && s.ctx.Err() == nil {
			s.logger.WarnContext(s.ctx, "username not kept", slog.Any("error", err))
		}
	}
	if event.FromFullSync {
		return
	}
	name := firstOf(event.Action.GetFullName(), event.Action.GetFirstName())
	if name == "" {
		return // the contact was removed from the address book
	}
	s.contactChanged(wire.AddressBookChange(s.person(event.JID, types.EmptyJID, name), name, event.Timestamp))
}

// pictureArrived reports another picture: of the account, a group, or a contact.
func (s *session) pictureArrived(event *events.Picture) bool {
	if event.JID.Server == types.GroupServer {
		return s.groupPictureArrived(event)
	}
	contact := s.person(event.JID, types.EmptyJID, "")
	if self := s.Self(); self.Is(contact.Key()) || self.Is(contact.Address()) {
		s.signal(signal{kind: pictureMoved})
		change := gateway.AccountChange{Kind: gateway.AccountPictureChanged, At: event.Timestamp.UTC()}
		if event.PictureID != "" {
			change.SourceKey = profiles.PictureKey(event.PictureID)
		}
		return s.accountChanged(change)
	}
	return s.receive(wire.PictureChange(contact, event), "picture of a contact")
}

// aboutArrived reports what the account says about itself now. What contacts say is read
// when somebody asks.
func (s *session) aboutArrived(event *events.UserAbout) bool {
	if self := s.Self(); !self.Is(wire.JIDOf(event.JID)) {
		return true
	}
	return s.accountChanged(gateway.AccountChange{Kind: gateway.AccountAboutChanged, Text: event.Status, At: event.Timestamp.UTC()})
}

// accountChanged passes on changes of the account that the platform has reported.
func (s *session) accountChanged(changes ...gateway.AccountChange) bool {
	for _, change := range changes {
		if !s.receive(change, "change of the account") {
			return false
		}
	}
	return true
}

// accountChangedHere passes on a change that this program has made. It is made, so nothing
// brings it again.
func (s *session) accountChangedHere(change gateway.AccountChange) {
	if change.Kind == gateway.AccountPictureChanged {
		s.signal(signal{kind: pictureMoved})
	}
	s.callHandler(func() {
		if err := s.receiver.Receive(s.ctx, change); err != nil && s.ctx.Err() == nil {
			s.logger.WarnContext(s.ctx, "change of the account not kept", slog.Any("error", err))
		}
	})
}

// contactChanged passes on a change that the platform does not deliver again: whatsmeow
// stores it before its event.
func (s *session) contactChanged(change gateway.ContactChange) {
	if err := s.receiver.Receive(s.ctx, change); err != nil && s.ctx.Err() == nil {
		s.logger.WarnContext(s.ctx, "change of a contact not kept", slog.Any("error", err))
	}
}
