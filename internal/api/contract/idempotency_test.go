package contract

import (
	"bytes"
	"crypto/sha256"
	"reflect"
	"testing"

	"github.com/recado-project/recado/internal/testkit/cases"
)

// A field that came after the first release changes the hash only of requests that have it.
func TestLaterFieldsCountIfSet(t *testing.T) {
	t.Parallel()
	type before struct{ Text string }
	type after struct {
		Text string
		Many []string `fingerprint:"if set"`
		Set  bool     `fingerprint:"if set"`
	}
	hash := func(body any) []byte {
		sum := sha256.New()
		addToHash(sum, reflect.ValueOf(body))
		return sum.Sum(nil)
	}
	old := hash(before{"a"})
	if !bytes.Equal(old, hash(after{Text: "a"})) {
		t.Error("a request without the new fields is another one")
	}
	for name, body := range cases.Sorted(map[string]after{"a list": {Text: "a", Many: []string{"x"}}, "a flag": {Text: "a", Set: true}}) {
		if bytes.Equal(old, hash(body)) {
			t.Errorf("with %s it is the same request", name)
		}
	}
}
