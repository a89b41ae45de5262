package messaging

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"time"

	"github.com/recado-project/recado/internal/gateway"
)

// origin is where something that was received comes from, for the placeholder that is
// kept if it can't be kept itself.
type origin struct {
	what     string // for people and programs: "message", "receipt"; empty: it has no placeholder
	chat, by gateway.Party
	fromMe   bool
	key      string // the same for every delivery
	at       time.Time
}

// keepPlaceholder keeps a message of the type "unsupported" in the place of something
// that the database refuses with cause, and appends its event. The database would refuse
// it after each delivery, and everything after it would wait; where the database is only
// in trouble, the platform delivers it again instead.
//
// The connector cleans what it passes on, so this is the second line of defence.
func (r receiver) keepPlaceholder(ctx context.Context, from origin, cause error) error {
	r.logger.ErrorContext(ctx, "the database refuses what arrived; a placeholder is kept for it",
		slog.String("what", from.what), slog.Any("error", cause))
	sum := sha256.Sum256([]byte(from.what + "\x00" + from.key))
	id := hex.EncodeToString(sum[:16])
	message := gateway.Message{
		PlatformID: "placeholder-" + id, WireKey: "placeholder/" + id,
		Chat: addressesOf(from.chat), Sender: addressesOf(from.by), FromMe: from.fromMe,
		Source: gateway.SourcePeer, Type: gateway.TypeUnsupported, Payload: []byte{},
		Details: gateway.Details{Unsupported: "not_kept:" + from.what},
		Status:  gateway.MessageDelivered, SentAt: from.at, CreatedAt: from.at,
	}
	if from.fromMe {
		message.Source = gateway.SourceDevice
	}
	if err := r.keepMessage(ctx, message); err != nil {
		return fmt.Errorf("messaging: keep a placeholder: %w", err)
	}
	return nil
}

// addressesOf is a party without its name, with addresses that every database can hold.
func addressesOf(party gateway.Party) gateway.Party {
	return gateway.Party{
		JID: gateway.JID(gateway.CleanID(string(party.JID))), LID: gateway.JID(gateway.CleanID(string(party.LID))),
	}
}
