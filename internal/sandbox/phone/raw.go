// Messages and receipts that no honest phone would send, for tests.

package phone

import (
	"context"
	"fmt"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"github.com/recado-project/recado/internal/sandbox/mediahost"
	"github.com/recado-project/recado/internal/sandbox/receipt"
	"github.com/recado-project/recado/internal/sandbox/refusal"
	"github.com/recado-project/recado/internal/sandbox/wire"
)

// maxRaw bounds a raw stanza in bytes, because it must fit into one frame.
const maxRaw = 8 << 20

// RawMessage is a message that is sent as the caller gives it, to test how clients
// handle malicious senders. Its texts may have any bytes.
type RawMessage struct {
	To      string // a number or a chat ID
	Payload []byte // the bytes that are encrypted: a waE2E.Message, or anything else

	// These become attributes of the stanza. Empty ones are as in an ordinary
	// message.
	ID       string
	Kind     string // its type: text, media, reaction, poll, …
	Edit     string // 1: an edit, 7: the sender's revoke, 8: an admin's
	PushName string
	At       int64 // Unix seconds; 0: now
}

// rawParts are the parts of a raw message that replace those of an ordinary one.
type rawParts struct {
	payload              []byte
	kind, edit, pushName string
}

// SendRaw lets the phone of a number send a message without checking it. The
// message is encrypted and delivered like any other. The phone itself does not show
// it, and other phones get it only if it can be decoded. SendRaw returns the ID of
// the message once it is committed.
func (s *Service) SendRaw(ctx context.Context, number string, m RawMessage) (messageID string, err error) {
	from, to, err := s.senderAndChat(ctx, number, m.To)
	if err != nil {
		return "", err
	}
	if size := len(m.Payload) + len(m.ID) + len(m.Kind) + len(m.Edit) + len(m.PushName); size > maxRaw {
		return "", refusal.Invalidf("", "the message must not have more than %d bytes in all", maxRaw)
	}
	if m.ID == "" {
		m.ID = wire.NewMessageID()
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
	from.LockPhone()
	defer from.UnlockPhone()
	u := s.config.Accounts.NewUnit()
	phone := s.openPhone(u, from)
	if err := carriable(phone.stanza(out, false)); err != nil {
		return "", err
	}
	if readable {
		// A device that can't decrypt the message asks for it again.
		u.Exec("INSERT OR REPLACE INTO changes (number, id, chat, at, payload) VALUES ($1, $2, $3, $4, $5)",
			from.Number, m.ID, to.JID().String(), m.At*1000, m.Payload)
	}
	if err := phone.distribute(ctx, out); err != nil {
		return "", err
	}
	return m.ID, u.Commit(ctx)
}

// carriable refuses stanzas that can't be encoded and decoded again, because they
// would be delivered over and over.
func carriable(n waBinary.Node) error {
	encoded, err := wire.EncodeStanza(n)
	if err == nil {
		n, err = wire.DecodeStanza(encoded)
	}
	if err != nil || wire.AttrString(n, "id") == "" {
		return refusal.Invalidf("", "the wire can't carry this stanza")
	}
	return nil
}

// RawReceipt is a receipt that is sent as the caller gives it, for any messages in
// any chat.
type RawReceipt struct {
	To   string // the number of the account whose linked devices get it
	Chat string // the JID of a group, or of status posts; "": the chat with the phone itself
	IDs  []string
	Kind string // read, played, …; "" says delivered
	At   int64  // Unix seconds; 0: now
}

// SendRawReceipt lets the phone of a number send a receipt without checking it.
func (s *Service) SendRawReceipt(ctx context.Context, number string, r RawReceipt) error {
	from, err := s.config.Accounts.Named(ctx, number)
	if err != nil {
		return err
	}
	to, err := s.config.Accounts.NamedIn(ctx, "to", r.To)
	if err != nil {
		return err
	}
	if len(r.IDs) == 0 || r.IDs[0] == "" || len(r.IDs) > receipt.MaxItems {
		return refusal.Invalidf("messageIds", "must be 1 to %d ids, of which the first is not empty", receipt.MaxItems)
	}
	if r.At == 0 {
		r.At = s.now().Unix()
	}
	params := receipt.Params{From: from.LIDJID(), IDs: r.IDs, Kind: r.Kind, At: r.At}
	if r.Chat != "" {
		group, err := types.ParseJID(r.Chat)
		if err != nil || group.Server != types.GroupServer && group != types.StatusBroadcastJID {
			return refusal.Invalidf("chat", "must be the chat ID of a group, or status@broadcast")
		}
		params.From, params.Participant = group, from.LIDJID()
	}
	stanza := receipt.Node(params)
	if err := carriable(stanza); err != nil {
		return err
	}
	u := s.config.Accounts.NewUnit()
	for _, linked := range to.Companions() {
		if err := u.ToDevice(linked, stanza); err != nil {
			return err
		}
	}
	return u.Commit(ctx)
}

// Upload puts a file on the media host and returns what a message needs to point to
// it. kind is a type of messages, or history.
func (s *Service) Upload(kind string, content []byte) (mediahost.Pointer, error) {
	kinds := map[string]mediahost.Kind{
		"image": mediahost.Image, "sticker": mediahost.Image, "video": mediahost.Video, "voice": mediahost.Audio,
		"audio": mediahost.Audio, "document": mediahost.Document, "history": mediahost.History,
	}
	as, ok := kinds[kind]
	if !ok {
		return mediahost.Pointer{}, refusal.Invalidf("type", "must be one of image, sticker, video, voice, audio, document, history")
	}
	pointer, err := s.config.Media.Put("", as, content)
	if err != nil {
		return pointer, fmt.Errorf("phone: %w", err)
	}
	return pointer, nil
}
