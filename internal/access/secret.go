package access

import (
	"fmt"
	"hash/crc32"
	"io"
	"math/big"
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

// checkSecret refuses a key of the operator's own choosing that could be
// guessed, or that Authenticate would take for a mistyped one.
func checkSecret(secret string) error {
	if len(secret) < minOwnSecret || len(secret) > maxOwnSecret {
		return gateway.Errorf(gateway.Invalid, gateway.CodeValidation,
			"an API key of your own has %d to %d characters", minOwnSecret, maxOwnSecret)
	}
	if strings.ContainsFunc(secret, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return gateway.Errorf(gateway.Invalid, gateway.CodeValidation,
			"an API key of your own has visible ASCII characters only: it travels in a header")
	}
	if mistyped(secret) {
		return gateway.Errorf(gateway.Invalid, gateway.CodeValidation,
			"the API key starts with %q but its checksum is wrong: it is mistyped", secretPrefix)
	}
	return nil
}

func checksum(body string) string {
	return encode(big.NewInt(int64(crc32.ChecksumIEEE([]byte(body)))), checksumDigits)
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
