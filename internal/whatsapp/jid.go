package whatsapp

import (
	"context"
	"fmt"

	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/gateway"
)

// jidOf makes the gateway's form of a chat ID: without a device part, empty for
// none, and clean: who wrote it may not be one of the messenger's clients.
func jidOf(jid types.JID) gateway.JID {
	if jid.IsEmpty() {
		return ""
	}
	return gateway.JID(gateway.CleanID(jid.ToNonAD().String()))
}

// toJID makes whatsmeow's form of a chat ID.
func toJID(jid gateway.JID) (types.JID, error) {
	parsed, err := types.ParseJID(string(jid))
	if err != nil {
		return types.EmptyJID, fmt.Errorf("whatsapp: chat ID: %w", err)
	}
	return parsed, nil
}

// partyOf puts the two addresses of a person in their places, in whichever order
// they came. A group has only one.
func partyOf(one, other types.JID, name string) gateway.Party {
	party := gateway.Party{Name: name}
	for _, jid := range []types.JID{one, other} {
		switch {
		case jid.IsEmpty():
		case jid.Server == types.HiddenUserServer:
			party.LID = jidOf(jid)
		default:
			party.JID = jidOf(jid)
		}
	}
	return party
}

// altOf returns what finds the other address of a person; empty where it is not
// known, which is an ordinary answer.
func altOf(ctx context.Context, lids store.LIDStore) func(types.JID) types.JID {
	return func(jid types.JID) types.JID {
		var other types.JID
		var err error
		switch jid.Server {
		case types.DefaultUserServer:
			other, err = lids.GetLIDForPN(ctx, jid)
		case types.HiddenUserServer:
			other, err = lids.GetPNForLID(ctx, jid)
		}
		if err != nil {
			return types.EmptyJID
		}
		return other
	}
}
