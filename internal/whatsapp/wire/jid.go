package wire

import (
	"fmt"

	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/gateway"
)

// JIDOf makes the gateway's form of a chat ID: without a device part, empty for none, and
// clean, because not every sender uses the messenger's own client.
func JIDOf(jid types.JID) gateway.JID {
	if jid.IsEmpty() {
		return ""
	}
	return gateway.JID(gateway.CleanID(jid.ToNonAD().String()))
}

// ToJID makes whatsmeow's form of a chat ID.
func ToJID(jid gateway.JID) (types.JID, error) {
	parsed, err := types.ParseJID(string(jid))
	if err != nil {
		return types.EmptyJID, fmt.Errorf("wire: chat ID: %w", err)
	}
	return parsed, nil
}

// PartyOf puts the two addresses of a person in their places, in whichever order
// they came. A group has only one.
func PartyOf(one, other types.JID, name string) gateway.Party {
	party := gateway.Party{Name: name}
	for _, jid := range []types.JID{one, other} {
		if jid.IsEmpty() {
			continue
		}
		address := &party.JID
		if jid.Server == types.HiddenUserServer {
			address = &party.LID
		}
		*address = JIDOf(jid)
	}
	return party
}
