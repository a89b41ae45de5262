// Decryption of the messages that a phone receives.

package phone

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/signal"
	"github.com/recado-project/recado/internal/sandbox/wire"
)

// errMalformed says that the decrypted bytes are no message.
var errMalformed = errors.New("phone: malformed message")

// readStanza reads the sender and the chat of a message. ok is false if the account
// or the group does not exist.
func (p *phone) readStanza(ctx context.Context, n waBinary.Node) (in incoming, ok bool, err error) {
	from := wire.AttrJID(n, "from")
	in = incoming{
		id: wire.AttrString(n, "id"), address: wire.AttrJID(n, "address"), at: int64(wire.AttrInt(n, "t")),
		peer: wire.AttrString(n, "category") == "peer",
	}
	if from.Server == types.GroupServer {
		in.group, err = p.s.groups.Find(ctx, from.User)
		if err != nil || in.group == nil {
			return in, false, err
		}
		from = wire.AttrJID(n, "participant")
	}
	if from == types.StatusBroadcastJID {
		in.status, from = true, wire.AttrJID(n, "participant")
	}
	in.device = from.Device
	in.sender, err = p.s.config.Accounts.FindLID(ctx, from.User)
	return in, in.sender != nil, err
}

// receiveMessage decrypts a client's message, or asks the client to send it again.
func (p *phone) receiveMessage(ctx context.Context, n waBinary.Node) error {
	in, ok, err := p.readStanza(ctx, n)
	if err != nil || !ok {
		return err
	}
	// In a group the first part brings the key for the second part. Clients send
	// the key more often than necessary, so it does no harm if only the first part
	// fails.
	var failed error
	count := 0
	for _, enc := range n.GetChildrenByTag("enc") {
		count = max(count, wire.AttrInt(enc, "count"))
		message, err := p.decrypt(ctx, in, enc)
		switch {
		case errors.Is(err, signal.ErrDuplicate), errors.Is(err, signal.ErrUndecryptable):
			failed = err
		case errors.Is(err, errMalformed):
			p.s.config.Logger.LogAttrs(ctx, slog.LevelWarn, "a phone got a malformed message", slog.Any("error", err))
		case err != nil:
			return fmt.Errorf("phone: decrypt: %w", err)
		case onlyKey(message):
		default:
			in.message = message
		}
	}
	if in.message != nil {
		return p.accept(ctx, in)
	}
	if failed == nil {
		return nil
	}
	if errors.Is(failed, signal.ErrDuplicate) {
		// The platform delivers each message once, so this is another message whose
		// sender has used a key twice. That happens to clients that encrypt and
		// decrypt at the same time.
		known, err := p.shows(ctx, in)
		if err != nil || known {
			return err
		}
	}
	return p.requestRetry(ctx, in, count)
}

// decrypt decrypts one part of a message, and keeps the group's key if there is one
// in it.
func (p *phone) decrypt(ctx context.Context, in incoming, enc waBinary.Node) (*waE2E.Message, error) {
	from := account.SignalAddress(in.sender.LID, in.device)
	var plaintext []byte
	var err error
	if kind := wire.AttrString(enc, "type"); kind == "skmsg" && in.where().IsShared() {
		plaintext, err = p.signal.GroupDecrypt(ctx, in.where().JID().String(), from, wire.Content(enc))
	} else {
		plaintext, err = p.signal.Decrypt(ctx, from, kind, wire.Content(enc))
	}
	if err != nil {
		return nil, err
	}
	if plaintext, err = signal.Unpad(plaintext); err != nil {
		return nil, fmt.Errorf("%w: %w", errMalformed, err)
	}
	message := &waE2E.Message{}
	if err := proto.Unmarshal(plaintext, message); err != nil {
		return nil, fmt.Errorf("%w: %w", errMalformed, err)
	}
	key := message.GetSenderKeyDistributionMessage()
	if key == nil || !in.where().IsShared() {
		return message, nil
	}
	err = p.signal.ProcessDistribution(ctx, in.where().JID().String(), from, key.GetAxolotlSenderKeyDistributionMessage())
	if errors.Is(err, signal.ErrUndecryptable) {
		return nil, fmt.Errorf("%w: %w", errMalformed, err)
	}
	return message, err
}

// onlyKey reports whether a message has a group's key and nothing else.
func onlyKey(message *waE2E.Message) bool {
	if message.GetSenderKeyDistributionMessage() == nil {
		return false
	}
	rest := proto.CloneOf(message)
	rest.SenderKeyDistributionMessage, rest.MessageContextInfo = nil, nil
	return proto.Size(rest) == 0
}
