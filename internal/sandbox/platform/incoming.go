package platform

import (
	"context"
	"fmt"
	"time"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"github.com/recado-project/recado/internal/sqlite"
)

// incoming is a message that a phone has got and can read.
type incoming struct {
	sender  *account
	device  uint16 // of the sender; 0 is the sender's phone
	group   *group // nil in a personal chat
	id      string
	address types.JID // to which the sender wrote, zero where nobody cares
	at      int64     // Unix seconds
	peer    bool      // meant for the phone itself, by its own linked device
	message *waE2E.Message
}

// accept keeps a message, tells the sender's devices that it was delivered, and
// does what the phone's owner would do.
func (p *phone) accept(ctx context.Context, in incoming) error {
	if in.peer {
		return p.acceptPeer(ctx, in)
	}
	where, message := chat{person: in.sender, group: in.group}, in.message
	fromMe := in.sender == p.account
	if copied := message.GetDeviceSentMessage(); copied != nil && fromMe {
		jid, err := types.ParseJID(copied.GetDestinationJID())
		if err != nil {
			return nil //nolint:nilerr // a client's mistake that only it will notice
		}
		var known bool
		if where, known, err = p.s.chatAt(ctx, jid); err != nil || !known {
			return err
		}
		message = copied.GetMessage()
	}
	message = unwrap(message)
	done := p.applyChange(where, in, message)
	if !done && isContent(message) {
		if err := p.keep(ctx, where, in, message, fromMe); err != nil {
			return err
		}
	}
	if fromMe {
		return nil
	}
	if err := p.u.receiptTo(ctx, p.account, in, receiptDelivered); err != nil {
		return err
	}
	// Two phones that answer everything would never end.
	echoes := behaviourOf(p.number).echoes && !behaviourOf(in.sender.number).echoes
	if text := textOf(message); !done && text != "" && echoes {
		return p.send(ctx, where, &waE2E.Message{Conversation: new(text)}, newMessageID())
	}
	return nil
}

// keep puts a message where the phone's owner sees it. One that is there
// already stays as it is.
func (p *phone) keep(ctx context.Context, where chat, in incoming, message *waE2E.Message, fromMe bool) error {
	payload, err := proto.Marshal(message)
	if err != nil {
		return fmt.Errorf("platform: keep message: %w", err)
	}
	file, err := p.fetch(ctx, message)
	if err != nil {
		return err
	}
	status, due := statusDelivered, int64(0)
	if fromMe {
		status = statusSent
	} else if p.readsByItself() {
		due = p.s.now().Add(p.s.readDelay).UnixMilli()
	}
	// Receipts come early where the sender, or a reader, is a linked device.
	overtaken := fromMe || len(p.companions()) > 0
	p.u.write(func(ctx context.Context, tx *sqlite.Tx) error {
		known := status
		if overtaken {
			early, err := takeEarlyReceipt(ctx, tx, p.account, in.id)
			if err != nil {
				return err
			}
			known = max(known, early)
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO messages
			(number, chat, sender, device, address, id, from_me, at, payload, status, read_due, media_sha256, media_size)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) ON CONFLICT (number, id, sender) DO NOTHING`,
			p.number, where.jid().String(), in.sender.pn().String(), deviceRef(in.sender.lid, in.device), in.address.String(),
			in.id, fromMe, in.at*1000, payload, known, due, file.sha256, file.size)
		return err
	})
	if due > 0 {
		p.u.then(func() { p.s.reads.wakeAt(time.UnixMilli(due)) })
	}
	return nil
}

// readsByItself tells whether the phone reads without being told. One that is
// linked to clients leaves reading to them.
func (p *phone) readsByItself() bool {
	return behaviourOf(p.number).reads && len(p.companions()) == 0
}

// acceptPeer does what the account's own linked device asks of the phone.
func (p *phone) acceptPeer(ctx context.Context, in incoming) error {
	if in.message.GetProtocolMessage().GetType() != waE2E.ProtocolMessage_APP_STATE_SYNC_KEY_REQUEST {
		return nil
	}
	linked := p.companion(in.device)
	if linked == nil {
		return nil
	}
	return p.shareAppStateKey(ctx, linked)
}

// receiptTo sends a receipt for a message to all devices of the account that
// sent it. from is the account that has got the message.
func (u *unit) receiptTo(ctx context.Context, from *account, in incoming, kind string) error {
	status := statusOf(kind)
	u.noteStatus(in.sender, in.id, status)
	for _, linked := range in.sender.companions() {
		params := receiptParams{from: from.lidJID(), ids: []string{in.id}, kind: kind, at: u.s.now().Unix()}
		switch {
		case in.group != nil:
			params.from, params.participant = in.group.jid(), from.lidJID()
		case linked.id == in.device:
			params.from = from.address(in.address)
		}
		if err := u.toDevice(linked, receipt(params)); err != nil {
			return err
		}
	}
	u.then(func() { u.s.activities.add(in.sender, activity("receipt", from, in.sender, status.String())) })
	return ctx.Err()
}

// plainStanza carries a message between two phones.
func plainStanza(from *account, out phoneMessage, payload []byte) waBinary.Node {
	n := waBinary.Node{
		Tag:     stanzaPlain,
		Attrs:   waBinary.Attrs{"from": from.lidJID(), "id": out.id, "t": out.at},
		Content: payload,
	}
	if out.chat.group != nil {
		n.Attrs["from"], n.Attrs["participant"] = out.chat.group.jid(), from.lidJID()
	}
	return n
}
