// Package receipt passes receipts on to the devices that sent the messages, and
// keeps the status of messages.
package receipt

import (
	"context"
	"strconv"
	"time"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/database"
	"github.com/recado-project/recado/internal/sqlite"
)

// The kinds of receipts. An empty kind means delivered.
const (
	Delivered = ""
	Inactive  = "inactive"
	Sender    = "sender"
	Read      = "read"
	ReadSelf  = "read-self"
	Played    = "played"
	Retry     = "retry"

	// ServerError means that the media host does not have a file. The account's own
	// phone is asked to upload it again.
	ServerError = "server-error"
)

// Service passes receipts on and keeps statuses. It is safe for concurrent use.
type Service struct {
	config Config
	db     *sqlite.DB
	now    func() time.Time
}

// Config is what a Service needs.
type Config struct {
	Accounts   *account.Directory
	Activities *account.ActivityLog
	Load       bool // a server for load tests, which does not record messages
}

// New returns the service.
func New(config Config) *Service {
	return &Service{config: config, db: config.Accounts.DB, now: config.Accounts.Now}
}

// Params are the parts of a receipt.
type Params struct {
	From        types.JID
	Participant types.JID // in a group, the member who sends it
	IDs         []string
	Kind        string
	At          int64 // Unix seconds
	Recipient   any   // the chat, if it is not clear from the other parts
}

// Node builds a receipt for one or several messages.
func Node(p Params) waBinary.Node {
	n := waBinary.Node{Tag: "receipt", Attrs: waBinary.Attrs{
		"from": p.From, "id": p.IDs[0], "t": strconv.FormatInt(p.At, 10), "type": p.Kind, "recipient": p.Recipient,
	}}
	if !p.Participant.IsEmpty() {
		n.Attrs["participant"] = p.Participant
	}
	if len(p.IDs) > 1 {
		items := make([]waBinary.Node, 0, len(p.IDs)-1)
		for _, id := range p.IDs[1:] {
			items = append(items, waBinary.Node{Tag: "item", Attrs: waBinary.Attrs{"id": id}})
		}
		n.Content = []waBinary.Node{{Tag: "list", Content: items}}
	}
	return n
}

// Sent names a message to its sender.
type Sent struct {
	Sender  *account.Account
	Device  uint16 // of the sender; 0 is the sender's phone
	ID      string
	Group   types.JID // zero in a personal chat
	Address types.JID // to which the sender wrote; zero if it does not matter
}

// Answer sends a receipt for a message to all devices of its sender. from is the
// account that has received the message.
func (s *Service) Answer(ctx context.Context, u *account.Unit, from *account.Account, m Sent, kind string) error {
	if kind == Read && hidden(from, m.Sender, m.Group) {
		return nil
	}
	status := StatusOf(kind)
	s.noteStatus(u, m.Sender, m.ID, status)
	for _, linked := range m.Sender.Companions() {
		params := Params{From: from.LIDJID(), IDs: []string{m.ID}, Kind: kind, At: s.now().Unix()}
		switch {
		case !m.Group.IsEmpty():
			params.From, params.Participant = m.Group, from.LIDJID()
		case linked.ID == m.Device:
			params.From = from.Address(m.Address)
		}
		if err := u.ToDevice(linked, Node(params)); err != nil {
			return err
		}
	}
	u.Then(func() {
		s.config.Activities.Add(m.Sender, account.NewActivity("receipt", from, m.Sender, status.String()))
	})
	return ctx.Err()
}

// sentAddress returns the address to which a device sent a message, or the zero JID
// if it sent none with this ID.
func (s *Service) sentAddress(ctx context.Context, sender, id string) (types.JID, error) {
	if s.config.Load {
		return types.JID{}, nil
	}
	found, err := database.Strings(ctx, s.db.Reader(), "SELECT address FROM sent WHERE sender = $1 AND id = $2", sender, id)
	if err != nil || len(found) == 0 {
		return types.JID{}, err
	}
	return types.ParseJID(found[0])
}

// OwnChat returns the account to which a device sent a message, or nil if that is
// not known.
func (s *Service) OwnChat(ctx context.Context, sender, id string) (*account.Account, error) {
	address, err := s.sentAddress(ctx, sender, id)
	if err != nil || address.Server == "" {
		return nil, err
	}
	return s.config.Accounts.ByJID(ctx, types.NewJID(address.User, address.Server))
}
