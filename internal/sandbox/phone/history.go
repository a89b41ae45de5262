// The history that a phone sends to a newly linked device.

package phone

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/proto/waHistorySync"
	"go.mau.fi/whatsmeow/proto/waWeb"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/appstate"
	"github.com/recado-project/recado/internal/sandbox/mediahost"
	"github.com/recado-project/recado/internal/sandbox/receipt"
	"github.com/recado-project/recado/internal/sandbox/refusal"
)

// maxFiller bounds all texts of a made-up history together, in bytes.
const maxFiller = 128 << 20

// SetHistory sets the history that devices get besides the phone's real messages
// when they are linked from now on. It has chats with people who do not exist.
// The zero value removes it.
func (s *Service) SetHistory(ctx context.Context, number string, history account.MadeUpHistory) error {
	switch {
	case len(history.Raw) > maxRaw:
		return refusal.Invalidf("raw", "must not have more than %d bytes", maxRaw)
	case (proto.UnmarshalOptions{AllowPartial: true}).Unmarshal(history.Raw, &waHistorySync.HistorySync{}) != nil:
		return refusal.Invalidf("raw", "must be a waHistorySync.HistorySync")
	case history.Chats < 0:
		return refusal.Invalidf("chats", "must not be negative")
	case history.Messages < 0:
		return refusal.Invalidf("messages", "must not be negative")
	case history.Bytes < 0:
		return refusal.Invalidf("bytes", "must not be negative")
	case history.Chats > 0 && history.Messages > 0 && history.Bytes > maxFiller/history.Chats/history.Messages:
		return refusal.Invalidf("bytes", "all texts together must not have more than %d bytes", maxFiller)
	}
	of, err := s.config.Accounts.Named(ctx, number)
	if err != nil {
		return err
	}
	encoded, err := json.Marshal(history)
	if err != nil {
		return fmt.Errorf("phone: keep history: %w", err)
	}
	u := s.config.Accounts.NewUnit()
	u.Exec("UPDATE accounts SET history = $1 WHERE number = $2", string(encoded), of.Number)
	u.Then(func() { of.SetMadeUpHistory(history) })
	return u.Commit(ctx)
}

// buildHistory builds the message with the history for a new device: the phone's
// messages and the made-up ones.
func (p *phone) buildHistory(ctx context.Context) (*waE2E.Message, error) {
	own := appstate.Mapping{PN: p.Account.PN().String(), LID: p.Account.LIDJID().String()}
	filler := p.Account.MadeUpHistory()
	kept, err := p.messagesByChat(ctx)
	if err != nil {
		return nil, err
	}
	if len(kept) == 0 && filler.Chats*filler.Messages == 0 && len(filler.Raw) == 0 {
		message, err := appstate.Bootstrap([]appstate.Mapping{own})
		if err != nil {
			return nil, fmt.Errorf("phone: build history: %w", err)
		}
		return message, nil
	}
	packed, err := p.packHistory(ctx, own, kept, filler)
	if err != nil {
		return nil, fmt.Errorf("phone: build history: %w", err)
	}
	return p.announce(packed)
}

// announce builds the message with a packed history. A long one is put on the media host.
func (p *phone) announce(packed []byte) (*waE2E.Message, error) {
	if len(packed) <= appstate.MaxInline {
		return appstate.Inline(packed), nil
	}
	left, err := p.s.config.Media.Put("", mediahost.History, packed)
	if err != nil {
		return nil, fmt.Errorf("phone: leave history: %w", err)
	}
	return appstate.Announce(appstate.Left{
		DirectPath: left.DirectPath, Key: left.Key, SHA256: left.SHA256, EncryptedSHA256: left.EncryptedSHA256, Size: left.Size,
	}), nil
}

// packHistory returns the history with the phone's messages and the made-up ones,
// compressed.
func (p *phone) packHistory(
	ctx context.Context, own appstate.Mapping, kept [][]*storedMessage, filler account.MadeUpHistory,
) ([]byte, error) {
	history, err := appstate.NewHistory(waHistorySync.HistorySync_INITIAL_BOOTSTRAP)
	if err != nil {
		return nil, err
	}
	err = history.Add(&waHistorySync.HistorySync{PhoneNumberToLidMappings: []*waHistorySync.PhoneNumberToLIDMapping{
		{PnJID: &own.PN, LidJID: &own.LID},
	}})
	if err != nil {
		return nil, err
	}
	for _, of := range kept {
		if err := p.addConversation(ctx, history, of, nil); err != nil {
			return nil, err
		}
	}
	if err := history.AddMadeUp(filler.Chats, filler.Messages, filler.Bytes, p.s.now().Unix()); err != nil {
		return nil, err
	}
	if err := history.AddRaw(filler.Raw); err != nil {
		return nil, err
	}
	return history.Pack()
}

// messagesByChat returns the phone's messages by chat, newest first. It leaves out
// deleted ones.
func (p *phone) messagesByChat(ctx context.Context) (chats [][]*storedMessage, err error) {
	rows, err := p.s.db.Reader().QueryContext(ctx, "SELECT "+messageColumns+
		" FROM messages WHERE number = $1 AND deleted = 0 ORDER BY chat, seq DESC", p.Account.Number)
	if err != nil {
		return nil, fmt.Errorf("phone: list messages: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		kept, err := scanMessage(rows.Scan)
		if err != nil {
			return nil, fmt.Errorf("phone: list messages: %w", err)
		}
		if last := len(chats) - 1; last >= 0 && chats[last][0].chat == kept.chat {
			chats[last] = append(chats[last], kept)
		} else {
			chats = append(chats, []*storedMessage{kept})
		}
	}
	return chats, rows.Err()
}

// addConversation adds one of the phone's chats. Chats with people have their LID. end says what
// the phone has besides; nil says nothing.
func (p *phone) addConversation(
	ctx context.Context, history *appstate.History, kept []*storedMessage, end *waHistorySync.Conversation_EndOfHistoryTransferType,
) error {
	jid, err := types.ParseJID(kept[0].chat)
	if err != nil {
		return fmt.Errorf("phone: read chat: %w", err)
	}
	where, ok, err := p.s.config.Chats.At(ctx, jid)
	if err != nil || !ok {
		return err
	}
	part := &waHistorySync.HistorySync{}
	if with := where.Person; with != nil {
		jid = with.LIDJID()
		if pn, shown := with.ShownPN().(types.JID); shown {
			part.PhoneNumberToLidMappings = []*waHistorySync.PhoneNumberToLIDMapping{
				{PnJID: new(pn.String()), LidJID: new(jid.String())},
			}
		}
		part.Pushnames = []*waHistorySync.Pushname{{ID: new(jid.String()), Pushname: new(with.DisplayName())}}
	}
	conversation := &waHistorySync.Conversation{ID: new(jid.String()), EndOfHistoryTransferType: end}
	for n, of := range kept {
		message, err := of.message()
		if err != nil {
			return err
		}
		info := &waWeb.WebMessageInfo{
			Key:              &waCommon.MessageKey{RemoteJID: new(jid.String()), FromMe: &of.fromMe, ID: &of.id},
			Message:          message,
			MessageTimestamp: new(uint64(of.at / 1000)), //nolint:gosec // a time of this century
			Status:           webStatus(of.status),
			Starred:          &of.starred,
		}
		if where.Group != nil && !of.fromMe {
			author, err := p.s.authorOfStored(ctx, of)
			if err != nil {
				return err
			}
			info.Participant = new(author.LIDJID().String())
			info.PushName = new(author.DisplayName())
		}
		conversation.Messages = append(conversation.Messages, &waHistorySync.HistorySyncMsg{
			Message: info, MsgOrderID: new(uint64(len(kept) - n)), //nolint:gosec // it is positive
		})
	}
	part.Conversations = []*waHistorySync.Conversation{conversation}
	return history.Add(part)
}

// webStatus converts a status to its form in histories.
func webStatus(st receipt.Status) *waWeb.WebMessageInfo_Status {
	switch st {
	case receipt.StatusDelivered:
		return waWeb.WebMessageInfo_DELIVERY_ACK.Enum()
	case receipt.StatusRead:
		return waWeb.WebMessageInfo_READ.Enum()
	case receipt.StatusPlayed:
		return waWeb.WebMessageInfo_PLAYED.Enum()
	default:
		return waWeb.WebMessageInfo_SERVER_ACK.Enum()
	}
}
