// One device's end of the Signal protocol.

package signal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"go.mau.fi/libsignal/ecc"
	"go.mau.fi/libsignal/keys/identity"
	"go.mau.fi/libsignal/keys/prekey"
	"go.mau.fi/libsignal/protocol"
	"go.mau.fi/libsignal/session"
	"go.mau.fi/libsignal/util/optional"
)

// The two forms of a one-to-one ciphertext, as the type of an enc node.
const (
	PreKeyMessage = "pkmsg" // carries what the receiver needs to start a session
	Message       = "msg"   // belongs to a session both sides know
)

// The errors of a Device. It also returns errors of its Store.
var (
	// ErrDuplicate says that this ciphertext was decrypted before.
	ErrDuplicate = errors.New("signal: duplicate message")
	// ErrNoSession says that a session must be started first.
	ErrNoSession = errors.New("signal: no session")
	// ErrUndecryptable says that the ciphertext can't be decrypted. The sender must
	// be asked to send the message again, in a new session.
	ErrUndecryptable = errors.New("signal: undecryptable message")
	// ErrInvalidBundle says that another device's keys can't be used.
	ErrInvalidBundle = errors.New("signal: invalid prekey bundle")
)

// Address names a device in the Signal protocol. User is "<lid>_1" for a LID
// and the bare number for a phone number.
type Address struct {
	User   string
	Device uint32
}

// String returns the form that is used in the keys of records.
func (a Address) String() string { return a.User + ":" + strconv.FormatUint(uint64(a.Device), 10) }

func (a Address) protocol() *protocol.SignalAddress {
	return protocol.NewSignalAddress(a.User, a.Device)
}

// Bundle has the keys that another device needs to start a session.
type Bundle struct {
	RegistrationID uint32
	Identity       [32]byte
	SignedPreKeyID uint32 // 24 bits
	SignedPreKey   [32]byte
	Signature      [64]byte // of the signed prekey, by the identity
	PreKey         *PreKey  // the one-time key; nil where there is none
}

// PreKey is the public part of a one-time prekey.
type PreKey struct {
	ID     uint32 // 24 bits
	Public [32]byte
}

// Device encrypts and decrypts for one simulated device. It is not safe for
// concurrent use, and two Devices must not use the records of one Store at the same
// time. It is cheap to make: use one for each operation, on a Store that belongs to
// a transaction.
//
// It always accepts a new identity of another device.
type Device struct {
	keys  Keys
	store Store
}

// NewDevice returns the device with these keys, whose records are in store.
func NewDevice(keys Keys, store Store) *Device { return &Device{keys: keys, store: store} }

// HasSession reports whether Encrypt to addr is possible.
func (d *Device) HasSession(ctx context.Context, addr Address) (bool, error) {
	raw, err := d.store.Load(ctx, KindSession, addr.String())
	if err != nil {
		return false, fmt.Errorf("signal: load session: %w", err)
	}
	return raw != nil, nil
}

// StartSession starts a session with the device at addr from its keys. An existing
// session is archived and still decrypts messages that were sent in it. The error
// is ErrInvalidBundle if the signature is wrong.
func (d *Device) StartSession(ctx context.Context, addr Address, bundle Bundle) error {
	// The variable has the interface's type, because a nil *DjbECPublicKey in the
	// interface would count as a key.
	var oneTime ecc.ECPublicKeyable
	oneTimeID := optional.NewEmptyUint32()
	if bundle.PreKey != nil {
		oneTime = ecc.NewDjbECPublicKey(bundle.PreKey.Public)
		oneTimeID = optional.NewOptionalUint32(bundle.PreKey.ID)
	}
	theirs := prekey.NewBundle(
		bundle.RegistrationID, addr.Device, oneTimeID, bundle.SignedPreKeyID, oneTime,
		ecc.NewDjbECPublicKey(bundle.SignedPreKey), bundle.Signature,
		identity.NewKey(ecc.NewDjbECPublicKey(bundle.Identity)),
	)
	err := d.run(ctx, func(op *operation) error {
		if err := op.builder(addr.protocol()).ProcessBundle(ctx, theirs); err != nil {
			return fmt.Errorf("%w: %w", ErrInvalidBundle, err)
		}
		return nil
	})
	if errors.Is(err, errPanic) {
		return fmt.Errorf("%w: %w", ErrInvalidBundle, err)
	}
	return err
}

// DropSession deletes all sessions with addr. It is no error if there are none.
func (d *Device) DropSession(ctx context.Context, addr Address) error {
	return d.run(ctx, func(op *operation) error {
		op.put(KindSession, addr.String(), nil)
		return nil
	})
}

// Encrypt encrypts a padded plaintext for addr. kind is PreKeyMessage until a
// message of the other side was decrypted, and then Message. The error is
// ErrNoSession if no session was started.
func (d *Device) Encrypt(ctx context.Context, addr Address, plaintext []byte) (kind string, ciphertext []byte, err error) {
	err = d.run(ctx, func(op *operation) error {
		raw, err := op.load(ctx, KindSession, addr.String())
		if err != nil {
			return err
		}
		if raw == nil {
			return ErrNoSession
		}
		cipher := session.NewCipher(op.builder(addr.protocol()), addr.protocol())
		// The slice is clipped, because libsignal appends its own padding to it.
		message, err := cipher.Encrypt(ctx, slices.Clip(plaintext))
		if err != nil {
			return fmt.Errorf("signal: encrypt: %w", err)
		}
		kind, ciphertext = Message, message.Serialize()
		if message.Type() == protocol.PREKEY_TYPE {
			kind = PreKeyMessage
		}
		return nil
	})
	if err != nil {
		return "", nil, err
	}
	return kind, ciphertext, nil
}

// Decrypt decrypts a ciphertext from addr. The plaintext is still padded. A
// PreKeyMessage for an existing session is normal. The errors are ErrDuplicate, and
// ErrUndecryptable, which includes ErrNoSession if that is the cause. After an
// error nothing has been stored.
func (d *Device) Decrypt(ctx context.Context, addr Address, kind string, ciphertext []byte) (plaintext []byte, err error) {
	err = d.run(ctx, func(op *operation) error {
		var err error
		switch kind {
		case PreKeyMessage:
			plaintext, err = op.decryptPreKeyMessage(ctx, addr.protocol(), ciphertext)
		case Message:
			plaintext, err = op.decryptMessage(ctx, addr.protocol(), ciphertext)
		default:
			err = fmt.Errorf("%w: of kind %q", ErrUndecryptable, kind)
		}
		return err
	})
	if err != nil {
		return nil, undecryptable(err)
	}
	return plaintext, nil
}

// undecryptable marks the panics that guard has caught.
func undecryptable(err error) error {
	if errors.Is(err, errPanic) {
		return fmt.Errorf("%w: %w", ErrUndecryptable, err)
	}
	return err
}
