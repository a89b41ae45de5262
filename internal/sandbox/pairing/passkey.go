// The cryptography of a link that a passkey has opened: the phone's side.

package pairing

import (
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"errors"
	"fmt"
	"slices"

	"go.mau.fi/whatsmeow/proto/waCompanionReg"
	"go.mau.fi/whatsmeow/util/gcmutil"
	"google.golang.org/protobuf/proto"
)

const (
	passkeyNonceSize = 32
	// These name what a key is derived for.
	handoffPurpose = "shortcake-passkey-handoff-v1"
	requestPurpose = "Pairing Information Encryption Key"
)

// codeAlphabet writes a code for people: without what looks alike.
//
//nolint:gochecknoglobals // a table that never changes
var codeAlphabet = base32.NewEncoding("123456789ABCDEFGHJKLMNPQRSTVWXYZ")

// ErrPrologue says that a companion's message in a link by passkey is not what it must be.
var ErrPrologue = errors.New("pairing: bad message of a link by passkey")

// HandoffProven reports whether a companion has proven that it is the one whose code was
// scanned or typed: it knows the secret of that code. Then nobody has to compare codes.
func HandoffProven(secret, prologue, proof []byte) bool {
	key, err := hkdf.Key(sha256.New, secret, nil, handoffPurpose, keySize)
	if err != nil {
		return false
	}
	mac := hmac.New(sha256.New, key)
	mac.Write(prologue)
	return hmac.Equal(mac.Sum(nil), proof)
}

// PasskeyPrimary is the phone's side of a link by passkey. It must be used by one goroutine
// at a time.
type PasskeyPrimary struct {
	// Identity is for the node primary_ephemeral_identity.
	Identity []byte

	companion  []byte // its ephemeral identity, as it was sent
	commitment []byte // to the nonce, which comes later
	nonce      [passkeyNonceSize]byte
	public     []byte
	secret     []byte // shared by both ephemeral keys
	salt       string
}

// NewPasskeyPrimary answers the prologue of a companion. The error is an ErrPrologue.
func NewPasskeyPrimary(prologue []byte) (*PasskeyPrimary, error) {
	var payload waCompanionReg.ProloguePayload
	if err := proto.Unmarshal(prologue, &payload); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPrologue, err)
	}
	var companion waCompanionReg.CompanionEphemeralIdentity
	if err := proto.Unmarshal(payload.GetCompanionEphemeralIdentity(), &companion); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPrologue, err)
	}
	theirs, err := ecdh.X25519().NewPublicKey(companion.GetPublicKey())
	if err != nil {
		return nil, fmt.Errorf("%w: its key: %w", ErrPrologue, err)
	}
	own, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("pairing: draw key: %w", err)
	}
	p := &PasskeyPrimary{
		companion: payload.GetCompanionEphemeralIdentity(), commitment: payload.GetCommitment().GetHash(),
		public: own.PublicKey().Bytes(),
		salt:   fmt.Sprintf("Companion Pairing %d with ref %s", companion.GetDeviceType(), companion.GetRef()),
	}
	if p.secret, err = own.ECDH(theirs); err != nil {
		return nil, fmt.Errorf("%w: its key: %w", ErrPrologue, err)
	}
	if _, err := rand.Read(p.nonce[:]); err != nil {
		return nil, fmt.Errorf("pairing: draw nonce: %w", err)
	}
	p.Identity, err = proto.Marshal(&waCompanionReg.PrimaryEphemeralIdentity{PublicKey: p.public, Nonce: p.nonce[:]})
	if err != nil {
		return nil, fmt.Errorf("pairing: encode identity: %w", err)
	}
	return p, nil
}

// Code takes the nonce that the companion has committed itself to before, and returns the
// code that both sides show. The error is an ErrPrologue.
func (p *PasskeyPrimary) Code(companionNonce []byte) (string, error) {
	committed := sha256.Sum256(slices.Concat(p.companion, companionNonce))
	if subtle.ConstantTimeCompare(committed[:], p.commitment) != 1 {
		return "", fmt.Errorf("%w: the nonce is not the one that was promised", ErrPrologue)
	}
	digest := sha256.Sum256(slices.Concat(companionNonce, p.public))
	var raw [codeLength * 5 / 8]byte
	for i := range raw {
		raw[i] = p.nonce[i] ^ digest[i]
	}
	return codeAlphabet.EncodeToString(raw[:]), nil
}

// Open decrypts the companion's request, which has its keys and the secret that it wants to
// be linked with. The error is an ErrPrologue.
func (p *PasskeyPrimary) Open(encrypted []byte) (*waCompanionReg.PairingRequest, error) {
	var wrapped waCompanionReg.EncryptedPairingRequest
	if err := proto.Unmarshal(encrypted, &wrapped); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPrologue, err)
	}
	key, err := hkdf.Key(sha256.New, p.secret, []byte(p.salt), requestPurpose, keySize)
	if err != nil {
		return nil, fmt.Errorf("pairing: derive key: %w", err)
	}
	if len(wrapped.GetIV()) != nonceSize {
		return nil, fmt.Errorf("%w: the IV has %d bytes", ErrPrologue, len(wrapped.GetIV()))
	}
	plain, err := gcmutil.Decrypt(key, wrapped.GetIV(), wrapped.GetEncryptedPayload(), nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPrologue, err)
	}
	var request waCompanionReg.PairingRequest
	if err := proto.Unmarshal(plain, &request); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPrologue, err)
	}
	return &request, nil
}
