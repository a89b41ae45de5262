// Messages that were sent, for recipients who can't decrypt them. The connector finds them
// among the gateway's messages, so whatsmeow is not asked to keep them a second time.

package keys

import (
	"context"
	"errors"

	"go.mau.fi/whatsmeow/types"
)

var errNotStored = errors.New("keys: sent messages are not kept here")

// GetOutgoingEvent finds nothing: see session.sentMessage in package whatsapp.
func (*deviceKeys) GetOutgoingEvent(context.Context, types.JID, types.JID, types.MessageID) (string, []byte, error) {
	return "", nil, errNotStored
}

// AddOutgoingEvent keeps nothing.
func (*deviceKeys) AddOutgoingEvent(context.Context, types.JID, types.MessageID, string, []byte) error {
	return nil
}

// DeleteOldOutgoingEvents has nothing to delete.
func (*deviceKeys) DeleteOldOutgoingEvents(context.Context) error { return nil }
