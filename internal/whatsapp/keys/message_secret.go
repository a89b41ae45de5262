// The secrets of messages, with which later changes of them are encrypted.

package keys

import (
	"context"

	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/gateway"
)

const kindSecret = "message secret"

func secretName(chat, sender types.JID, id types.MessageID) string {
	return nameOf(chat.ToNonAD().String(), sender.ToNonAD().String(), gateway.CleanID(id))
}

// PutMessageSecrets notes the secrets of many messages. The first secret of a message
// stays.
func (k *deviceKeys) PutMessageSecrets(ctx context.Context, inserts []store.MessageSecretInsert) error {
	for _, insert := range inserts {
		k.rows.add(ctx, kindSecret, secretName(insert.Chat, insert.Sender, insert.ID), insert.Secret)
	}
	return k.rows.save(ctx)
}

// PutMessageSecret notes the secret of a message. It is written with the message, or with
// the next change that has to be written.
func (k *deviceKeys) PutMessageSecret(ctx context.Context, chat, sender types.JID, id types.MessageID, secret []byte) error {
	k.rows.add(ctx, kindSecret, secretName(chat, sender, id), secret)
	return nil
}

// GetMessageSecret returns the secret of a message, and the sender's address that it was
// noted under; nil if there is none. Chat and sender may have another address now.
func (k *deviceKeys) GetMessageSecret(ctx context.Context, chat, sender types.JID, id types.MessageID) ([]byte, types.JID, error) {
	for _, chat := range k.addresses(ctx, chat) {
		for _, sender := range k.addresses(ctx, sender) {
			secret, err := k.rows.get(ctx, kindSecret, secretName(chat, sender, id))
			if err != nil || secret != nil {
				return secret, sender, err
			}
		}
	}
	return nil, types.EmptyJID, nil
}

// addresses are the addresses of somebody as far as they are known, the given one first.
func (k *deviceKeys) addresses(ctx context.Context, jid types.JID) []types.JID {
	jid = jid.ToNonAD()
	var other types.JID
	var err error
	switch jid.Server {
	case types.DefaultUserServer:
		other, err = k.pairs.GetLIDForPN(ctx, jid)
	case types.HiddenUserServer:
		other, err = k.pairs.GetPNForLID(ctx, jid)
	}
	if err != nil || other.IsEmpty() {
		return []types.JID{jid} // as if it were not known
	}
	return []types.JID{jid, other}
}
