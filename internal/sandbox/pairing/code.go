// The cryptography of linking by pairing code.

package pairing

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.mau.fi/whatsmeow/util/keys"
)

const (
	codeLength = 8
	codeRounds = 2 << 16 // of PBKDF2

	keySize   = 32
	saltSize  = 32
	ivSize    = 16
	nonceSize = 12
	tagSize   = 16

	wrappedKeySize    = saltSize + ivSize + keySize
	wrappedBundleSize = saltSize + nonceSize + 3*keySize + tagSize
)

// Errors of pairing by code.
var (
	// ErrCode says that a text is not a pairing code.
	ErrCode = errors.New("pairing: a pairing code has eight letters and digits")
	// ErrWrongCode says that the companion shows another code.
	ErrWrongCode = errors.New("pairing: wrong code")
	// ErrCompanion says that the companion has sent an invalid message.
	ErrCompanion = errors.New("pairing: bad pairing message")
)

// PrimaryHello is the phone's side of linking by code, from the time when a person
// has typed the code until the companion has sent its keys. It must be used once,
// by one goroutine.
type PrimaryHello struct {
	// WrappedEphemeral is for the node
	// link_code_pairing_wrapped_primary_ephemeral_pub.
	WrappedEphemeral []byte
	// IdentityKey is for the node primary_identity_pub.
	IdentityKey [32]byte

	identity  *ecdh.PrivateKey
	ephemeral []byte // the secret shared by both ephemeral keys
}

// NewPrimaryHello starts linking with the companion that sent
// wrappedCompanionEphemeral, which has 80 bytes. code may have a dash, spaces and
// lower-case letters; the error is ErrCode if it can't be a code. Only Finish finds
// out whether it is the right one. The protocol makes this take some tens of
// milliseconds of computing.
func NewPrimaryHello(code string, wrappedCompanionEphemeral []byte, account *keys.KeyPair) (*PrimaryHello, error) {
	code, err := normalizeCode(code)
	if err != nil {
		return nil, err
	}
	companion, err := unwrapKey(code, wrappedCompanionEphemeral)
	if err != nil {
		return nil, err
	}
	identity, err := ecdh.X25519().NewPrivateKey(account.Priv[:])
	if err != nil {
		return nil, fmt.Errorf("pairing: account key: %w", err)
	}
	ephemeral, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("pairing: make ephemeral key: %w", err)
	}
	shared, err := agree(ephemeral, companion)
	if err != nil {
		return nil, err
	}
	wrapped, err := wrapKey(code, ephemeral.PublicKey().Bytes())
	if err != nil {
		return nil, err
	}
	return &PrimaryHello{
		WrappedEphemeral: wrapped,
		IdentityKey:      [32]byte(identity.PublicKey().Bytes()),
		identity:         identity,
		ephemeral:        shared,
	}, nil
}

// Finish decrypts the companion's link_code_pairing_wrapped_key_bundle, and
// compares it with the companion_identity_public that came with it. It returns the
// secret for Identity, and the companion's identity key. The error is ErrWrongCode
// if the code does not decrypt the bundle, and ErrCompanion if the bundle is
// invalid.
func (h *PrimaryHello) Finish(
	wrappedKeyBundle, companionIdentityPublic []byte,
) (advSecret []byte, companionIdentity [32]byte, err error) {
	bundle, err := h.openBundle(wrappedKeyBundle)
	if err != nil {
		return nil, companionIdentity, err
	}
	companion, primary, random := bundle[:keySize], bundle[keySize:2*keySize], bundle[2*keySize:]
	if !bytes.Equal(companion, companionIdentityPublic) {
		return nil, companionIdentity, fmt.Errorf("%w: the bundle names another companion", ErrCompanion)
	}
	if !bytes.Equal(primary, h.IdentityKey[:]) {
		return nil, companionIdentity, fmt.Errorf("%w: the bundle names another phone", ErrCompanion)
	}
	shared, err := agree(h.identity, companion)
	if err != nil {
		return nil, companionIdentity, err
	}
	advSecret, err = hkdf.Key(sha256.New, slices.Concat(h.ephemeral, shared, random), nil, "adv_secret", keySize)
	if err != nil {
		return nil, companionIdentity, fmt.Errorf("pairing: derive secret: %w", err)
	}
	return advSecret, [32]byte(companion), nil
}

// openBundle decrypts the three keys in a wrapped bundle.
func (h *PrimaryHello) openBundle(wrapped []byte) ([]byte, error) {
	if len(wrapped) != wrappedBundleSize {
		return nil, fmt.Errorf("%w: the key bundle has %d bytes, not %d", ErrCompanion, len(wrapped), wrappedBundleSize)
	}
	salt, rest := wrapped[:saltSize], wrapped[saltSize:]
	nonce, ciphertext := rest[:nonceSize], rest[nonceSize:]
	key, err := hkdf.Key(sha256.New, h.ephemeral, salt, "link_code_pairing_key_bundle_encryption_key", keySize)
	if err != nil {
		return nil, fmt.Errorf("pairing: derive bundle key: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("pairing: make cipher: %w", err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, fmt.Errorf("pairing: make cipher: %w", err)
	}
	// With different codes, both sides have unwrapped wrong keys, and the
	// decryption fails here.
	bundle, err := aead.Open(nil, nonce, ciphertext, nil)
	if err != nil {
		return nil, ErrWrongCode
	}
	return bundle, nil
}

// normalizeCode returns a typed code in the form of the protocol.
func normalizeCode(typed string) (string, error) {
	code := strings.ToUpper(strings.NewReplacer("-", "", " ", "").Replace(typed))
	if len(code) != codeLength {
		return "", ErrCode
	}
	for _, c := range code {
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') {
			return "", ErrCode
		}
	}
	return code, nil
}

// unwrapKey returns the public key that a companion has wrapped with the code. With
// a wrong code it returns a wrong key and no error.
func unwrapKey(code string, wrapped []byte) ([]byte, error) {
	if len(wrapped) != wrappedKeySize {
		return nil, fmt.Errorf("%w: the wrapped key has %d bytes, not %d", ErrCompanion, len(wrapped), wrappedKeySize)
	}
	salt, iv := wrapped[:saltSize], wrapped[saltSize:saltSize+ivSize]
	return applyCode(code, salt, iv, wrapped[saltSize+ivSize:])
}

func wrapKey(code string, public []byte) ([]byte, error) {
	head := make([]byte, saltSize+ivSize)
	// It never returns an error.
	_, _ = rand.Read(head)
	body, err := applyCode(code, head[:saltSize], head[saltSize:], public)
	if err != nil {
		return nil, err
	}
	return slices.Concat(head, body), nil
}

// applyCode encrypts or decrypts. In counter mode both are the same.
func applyCode(code string, salt, iv, input []byte) ([]byte, error) {
	key, err := pbkdf2.Key(sha256.New, code, salt, codeRounds, keySize)
	if err != nil {
		return nil, fmt.Errorf("pairing: derive code key: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("pairing: make cipher: %w", err)
	}
	output := make([]byte, len(input))
	cipher.NewCTR(block, iv).XORKeyStream(output, input)
	return output, nil
}

// agree returns the shared secret of own and public.
func agree(own *ecdh.PrivateKey, public []byte) ([]byte, error) {
	other, err := ecdh.X25519().NewPublicKey(public)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCompanion, err)
	}
	shared, err := own.ECDH(other)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCompanion, err)
	}
	return shared, nil
}
