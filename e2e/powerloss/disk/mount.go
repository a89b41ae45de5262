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

// Disk is a mounted file system. One goroutine uses it, unless a method says otherwise.
type Disk struct {
	Path string // where it is mounted

	tb     testing.TB
	tree   *tree
	server *fuse.Server // nil while nothing is mounted
}

// Mount mounts an empty disk until the test ends.
//
// If this process may not mount anything, the test is skipped. If the system has no FUSE,
// the test is skipped too, or fails if the environment variable CI is "true".
func Mount(tb testing.TB) *Disk {
	tb.Helper()
	if !mayMount() {
		tb.Skip("a disk that forgets is mounted, which needs root")
	}
	d := &Disk{Path: tb.TempDir(), tb: tb, tree: newTree()}
	err := d.mount()
	switch {
	case err == nil:
	case errors.Is(err, syscall.EPERM), errors.Is(err, syscall.EACCES):
		tb.Skipf("a container keeps this process from FUSE: %v", err)
	case os.Getenv("CI") != "true" && (errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ENODEV)):
		tb.Skipf("this system has no FUSE: %v", err)
	default:
		tb.Fatalf("mount a disk: %v", err)
	}
	tb.Cleanup(d.unmount)
	return d
}

// mayMount reports whether this process may mount a file system.
func mayMount() bool {
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var held [2]unix.CapUserData
	return unix.Capget(&head, &held[0]) == nil && held[0].Effective&(1<<unix.CAP_SYS_ADMIN) != 0
}

// Cut turns the power off: nothing reaches the disk from now on. A process that waits for
// a sync waits until it is killed.
func (d *Disk) Cut() { d.tree.cut() }

// Held returns how many syncs wait since Cut: a process that waits in one is in the middle
// of something.
func (d *Disk) Held() int {
	d.tree.mu.Lock()
	defer d.tree.mu.Unlock()
	return d.tree.held
}

// Restart turns the power on again. The disk has everything that was synced before Cut,
// and the part of the rest that survives. No file on it may be open.
func (d *Disk) Restart(s Survivors) {
	d.tb.Helper()
	d.unmount() // with everything that the kernel remembers
	d.tree.restart(s)
	if err := d.mount(); err != nil {
		d.tb.Fatalf("mount the disk again: %v", err)
	}
}

// mount mounts without the library, which would let child processes inherit the file
// descriptor. The file system must end with this process, even if it is killed.
func (d *Disk) mount() error {
	fd, err := syscall.Open("/dev/fuse", syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open /dev/fuse: %w", err)
	}
	says := fmt.Sprintf("fd=%d,rootmode=%o,user_id=%d,group_id=%d", fd, syscall.S_IFDIR, os.Geteuid(), os.Getegid())
	if err := syscall.Mount("forgetful", d.Path, "fuse.forgetful", syscall.MS_NOSUID|syscall.MS_NODEV, says); err != nil {
		return errors.Join(fmt.Errorf("mount: %w", err), syscall.Close(fd))
	}
	if d.server, err = d.serve(fd); err != nil {
		return errors.Join(err, syscall.Unmount(d.Path, syscall.MNT_DETACH))
	}
	return d.refusePoll()
}

// serve answers the kernel, which asks through fd.
func (d *Disk) serve(fd int) (*fuse.Server, error) {
	options := options()
	files := fs.NewNodeFS(&node{tree: d.tree, file: d.tree.root}, options)
	server, err := fuse.NewServer(counted{files, &d.tree.counters}, fmt.Sprintf("/dev/fd/%d", fd), &options.MountOptions)
	if err != nil {
		return nil, err
	}
	go server.Serve()
	if err := server.WaitMount(); err != nil {
		return nil, err
	}
	return server, nil
}

// refusePoll makes the kernel ask once whether files can be polled, and answers that they
// can't. Otherwise Go would ask for every file that it opens, and a test that opens a
// file could keep this process from answering.
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
		<-time.After(patience) // a process that was killed may hold a file a little longer, and nothing says until when
	}
	d.server.Wait()
	d.server = nil
}
