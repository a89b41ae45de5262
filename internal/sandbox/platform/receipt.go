package platform

import (
	"context"
	"strconv"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/sqlite"
)

// The kinds of receipts that are told apart; "" says delivered.
const (
	receiptDelivered = ""
	receiptInactive  = "inactive"
	receiptSender    = "sender"
	receiptRead      = "read"
	receiptReadSelf  = "read-self"
	receiptPlayed    = "played"
	receiptRetry     = "retry"

	// The media host does not have a file: the own phone is asked to put it there
	// again.
	receiptServerError = "server-error"
)

// maxReceiptItems bounds the messages in one receipt.
const maxReceiptItems = 1000

// onReceipt takes a receipt of a client: it may acknowledge a stanza, and it
// goes on to the devices of whoever sent the message. It is acknowledged once
// that is committed.
func (c *connection) onReceipt(ctx context.Context, n waBinary.Node) error {
	u := c.s.newUnit()
	ids := receiptIDs(n)
	kind := attrString(n, "type")
	if kind != receiptRead && kind != receiptReadSelf && kind != receiptPlayed {
		// The receipt of a message is its acknowledgement.
		if seq, ok := c.acknowledged("message", attrString(n, "id"), ""); ok {
			u.exec(deleteOutbox, seq)
		}
	}
	to, err := c.s.directory.byJID(ctx, authorOf(n))
	if err != nil {
		return err
	}
	if to != nil && len(ids) <= maxReceiptItems {
		if err := c.forwardReceipt(ctx, u, n, to, ids); err != nil {
			return err
		}
	}
	if err := u.commit(ctx); err != nil {
		return err
	}
	return c.send(ctx, acknowledge(n))
}

// authorOf returns who sent the messages that a client's receipt is about.
func authorOf(n waBinary.Node) types.JID {
	to := attrJID(n, "to")
	if to.Server == types.GroupServer {
		return attrJID(n, "participant")
	}
	return to
}

// receiptIDs lists the messages that a receipt is about.
func receiptIDs(n waBinary.Node) []string {
	ids := []string{attrString(n, "id")}
	list, _ := child(n, "list")
	for _, item := range list.GetChildrenByTag("item") {
		ids = append(ids, attrString(item, "id"))
	}
	return ids
}

func (c *connection) forwardReceipt(ctx context.Context, u *unit, n waBinary.Node, to *account, ids []string) error {
	kind, from := attrString(n, "type"), c.device.account
	switch kind {
	case receiptRetry:
		return c.forwardRetry(u, n, to)
	case receiptServerError:
		return c.askForMedia(u, n)
	case receiptSender:
		// It tells the device that sent the message that another own one has it.
		if linked := to.companion(authorOf(n).Device); linked != nil && to == from {
			return c.forwardTo(ctx, u, linked, n, ids, kind)
		}
		return nil
	case receiptDelivered, receiptInactive, receiptRead, receiptPlayed:
	case receiptReadSelf:
		u.phoneHasRead(from, ids, statusRead)
		return nil
	default:
		return nil // what a client says about the history it got, and the like
	}
	if to == from {
		return nil
	}
	status := statusOf(kind)
	if status > statusDelivered {
		u.phoneHasRead(from, ids, status)
	}
	for _, id := range ids {
		u.noteStatus(to, id, status)
	}
	u.then(func() { c.s.activities.add(to, activity("receipt", from, to, status.String())) })
	if kind == receiptInactive {
		kind = receiptDelivered // not every client knows the difference
	}
	for _, linked := range to.companions() {
		if err := c.forwardTo(ctx, u, linked, n, ids, kind); err != nil {
			return err
		}
	}
	return nil
}

// forwardTo passes a receipt on to one device. It comes from the address that
// the device wrote to.
func (c *connection) forwardTo(ctx context.Context, u *unit, to *device, n waBinary.Node, ids []string, kind string) error {
	params := receiptParams{ids: ids, kind: kind, at: c.s.now().Unix()}
	if group := attrJID(n, "to"); group.Server == types.GroupServer {
		params.from, params.participant = group, c.device.account.lidJID()
		return u.toDevice(to, receipt(params))
	}
	address, err := c.s.sentAddress(ctx, to.ref(), ids[0])
	if err != nil {
		return err
	}
	params.from = c.device.account.address(address)
	if recipient := attrJID(n, "recipient"); recipient.User != "" {
		with, err := c.s.directory.byJID(ctx, recipient)
		if err != nil {
			return err
		}
		if with != nil {
			params.recipient = with.address(address)
		}
	}
	return u.toDevice(to, receipt(params))
}

// forwardRetry passes on that the client could not decrypt a message: to the
// device that sent it, which encrypts it anew.
func (c *connection) forwardRetry(u *unit, n waBinary.Node, to *account) error {
	id := attrString(n, "id")
	if retry, ok := child(n, "retry"); ok && attrString(retry, "id") != "" {
		id = attrString(retry, "id")
	}
	asked := authorOf(n).Device
	if asked == 0 {
		request := n
		request.Attrs = waBinary.Attrs{"from": c.device.jid(), "id": id, "type": receiptRetry}
		return u.toPhone(to, request)
	}
	linked := to.companion(asked)
	if linked == nil {
		return nil
	}
	u.expectRetry(linked.ref(), id, c.device.ref())
	attrs := waBinary.Attrs{
		"from": c.device.jid(), "id": id, "type": receiptRetry, "t": c.s.now().Unix(), "recipient": n.Attrs["recipient"],
	}
	if group := attrJID(n, "to"); group.Server == types.GroupServer {
		attrs["from"], attrs["participant"] = group, c.device.jid()
	}
	return u.toDevice(linked, waBinary.Node{Tag: "receipt", Attrs: attrs, Content: n.Content})
}

// expectRetry lets a message that the sender encrypts anew pass to the target
// once more.
func (u *unit) expectRetry(sender, id, target string) {
	u.exec("INSERT INTO retries (sender, id, target) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING", sender, id, target)
}

// sentAddress returns the address to which a device sent a message, the zero
// JID where it sent none.
func (s *Server) sentAddress(ctx context.Context, sender, id string) (types.JID, error) {
	if s.load != nil {
		return types.JID{}, nil
	}
	found, err := queryStrings(ctx, s.db.Reader(), "SELECT address FROM sent WHERE sender = $1 AND id = $2", sender, id)
	if err != nil || len(found) == 0 {
		return types.JID{}, err
	}
	return types.ParseJID(found[0])
}

type receiptParams struct {
	from        types.JID
	participant types.JID // who it is from, in a group
	ids         []string
	kind        string
	at          int64
	recipient   any
}

// receipt builds a receipt for one or several messages.
func receipt(p receiptParams) waBinary.Node {
	n := waBinary.Node{Tag: "receipt", Attrs: waBinary.Attrs{
		"from": p.from, "id": p.ids[0], "t": strconv.FormatInt(p.at, 10), "type": p.kind, "recipient": p.recipient,
	}}
	if !p.participant.IsEmpty() {
		n.Attrs["participant"] = p.participant
	}
	if len(p.ids) > 1 {
		items := make([]waBinary.Node, 0, len(p.ids)-1)
		for _, id := range p.ids[1:] {
			items = append(items, waBinary.Node{Tag: "item", Attrs: waBinary.Attrs{"id": id}})
		}
		n.Content = []waBinary.Node{{Tag: "list", Content: items}}
	}
	return n
}

// noteStatus moves the status of a message that the account has sent, on its
// phone. The phone's own copy may come later.
func (u *unit) noteStatus(of *account, id string, status messageStatus) {
	u.moveStatus(of, id, status, "UPDATE messages SET status = MAX(status, $1) WHERE number = $2 AND id = $3 AND from_me = 1")
}

// moveStatus runs an update of one message, and remembers the status where the
// phone does not show the message yet.
func (u *unit) moveStatus(of *account, id string, status messageStatus, update string) {
	u.write(func(ctx context.Context, tx *sqlite.Tx) error {
		result, err := tx.ExecContext(ctx, update, status, of.number, id)
		if err != nil {
			return err
		}
		if found, err := result.RowsAffected(); err != nil || found > 0 {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO early_receipts (number, id, status, at) VALUES ($1, $2, $3, $4)
			ON CONFLICT (number, id) DO UPDATE SET status = MAX(status, excluded.status)`,
			of.number, id, status, u.s.now().UnixMilli())
		return err
	})
}

// phoneHasRead marks messages that the account has received, on its phone. A
// linked device may be faster than the phone.
func (u *unit) phoneHasRead(of *account, ids []string, status messageStatus) {
	for _, id := range ids {
		u.moveStatus(of, id, status,
			"UPDATE messages SET status = MAX(status, $1), read_due = 0 WHERE number = $2 AND id = $3 AND from_me = 0")
	}
}

// messageStatus is how far a message has come.
type messageStatus int

const (
	statusSent messageStatus = iota + 1
	statusDelivered
	statusRead
	statusPlayed
)

// String returns the word that people are shown.
func (st messageStatus) String() string {
	words := []string{"", "sent", "delivered", "read", "played"}
	if int(st) < 0 || int(st) >= len(words) {
		return ""
	}
	return words[st]
}

func statusOf(kind string) messageStatus {
	switch kind {
	case receiptRead, receiptReadSelf:
		return statusRead
	case receiptPlayed:
		return statusPlayed
	default:
		return statusDelivered
	}
}
