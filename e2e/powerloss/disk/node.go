//go:build linux

package disk

import (
	"context"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// node is a file for the kernel.
type node struct {
	fs.Inode

	tree *tree
	file *file
}

var _ interface { // the library would silently ignore a misspelt method
	fs.NodeLookuper
	fs.NodeReaddirer
	fs.NodeMkdirer
	fs.NodeCreater
	fs.NodeUnlinker
	fs.NodeRmdirer
	fs.NodeRenamer
	fs.NodeGetattrer
	fs.NodeSetattrer
	fs.NodeOpener
	fs.NodeReader
	fs.NodeWriter
	fs.NodeFsyncer
} = (*node)(nil)

// attributes gives the kernel the attributes of a file.
func (t *tree) attributes(f *file, out *fuse.Attr) {
	t.mu.Lock()
	defer t.mu.Unlock()
	size := uint64(len(f.content))
	out.Ino, out.Mode, out.Size, out.Nlink = f.number, f.mode, size, 1
	out.Blocks, out.Blksize = (size+511)/512, page
	out.SetTimes(&f.time, &f.time, &f.time)
}

// child is the node of a file in this folder.
func (n *node) child(ctx context.Context, f *file, out *fuse.EntryOut) *fs.Inode {
	n.tree.attributes(f, &out.Attr)
	return n.NewInode(ctx, &node{tree: n.tree, file: f}, fs.StableAttr{Mode: f.mode & syscall.S_IFMT, Ino: f.number})
}

// Lookup finds a file by its name.
func (n *node) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	n.tree.mu.Lock()
	found := n.file.names[name]
	n.tree.mu.Unlock()
	if found == nil {
		return nil, syscall.ENOENT
	}
	return n.child(ctx, found, out), 0
}

// Readdir lists a folder.
func (n *node) Readdir(context.Context) (fs.DirStream, syscall.Errno) {
	entries := n.tree.list(n.file)
	list := make([]fuse.DirEntry, len(entries))
	for i, e := range entries {
		list[i] = fuse.DirEntry{Name: e.name, Mode: e.file.mode, Ino: e.file.number}
	}
	return fs.NewListDirStream(list), 0
}

// Mkdir makes a folder.
func (n *node) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	made, errno := n.tree.create(n.file, name, syscall.S_IFDIR|mode)
	if errno != 0 {
		return nil, errno
	}
	return n.child(ctx, made, out), 0
}

// Create makes a file and opens it.
func (n *node) Create(ctx context.Context, name string, _, mode uint32, out *fuse.EntryOut) (*fs.Inode, fs.FileHandle, uint32, syscall.Errno) {
	made, errno := n.tree.create(n.file, name, syscall.S_IFREG|mode)
	if errno != 0 {
		return nil, nil, 0, errno
	}
	return n.child(ctx, made, out), nil, fuse.FOPEN_KEEP_CACHE, 0
}

// Unlink removes the name of a file.
func (n *node) Unlink(_ context.Context, name string) syscall.Errno {
	return n.tree.remove(n.file, name)
}

// Rmdir removes an empty folder.
func (n *node) Rmdir(_ context.Context, name string) syscall.Errno {
	return n.tree.remove(n.file, name)
}

// Rename gives a file another name.
func (n *node) Rename(_ context.Context, name string, parent fs.InodeEmbedder, newName string, flags uint32) syscall.Errno {
	to, ok := parent.(*node)
	if !ok || flags != 0 {
		return syscall.EINVAL
	}
	return n.tree.rename(n.file, name, to.file, newName)
}

// Getattr returns the attributes of a file.
func (n *node) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	n.tree.attributes(n.file, &out.Attr)
	return 0
}

// Setattr changes the size, the mode or the time of a file.
func (n *node) Setattr(_ context.Context, _ fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	if size, ok := in.GetSize(); ok {
		n.tree.truncate(n.file, int(size)) //nolint:gosec // files are small here
	}
	n.tree.mu.Lock()
	if mode, ok := in.GetMode(); ok {
		n.file.mode = n.file.mode&syscall.S_IFMT | mode&^syscall.S_IFMT
	}
	if at, ok := in.GetMTime(); ok {
		n.file.time = at
	}
	n.tree.mu.Unlock()
	n.tree.attributes(n.file, &out.Attr)
	return 0
}

// Open opens a file. The kernel may keep what it has cached, because only it writes.
func (n *node) Open(context.Context, uint32) (fs.FileHandle, uint32, syscall.Errno) {
	return nil, fuse.FOPEN_KEEP_CACHE, 0
}

// Read reads from a file.
func (n *node) Read(_ context.Context, _ fs.FileHandle, to []byte, from int64) (fuse.ReadResult, syscall.Errno) {
	return fuse.ReadResultData(to[:n.tree.read(n.file, to, from)]), 0
}

// Write writes to a file.
func (n *node) Write(_ context.Context, _ fs.FileHandle, content []byte, at int64) (uint32, syscall.Errno) {
	n.tree.write(n.file, content, at)
	return uint32(len(content)), 0 //nolint:gosec // the kernel writes 1 MiB at most
}

// Fsync writes a file, or the names in a folder, to the disk. Without power it never
// returns: the caller waits until it is killed.
func (n *node) Fsync(ctx context.Context, _ fs.FileHandle, _ uint32) syscall.Errno {
	if !n.tree.sync(n.file) {
		<-ctx.Done()
		return syscall.EINTR
	}
	return 0
}

// options returns the options of a mount. The kernel may cache everything, because only it
// changes files.
func options() *fs.Options {
	remembered := time.Hour
	return &fs.Options{
		EntryTimeout: &remembered, AttrTimeout: &remembered,
		NullPermissions: true,
		MountOptions:    fuse.MountOptions{DisableXAttrs: true, MaxWrite: 1 << 20},
	}
}
