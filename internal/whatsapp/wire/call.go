package wire

import (
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/gateway"
)

// CallOf translates a call that rings. from is the caller.
func CallOf(meta types.BasicCallMeta, from gateway.Party, video bool) gateway.Call {
	call := gateway.Call{
		ID: meta.CallID, From: from, Chat: gateway.Party{JID: from.JID, LID: from.LID},
		Video: video, At: meta.Timestamp.UTC(),
	}
	if !meta.GroupJID.IsEmpty() {
		call.Chat = PartyOf(meta.GroupJID, types.EmptyJID, "")
	}
	return call
}
