// Reading of the text in a QR code.

package pairing

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// maxQR bounds the text of a QR code in bytes. The largest QR code has fewer.
const maxQR = 4096

// ErrQR says that a text is not the code of a companion.
var ErrQR = errors.New("pairing: not a linking code")

// QR is the code that a companion shows to be scanned.
type QR struct {
	Ref         string   // the platform's reference of the waiting connection
	NoiseKey    [32]byte // the companion's Noise static public key
	IdentityKey [32]byte // its Signal identity public key
	AdvSecret   []byte   // the secret that proves who scanned, 32 bytes
	ClientType  string   // the kind of client, as "1" for Chrome; may be empty
}

// ParseQR reads the text of a QR code: five parts separated by commas, of which the
// last is optional, or a URL with them as its fragment. The error is an ErrQR and
// says which part is wrong.
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
		// The text may be a secret, so the error does not quote it.
		return key, fmt.Errorf("%w: the %s is not base64: %w", ErrQR, what, err)
	}
	if len(raw) != len(key) {
		return key, fmt.Errorf("%w: the %s has %d bytes, not 32", ErrQR, what, len(raw))
	}
	return [32]byte(raw), nil
}
