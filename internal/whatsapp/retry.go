package whatsapp

import (
	"log/slog"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
)

// sentMessage finds a message that this instance sent, a change of another one
// too, for a recipient who could not decrypt it. whatsmeow asks where its own
// memory has it no more: after a restart, or after many other messages. Without
// an answer the recipient's phone goes on "waiting for this message".
func (s *session) sentMessage(_, chat types.JID, id types.MessageID) *waE2E.Message {
	var payload []byte
	found := false
	s.hear(func() {
		// The platform may name a person by number or by LID.
		for _, address := range []types.JID{chat, altOf(s.ctx, s.current().Store.LIDs)(chat)} {
			if !found && !address.IsEmpty() {
				payload, found = s.receiver.SentPayload(s.ctx, jidOf(address), id)
			}
		}
	})
	if !found {
		return nil
	}
	message, err := decode(payload)
	if err != nil {
		s.logger.ErrorContext(s.ctx, "message can't be sent again", slog.String("platform_id", id), slog.Any("error", err))
		return nil
	}
	return message
}
