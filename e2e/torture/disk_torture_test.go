//go:build torture && linux

package torture_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/media/mediatest"
	"github.com/recado-project/recado/internal/testkit/await"
	"github.com/recado-project/recado/internal/testkit/cases"
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

// A disk takes nothing more, no new file, or nothing at all; or no more files can be opened. What can't be done
// for that is answered 503 with the time after which to try again, and nothing else; the gateway starts on a full
// disk all the same, and reads; and it sends again by itself when there is room.
func TestRequestsWithoutRoom(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root may mount a small file system")
	}
	for name, c := range cases.Sorted(map[string]struct {
		mount func(t *testing.T, data string)
		use   func(t *testing.T, w *world, data string) (free func())
		start bool // it starts meanwhile
	}{
		"full": {mountMemory, func(t *testing.T, _ *world, data string) func() {
			t.Helper()
			ballast := filepath.Join(data, "ballast")
			fill(t, ballast)
			return func() { done(t, os.Remove(ballast)) }
		}, true},
		"without inodes": {mountMemory, func(t *testing.T, _ *world, data string) func() {
			t.Helper()
			many := filepath.Join(data, "many")
			err := os.Mkdir(many, 0o700)
			for n := 0; err == nil; n++ {
				err = os.WriteFile(filepath.Join(many, fmt.Sprint(n)), nil, 0o600)
			}
			return func() { done(t, os.RemoveAll(many)) }
		}, true},
		// As the kernel does it to a disk with faults. It has to be mounted again, so the gateway starts again.
		"read-only": {mountDisk, func(t *testing.T, w *world, data string) func() {
			t.Helper()
			run(t, "mount", "-o", "remount,abort", data)
			return func() {
				w.gateway.Stop()
				run(t, "umount", data)
				run(t, "mount", "-o", "loop", data+".disk", data)
				w.startGateway()
			}
		}, false},
		"without descriptors": {mountMemory, func(t *testing.T, w *world, _ string) func() {
			t.Helper()
			open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", w.gateway.PID()))
			done(t, err)
			var before unix.Rlimit
			done(t, unix.Prlimit(w.gateway.PID(), unix.RLIMIT_NOFILE, nil, &before))
			limit := unix.Rlimit{Cur: uint64(len(open)), Max: before.Max}
			done(t, unix.Prlimit(w.gateway.PID(), unix.RLIMIT_NOFILE, &limit, nil))
			return func() { done(t, unix.Prlimit(w.gateway.PID(), unix.RLIMIT_NOFILE, &before, nil)) }
		}, false},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := filepath.Join(t.TempDir(), "data")
			done(t, os.Mkdir(data, 0o700))
			c.mount(t, data)
			w := newWorldIn(t, data, "", 1)
			picture := client.DataURI("image/png", mediatest.PNG(t, 40, 20))
			show := func() error {
				_, err := w.client.SendImage(t.Context(), w.shops[0].id, client.Image{To: customer(0), Image: picture})
				return err
			}
			done(t, show())
			refused := 0
			ask := func(lasts time.Duration) {
				t.Helper()
				for end := time.Now().Add(lasts); time.Now().Before(end); {
					_, texted := w.client.SendText(t.Context(), w.shops[0].id, client.Text{To: customer(0), Message: "Oi!"})
					_, made := w.client.CreateInstance(t.Context(), client.NewInstance{Name: "another"})
					for _, err := range []error{texted, show(), made} {
						refusal, known := errors.AsType[*client.Error](err)
						switch {
						case err == nil:
						case known && refusal.StatusCode == http.StatusServiceUnavailable && refusal.RetryAfter > 0:
							refused++
						case known && refusal.Code == "INSTANCE_NOT_CONNECTED" && refusal.RetryAfter > 0: // it connects again
						default:
							t.Errorf("answered %v", err)
						}
					}
				}
			}
			free := c.use(t, w, data)
			ask(5 * time.Second)
			if c.start {
				w.gateway.Stop()
				w.startGateway()
			}
			if _, err := w.client.ListInstances(t.Context(), client.ListInstancesParams{}, 0, 0); err != nil {
				t.Errorf("the instances can't be listed: %v", err)
			}
			if refused == 0 {
				t.Error("nothing was refused: the control has failed")
			}
			free()
			began := time.Now()
			await.Until(t, "it to send again", func() bool { return show() == nil })
			t.Logf("%d were refused; it sent again after %s", refused, time.Since(began))
		})
	}
}

// mountMemory mounts a small file system.
func mountMemory(t *testing.T, data string) {
	t.Helper()
	done(t, syscall.Mount("none", data, "tmpfs", 0, "size=40m,nr_inodes=3000"))
	t.Cleanup(func() { done(t, syscall.Unmount(data, syscall.MNT_DETACH)) })
}

// mountDisk mounts a small disk, which is a file beside the folder.
func mountDisk(t *testing.T, data string) {
	t.Helper()
	run(t, "truncate", "-s", "100M", data+".disk")
	run(t, "mkfs.ext4", "-q", data+".disk")
	run(t, "mount", "-o", "loop", data+".disk", data)
	t.Cleanup(func() { done(t, syscall.Unmount(data, syscall.MNT_DETACH)) })
}

func run(t *testing.T, program string, args ...string) {
	t.Helper()
	if said, err := exec.Command(program, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %q: %v: %s", program, args, err, said)
	}
}

func done(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
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
