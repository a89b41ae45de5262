// Messages that are pinned in a chat, for everybody in it.

package phone

import (
	"context"
	"slices"
	"time"

	"go.mau.fi/whatsmeow/proto/waE2E"

	"github.com/recado-project/recado/internal/sandbox/chat"
	"github.com/recado-project/recado/internal/sandbox/refusal"
)

// pinTimes are for how many seconds phones pin messages.
func pinTimes() []uint32 { return []uint32{86_400, 604_800, 2_592_000} }

// PinMessage lets the phone of a number pin a message for some seconds, for everybody in the
// chat; 0 unpins it.
func (s *Service) PinMessage(ctx context.Context, number, messageID string, seconds uint32) error {
	if seconds != 0 && !slices.Contains(pinTimes(), seconds) {
		return refusal.Invalidf("seconds", "must be one of: 0, 86400, 604800, 2592000")
	}
	of, err := s.config.Accounts.Named(ctx, number)
	if err != nil {
		return err
	}
	return s.sendChange(ctx, number, messageID, func(where chat.Chat, kept *storedMessage) (*waE2E.Message, error) {
		if where.Group != nil && !where.Group.MayPin(of) {
			return nil, refusal.Conflictf("only admins pin messages in this group")
		}
		key, err := s.messageKey(ctx, where, kept)
		if err != nil {
			return nil, err
		}
		kind := waE2E.PinInChatMessage_PIN_FOR_ALL
		if seconds == 0 {
			kind = waE2E.PinInChatMessage_UNPIN_FOR_ALL
		}
		return &waE2E.Message{
			PinInChatMessage:   &waE2E.PinInChatMessage{Key: key, Type: kind.Enum(), SenderTimestampMS: new(s.now().UnixMilli())},
			MessageContextInfo: &waE2E.MessageContextInfo{MessageAddOnDurationInSecs: &seconds},
		}, nil
	})
}

// pin pins a message that the phone shows, or unpins it. It changes nothing if the sender may
// not do that.
func (p *phone) pin(where chat.Chat, in incoming, pin *waE2E.PinInChatMessage, info *waE2E.MessageContextInfo) {
	if where.Group != nil && !where.Group.MayPin(in.sender) {
		return
	}
	until := int64(0)
	if pin.GetType() == waE2E.PinInChatMessage_PIN_FOR_ALL {
		until = time.Unix(in.at, 0).Add(time.Duration(info.GetMessageAddOnDurationInSecs()) * time.Second).UnixMilli()
	}
	p.u.Exec("UPDATE messages SET pinned_until = $1 WHERE number = $2 AND chat = $3 AND id = $4 AND deleted = 0",
		until, p.Account.Number, where.JID().String(), pin.GetKey().GetID())
}
