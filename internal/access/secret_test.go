package access

import (
	"bytes"
	"crypto/rand"
	"strings"
	"testing"
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
	cases := map[string]struct {
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
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := checkSecret(c.secret); (err == nil) != c.ok {
				t.Errorf("answered %v", err)
			}
		})
	}
}
