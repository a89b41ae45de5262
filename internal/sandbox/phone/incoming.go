package phone

import (
	"context"
	"fmt"
	"strings"
	"time"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/chat"
	"github.com/recado-project/recado/internal/sandbox/content"
	"github.com/recado-project/recado/internal/sandbox/group"
	"github.com/recado-project/recado/internal/sandbox/phonenumber"
	"github.com/recado-project/recado/internal/sandbox/receipt"
	"github.com/recado-project/recado/internal/sandbox/wire"
	"github.com/recado-project/recado/internal/sqlite"
)

// incoming is a message that a phone has received and decrypted.
type incoming struct {
	sender  *account.Account
	device  uint16       // of the sender; 0 is the sender's phone
	group   *group.Group // nil in a personal chat
	status  bool         // a status post, or a change of one
	id      string
	address types.JID // to which the sender wrote; zero if it does not matter
	at      int64     // Unix seconds
	peer    bool      // from one of the account's linked devices, for the phone itself
	message *waE2E.Message
}

// sent returns what receipts need to know of the message.
func (in incoming) sent() receipt.Sent {
	m := receipt.Sent{Sender: in.sender, Device: in.device, ID: in.id, Address: in.address}
	if where := in.where(); where.IsShared() {
		m.Group = where.JID()
	}
	return m
}

// where is the chat that the message came into.
func (in incoming) where() chat.Chat {
	if in.status {
		return chat.Chat{Status: true}
	}
	return chat.Chat{Person: in.sender, Group: in.group}
}

// accept keeps a message or applies it, sends the delivery receipt, and answers if
// the phone echoes.
func (p *phone) accept(ctx context.Context, in incoming) error {
	if in.peer {
		return p.acceptPeer(ctx, in)
	}
	where, message := in.where(), in.message
	fromMe := in.sender == p.Account
	if copied := message.GetDeviceSentMessage(); copied != nil && fromMe {
		jid, err := types.ParseJID(copied.GetDestinationJID())
		if err != nil {
			return nil //nolint:nilerr // a client's mistake that only it will notice
		}
		var known bool
		if where, known, err = p.s.config.Chats.At(ctx, jid); err != nil || !known {
			return err
		}
		message = copied.GetMessage()
	}
	secret := content.SecretOf(message)
	message = content.Unwrap(message)
	if secret != nil && content.SecretOf(message) == nil {
		content.SetSecret(message, secret) // the wrapping had it
	}
	done := p.applyChange(where, in, message)
	if !done && content.IsContent(message) {
		if err := p.keep(ctx, where, in, message, fromMe); err != nil {
			return err
		}
	}
	if fromMe {
		return nil
	}
	if err := p.s.config.Receipts.Answer(ctx, p.u, p.Account, in.sent(), receipt.Delivered); err != nil {
		return err
	}
	// Two phones that echo each other's messages would never stop; and nobody answers a status
	// post with one.
	echoes := !where.Status && phonenumber.BehaviourOf(p.Account.Number).Echoes && !phonenumber.BehaviourOf(in.sender.Number).Echoes
	if text := content.TextOf(message); !done && text != "" && echoes {
		return p.send(ctx, where, &waE2E.Message{Conversation: new(text)}, wire.NewMessageID())
	}
	return nil
}

// keep lets the phone show a message. If it shows the message already, nothing is
// changed.
func (p *phone) keep(ctx context.Context, where chat.Chat, in incoming, message *waE2E.Message, fromMe bool) error {
	payload, err := proto.Marshal(message)
	if err != nil {
		return fmt.Errorf("phone: keep message: %w", err)
	}
	file, plain, err := p.fetch(ctx, message)
	if err != nil {
		return err
	}
	var problems []string
	if in.device != 0 && !fromMe && p.s.config.Load == nil { // phones send what tests want them to
		if problems, err = p.judge(ctx, message, plain); err != nil {
			return err
		}
	}
	status, due := receipt.StatusDelivered, int64(0)
	if fromMe {
		status = receipt.StatusSent
	} else if p.readsByItself() {
		due = p.s.now().Add(p.s.config.ReadDelay).UnixMilli()
	}
	// Receipts may come before the message if linked devices are faster than the
	// phone.
	overtaken := fromMe || len(p.Account.Companions()) > 0
	p.u.Ring(p.Account.Number)
	p.u.Write(func(ctx context.Context, tx *sqlite.Tx) error {
		known := status
		if overtaken {
			early, err := receipt.TakeEarly(ctx, tx, p.Account, in.id)
			if err != nil {
				return err
			}
			known = max(known, early)
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO messages
			(number, chat, sender, device, address, id, from_me, at, payload, status, read_due, media_sha256, media_size, problems)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) ON CONFLICT (number, id, sender) DO NOTHING`,
			p.Account.Number, where.JID().String(), in.sender.PN().String(), account.DeviceRef(in.sender.LID, in.device), in.address.String(),
			in.id, fromMe, in.at*1000, payload, known, due, file.sha256, file.size, strings.Join(problems, "\n"))
		return err
	})
	if due > 0 {
		p.u.Then(func() { p.s.reads.wakeAt(time.UnixMilli(due)) })
	}
	return nil
}

// readsByItself reports whether the phone reads messages without a caller's help.
// Phones with linked devices do not: the devices read.
func (p *phone) readsByItself() bool {
	return phonenumber.BehaviourOf(p.Account.Number).Reads && len(p.Account.Companions()) == 0
}

// acceptPeer answers a request of one of the account's linked devices to the phone.
func (p *phone) acceptPeer(ctx context.Context, in incoming) error {
	linked := p.Account.Companion(in.device)
	if linked == nil {
		return nil
	}
	request := in.message.GetProtocolMessage()
	if copied := in.message.GetDeviceSentMessage(); copied != nil { // some clients wrap it as what the other devices have to show
		request = copied.GetMessage().GetProtocolMessage()
	}
	if request.GetType() == waE2E.ProtocolMessage_APP_STATE_SYNC_KEY_REQUEST {
		return p.shareAppStateKey(ctx, linked)
	}
	if asked := request.GetPeerDataOperationRequestMessage().GetHistorySyncOnDemandRequest(); asked != nil {
		return p.sendOlder(ctx, linked, in.id, asked)
	}
	return nil
}

// plainStanza builds the stanza that carries a message from one phone to another.
func plainStanza(from *account.Account, out phoneMessage, payload []byte) waBinary.Node {
	n := waBinary.Node{
		Tag:     stanzaPlain,
		Attrs:   waBinary.Attrs{"from": from.LIDJID(), "id": out.id, "t": out.at},
		Content: payload,
	}
	if out.chat.IsShared() {
		n.Attrs["from"], n.Attrs["participant"] = out.chat.JID(), from.LIDJID()
	}
	return n
}
