package access

import (
	"bytes"
	"crypto/rand"
	"hash/crc32"
	"math/big"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/testkit/cases"
)

func TestNewSecretHasItsShape(t *testing.T) {
	t.Parallel()
	for _, random := range [][]byte{make([]byte, 32), bytes.Repeat([]byte{0xff}, 32)} {
		secret, err := newSecret(bytes.NewReader(random))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(secret, "rcd_") || len(secret) != 4+43+6 {
			t.Errorf("secret %q", secret)
		}
		if mistyped(secret) {
			t.Errorf("%q is taken for a mistyped one", secret)
		}
	}
}

// A key that was made once stays one: its checksum is the CRC-32 in base 62.
func TestChecksumOfAKeyStays(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"", "0", "recado", strings.Repeat("z", randomDigits)} {
		sum := new(big.Int).SetUint64(uint64(crc32.ChecksumIEEE([]byte(body))))
		if got, want := checksum(body), encode(sum, checksumDigits); got != want {
			t.Errorf("checksum of %q is %s, want %s", body, got, want)
		}
	}
	if made := secretPrefix + strings.Repeat("0", randomDigits) + "2CZclj"; mistyped(made) {
		t.Errorf("%q is taken for a mistyped one", made)
	}
}

func TestNewSecretNeedsRandomness(t *testing.T) {
	t.Parallel()
	if _, err := newSecret(strings.NewReader("too short")); err == nil {
		t.Error("a key was made of too few random bytes")
	}
}

// Every single wrong character is noticed without a look-up.
func TestMistypedNoticesOneCharacter(t *testing.T) {
	t.Parallel()
	secret, err := newSecret(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for i := len(secretPrefix); i < len(secret); i++ {
		for _, c := range []byte("0aZ") {
			wrong := []byte(secret)
			if wrong[i] == c {
				continue
			}
			wrong[i] = c
			if !mistyped(string(wrong)) {
				t.Errorf("%q is not noticed", wrong)
			}
		}
	}
}

func TestCheckSecret(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		secret string
		ok     bool
	}{
		"own":                {"my-very-own-secret", true},
		"short":              {"fifteen-letters", false},
		"long":               {strings.Repeat("x", 256), false},
		"blank inside":       {"my very own secret", false},
		"not ASCII":          {"minha-própria-chave", false},
		"line break":         {"my-very-own-secret\n", false},
		"ours, but mistyped": {"rcd_" + strings.Repeat("0", 49), false},
	}
	for name, c := range cases.Sorted(tests) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := checkSecret(c.secret); (err == nil) != c.ok {
				t.Errorf("answered %v", err)
			}
		})
	}
}
