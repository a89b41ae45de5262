package platform

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/proto/waHistorySync"
	"go.mau.fi/whatsmeow/proto/waWeb"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/sandbox/appstate"
	"github.com/recado-project/recado/internal/sandbox/mediahost"
)

// maxFiller bounds the text of a made-up history.
const maxFiller = 128 << 20

// historyFiller is a made-up history: so many chats with so many texts of so many
// bytes. The zero value is none.
type historyFiller struct {
	Chats    int `json:"chats"`
	Messages int `json:"messages"` // of each chat
	Bytes    int `json:"bytes"`    // of each message

	Raw []byte `json:"raw,omitempty"` // a waHistorySync.HistorySync that is added as it stands
}

func (f *historyFiller) parse(text string) error {
	if text == "" {
		*f = historyFiller{}
		return nil
	}
	return json.Unmarshal([]byte(text), f)
}

// SetHistory makes up a history, besides the messages that the phone really has,
// for devices that are linked to it from now on: chats with people who do not
// exist, with so many messages each, of so many bytes. Zeros take it away.
func (s *Server) SetHistory(ctx context.Context, number string, chats, messages, textBytes int) error {
	switch {
	case chats < 0:
		return invalidf("chats", "must not be negative")
	case messages < 0:
		return invalidf("messages", "must not be negative")
	case textBytes < 0:
		return invalidf("bytes", "must not be negative")
	case chats > 0 && messages > 0 && textBytes > maxFiller/chats/messages:
		return invalidf("bytes", "all texts together must not have more than %d bytes", maxFiller)
	}
	of, err := s.phoneOf(ctx, number)
	if err != nil {
		return err
	}
	return s.changeHistory(ctx, of, func(filler *historyFiller) {
		filler.Chats, filler.Messages, filler.Bytes = chats, messages, textBytes
	})
}

// changeHistory changes what is made up for devices that are linked from now on.
func (s *Server) changeHistory(ctx context.Context, of *account, change func(*historyFiller)) error {
	of.mu.RLock()
	filler := of.filler
	of.mu.RUnlock()
	change(&filler)
	encoded, err := json.Marshal(filler)
	if err != nil {
		return fmt.Errorf("platform: keep history: %w", err)
	}
	u := s.newUnit()
	u.exec("UPDATE accounts SET history = $1 WHERE number = $2", string(encoded), of.number)
	u.then(func() {
		of.mu.Lock()
		of.filler = filler
		of.mu.Unlock()
	})
	return u.commit(ctx)
}

// handOver makes the history that a new device gets: what the phone shows, and
// what was made up. A short one comes along, a long one lies on the media host.
func (p *phone) handOver(ctx context.Context) (*waE2E.Message, error) {
	own := appstate.Mapping{PN: p.pn().String(), LID: p.lidJID().String()}
	p.mu.RLock()
	filler := p.filler
	p.mu.RUnlock()
	kept, err := p.keptByChat(ctx)
	if err != nil {
		return nil, err
	}
	if len(kept) == 0 && filler.Chats*filler.Messages == 0 && len(filler.Raw) == 0 {
		message, err := appstate.Bootstrap([]appstate.Mapping{own})
		if err != nil {
			return nil, fmt.Errorf("platform: build history: %w", err)
		}
		return message, nil
	}
	history, err := appstate.NewHistory()
	if err == nil {
		err = history.Add(&waHistorySync.HistorySync{PhoneNumberToLidMappings: []*waHistorySync.PhoneNumberToLIDMapping{
			{PnJID: &own.PN, LidJID: &own.LID},
		}})
	}
	for _, of := range kept {
		if err == nil {
			err = p.addConversation(ctx, history, of)
		}
	}
	if err == nil {
		err = filler.add(history, p.s.now().Unix())
	}
	if err != nil {
		return nil, fmt.Errorf("platform: build history: %w", err)
	}
	if err := history.AddRaw(filler.Raw); err != nil {
		return nil, fmt.Errorf("platform: build history: %w", err)
	}
	packed, err := history.Pack()
	if err != nil {
		return nil, fmt.Errorf("platform: build history: %w", err)
	}
	if len(packed) <= appstate.MaxInline {
		return appstate.Inline(packed), nil
	}
	left, err := p.s.media.Put("", mediahost.History, packed)
	if err != nil {
		return nil, fmt.Errorf("platform: leave history: %w", err)
	}
	return appstate.Announce(appstate.Left{
		DirectPath: left.DirectPath, Key: left.Key, SHA256: left.SHA256, EncryptedSHA256: left.EncryptedSHA256, Size: left.Size,
	}), nil
}

// keptByChat returns the phone's messages by chat, newest first, without those
// that were deleted.
func (p *phone) keptByChat(ctx context.Context) (chats [][]*keptMessage, err error) {
	rows, err := p.s.db.Reader().QueryContext(ctx, "SELECT "+messageColumns+
		" FROM messages WHERE number = $1 AND deleted = 0 ORDER BY chat, seq DESC", p.number)
	if err != nil {
		return nil, fmt.Errorf("platform: list messages: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		kept, err := scanMessage(rows.Scan)
		if err != nil {
			return nil, fmt.Errorf("platform: list messages: %w", err)
		}
		if last := len(chats) - 1; last >= 0 && chats[last][0].chat == kept.chat {
			chats[last] = append(chats[last], kept)
		} else {
			chats = append(chats, []*keptMessage{kept})
		}
	}
	return chats, rows.Err()
}

// addConversation adds one chat of the phone, under the LID of whom it is with.
func (p *phone) addConversation(ctx context.Context, history *appstate.History, kept []*keptMessage) error {
	jid, err := types.ParseJID(kept[0].chat)
	if err != nil {
		return fmt.Errorf("platform: read chat: %w", err)
	}
	where, ok, err := p.s.chatAt(ctx, jid)
	if err != nil || !ok {
		return err
	}
	part := &waHistorySync.HistorySync{}
	if with := where.person; with != nil {
		jid = with.lidJID()
		if pn, shown := with.shownPN().(types.JID); shown {
			part.PhoneNumberToLidMappings = []*waHistorySync.PhoneNumberToLIDMapping{
				{PnJID: new(pn.String()), LidJID: new(jid.String())},
			}
		}
		part.Pushnames = []*waHistorySync.Pushname{{ID: new(jid.String()), Pushname: new(with.displayName())}}
	}
	conversation := &waHistorySync.Conversation{ID: new(jid.String())}
	for _, of := range kept {
		message, err := of.message()
		if err != nil {
			return err
		}
		info := &waWeb.WebMessageInfo{
			Key:              &waCommon.MessageKey{RemoteJID: new(jid.String()), FromMe: &of.fromMe, ID: &of.id},
			Message:          message,
			MessageTimestamp: new(uint64(of.at / 1000)), //nolint:gosec // a time of this century
			Status:           of.status.web(),
		}
		if where.group != nil && !of.fromMe {
			author, err := p.s.authorOfKept(ctx, of)
			if err != nil {
				return err
			}
			info.Participant = new(author.lidJID().String())
			info.PushName = new(author.displayName())
		}
		conversation.Messages = append(conversation.Messages, &waHistorySync.HistorySyncMsg{Message: info})
	}
	part.Conversations = []*waHistorySync.Conversation{conversation}
	return history.Add(part)
}

// web is the status as histories have it.
func (st messageStatus) web() *waWeb.WebMessageInfo_Status {
	switch st {
	case statusDelivered:
		return waWeb.WebMessageInfo_DELIVERY_ACK.Enum()
	case statusRead:
		return waWeb.WebMessageInfo_READ.Enum()
	case statusPlayed:
		return waWeb.WebMessageInfo_PLAYED.Enum()
	default:
		return waWeb.WebMessageInfo_SERVER_ACK.Enum()
	}
}

// add adds the chats, newest message first. Their texts do not pack well, so
// that their size is what was asked for.
func (f historyFiller) add(history *appstate.History, now int64) error {
	const (
		firstNumber = 5511970000000
		firstLID    = 900_000_000_000_000
	)
	text := make([]byte, (f.Bytes+1)/2)
	for chat := range f.Chats {
		pn := strconv.Itoa(firstNumber+chat) + "@" + types.DefaultUserServer
		lid := strconv.Itoa(firstLID+chat) + "@" + types.HiddenUserServer
		conversation := &waHistorySync.Conversation{ID: &lid}
		for message := range f.Messages {
			if _, err := rand.Read(text); err != nil {
				return err
			}
			conversation.Messages = append(conversation.Messages, &waHistorySync.HistorySyncMsg{
				MsgOrderID: new(uint64(f.Messages - message)), //nolint:gosec // it is positive
				Message: &waWeb.WebMessageInfo{
					Key: &waCommon.MessageKey{
						RemoteJID: &lid, FromMe: new(message%2 == 1), ID: new(fmt.Sprintf("OLD%d-%d", chat, f.Messages-message)),
					},
					Message:          &waE2E.Message{Conversation: new(hex.EncodeToString(text)[:f.Bytes])},
					MessageTimestamp: new(uint64(now - 60*int64(message+1))), //nolint:gosec // a time of this century
					Status:           waWeb.WebMessageInfo_READ.Enum(),
				},
			})
		}
		err := history.Add(&waHistorySync.HistorySync{
			Conversations:            []*waHistorySync.Conversation{conversation},
			PhoneNumberToLidMappings: []*waHistorySync.PhoneNumberToLIDMapping{{PnJID: &pn, LidJID: &lid}},
			Pushnames:                []*waHistorySync.Pushname{{ID: &lid, Pushname: new("Contact " + strconv.Itoa(chat+1))}},
		})
		if err != nil {
			return err
		}
	}
	return nil
}
