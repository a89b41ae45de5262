// Sender keys of groups.

package signal

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"go.mau.fi/libsignal/groups"
	groupstate "go.mau.fi/libsignal/groups/state/record"
	"go.mau.fi/libsignal/protocol"
	"go.mau.fi/libsignal/signalerror"
)

// maxSkipped is how far libsignal advances a sender key.
const maxSkipped = 2000

// Distribution returns the message that distributes the sender key of self, this
// device's own address, in the group with the JID group. Every device of every
// member needs it once, before it can decrypt GroupEncrypt's ciphertexts. The key
// is made on first use.
func (d *Device) Distribution(ctx context.Context, group string, self Address) (distribution []byte, err error) {
	err = d.run(ctx, func(op *operation) error {
		message, err := op.groupBuilder().Create(ctx, groupName(group, self))
		if err != nil {
			return fmt.Errorf("signal: make sender key: %w", err)
		}
		distribution = message.Serialize()
		return nil
	})
	if err != nil {
		return nil, err
	}
	return distribution, nil
}

// ProcessDistribution keeps the sender key that sender has distributed in group.
// Distributing a key again changes nothing. The error is ErrUndecryptable if the
// message is malformed.
func (d *Device) ProcessDistribution(ctx context.Context, group string, sender Address, distribution []byte) error {
	err := d.run(ctx, func(op *operation) error {
		message, err := protocol.NewSenderKeyDistributionMessageFromBytes(distribution, op.formats.SenderKeyDistributionMessage)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrUndecryptable, err)
		}
		name := groupName(group, sender)
		known, err := senderKeys{op: op}.LoadSenderKey(ctx, name)
		if err != nil {
			return err
		}
		// whatsmeow distributes its key with every message. The known state can
		// decrypt everything that the new one can, and it remembers the messages
		// that it has seen.
		if covers(known, message) {
			return nil
		}
		if err := op.groupBuilder().Process(ctx, name, message); err != nil {
			return fmt.Errorf("%w: %w", ErrUndecryptable, err)
		}
		return nil
	})
	return undecryptable(err)
}

// covers reports whether the known states include the distributed one.
func covers(known *groupstate.SenderKey, message *protocol.SenderKeyDistributionMessage) bool {
	state, err := known.GetSenderKeyStateByID(message.ID())
	if err != nil {
		return false // there is none by that number
	}
	if state.SigningKey().PublicKey().PublicKey() != message.SignatureKey().PublicKey() {
		return false
	}
	at := state.SenderChainKey().Iteration()
	return message.Iteration() <= at || message.Iteration()-at < maxSkipped
}

// DropSenderKey deletes sender's key in group. The next Distribution of the
// device's own address makes a new one.
func (d *Device) DropSenderKey(ctx context.Context, group string, sender Address) error {
	return d.run(ctx, func(op *operation) error {
		op.put(KindSenderKey, senderKeyName(groupName(group, sender)), nil)
		return nil
	})
}

// GroupEncrypt encrypts a padded plaintext with self's sender key. The error is
// ErrNoSession before the first Distribution.
func (d *Device) GroupEncrypt(ctx context.Context, group string, self Address, plaintext []byte) (ciphertext []byte, err error) {
	err = d.run(ctx, func(op *operation) error {
		// Clipped because libsignal appends its own padding to the argument.
		message, err := op.groupCipher(groupName(group, self)).Encrypt(ctx, slices.Clip(plaintext))
		if errors.Is(err, signalerror.ErrNoSenderKeyStatesInRecord) {
			return ErrNoSession
		}
		if err != nil {
			return fmt.Errorf("signal: encrypt for group: %w", err)
		}
		ciphertext = message.SignedSerialize()
		return nil
	})
	if err != nil {
		return nil, err
	}
	return ciphertext, nil
}

// GroupDecrypt decrypts a group's ciphertext from sender. The plaintext is still
// padded. The errors are those of Decrypt.
func (d *Device) GroupDecrypt(ctx context.Context, group string, sender Address, ciphertext []byte) (plaintext []byte, err error) {
	err = d.run(ctx, func(op *operation) error {
		message, err := protocol.NewSenderKeyMessageFromBytes(ciphertext, op.formats.SenderKeyMessage)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrUndecryptable, err)
		}
		plaintext, err = op.groupCipher(groupName(group, sender)).Decrypt(ctx, message)
		switch {
		case errors.Is(err, signalerror.ErrOldCounter):
			return fmt.Errorf("%w: %w", ErrDuplicate, err)
		case errors.Is(err, signalerror.ErrNoSenderKeyForUser):
			return fmt.Errorf("%w: %w", ErrUndecryptable, ErrNoSession)
		case err != nil:
			return fmt.Errorf("%w: %w", ErrUndecryptable, err)
		}
		return nil
	})
	if err != nil {
		return nil, undecryptable(err)
	}
	return plaintext, nil
}

func (o *operation) groupBuilder() *groups.SessionBuilder {
	return groups.NewGroupSessionBuilder(senderKeys{op: o}, o.formats)
}

func (o *operation) groupCipher(name *protocol.SenderKeyName) *groups.GroupCipher {
	return groups.NewGroupCipher(o.groupBuilder(), name, senderKeys{op: o})
}

func groupName(group string, sender Address) *protocol.SenderKeyName {
	return protocol.NewSenderKeyName(group, sender.protocol())
}
