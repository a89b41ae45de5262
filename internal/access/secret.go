// The secrets of API keys: how they are made, and which are refused.

package access

import (
	"fmt"
	"hash/crc32"
	"io"
	"math/big"
	"slices"
	"strings"

	"github.com/recado-project/recado/internal/gateway"
)

// A key is "rcd_", 32 random bytes and their checksum in base 62, so that a
// secret scanner knows one when it sees it and a mistyped one costs no look-up.
const (
	secretPrefix   = "rcd_"
	randomBytes    = 32
	randomDigits   = 43 // of 32 bytes in base 62
	checksumDigits = 6  // of 32 bits in base 62

	minOwnSecret = 16
	maxOwnSecret = 255
)

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

func newSecret(random io.Reader) (string, error) {
	raw := make([]byte, randomBytes)
	if _, err := io.ReadFull(random, raw); err != nil {
		return "", fmt.Errorf("access: draw a key: %w", err)
	}
	body := encode(new(big.Int).SetBytes(raw), randomDigits)
	return secretPrefix + body + checksum(body), nil
}

// mistyped reports whether secret has our prefix and can't be one of our keys.
func mistyped(secret string) bool {
	rest, ours := strings.CutPrefix(secret, secretPrefix)
	if !ours {
		return false
	}
	if len(rest) != randomDigits+checksumDigits {
		return true
	}
	return checksum(rest[:randomDigits]) != rest[randomDigits:]
}

// Unfit says why a key of the operator's own choosing can't be one: it could be
// guessed, or Authenticate would take it for a mistyped one. It is the end of a
// sentence that begins with what the key is called, and empty for a fit key.
func Unfit(secret string) string {
	switch {
	case len(secret) < minOwnSecret || len(secret) > maxOwnSecret:
		return fmt.Sprintf("must have %d to %d characters; this one has %d", minOwnSecret, maxOwnSecret, len(secret))
	case strings.ContainsFunc(secret, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "must have visible ASCII characters only: it travels in a header"
	case mistyped(secret):
		return fmt.Sprintf("starts with %q but its checksum is wrong: it is mistyped", secretPrefix)
	default:
		return ""
	}
}

func checkSecret(secret string) error {
	if why := Unfit(secret); why != "" {
		return gateway.Errorf(gateway.Invalid, gateway.CodeValidation, "the API key %s", why)
	}
	return nil
}

// checksum is calculated for every request.
func checksum(body string) string {
	sum := crc32.ChecksumIEEE([]byte(body))
	var out [checksumDigits]byte
	for i := range slices.Backward(out[:]) {
		out[i] = base62[sum%uint32(len(base62))]
		sum /= uint32(len(base62))
	}
	return string(out[:])
}

func encode(n *big.Int, digits int) string {
	out := make([]byte, digits)
	base, rest := big.NewInt(int64(len(base62))), new(big.Int)
	for i := digits - 1; i >= 0; i-- {
		n.DivMod(n, base, rest)
		out[i] = base62[rest.Int64()]
	}
	return string(out)
}
