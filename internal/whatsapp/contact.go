package whatsapp

import (
	"log/slog"
	"strconv"
	"time"

	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/gateway"
)

// person names somebody as completely as is known here: under both addresses, and
// with the name that the person goes by.
func (s *session) person(one, other types.JID, name string) gateway.Party {
	device := s.current().Store
	if other.IsEmpty() && device.LIDs != nil {
		other = altOf(s.ctx, device.LIDs)(one)
	}
	if name == "" {
		name = s.knownName(one, other)
	}
	return partyOf(one, other, name)
}

// knownName is the name that somebody goes by, empty where it is not known. Some
// names are kept under the number and some under the LID.
func (s *session) knownName(addresses ...types.JID) string {
	device := s.current().Store
	for _, address := range addresses {
		if address.IsEmpty() {
			continue
		}
		if self := s.Self(); self.Is(jidOf(address)) {
			return self.Name // the keys' own is written from goroutines of whatsmeow's
		}
		if device.Contacts == nil {
			continue
		}
		known, err := device.Contacts.GetContact(s.ctx, address.ToNonAD())
		if name := firstOf(known.PushName, known.FullName, known.BusinessName); err == nil && name != "" { // unknown is an ordinary answer
			return name
		}
	}
	return ""
}

func firstOf(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

// nameArrived tells that a contact goes by another name: whatsmeow has seen it on
// a message.
func (s *session) nameArrived(event *events.PushName) {
	s.renamed(event.JID, event.JIDAlt, event.NewPushName, event.Message)
}

// businessNameArrived tells that a business goes by another name.
func (s *session) businessNameArrived(event *events.BusinessName) {
	s.renamed(event.JID.ToNonAD(), types.EmptyJID, event.NewBusinessName, event.Message)
}

func (s *session) renamed(one, other types.JID, name string, info *types.MessageInfo) {
	change := gateway.ContactChange{Contact: s.person(one, other, name), At: s.connector.config.Now().UTC()}
	if self := s.Self(); self.Is(lidFirst(change.Contact)) {
		return // it is told as the account's profile
	}
	id := ""
	if info != nil {
		id, change.At = info.ID, info.Timestamp.UTC()
	}
	change.SourceKey = "name/" + string(lidFirst(change.Contact)) + "/" + id + "/" + digest(name)
	s.contactChanged(change)
}

// addressBookArrived tells that the account's owner has given a contact another
// name. What was there before the link comes in bulk, and whatsmeow keeps it
// without telling.
func (s *session) addressBookArrived(event *events.Contact) {
	name := firstOf(event.Action.GetFullName(), event.Action.GetFirstName())
	if name == "" {
		return // the contact was removed from the address book
	}
	contact := s.person(event.JID, types.EmptyJID, name)
	s.contactChanged(gateway.ContactChange{
		Contact: contact, At: event.Timestamp.UTC(),
		SourceKey: "book/" + string(lidFirst(contact)) + "/" + stamp(event.Timestamp) + "/" + digest(name),
	})
}

// pictureArrived tells of another picture: the account's own, a group's, or a
// contact's.
func (s *session) pictureArrived(event *events.Picture) bool {
	if event.JID.Server == types.GroupServer {
		return s.groupPictureArrived(event)
	}
	contact := s.person(event.JID, types.EmptyJID, "")
	if self := s.Self(); self.Is(lidFirst(contact)) || self.Is(contact.Address()) {
		s.tell(signal{kind: pictureMoved})
		return true
	}
	err := s.receiver.Receive(s.ctx, gateway.ContactChange{
		Contact: contact, At: event.Timestamp.UTC(),
		SourceKey: "picture/" + string(lidFirst(contact)) + "/" + stamp(event.Timestamp) + "/" + event.PictureID,
	})
	return s.kept(err, "picture of a contact")
}

// contactChanged hands on what the platform does not bring again: whatsmeow has
// written it down before it told.
func (s *session) contactChanged(change gateway.ContactChange) {
	if err := s.receiver.Receive(s.ctx, change); err != nil && s.ctx.Err() == nil {
		s.logger.WarnContext(s.ctx, "news about a contact not kept", slog.Any("error", err))
	}
}

func stamp(at time.Time) string { return strconv.FormatInt(at.Unix(), 10) }
