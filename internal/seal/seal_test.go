package seal_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/seal"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// A value is opened by its key at its place, and nowhere else.
func TestSeal(t *testing.T) {
	t.Parallel()
	key, value := seal.NewKey(), []byte("a secret")
	sealed := key.Seal(value, "table", "column", "1")
	if bytes.Contains(sealed, value) {
		t.Error("the value can be read")
	}
	if again := key.Seal(value, "table", "column", "1"); bytes.Equal(again, sealed) {
		t.Error("the same value is sealed alike twice")
	}
	if opened, err := key.Open(sealed, "table", "column", "1"); err != nil || !bytes.Equal(opened, value) {
		t.Errorf("opened %q (%v)", opened, err)
	}
	if opened, err := key.Open(key.Seal(nil), []string{}...); err != nil || opened == nil || len(opened) != 0 {
		t.Errorf("opened nothing as %v (%v)", opened, err)
	}
	changed := bytes.Clone(sealed)
	changed[len(changed)-1] ^= 1
	for name, open := range cases.Sorted(map[string]func() ([]byte, error){
		"another row":        func() ([]byte, error) { return key.Open(sealed, "table", "column", "2") },
		"texts run together": func() ([]byte, error) { return key.Open(sealed, "table", "column1", "") },
		"another key":        func() ([]byte, error) { return seal.NewKey().Open(sealed, "table", "column", "1") },
		"a changed value":    func() ([]byte, error) { return key.Open(changed, "table", "column", "1") },
		"half a value":       func() ([]byte, error) { return key.Open(sealed[:20], "table", "column", "1") },
	}) {
		if opened, err := open(); !errors.Is(err, seal.ErrForeign) {
			t.Errorf("%s: opened %q (%v)", name, opened, err)
		}
	}
}

// A key is read as it was written, and shows itself nowhere else.
func TestKey(t *testing.T) {
	t.Parallel()
	key := seal.NewKey()
	raw, err := hex.DecodeString(key.Text())
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{key.Text(), " " + strings.ToUpper(key.Text()) + "\n", base64.StdEncoding.EncodeToString(raw), base64.RawURLEncoding.EncodeToString(raw)} {
		if read, err := seal.ParseKey(text); err != nil || read.Text() != key.Text() {
			t.Errorf("%q was not read (%v)", text, err)
		}
	}
	for _, text := range []string{"", "secret", key.Text()[2:], key.Text() + "00"} {
		if _, err := seal.ParseKey(text); err == nil {
			t.Errorf("%q was read", text)
		}
	}
	if shown := fmt.Sprintf("%v %+v %#v %s", key, key, key, key); strings.Contains(shown, key.Text()) || strings.Contains(shown, fmt.Sprint(raw[0], raw[1])) {
		t.Errorf("it shows %s", shown)
	}
	wrapped := seal.NewKey()
	opened, err := wrapped.Unwrap(wrapped.Wrap(key, "1"), "1")
	if err != nil || opened.Text() != key.Text() {
		t.Errorf("a wrapped key is %v", err)
	}
	if _, err := wrapped.Unwrap(wrapped.Wrap(key, "1"), "2"); !errors.Is(err, seal.ErrForeign) {
		t.Errorf("at another place: %v", err)
	}
}

// A master key comes from a file, a variable or a command, and from one of them only.
func TestSource(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("the program sh is not installed")
	}
	key := seal.NewKey()
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte(key.Text()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, source := range cases.Sorted(map[string]seal.Source{
		"a file": {File: file}, "a text": {Text: key.Text()}, "a command": {Command: "cat '" + file + "'"},
	}) {
		if read, err := source.Read(t.Context()); err != nil || read.Text() != key.Text() {
			t.Errorf("%s: %v", name, err)
		}
	}
	if read, err := (seal.Source{}).Read(t.Context()); read != nil || err != nil {
		t.Errorf("none: %v (%v)", read, err)
	}
	for want, source := range cases.Sorted(map[string]seal.Source{
		"more than one way":       {File: file, Text: key.Text()},
		"no such file":            {File: file + "x"},
		"recado master-key new":   {Text: "secret"},
		"exit status 3: not here": {Command: "echo not here >&2; exit 3"},
	}) {
		if _, err := source.Read(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
