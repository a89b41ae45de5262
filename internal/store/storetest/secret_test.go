// What secrets must do on both databases.

package storetest

import (
	"bytes"
	"testing"
)

func testSecret(t *testing.T, f *fixture) {
	t.Helper()
	first, err := f.Secret(t.Context(), "links", 32)
	if err != nil || len(first) != 32 {
		t.Fatalf("a secret of %d bytes (%v)", len(first), err)
	}
	again, err := f.Secret(t.Context(), "links", 32)
	if err != nil || !bytes.Equal(again, first) {
		t.Errorf("another secret the second time (%v)", err)
	}
	other, err := f.Secret(t.Context(), "others", 32)
	if err != nil || bytes.Equal(other, first) {
		t.Errorf("the same secret under another name (%v)", err)
	}
}
