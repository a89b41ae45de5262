//go:build linux

package disk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// Disk is a mounted file system. One goroutine uses it.
type Disk struct {
	Path string // where it is mounted

	tb     testing.TB
	tree   *tree
	server *fuse.Server // nil while nothing is mounted
}

// Mount mounts an empty disk until the test ends.
//
// Where this user can't mount a file system of his own the test is skipped, or
// fails where the environment variable CI is "true".
func Mount(tb testing.TB) *Disk {
	tb.Helper()
	d := &Disk{Path: tb.TempDir(), tb: tb, tree: newTree()}
	err := d.mount()
	if errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.ENODEV) {
		reason := fmt.Sprintf("a disk that forgets needs /dev/fuse and root: %v", err)
		if os.Getenv("CI") == "true" {
			tb.Fatal(reason)
		}
		tb.Skip(reason)
	}
	if err != nil {
		tb.Fatalf("mount a disk: %v", err)
	}
	tb.Cleanup(d.unmount)
	return d
}

// Cut takes the power: nothing gets to the disk from now on. Who waits for that
// waits until he is killed.
func (d *Disk) Cut() { d.tree.cut() }

// Restart gives the power back. The disk has what was brought to it before Cut,
// and of the rest what survives. Nobody may have a file of it open.
func (d *Disk) Restart(s Survivors) {
	d.tb.Helper()
	d.unmount() // with everything that the kernel remembers
	d.tree.restart(s)
	if err := d.mount(); err != nil {
		d.tb.Fatalf("mount the disk again: %v", err)
	}
}

// mount does by itself what the library would leave open for child processes: the
// end of this process must be the end of the file system, also where it is killed.
func (d *Disk) mount() error {
	fd, err := syscall.Open("/dev/fuse", syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open /dev/fuse: %w", err)
	}
	says := fmt.Sprintf("fd=%d,rootmode=%o,user_id=%d,group_id=%d", fd, syscall.S_IFDIR, os.Geteuid(), os.Getegid())
	if err := syscall.Mount("forgetful", d.Path, "fuse.forgetful", syscall.MS_NOSUID|syscall.MS_NODEV, says); err != nil {
		return errors.Join(fmt.Errorf("mount: %w", err), syscall.Close(fd))
	}
	server, err := fs.Mount(fmt.Sprintf("/dev/fd/%d", fd), &node{tree: d.tree, file: d.tree.root}, options())
	if err != nil {
		return errors.Join(err, syscall.Unmount(d.Path, syscall.MNT_DETACH))
	}
	d.server = server
	return d.refusePoll()
}

// refusePoll makes the kernel ask once whether files can be polled, and hear that
// they can't: Go asks for every file that it opens, and where a test does so it
// could keep this process from answering.
func (d *Disk) refusePoll() error {
	fd, err := syscall.Open(filepath.Join(d.Path, ".go-fuse-epoll-hack"), syscall.O_RDONLY|syscall.O_CLOEXEC, 0) // the library's own file
	if err != nil {
		return fmt.Errorf("open the file to poll: %w", err)
	}
	_, err = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0) //nolint:gosec // a descriptor is small
	return errors.Join(err, syscall.Close(fd))
}

func (d *Disk) unmount() {
	d.tb.Helper()
	if d.server == nil {
		return
	}
	for patience := time.Millisecond; ; patience *= 2 {
		err := syscall.Unmount(d.Path, 0)
		if err == nil {
			break
		}
		if !errors.Is(err, syscall.EBUSY) || patience > time.Second {
			d.tb.Fatalf("unmount the disk: %v", errors.Join(err, syscall.Unmount(d.Path, syscall.MNT_DETACH)))
		}
		<-time.After(patience) // a process that was killed may hold a file a little longer
	}
	d.server.Wait()
	d.server = nil
}
