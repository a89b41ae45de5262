// Package signal is the Signal side of a simulated device: the phone (device 0)
// that a linked companion and other people's companions write to. It makes
// prekey bundles, keeps sessions, encrypts and decrypts, one to one and with
// sender keys in groups.
//
// It knows neither nodes nor message contents, and it keeps nothing itself:
// every operation reads from a Store and hands its changes back in one batch.
// The sandbox's platform is the only caller.
//
// Libsignal, on which it is built, prints to the standard output: who starts
// the program calls signallog.Quiet before the first Device.
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

// Errors of Device. What the Store returns is passed through beside them.
var (
	// ErrDuplicate says that this ciphertext was decrypted before.
	ErrDuplicate = errors.New("signal: duplicate message")
	// ErrNoSession says that a session has to be started first.
	ErrNoSession = errors.New("signal: no session")
	// ErrUndecryptable says that the ciphertext cannot be opened; the sender has
	// to be asked to send again in a new session.
	ErrUndecryptable = errors.New("signal: undecryptable message")
	// ErrInvalidBundle says that another device's keys are unusable.
	ErrInvalidBundle = errors.New("signal: invalid prekey bundle")
)

// Address names a device in the Signal protocol. User is "<lid>_1" for a LID
// and the bare number for a phone number.
type Address struct {
	User   string
	Device uint32
}

// String returns the form in which records are keyed.
func (a Address) String() string { return a.User + ":" + strconv.FormatUint(uint64(a.Device), 10) }

func (a Address) protocol() *protocol.SignalAddress {
	return protocol.NewSignalAddress(a.User, a.Device)
}

// Bundle is what another device needs to start a session.
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
// concurrent use, and no two Devices may work on one Store's records at the same
// time: the platform serialises per phone. It is cheap to make; one per
// operation, on a Store that belongs to a transaction, is fine.
//
// A new identity of another device is always accepted.
type Device struct {
	keys  Keys
	store Store
}

// NewDevice returns the device with these keys whose records are in store.
func NewDevice(keys Keys, store Store) *Device { return &Device{keys: keys, store: store} }

// HasSession reports whether Encrypt to addr is possible.
func (d *Device) HasSession(ctx context.Context, addr Address) (bool, error) {
	raw, err := d.store.Load(ctx, KindSession, addr.String())
	if err != nil {
		return false, fmt.Errorf("signal: load session: %w", err)
	}
	return raw != nil, nil
}

// StartSession starts a session with the device at addr from its keys; a
// session that exists is archived and still decrypts what was sent in it.
// ErrInvalidBundle where the signature is wrong.
func (d *Device) StartSession(ctx context.Context, addr Address, bundle Bundle) error {
	// Not a *DjbECPublicKey: a nil of that type in the interface is a key.
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

// DropSession forgets all sessions with addr. It is no error if there is none.
func (d *Device) DropSession(ctx context.Context, addr Address) error {
	return d.run(ctx, func(op *operation) error {
		op.put(KindSession, addr.String(), nil)
		return nil
	})
}

// Encrypt encrypts an already padded plaintext to addr. kind is PreKeyMessage
// until something of the other side was decrypted, then Message. ErrNoSession
// where StartSession is missing.
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
		// Clipped because libsignal appends its own padding to the argument.
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

// Decrypt opens a ciphertext from addr; the plaintext is still padded. A
// PreKeyMessage for an existing session is normal. ErrDuplicate,
// ErrUndecryptable (ErrNoSession with it where that is the cause); after an
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

// undecryptable marks the panics that guard caught.
func undecryptable(err error) error {
	if errors.Is(err, errPanic) {
		return fmt.Errorf("%w: %w", ErrUndecryptable, err)
	}
	return err
}
