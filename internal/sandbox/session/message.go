// Messages that clients send.

package session

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"time"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/group"
	"github.com/recado-project/recado/internal/sandbox/wire"
	"github.com/recado-project/recado/internal/sqlite"
)

// codeNoSuchChat refuses a message to a chat that does not exist.
const codeNoSuchChat = 404

// target is a device that a client's message is for.
type target struct {
	account *account.Account
	device  uint16
	encs    []waBinary.Node // in the order of decryption
}

// ref is the target's name in the database.
func (t target) ref() string { return account.DeviceRef(t.account.LID, t.device) }

// outgoing is a client's message with its targets.
type outgoing struct {
	sender  *account.Device
	id      string
	address types.JID        // the chat, in the form the sender used
	chat    *account.Account // the receiver, nil for a group
	group   *group.Group     // nil for a person
	status  bool             // it is a status post, or a change of one
	refusal int              // the code with which it is refused, or 0
	copied  *account.Account // the chat of copies for the sender's own devices
	at      time.Time
	stanza  waBinary.Node
	targets []target
}

// onMessage takes a client's message. It acknowledges the message once it is
// committed, together with its deliveries. It does not wait for the receivers.
func (c *client) onMessage(ctx context.Context, n waBinary.Node) error {
	f := c.s.config.Faults.Current()
	if f.SendError != 0 && wire.AttrString(n, "category") != "peer" {
		return c.Connection.Send(ctx, c.messageAck(n, f.SendError))
	}
	if wire.AttrJID(n, "to").Server == types.NewsletterServer {
		return c.onPost(ctx, n)
	}
	m, err := c.resolve(ctx, n)
	if err != nil {
		return err
	}
	if m.refusal == 0 {
		allowed, err := c.s.mayWrite(ctx, c.device.Account, m.chat)
		if err != nil {
			return err
		}
		if !allowed {
			m.refusal = codeRestricted
		}
	}
	if m.refusal != 0 {
		return c.Connection.Send(ctx, c.messageAck(n, m.refusal))
	}
	if c.s.config.Load != nil {
		if m.targets, err = c.s.deliverToLoad(ctx, m); err != nil {
			return err
		}
	}
	if len(m.targets) > 0 {
		if err := c.s.route(ctx, m); err != nil {
			return err
		}
	}
	if m.chat != nil {
		c.s.config.Presences.Acquaint(c.device.Account, m.chat)
	}
	if f.Drops() {
		return nil
	}
	ack := c.messageAck(n, 0)
	if f.AckDelay <= 0 {
		return c.Connection.Send(ctx, ack)
	}
	return c.sendLater(ctx, ack, f.AckDelay)
}

// sendLater sends an acknowledgement after a delay. It waits only if the client has
// too many acknowledgements outstanding.
func (c *client) sendLater(ctx context.Context, ack waBinary.Node, delay time.Duration) error {
	select {
	case c.delaying <- struct{}{}:
	default:
		wire.Pause(ctx, delay)
		return c.Connection.Send(ctx, ack)
	}
	c.Connection.Go(func() {
		defer func() { <-c.delaying }()
		wire.Pause(ctx, delay)
		_ = c.Connection.Send(ctx, ack) // a client that is gone sends the message again
	})
	return nil
}

// onPost takes what a client sends to a channel. It is acknowledged once it is committed.
func (c *client) onPost(ctx context.Context, n waBinary.Node) error {
	number, refusal, err := c.s.config.Channel(ctx, c.device, n)
	if err != nil {
		return err
	}
	if c.s.config.Faults.Current().Drops() {
		return nil
	}
	ack := c.messageAck(n, refusal)
	if refusal == 0 {
		ack.Attrs["server_id"] = number
	}
	return c.Connection.Send(ctx, ack)
}

func (c *client) messageAck(n waBinary.Node, refusal int) waBinary.Node {
	ack := wire.Acknowledge(n)
	ack.Attrs["t"] = c.s.now().Unix()
	if refusal != 0 {
		ack.Attrs["error"] = refusal
	}
	return ack
}

// resolve finds the targets of a message: every device in its list once, but not
// the device that sent it.
func (c *client) resolve(ctx context.Context, n waBinary.Node) (outgoing, error) {
	m := outgoing{sender: c.device, id: wire.AttrString(n, "id"), address: wire.AttrJID(n, "to"), at: c.s.now(), stanza: n}
	if m.address.Server == types.GroupServer {
		return c.resolveGroup(ctx, m)
	}
	if m.address == types.StatusBroadcastJID {
		return c.resolveStatus(ctx, m)
	}
	var err error
	if m.chat, err = c.s.config.Accounts.ByJID(ctx, m.address); err != nil || m.chat == nil {
		m.refusal = codeNoSuchChat
		return m, err
	}
	m.copied = m.chat
	if recipient := wire.AttrJID(n, "recipient"); recipient.User != "" {
		// A message that is sent again to one of the account's own devices has the
		// address of that device.
		if m.copied, err = c.s.config.Accounts.ByJID(ctx, recipient); err != nil || m.copied == nil {
			m.refusal = codeNoSuchChat
			return m, err
		}
	}
	seen := map[string]bool{c.device.Ref(): true}
	list, _ := wire.Child(n, "participants")
	for _, to := range list.GetChildrenByTag("to") {
		if enc, ok := wire.Child(to, "enc"); ok {
			if err := c.addTarget(ctx, &m, seen, wire.AttrJID(to, "jid"), enc); err != nil {
				return m, err
			}
		}
	}
	// A message without a list is for the device in the address: it is sent again,
	// or is for the account's own phone.
	if enc, ok := wire.Child(n, "enc"); ok {
		if err := c.addTarget(ctx, &m, seen, m.address, enc); err != nil {
			return m, err
		}
	}
	return m, nil
}

// addTarget adds a device to the targets of a message, unless it was seen before or
// the message may not reach it.
func (c *client) addTarget(ctx context.Context, m *outgoing, seen map[string]bool, to types.JID, enc waBinary.Node) error {
	owner, err := c.s.config.Accounts.ByJID(ctx, to)
	if err != nil || owner == nil || !owner.IsRegistered() || owner.Blocks(c.device.Account) {
		return err
	}
	t := target{account: owner, device: to.Device, encs: []waBinary.Node{enc}}
	if seen[t.ref()] || (t.device != 0 && owner.Companion(t.device) == nil) {
		return nil
	}
	seen[t.ref()] = true
	m.targets = append(m.targets, t)
	return nil
}

// route commits a message together with its deliveries.
func (s *Service) route(ctx context.Context, m outgoing) error {
	stanzas := make([][]byte, len(m.targets))
	for i, t := range m.targets {
		encoded, err := wire.EncodeStanza(m.stanzaFor(t))
		if err != nil {
			return err
		}
		stanzas[i] = encoded
	}
	u := s.config.Accounts.NewUnit()
	u.Write(func(ctx context.Context, tx *sqlite.Tx) error {
		deliver, err := m.undelivered(ctx, tx)
		if err != nil {
			return err
		}
		for i, t := range m.targets {
			if !deliver[i] {
				continue
			}
			if t.device == 0 {
				err = account.AddMail(ctx, tx, t.account, stanzas[i])
			} else {
				err = account.AddOutbox(ctx, tx, t.account, t.device, "message", m.id, stanzas[i])
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	for _, t := range m.targets {
		if t.device == 0 {
			u.WakePhone(t.account)
		} else if linked := t.account.Companion(t.device); linked != nil {
			u.WakeDevice(linked)
		}
	}
	return u.Commit(ctx)
}

// undelivered decides which targets get the message. Clients repeat a frame after
// they have lost the connection, and some answer one device's retry request by
// sending to everybody. A device gets a message once, and again each time it has
// asked for it.
func (m outgoing) undelivered(ctx context.Context, tx *sqlite.Tx) ([]bool, error) {
	serve := make([]bool, len(m.targets))
	var list string
	err := tx.QueryRowContext(ctx, "SELECT targets FROM sent WHERE sender = $1 AND id = $2", m.sender.Ref(), m.id).Scan(&list)
	known := err == nil
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, err
	}
	served := strings.Fields(list)
	for i, t := range m.targets {
		ref := t.ref()
		if !slices.Contains(served, ref) {
			serve[i] = true
			served = append(served, ref)
			continue
		}
		result, err := tx.ExecContext(ctx, "DELETE FROM retries WHERE sender = $1 AND id = $2 AND target = $3",
			m.sender.Ref(), m.id, ref)
		if err != nil {
			return nil, err
		}
		asked, err := result.RowsAffected()
		if err != nil {
			return nil, err
		}
		serve[i] = asked > 0
	}
	list = strings.Join(served, " ")
	if known {
		_, err = tx.ExecContext(ctx, "UPDATE sent SET targets = $1 WHERE sender = $2 AND id = $3", list, m.sender.Ref(), m.id)
	} else {
		_, err = tx.ExecContext(ctx, "INSERT INTO sent (sender, id, address, targets, at) VALUES ($1, $2, $3, $4, $5)",
			m.sender.Ref(), m.id, m.address.ToNonAD().String(), list, m.at.UnixMilli())
	}
	return serve, err
}

// stanzaFor builds the stanza for one target.
func (m outgoing) stanzaFor(t target) waBinary.Node {
	from := m.sender.Account
	attrs := waBinary.Attrs{
		"from": m.sender.JID(), "id": m.id, "t": m.at.Unix(), "type": m.stanza.Attrs["type"],
		"addressing_mode": "lid",
	}
	for _, key := range []string{"edit", "category"} {
		attrs[key] = m.stanza.Attrs[key]
	}
	switch {
	case m.group != nil, m.status:
		attrs["from"], attrs["participant"], attrs["participant_pn"] = m.address.ToNonAD(), m.sender.JID(), from.ShownPN()
		attrs["notify"] = from.DisplayName()
	case t.device == 0:
		attrs["address"] = m.address.ToNonAD() // the phone answers in this form
	case t.account == from:
		attrs["recipient"], attrs["peer_recipient_pn"] = m.copied.LIDJID(), m.copied.PN()
	default:
		attrs["sender_pn"], attrs["notify"] = from.ShownPN(), from.DisplayName()
	}
	content := slices.Clone(t.encs)
	for _, part := range m.stanza.GetChildren() {
		switch part.Tag {
		case "device-identity":
			if wire.AttrString(t.encs[0], "type") == "pkmsg" {
				content = append(content, part)
			}
		case "meta":
			content = append(content, part)
		}
	}
	return waBinary.Node{Tag: "message", Attrs: attrs, Content: content}
}
