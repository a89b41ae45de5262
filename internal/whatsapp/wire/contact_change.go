package wire

import (
	"time"

	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/gateway"
)

// NameChange says that a contact goes by another name. info is the message that showed
// it, nil if there was none.
func NameChange(contact gateway.Party, name string, info *types.MessageInfo, now time.Time) gateway.ContactChange {
	change := gateway.ContactChange{Contact: contact, At: now.UTC()}
	id := ""
	if info != nil {
		id, change.At = info.ID, info.Timestamp.UTC()
	}
	change.SourceKey = "name/" + string(contact.Key()) + "/" + id + "/" + digest(name)
	return change
}

// AddressBookChange says that the account's owner has given a contact another name.
func AddressBookChange(contact gateway.Party, name string, at time.Time) gateway.ContactChange {
	return gateway.ContactChange{
		Contact: contact, At: at.UTC(),
		SourceKey: "book/" + string(contact.Key()) + "/" + stamp(at) + "/" + digest(name),
	}
}

// PictureChange says that a contact has another picture.
func PictureChange(contact gateway.Party, event *events.Picture) gateway.ContactChange {
	return gateway.ContactChange{
		Contact: contact, At: event.Timestamp.UTC(),
		SourceKey: "picture/" + string(contact.Key()) + "/" + stamp(event.Timestamp) + "/" + event.PictureID,
	}
}

// PairChange says that both addresses of a contact became known.
func PairChange(contact gateway.Party, now time.Time) gateway.ContactChange {
	return gateway.ContactChange{
		Contact: contact, At: now.UTC(),
		SourceKey: "lid/" + string(contact.LID) + "/" + string(contact.JID),
	}
}
