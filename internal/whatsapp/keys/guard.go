package keys

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
	wakeys "go.mau.fi/whatsmeow/util/keys"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/sqlerror"
)

// guard stands before the database of one device's keys and notices when it fails while
// something is received. whatsmeow treats that as a message that it can't decrypt: it
// acknowledges the message, and asks the sender for another copy, which comes late or
// never. If the connection is given up before, the platform delivers the message again.
type guard struct {
	store.AllSessionSpecificStores

	// failed is called after a failure; nil until a session uses the keys.
	failed atomic.Pointer[func()]
}

// note reports a failure of the database, and returns err. Every error of the stores comes
// from the database: a key that does not exist is no error. A value that the database
// can't hold is not reported: it would be refused after each delivery.
func (g *guard) note(err error) error {
	if failed := g.failed.Load(); err != nil && failed != nil && !sqlerror.IsData(err) {
		(*failed)()
	}
	return err
}

// DoDecryptionTxn runs fn in a transaction. fn's own errors are whatsmeow's.
func (g *guard) DoDecryptionTxn(ctx context.Context, fn func(context.Context) error) error {
	var own error
	err := g.AllSessionSpecificStores.DoDecryptionTxn(ctx, func(ctx context.Context) error {
		own = fn(ctx)
		return own
	})
	if own != nil {
		return err
	}
	return g.note(err) // the transaction could not begin, or not be committed
}

// GetBufferedEvent returns the plaintext of a message that was decrypted before.
func (g *guard) GetBufferedEvent(ctx context.Context, ciphertextHash [32]byte) (*store.BufferedEvent, error) {
	event, err := g.AllSessionSpecificStores.GetBufferedEvent(ctx, ciphertextHash)
	return event, g.note(err)
}

// PutBufferedEvent keeps the plaintext of a message.
func (g *guard) PutBufferedEvent(ctx context.Context, ciphertextHash [32]byte, plaintext []byte, at time.Time) error {
	return g.note(g.AllSessionSpecificStores.PutBufferedEvent(ctx, ciphertextHash, plaintext, at))
}

// ClearBufferedEventPlaintext drops the plaintext of a message.
func (g *guard) ClearBufferedEventPlaintext(ctx context.Context, ciphertextHash [32]byte) error {
	return g.note(g.AllSessionSpecificStores.ClearBufferedEventPlaintext(ctx, ciphertextHash))
}

// GetSession returns the session with one address.
func (g *guard) GetSession(ctx context.Context, address string) ([]byte, error) {
	session, err := g.AllSessionSpecificStores.GetSession(ctx, address)
	return session, g.note(err)
}

// HasSession reports whether there is a session with the address.
func (g *guard) HasSession(ctx context.Context, address string) (bool, error) {
	has, err := g.AllSessionSpecificStores.HasSession(ctx, address)
	return has, g.note(err)
}

// PutManySessions writes sessions.
func (g *guard) PutManySessions(ctx context.Context, sessions map[string][]byte) error {
	return g.note(g.AllSessionSpecificStores.PutManySessions(ctx, sessions))
}

// GetPreKey returns a key that was given to the platform.
func (g *guard) GetPreKey(ctx context.Context, id uint32) (*wakeys.PreKey, error) {
	key, err := g.AllSessionSpecificStores.GetPreKey(ctx, id)
	return key, g.note(err)
}

// RemovePreKey removes a key that was used.
func (g *guard) RemovePreKey(ctx context.Context, id uint32) error {
	return g.note(g.AllSessionSpecificStores.RemovePreKey(ctx, id))
}

// GetSenderKey returns somebody's key for a group.
func (g *guard) GetSenderKey(ctx context.Context, group, user string) ([]byte, error) {
	key, err := g.AllSessionSpecificStores.GetSenderKey(ctx, group, user)
	return key, g.note(err)
}

// PutSenderKey writes somebody's key for a group.
func (g *guard) PutSenderKey(ctx context.Context, group, user string, session []byte) error {
	return g.note(g.AllSessionSpecificStores.PutSenderKey(ctx, group, user, session))
}

// PutMessageSecret keeps the secret of a message, by its identifier, which its sender
// has chosen.
func (g *guard) PutMessageSecret(ctx context.Context, chat, sender types.JID, id types.MessageID, secret []byte) error {
	return g.AllSessionSpecificStores.PutMessageSecret(ctx, chat, sender, gateway.CleanID(id), secret)
}

// PutMessageSecrets keeps the secrets of many messages.
func (g *guard) PutMessageSecrets(ctx context.Context, inserts []store.MessageSecretInsert) error {
	inserts = slices.Clone(inserts)
	for i := range inserts {
		inserts[i].ID = gateway.CleanID(inserts[i].ID)
	}
	return g.AllSessionSpecificStores.PutMessageSecrets(ctx, inserts)
}

// GetMessageSecret returns the secret of a message.
func (g *guard) GetMessageSecret(ctx context.Context, chat, sender types.JID, id types.MessageID) ([]byte, types.JID, error) {
	return g.AllSessionSpecificStores.GetMessageSecret(ctx, chat, sender, gateway.CleanID(id))
}

// PutIdentity writes the identity behind an address.
func (g *guard) PutIdentity(ctx context.Context, address string, key [32]byte) error {
	return g.note(g.AllSessionSpecificStores.PutIdentity(ctx, address, key))
}

// IsTrustedIdentity reports whether the identity is the one that is stored.
func (g *guard) IsTrustedIdentity(ctx context.Context, address string, key [32]byte) (bool, error) {
	trusted, err := g.AllSessionSpecificStores.IsTrustedIdentity(ctx, address, key)
	return trusted, g.note(err)
}
