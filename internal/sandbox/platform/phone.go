package platform

import (
	"context"
	"fmt"
	"log/slog"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	"github.com/recado-project/recado/internal/sandbox/signal"
	"github.com/recado-project/recado/internal/sqlite"
)

// maxRetries is how often a phone asks for a message that it cannot decrypt.
const maxRetries = 5

// The stanzas in a mailbox that do not come from the wire.
const (
	stanzaPlain   = "plain"   // a message of another phone
	stanzaWelcome = "welcome" // a linked device has come online for the first time
)

// phone is a simulated handset at work: its account, and the unit of work in
// which everything it does becomes true at once. The account's phone lock is
// held for its whole life.
type phone struct {
	*account
	s      *Server
	u      *unit
	signal *signal.Device
}

// openPhone lets the account's phone work in the unit.
func (s *Server) openPhone(u *unit, of *account) *phone {
	kept := &records{db: s.db, account: of, changed: map[recordKey][]byte{}}
	u.write(kept.write)
	u.then(kept.committed)
	return &phone{account: of, s: s, u: u, signal: signal.NewDevice(of.keys, kept)}
}

// receive deals with one stanza. An error is a failure of the platform; what is
// wrong with the stanza itself is dealt with here.
func (p *phone) receive(ctx context.Context, n waBinary.Node) error {
	switch n.Tag {
	case "message":
		return p.receiveMessage(ctx, n)
	case "receipt":
		if attrString(n, "type") == receiptServerError {
			return p.putMediaAgain(ctx, n)
		}
		return p.resend(ctx, n)
	case stanzaPlain:
		return p.receivePlain(ctx, n)
	case stanzaWelcome:
		return p.welcome(ctx, n)
	default:
		return fmt.Errorf("platform: a phone got a %s stanza", n.Tag)
	}
}

// knows reports whether the phone shows the message already.
func (p *phone) knows(ctx context.Context, in incoming) (bool, error) {
	rows, err := queryInts(ctx, p.s.db.Reader(), "SELECT seq FROM messages WHERE number = $1 AND id = $2 AND sender = $3",
		p.number, in.id, in.sender.pn().String())
	if err != nil {
		return false, fmt.Errorf("platform: look for message: %w", err)
	}
	return len(rows) > 0, nil
}

// receivePlain takes a message of another phone: between two simulated phones
// there is nobody to keep secrets from.
func (p *phone) receivePlain(ctx context.Context, n waBinary.Node) error {
	in, ok, err := p.readStanza(ctx, n)
	if err != nil || !ok {
		return err
	}
	in.message = &waE2E.Message{}
	if err := proto.Unmarshal(content(n), in.message); err != nil {
		return fmt.Errorf("platform: decode kept message: %w", err)
	}
	return p.accept(ctx, in)
}

// askAgain tells the device that sent a message to encrypt it anew, with keys
// for a new session.
func (p *phone) askAgain(ctx context.Context, in incoming, count int) error {
	linked := in.sender.companion(in.device)
	if linked == nil || count >= maxRetries {
		return nil
	}
	addr := signalAddress(in.sender.lid, in.device)
	if err := p.signal.DropSession(ctx, addr); err != nil {
		return fmt.Errorf("platform: drop session: %w", err)
	}
	bundle, err := p.signal.Bundle(ctx)
	if err != nil {
		return fmt.Errorf("platform: mint prekey bundle: %w", err)
	}
	p.u.expectRetry(linked.ref(), in.id, deviceRef(p.lid, 0))
	keys := bundleNodes(bundle)
	attrs := waBinary.Attrs{"from": p.address(in.address), "id": in.id, "type": receiptRetry, "t": p.s.now().Unix()}
	if in.group != nil {
		attrs["from"], attrs["participant"] = in.group.jid(), p.lidJID()
		// The key comes again with the message, and is not to be taken for the one
		// that does not fit.
		if err := p.signal.DropSenderKey(ctx, in.group.jid().String(), addr); err != nil {
			return fmt.Errorf("platform: drop sender key: %w", err)
		}
	} else if in.sender == p.account {
		chat, err := p.s.ownChat(ctx, linked.ref(), in.id)
		if err != nil {
			return err
		}
		if chat != nil {
			attrs["recipient"] = chat.lidJID()
		}
	}
	return p.u.toDevice(linked, waBinary.Node{
		Tag:   "receipt",
		Attrs: attrs,
		Content: []waBinary.Node{
			{Tag: "retry", Attrs: waBinary.Attrs{"count": count + 1, "id": in.id, "t": in.at, "v": 1}},
			keys[0], // the registration id
			{Tag: "keys", Content: keys[1:]},
		},
	})
}

// resend encrypts a message anew for a device that could not decrypt it.
func (p *phone) resend(ctx context.Context, n waBinary.Node) error {
	from := attrJID(n, "from")
	asking, err := p.s.directory.findLID(ctx, from.User)
	if err != nil || asking == nil {
		return err
	}
	linked := asking.companion(from.Device)
	retry, _ := child(n, "retry")
	count := attrInt(retry, "count")
	if linked == nil || count > maxRetries {
		return nil
	}
	out, err := p.sentMessage(ctx, attrString(n, "id"))
	if err != nil || out == nil || !out.isFor(asking, p.account) {
		return err
	}
	if keys, ok := child(n, "keys"); ok {
		bundle, err := parseBundle(childContent(n, "registration"), keys)
		if err == nil {
			err = p.signal.StartSession(ctx, signalAddress(asking.lid, from.Device), bundle)
		}
		if err != nil {
			p.s.logger.LogAttrs(ctx, slog.LevelWarn, "a device asked for a message with unusable keys", slog.Any("error", err))
			return nil
		}
	} else if err := p.startSession(ctx, linked); err != nil {
		return err
	}
	return p.encryptFor(ctx, linked, *out, count)
}

// startSession starts a session with a linked device from the keys that the
// platform holds.
func (p *phone) startSession(ctx context.Context, with *device) error {
	bundle, err := p.s.takeBundle(ctx, with)
	if err != nil {
		return err
	}
	if err := p.signal.StartSession(ctx, signalAddress(with.account.lid, with.id), bundle); err != nil {
		return fmt.Errorf("platform: start session: %w", err)
	}
	return nil
}

// takeEarlyReceipt returns the status that receipts gave a message before the
// phone's own copy came.
func takeEarlyReceipt(ctx context.Context, tx *sqlite.Tx, of *account, id string) (messageStatus, error) {
	rows, err := queryInts(ctx, tx, "DELETE FROM early_receipts WHERE number = $1 AND id = $2 RETURNING status", of.number, id)
	if err != nil || len(rows) == 0 {
		return statusSent, err
	}
	return messageStatus(rows[0]), nil
}
