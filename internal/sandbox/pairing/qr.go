// Package pairing is what a phone does to link a companion: it reads the QR
// code, vouches for the companion's identity, checks the companion's answer,
// and holds the phone's side of pairing by an eight-character code.
//
// Its functions are pure apart from drawing random bytes: nodes, references and
// their life are the platform's business, which is the only caller.
package pairing

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// maxQR bounds the text of a QR code; the largest code of all holds less.
const maxQR = 4096

// ErrQR says that a text is not what a companion shows to be scanned.
var ErrQR = errors.New("pairing: not a linking code")

// QR is what a companion shows to be scanned.
type QR struct {
	Ref         string   // the platform's reference of the waiting connection
	NoiseKey    [32]byte // the companion's Noise static public key
	IdentityKey [32]byte // its Signal identity public key
	AdvSecret   []byte   // the secret that proves who scanned, 32 bytes
	ClientType  string   // the kind of client, as "1" for Chrome; may be empty
}

// ParseQR reads the text of a QR code, either bare (five parts separated by
// commas, the last one optional) or as the fragment of a link. The error is an
// ErrQR and says which part is wrong.
func ParseQR(raw string) (QR, error) {
	if len(raw) > maxQR {
		return QR{}, fmt.Errorf("%w: it has %d bytes", ErrQR, len(raw))
	}
	text := strings.TrimSpace(raw)
	if before, fragment, found := strings.Cut(text, "#"); found {
		text = fragment
	} else if strings.Contains(before, "://") {
		return QR{}, fmt.Errorf("%w: the link has no fragment", ErrQR)
	}
	parts := strings.Split(text, ",")
	if len(parts) < 4 || len(parts) > 5 {
		return QR{}, fmt.Errorf("%w: it has %d parts, not five", ErrQR, len(parts))
	}
	if parts[0] == "" {
		return QR{}, fmt.Errorf("%w: the reference is empty", ErrQR)
	}
	qr := QR{Ref: parts[0]}
	noise, err := decodeKey("noise key", parts[1])
	if err != nil {
		return QR{}, err
	}
	identity, err := decodeKey("identity key", parts[2])
	if err != nil {
		return QR{}, err
	}
	secret, err := decodeKey("secret", parts[3])
	if err != nil {
		return QR{}, err
	}
	qr.NoiseKey, qr.IdentityKey, qr.AdvSecret = noise, identity, secret[:]
	if len(parts) == 5 {
		qr.ClientType = parts[4]
	}
	return qr, nil
}

// decodeKey reads one of the code's 32-byte parts.
func decodeKey(what, encoded string) (key [32]byte, err error) {
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		// The text may be a secret: the error says where it is wrong, not what
		// it is.
		return key, fmt.Errorf("%w: the %s is not base64: %w", ErrQR, what, err)
	}
	if len(raw) != len(key) {
		return key, fmt.Errorf("%w: the %s has %d bytes, not 32", ErrQR, what, len(raw))
	}
	return [32]byte(raw), nil
}
