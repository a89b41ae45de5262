// Receipts of clients, passed on to the senders of the messages.

package receipt

import (
	"context"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/wire"
)

// MaxItems bounds the messages in one receipt.
const MaxItems = 1000

// authorOf returns the sender of the messages that a client's receipt is for.
func authorOf(n waBinary.Node) types.JID {
	to := wire.AttrJID(n, "to")
	if isShared(to) {
		return wire.AttrJID(n, "participant")
	}
	return to
}

// isShared reports whether messages come from there under the names of their senders: from a
// group, or from the status posts.
func isShared(chat types.JID) bool {
	return chat.Server == types.GroupServer || chat == types.StatusBroadcastJID
}

// receiptIDs returns the IDs of the messages that a receipt is for.
func receiptIDs(n waBinary.Node) []string {
	ids := []string{wire.AttrString(n, "id")}
	list, _ := wire.Child(n, "list")
	for _, item := range list.GetChildrenByTag("item") {
		ids = append(ids, wire.AttrString(item, "id"))
	}
	return ids
}

// Forward adds to the unit what a client's receipt causes: new statuses of
// messages, and receipts for the devices of the sender. It ignores a receipt for
// too many messages.
func (s *Service) Forward(ctx context.Context, u *account.Unit, by *account.Device, n waBinary.Node) error {
	ids := receiptIDs(n)
	to, err := s.config.Accounts.ByJID(ctx, authorOf(n))
	if err != nil || to == nil || len(ids) > MaxItems {
		return err
	}
	kind, from := wire.AttrString(n, "type"), by.Account
	switch kind {
	case Retry:
		s.NoteRetry(u, from, to, ids[0])
		return s.forwardRetry(u, by, n, to)
	case ServerError:
		return askForMedia(u, by, n)
	case Sender:
		// It confirms to the device that sent the message that another device of
		// the account has it.
		if linked := to.Companion(authorOf(n).Device); linked != nil && to == from {
			return s.forwardTo(ctx, u, by, linked, n, ids, kind)
		}
		return nil
	case Delivered, Inactive, Read, Played:
	case ReadSelf:
		s.phoneHasRead(u, from, ids, StatusRead)
		return s.tellOthers(u, by, n, to, ids, kind)
	default:
		return nil // such as receipts for histories
	}
	if to == from {
		return nil
	}
	status := StatusOf(kind)
	if kind == Read && hidden(from, to, wire.AttrJID(n, "to")) {
		s.phoneHasRead(u, from, ids, status)
		return nil
	}
	if status > StatusDelivered {
		s.phoneHasRead(u, from, ids, status)
		if err := s.tellOthers(u, by, n, to, ids, kind); err != nil {
			return err
		}
	}
	for _, id := range ids {
		s.noteStatus(u, to, id, status)
	}
	u.Then(func() { s.config.Activities.Add(to, account.NewActivity("receipt", from, to, status.String())) })
	if kind == Inactive {
		kind = Delivered // some clients don't know this kind
	}
	for _, linked := range to.Companions() {
		if err := s.forwardTo(ctx, u, by, linked, n, ids, kind); err != nil {
			return err
		}
	}
	return nil
}

// tellOthers tells the other linked devices of an account what one of them has read.
func (s *Service) tellOthers(u *account.Unit, by *account.Device, n waBinary.Node, author *account.Account, ids []string, kind string) error {
	own := Params{From: by.Account.LIDJID(), IDs: ids, Kind: kind, At: s.now().Unix(), Recipient: author.LIDJID()}
	if group := wire.AttrJID(n, "to"); isShared(group) {
		own.From, own.Participant, own.Recipient = group, by.Account.LIDJID(), nil
	}
	for _, linked := range by.Account.Companions() {
		if linked == by {
			continue
		}
		if err := u.ToDevice(linked, Node(own)); err != nil {
			return err
		}
	}
	return nil
}

// forwardTo passes a receipt on to one device. The receipt comes from the address
// that the device has written to.
func (s *Service) forwardTo(ctx context.Context, u *account.Unit, by, to *account.Device, n waBinary.Node, ids []string, kind string) error {
	params := Params{IDs: ids, Kind: kind, At: s.now().Unix()}
	if group := wire.AttrJID(n, "to"); isShared(group) {
		params.From, params.Participant = group, by.Account.LIDJID()
		return u.ToDevice(to, Node(params))
	}
	address, err := s.sentAddress(ctx, to.Ref(), ids[0])
	if err != nil {
		return err
	}
	params.From = by.Account.Address(address)
	if recipient := wire.AttrJID(n, "recipient"); recipient.User != "" {
		with, err := s.config.Accounts.ByJID(ctx, recipient)
		if err != nil {
			return err
		}
		if with != nil {
			params.Recipient = with.Address(address)
		}
	}
	return u.ToDevice(to, Node(params))
}

// forwardRetry passes on that the client could not decrypt a message. The device
// that sent the message encrypts it again.
func (s *Service) forwardRetry(u *account.Unit, by *account.Device, n waBinary.Node, to *account.Account) error {
	id := wire.AttrString(n, "id")
	if retry, ok := wire.Child(n, "retry"); ok && wire.AttrString(retry, "id") != "" {
		id = wire.AttrString(retry, "id")
	}
	asked := authorOf(n).Device
	if asked == 0 {
		request := n
		request.Attrs = waBinary.Attrs{"from": by.JID(), "id": id, "type": Retry}
		return u.ToPhone(to, request)
	}
	linked := to.Companion(asked)
	if linked == nil {
		return nil
	}
	ExpectRetry(u, linked.Ref(), id, by.Ref())
	attrs := waBinary.Attrs{
		"from": by.JID(), "id": id, "type": Retry, "t": s.now().Unix(), "recipient": n.Attrs["recipient"],
	}
	if group := wire.AttrJID(n, "to"); isShared(group) {
		attrs["from"], attrs["participant"] = group, by.JID()
	}
	return u.ToDevice(linked, waBinary.Node{Tag: "receipt", Attrs: attrs, Content: n.Content})
}

// NoteRetry shows at the phone of an account that somebody can't decrypt a message which
// one of its devices has sent.
func (s *Service) NoteRetry(u *account.Unit, by, sender *account.Account, id string) {
	u.Then(func() { s.config.Activities.Add(sender, account.NewActivity(Retry, by, sender, id)) })
}

// ExpectRetry lets a message that the sender encrypts again reach the target once
// more.
func ExpectRetry(u *account.Unit, sender, id, target string) {
	u.Exec("INSERT INTO retries (sender, id, target) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING", sender, id, target)
}

// askForMedia passes on that the media host no longer has the file of a message.
// The account's own phone uploads it again.
func askForMedia(u *account.Unit, by *account.Device, n waBinary.Node) error {
	request := n
	request.Attrs = waBinary.Attrs{"from": by.JID(), "id": wire.AttrString(n, "id"), "type": ServerError}
	return u.ToPhone(by.Account, request)
}

// hidden reports whether nobody learns of a reading: one of the two does not want that. In
// groups everybody learns of it.
func hidden(reader, sender *account.Account, chat types.JID) bool {
	return chat.Server != types.GroupServer &&
		(reader.Choice(account.PrivacyReadReceipts) == "none" || sender.Choice(account.PrivacyReadReceipts) == "none")
}
