package transport

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"
)

// errTooLong is what a write beyond the limit is answered.
var errTooLong = errors.New("too long")

func TestLimitedFile(t *testing.T) {
	t.Parallel()
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	limited := Limited(file, 10, errTooLong)
	if n, err := io.Copy(limited, strings.NewReader("0123456789")); n != 10 || err != nil {
		t.Errorf("as much as allowed: %d, %v", n, err)
	}
	if _, err := io.Copy(limited, strings.NewReader("!")); !errors.Is(err, errTooLong) {
		t.Errorf("one byte more: %v", err)
	}
	if _, err := limited.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	if n, err := io.Copy(limited, strings.NewReader("again")); n != 5 || err != nil {
		t.Errorf("from the start again: %d, %v", n, err)
	}
	if info, err := file.Stat(); err != nil || info.Size() != 10 {
		t.Errorf("the file has %d bytes, %v", info.Size(), err)
	}
}
