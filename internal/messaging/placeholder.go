package messaging

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/recado-project/recado/internal/gateway"
)

// arrival names something that came from the platform, for the placeholder that is
// kept where it can't be kept itself.
type arrival struct {
	what     string // for people and programs: "message", "receipt"
	chat, by gateway.Party
	fromMe   bool
	key      string // the same for every delivery
	at       time.Time
}

// orPlaceholder decides what comes of an arrival that could not be kept. Where the
// database is in trouble, the error is returned, and the platform brings the arrival
// again. Where the database refuses what it holds, it would refuse it each time, and
// with it everything that comes after it: so a message of the type "unsupported"
// takes its place, which tells that there was something.
//
// The connector cleans what it hands over, so this is the second line.
func (r receiver) orPlaceholder(ctx context.Context, a arrival, err error) error {
	if err == nil || !errors.Is(err, gateway.ErrUnstorable) {
		return err
	}
	r.config.Logger.ErrorContext(ctx, "the database refuses what arrived; a placeholder is kept for it",
		slog.String("instance_id", r.instanceID), slog.String("what", a.what), slog.Any("error", err))
	sum := sha256.Sum256([]byte(a.what + "\x00" + a.key))
	id := hex.EncodeToString(sum[:16])
	message := gateway.Message{
		PlatformID: "placeholder-" + id, WireKey: "placeholder/" + id,
		Chat: addressesOf(a.chat), Sender: addressesOf(a.by), FromMe: a.fromMe,
		Source: gateway.SourcePeer, Type: gateway.TypeUnsupported, Payload: []byte{},
		Details: gateway.Details{Unsupported: "not_kept:" + a.what},
		Status:  gateway.MessageDelivered, SentAt: a.at, CreatedAt: a.at,
	}
	if a.fromMe {
		message.Source = gateway.SourceDevice
	}
	if err := r.keepMessage(ctx, message); err != nil {
		return fmt.Errorf("messaging: keep a placeholder: %w", err)
	}
	return nil
}

// addressesOf is a party without its name, with addresses that any database holds.
func addressesOf(party gateway.Party) gateway.Party {
	return gateway.Party{
		JID: gateway.JID(gateway.CleanID(string(party.JID))), LID: gateway.JID(gateway.CleanID(string(party.LID))),
	}
}
