package platform

import (
	"context"
	"fmt"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/proto/waHistorySync"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"github.com/recado-project/recado/internal/sandbox/mediahost"
)

// maxRaw bounds what one raw stanza carries: a frame has to hold it.
const maxRaw = 8 << 20

// RawMessage is a message as its sender wants it, for tests of what a client does
// with senders that mean it ill. Texts may hold any bytes.
type RawMessage struct {
	To      string // a number or a chat ID
	Payload []byte // what is encrypted: a waE2E.Message, or anything else

	// What the stanza says; "" leaves it as for an ordinary message.
	ID       string
	Kind     string // its type: text, media, reaction, poll, …
	Edit     string // 1: an edit, 7: the sender's revoke, 8: an admin's
	PushName string
	At       int64 // Unix seconds; 0: now
}

// rawParts are what a raw message says otherwise than an ordinary one.
type rawParts struct {
	payload              []byte
	kind, edit, pushName string
}

// SendRaw has the phone of the number send a message that is not looked at. It is
// encrypted and delivered as any other; the phone itself does not show it, and
// other phones get it where it is a message at all. It returns the message's id
// once it is committed.
func (s *Server) SendRaw(ctx context.Context, number string, m RawMessage) (messageID string, err error) {
	from, to, err := s.senderAndChat(ctx, number, m.To)
	if err != nil {
		return "", err
	}
	if size := len(m.Payload) + len(m.ID) + len(m.Kind) + len(m.Edit) + len(m.PushName); size > maxRaw {
		return "", invalidf("", "the message must not have more than %d bytes in all", maxRaw)
	}
	if m.ID == "" {
		m.ID = newMessageID()
	}
	if m.At == 0 {
		m.At = s.now().Unix()
	}
	out := phoneMessage{
		id: m.ID, chat: to, at: m.At, message: &waE2E.Message{},
		raw: &rawParts{payload: m.Payload, kind: m.Kind, edit: m.Edit, pushName: m.PushName},
	}
	readable := proto.Unmarshal(m.Payload, out.message) == nil
	if !readable {
		out.message = nil
	}
	from.phone.Lock()
	defer from.phone.Unlock()
	u := s.newUnit()
	phone := s.openPhone(u, from)
	if err := carriable(phone.stanza(out, false)); err != nil {
		return "", err
	}
	if readable {
		// For a device that can't read it, and asks for it again.
		u.exec("INSERT OR REPLACE INTO changes (number, id, chat, at, payload) VALUES ($1, $2, $3, $4, $5)",
			from.number, m.ID, to.jid().String(), m.At*1000, m.Payload)
	}
	if err := phone.distribute(ctx, out); err != nil {
		return "", err
	}
	return m.ID, u.commit(ctx)
}

// carriable reports whether a stanza comes back from the wire as it went there;
// what does not would be delivered for ever.
func carriable(n waBinary.Node) error {
	encoded, err := encodeStanza(n)
	if err == nil {
		n, err = decodeStanza(encoded)
	}
	if err != nil || attrString(n, "id") == "" {
		return invalidf("", "the wire can't carry this stanza")
	}
	return nil
}

// RawReceipt is a receipt as its sender wants it: for whatever messages, of a
// chat that it need not be in.
type RawReceipt struct {
	To   string // a number: whose linked devices get it
	Chat string // the JID of a group; "": the chat with the phone itself
	IDs  []string
	Kind string // read, played, …; "" says delivered
	At   int64  // Unix seconds; 0: now
}

// SendRawReceipt has the phone of the number send a receipt that is not looked
// at.
func (s *Server) SendRawReceipt(ctx context.Context, number string, r RawReceipt) error {
	from, err := s.phoneOf(ctx, number)
	if err != nil {
		return err
	}
	to, err := s.chatOf(ctx, "to", r.To)
	if err != nil {
		return err
	}
	if len(r.IDs) == 0 || r.IDs[0] == "" || len(r.IDs) > maxReceiptItems {
		return invalidf("messageIds", "must be 1 to %d ids, of which the first is not empty", maxReceiptItems)
	}
	if r.At == 0 {
		r.At = s.now().Unix()
	}
	params := receiptParams{from: from.lidJID(), ids: r.IDs, kind: r.Kind, at: r.At}
	if r.Chat != "" {
		group, err := types.ParseJID(r.Chat)
		if err != nil || group.Server != types.GroupServer {
			return invalidf("chat", "must be the chat ID of a group")
		}
		params.from, params.participant = group, from.lidJID()
	}
	stanza := receipt(params)
	if err := carriable(stanza); err != nil {
		return err
	}
	u := s.newUnit()
	for _, linked := range to.companions() {
		if err := u.toDevice(linked, stanza); err != nil {
			return err
		}
	}
	return u.commit(ctx)
}

// SetRawHistory adds a part, a waHistorySync.HistorySync as it stands, to the
// history of devices that are linked from now on; an empty one takes it away.
func (s *Server) SetRawHistory(ctx context.Context, number string, part []byte) error {
	if len(part) > maxRaw {
		return invalidf("raw", "must not have more than %d bytes", maxRaw)
	}
	if err := (proto.UnmarshalOptions{AllowPartial: true}).Unmarshal(part, &waHistorySync.HistorySync{}); err != nil {
		return invalidf("raw", "must be a waHistorySync.HistorySync")
	}
	of, err := s.phoneOf(ctx, number)
	if err != nil {
		return err
	}
	return s.changeHistory(ctx, of, func(filler *historyFiller) { filler.Raw = part })
}

// Upload puts a file on the media host, as a message has it, and returns what a
// message says about it. kind is a type of messages, or history.
func (s *Server) Upload(kind string, content []byte) (mediahost.Pointer, error) {
	kinds := map[string]mediahost.Kind{
		"image": mediahost.Image, "sticker": mediahost.Image, "video": mediahost.Video, "voice": mediahost.Audio,
		"audio": mediahost.Audio, "document": mediahost.Document, "history": mediahost.History,
	}
	as, ok := kinds[kind]
	if !ok {
		return mediahost.Pointer{}, invalidf("type", "must be one of image, sticker, video, voice, audio, document, history")
	}
	pointer, err := s.media.Put("", as, content)
	if err != nil {
		return pointer, fmt.Errorf("platform: %w", err)
	}
	return pointer, nil
}
