package phone

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/chat"
	"github.com/recado-project/recado/internal/sandbox/content"
	"github.com/recado-project/recado/internal/sandbox/signal"
	"github.com/recado-project/recado/internal/sandbox/wire"
)

// phoneMessage is a message that a phone sends.
type phoneMessage struct {
	id      string
	chat    chat.Chat
	at      int64 // Unix seconds
	message *waE2E.Message
	peer    bool // for one of the account's own devices, not for a chat
	// unavailable means that linked devices are notified of the message but do not
	// get its content. The platform does that with view-once messages.
	unavailable bool
	// raw, if not nil, replaces parts of the message. message is nil if the raw
	// bytes are no message.
	raw *rawParts
}

// plaintext returns the bytes that are encrypted.
func (m *phoneMessage) plaintext() ([]byte, error) {
	if m.raw != nil {
		return m.raw.payload, nil
	}
	encoded, err := proto.Marshal(m.message)
	if err != nil {
		return nil, fmt.Errorf("phone: encode message: %w", err)
	}
	return encoded, nil
}

// send sends a message to a chat and shows it on the phone.
func (p *phone) send(ctx context.Context, to chat.Chat, message *waE2E.Message, id string) error {
	return p.sendAs(ctx, phoneMessage{id: id, chat: to, at: p.s.now().Unix(), message: message})
}

// sendAs sends a message and shows it on the phone.
func (p *phone) sendAs(ctx context.Context, out phoneMessage) error {
	if out.chat.Announces() && out.message != nil {
		content.Secretive(out.message)
	}
	in := incoming{sender: p.Account, group: out.chat.Group, status: out.chat.Status, id: out.id, at: out.at, message: out.message}
	if err := p.keep(ctx, out.chat, in, out.message, true); err != nil {
		return err
	}
	return p.distribute(ctx, out)
}

// distribute sends a message to every device of the receiver, and a copy to the
// linked devices of the sender.
func (p *phone) distribute(ctx context.Context, out phoneMessage) error {
	if out.chat.Group != nil {
		return p.distributeToGroup(ctx, out)
	}
	if out.chat.Status {
		return p.distributeStatus(ctx, out)
	}
	to := out.chat.Person
	recipients := p.Account.Companions()
	if to != p.Account && !to.Blocks(p.Account) {
		recipients = append(recipients, to.Companions()...)
	}
	for _, linked := range recipients {
		if err := p.encryptFor(ctx, linked, out, 0); err != nil {
			return err
		}
	}
	if to == p.Account || to.Blocks(p.Account) {
		return nil
	}
	return p.deliverToPhone(to, out)
}

// deliverToPhone puts a message into the mailbox of another phone.
func (p *phone) deliverToPhone(to *account.Account, out phoneMessage) error {
	if p.s.config.Load != nil || out.message == nil {
		return nil
	}
	payload, err := out.plaintext()
	if err != nil {
		return err
	}
	return p.u.ToPhone(to, plainStanza(p.Account, out, payload))
}

// encryptFor encrypts a message for one linked device and adds it to the device's
// outbox. count is how often the device has asked for it.
func (p *phone) encryptFor(ctx context.Context, to *account.Device, out phoneMessage, count int) error {
	message := out.message
	switch {
	case out.raw != nil && to.Account != p.Account:
		enc, err := p.encryptBytes(ctx, to, out.raw.payload)
		if err != nil || enc == nil {
			return err
		}
		return p.u.ToDevice(to, p.stanza(out, false, *enc))
	case message == nil:
		return nil // the account's own devices could not decode it either
	case out.unavailable:
		return p.u.ToDevice(to, p.stanza(out, to.Account == p.Account, waBinary.Node{
			Tag: "unavailable", Attrs: waBinary.Attrs{"type": "view_once"},
		}))
	case out.chat.IsShared():
		// A device that asks again may lack the key of the group's messages.
		key, err := p.distribution(ctx, out.chat.JID().String())
		if err != nil {
			return err
		}
		message = proto.CloneOf(message)
		message.SenderKeyDistributionMessage = key
	case to.Account == p.Account && !out.peer:
		message = &waE2E.Message{DeviceSentMessage: &waE2E.DeviceSentMessage{
			DestinationJID: new(out.chat.JID().String()), Message: message,
		}}
	}
	enc, err := p.encryptPairwise(ctx, to, message)
	if err != nil || enc == nil {
		return err
	}
	if count > 0 {
		enc.Attrs["count"] = count
	}
	return p.u.ToDevice(to, p.stanza(out, to.Account == p.Account, *enc))
}

// encryptPairwise encrypts a message for one linked device. It returns nil if the
// device was removed a moment ago.
func (p *phone) encryptPairwise(ctx context.Context, to *account.Device, message *waE2E.Message) (*waBinary.Node, error) {
	plaintext, err := proto.Marshal(message)
	if err != nil {
		return nil, fmt.Errorf("phone: encode message: %w", err)
	}
	return p.encryptBytes(ctx, to, plaintext)
}

// encryptBytes encrypts bytes for one linked device, whether they are a message or
// not. It returns nil if the device was removed a moment ago.
func (p *phone) encryptBytes(ctx context.Context, to *account.Device, plaintext []byte) (*waBinary.Node, error) {
	addr := account.SignalAddress(to.Account.LID, to.ID)
	has, err := p.signal.HasSession(ctx, addr)
	if err != nil {
		return nil, fmt.Errorf("phone: look for session: %w", err)
	}
	if !has {
		if err := p.startSession(ctx, to); err != nil {
			if errors.Is(err, wire.ErrItemNotFound) {
				return nil, nil
			}
			return nil, err
		}
	}
	kind, ciphertext, err := p.signal.Encrypt(ctx, addr, signal.Pad(plaintext))
	if err != nil {
		return nil, fmt.Errorf("phone: encrypt: %w", err)
	}
	return &waBinary.Node{Tag: "enc", Attrs: waBinary.Attrs{"v": "2", "type": kind}, Content: ciphertext}, nil
}

// stanza builds the stanza for a linked device.
func (p *phone) stanza(out phoneMessage, own bool, encs ...waBinary.Node) waBinary.Node {
	attrs := waBinary.Attrs{
		"from": p.Account.LIDJID(), "id": out.id, "t": out.at, "type": content.StanzaKind(out.message), "edit": content.EditKind(out.message),
		"notify": p.Account.DisplayName(), "addressing_mode": "lid",
	}
	if raw := out.raw; raw != nil {
		for name, value := range map[string]string{"type": raw.kind, "edit": raw.edit, "notify": raw.pushName} {
			if value != "" {
				attrs[name] = value
			}
		}
	}
	var username any // nil: there is none
	if name := p.Account.Username(); name != "" {
		username = name
	}
	switch {
	case out.chat.IsShared():
		attrs["from"], attrs["participant"], attrs["participant_pn"] = out.chat.JID(), p.Account.LIDJID(), p.Account.ShownPN()
		attrs["participant_username"] = username
	case out.peer:
		attrs["category"] = "peer"
	case own:
		attrs["recipient"], attrs["peer_recipient_pn"] = out.chat.Person.LIDJID(), out.chat.Person.ShownPN()
	default:
		attrs["sender_pn"], attrs["username"] = p.Account.ShownPN(), username
	}
	return waBinary.Node{Tag: "message", Attrs: attrs, Content: encs}
}

// sentMessage loads a message that the phone has sent, so that it can be sent
// again. It returns nil if there is none with this ID.
func (p *phone) sentMessage(ctx context.Context, id string) (*phoneMessage, error) {
	kept, err := p.s.findMessage(ctx, p.Account, id, true)
	if err == nil && kept == nil {
		kept, err = p.s.findChange(ctx, p.Account, id)
	}
	if err != nil || kept == nil {
		return nil, err
	}
	jid, err := types.ParseJID(kept.chat)
	if err != nil {
		return nil, fmt.Errorf("phone: read chat: %w", err)
	}
	to, ok, err := p.s.config.Chats.Lookup(ctx, jid)
	if err != nil || !ok {
		return nil, err
	}
	message, err := kept.message()
	if err != nil {
		return nil, err
	}
	return &phoneMessage{id: kept.id, chat: to, at: time.UnixMilli(kept.at).Unix(), message: message}, nil
}

// mayRead reports whether an account may read the message that the phone has sent.
func (p *phone) mayRead(ctx context.Context, m *phoneMessage, who *account.Account) (bool, error) {
	switch {
	case m.chat.Group != nil:
		return m.chat.Group.Has(who), nil
	case m.chat.Status && who != p.Account:
		people, err := p.s.config.Audience(ctx, p.Account)
		return slices.Contains(people, who), err
	default:
		return who == m.chat.Person || who == p.Account, nil
	}
}
