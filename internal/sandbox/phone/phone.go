// Package phone simulates handsets. They decrypt, keep and show messages, send
// receipts, and send messages that the control API asks for.
//
// A phone works through its mailbox in the database, one page in one transaction.
package phone

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/chat"
	"github.com/recado-project/recado/internal/sandbox/database"
	"github.com/recado-project/recado/internal/sandbox/group"
	"github.com/recado-project/recado/internal/sandbox/load"
	"github.com/recado-project/recado/internal/sandbox/mediahost"
	"github.com/recado-project/recado/internal/sandbox/prekey"
	"github.com/recado-project/recado/internal/sandbox/receipt"
	"github.com/recado-project/recado/internal/sandbox/setting"
	"github.com/recado-project/recado/internal/sandbox/signal"
	"github.com/recado-project/recado/internal/sandbox/wire"
	"github.com/recado-project/recado/internal/sqlite"
)

// maxRetries is how often a phone asks for a message that it can't decrypt.
const maxRetries = 5

// The tags of stanzas that exist only in mailboxes.
const (
	stanzaPlain   = "plain"   // a message of another phone
	stanzaWelcome = "welcome" // a linked device has come online for the first time
)

// Service lets the phones work through their mailboxes, and lets callers use them.
// It is safe for concurrent use.
type Service struct {
	config Config

	db     *sqlite.DB
	groups *group.Book
	now    func() time.Time
	reads  *readClock
}

// Config is what a Service needs.
type Config struct {
	Accounts   *account.Directory
	Chats      chat.Finder
	PreKeys    *prekey.Service
	Receipts   *receipt.Service
	Settings   *setting.Service
	Activities *account.ActivityLog
	Media      *mediahost.Host
	Files      *account.Files
	// Audience returns who sees the status posts of an account, besides its own devices.
	Audience  func(ctx context.Context, of *account.Account) ([]*account.Account, error)
	Load      *load.Phones  // nil unless the server runs for load tests
	ReadDelay time.Duration // after which a phone reads a message
	Logger    *slog.Logger
}

// New returns the service. The phones do nothing by themselves before Run.
func New(config Config) *Service {
	return &Service{
		config: config, db: config.Accounts.DB, groups: config.Chats.Groups, now: config.Accounts.Now, reads: newReadClock(),
	}
}

// phone is the phone of an account at work in a unit, which commits all that it
// does. The account's phone is locked for as long as it exists.
type phone struct {
	Account *account.Account
	s       *Service
	u       *account.Unit
	signal  *signal.Device
}

// openPhone lets an account's phone work in the unit.
func (s *Service) openPhone(u *account.Unit, of *account.Account) *phone {
	return &phone{Account: of, s: s, u: u, signal: of.SignalDevice(u)}
}

// receive handles one stanza. It returns an error if the platform fails; it handles
// faults of the stanza itself.
func (p *phone) receive(ctx context.Context, n waBinary.Node) error {
	switch n.Tag {
	case "message":
		return p.receiveMessage(ctx, n)
	case "receipt":
		if wire.AttrString(n, "type") == receipt.ServerError {
			return p.putMediaAgain(ctx, n)
		}
		return p.resend(ctx, n)
	case stanzaPlain:
		return p.receivePlain(ctx, n)
	case stanzaWelcome:
		return p.welcome(ctx, n)
	default:
		return fmt.Errorf("phone: a phone got a %s stanza", n.Tag)
	}
}

// shows reports whether the phone shows the message already.
func (p *phone) shows(ctx context.Context, in incoming) (bool, error) {
	rows, err := database.Ints(ctx, p.s.db.Reader(), "SELECT seq FROM messages WHERE number = $1 AND id = $2 AND sender = $3",
		p.Account.Number, in.id, in.sender.PN().String())
	if err != nil {
		return false, fmt.Errorf("phone: look for message: %w", err)
	}
	return len(rows) > 0, nil
}

// receivePlain receives a message from another phone. Messages between phones are
// not encrypted.
func (p *phone) receivePlain(ctx context.Context, n waBinary.Node) error {
	in, ok, err := p.readStanza(ctx, n)
	if err != nil || !ok {
		return err
	}
	in.message = &waE2E.Message{}
	if err := proto.Unmarshal(wire.Content(n), in.message); err != nil {
		return fmt.Errorf("phone: decode kept message: %w", err)
	}
	return p.accept(ctx, in)
}

// requestRetry asks the device that sent a message to encrypt it again, with the
// phone's keys for a new session.
func (p *phone) requestRetry(ctx context.Context, in incoming, count int) error {
	linked := in.sender.Companion(in.device)
	if linked == nil || count >= maxRetries {
		return nil
	}
	addr := account.SignalAddress(in.sender.LID, in.device)
	if err := p.signal.DropSession(ctx, addr); err != nil {
		return fmt.Errorf("phone: drop session: %w", err)
	}
	bundle, err := p.signal.Bundle(ctx)
	if err != nil {
		return fmt.Errorf("phone: mint prekey bundle: %w", err)
	}
	receipt.ExpectRetry(p.u, linked.Ref(), in.id, account.DeviceRef(p.Account.LID, 0))
	p.s.config.Receipts.NoteRetry(p.u, p.Account, in.sender, in.id)
	keys := prekey.BundleNodes(bundle)
	attrs := waBinary.Attrs{"from": p.Account.Address(in.address), "id": in.id, "type": receipt.Retry, "t": p.s.now().Unix()}
	if where := in.where(); where.IsShared() {
		attrs["from"], attrs["participant"] = where.JID(), p.Account.LIDJID()
		// The key comes again with the message. It must not be mistaken for the one
		// that does not fit.
		if err := p.signal.DropSenderKey(ctx, where.JID().String(), addr); err != nil {
			return fmt.Errorf("phone: drop sender key: %w", err)
		}
	} else if in.sender == p.Account {
		with, err := p.s.config.Receipts.OwnChat(ctx, linked.Ref(), in.id)
		if err != nil {
			return err
		}
		if with != nil {
			attrs["recipient"] = with.LIDJID()
		}
	}
	return p.u.ToDevice(linked, waBinary.Node{
		Tag:   "receipt",
		Attrs: attrs,
		Content: []waBinary.Node{
			{Tag: "retry", Attrs: waBinary.Attrs{"count": count + 1, "id": in.id, "t": in.at, "v": 1}},
			keys[0], // the registration id
			{Tag: "keys", Content: keys[1:]},
		},
	})
}

// resend encrypts a message again for a device that could not decrypt it.
func (p *phone) resend(ctx context.Context, n waBinary.Node) error {
	from := wire.AttrJID(n, "from")
	asking, err := p.s.config.Accounts.FindLID(ctx, from.User)
	if err != nil || asking == nil {
		return err
	}
	linked := asking.Companion(from.Device)
	retry, _ := wire.Child(n, "retry")
	count := wire.AttrInt(retry, "count")
	if linked == nil || count > maxRetries {
		return nil
	}
	out, err := p.sentMessage(ctx, wire.AttrString(n, "id"))
	if err != nil || out == nil {
		return err
	}
	if may, err := p.mayRead(ctx, out, asking); err != nil || !may {
		return err
	}
	if keys, ok := wire.Child(n, "keys"); ok {
		bundle, err := prekey.ParseBundle(wire.ChildContent(n, "registration"), keys)
		if err == nil {
			err = p.signal.StartSession(ctx, account.SignalAddress(asking.LID, from.Device), bundle)
		}
		if err != nil {
			p.s.config.Logger.LogAttrs(ctx, slog.LevelWarn, "a device asked for a message with unusable keys", slog.Any("error", err))
			return nil
		}
	} else if err := p.startSession(ctx, linked); err != nil {
		return err
	}
	return p.encryptFor(ctx, linked, *out, count)
}

// startSession starts a session with a linked device, from the keys that the device
// has uploaded.
func (p *phone) startSession(ctx context.Context, with *account.Device) error {
	bundle, err := p.s.config.PreKeys.Take(ctx, with)
	if err != nil {
		return err
	}
	if err := p.signal.StartSession(ctx, account.SignalAddress(with.Account.LID, with.ID), bundle); err != nil {
		return fmt.Errorf("phone: start session: %w", err)
	}
	return nil
}
