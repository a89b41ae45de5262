//go:build torture && linux

package torture_test

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/testkit/await"
)

// The disk becomes full while customers write. The gateway acknowledges nothing that it
// could not store. When there is room again, it continues by itself, and nothing is lost.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root may mount a small file system")
	}
	const size = 24 << 20
	data := t.TempDir()
	if err := syscall.Mount("none", data, "tmpfs", 0, fmt.Sprintf("size=%d", size)); err != nil {
		t.Fatalf("mount a small file system: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(data, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	w := newWorldIn(t, data, "", 1)
	var book ledger
	chat := w.shops[0].id + "/" + customer(0) + "@s.whatsapp.net"
	write := func(from, to int) {
		for n := from; n < to; n++ {
			book.wrote(chat, w.phones.SendText(t, customer(0), w.shops[0].number, fmt.Sprint(n)))
		}
	}
	arrived := func() verdict { return book.judge(arrivals(t, w.sink.Delivered(), "message.received")) }
	write(0, 50)
	await.Until(t, "the first messages are delivered", func() bool { return arrived().Lost == 0 })

	ballast := filepath.Join(data, "ballast")
	fill(t, ballast)
	write(50, 250)
	<-time.After(5 * time.Second) // the gateway tries, and fails
	full := arrived()
	if full.Lost == 0 {
		t.Error("everything was kept on a full disk: the control has failed")
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	await.Until(t, "everything is delivered", func() bool { return arrived().Lost == 0 })
	got := arrived()
	t.Logf("disk full: %v; with room again: %v", full, got)
	if got.Lost > 0 || got.Reordered > 0 {
		t.Errorf("judged %v", got)
	}
}

// fill writes a file until the disk is full.
func fill(t *testing.T, path string) {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	block := make([]byte, 64<<10)
	for size := len(block); size > 0; {
		if _, err := file.Write(block[:size]); err != nil {
			size /= 2 // what is left is less
		}
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
}
