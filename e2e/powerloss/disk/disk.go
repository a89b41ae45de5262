//go:build linux

// Package disk is a file system in memory that loses everything that was not synced when
// the power fails: the content and size of a file until the file is synced, a name until
// its folder is. When a process is killed, none of that is lost, because the kernel keeps
// it. So only a disk like this one shows where a program does not wait for a sync. Only
// tests import it.
package disk

import (
	"maps"
	"slices"
	"sync"
	"syscall"
	"time"
)

// page is how many bytes of a file are written together, or not at all.
const page = 4096

// tree holds the files, both as programs see them and as they are on the disk. It is safe
// for concurrent use.
type tree struct {
	mu      sync.Mutex
	root    *file
	last    uint64   // number of the newest file
	renamed []change // of names, in order, that are not on the disk yet
	dead    bool     // the power is off: nothing reaches the disk any more
	held    int      // syncs that have been asked for since then, none of which returns

	counters counters
}

// file is a file or a folder. The fields that begin with kept are what is on the disk.
// Mode and time reach the disk at once, because the program does not depend on them.
type file struct {
	number uint64
	mode   uint32
	time   time.Time

	content, keptContent []byte
	dirty                map[int]struct{} // pages that are not on the disk

	names, keptNames map[string]*file // of a folder; nil for a file
}

// change is what one operation does to names. It is done completely or not at all.
type change []entry

// entry is a name in a folder, and the file that it stands for; nil for none.
type entry struct {
	folder *file
	name   string
	file   *file
}

func newTree() *tree {
	t := &tree{}
	t.root = t.newFile(syscall.S_IFDIR | 0o755)
	return t
}

// newFile makes a file without a name.
func (t *tree) newFile(mode uint32) *file {
	t.last++
	f := &file{number: t.last, mode: mode, time: time.Now(), dirty: map[int]struct{}{}} //nolint:forbidigo // a file system tells the time of day
	if mode&syscall.S_IFMT == syscall.S_IFDIR {
		f.names, f.keptNames = map[string]*file{}, map[string]*file{}
	}
	return f
}

// do changes names, unless the power has failed.
func (t *tree) do(c change) {
	for _, e := range c {
		set(e.folder.names, e)
	}
	t.renamed = append(t.renamed, c)
}

func set(names map[string]*file, e entry) {
	if e.file == nil {
		delete(names, e.name)
	} else {
		names[e.name] = e.file
	}
}

// create gives a new file a name in a folder.
func (t *tree) create(folder *file, name string, mode uint32) (*file, syscall.Errno) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if folder.names[name] != nil {
		return nil, syscall.EEXIST
	}
	f := t.newFile(mode)
	t.do(change{{folder, name, f}})
	return f, 0
}

// remove removes the name of a file or of an empty folder.
func (t *tree) remove(folder *file, name string) syscall.Errno {
	t.mu.Lock()
	defer t.mu.Unlock()
	f := folder.names[name]
	switch {
	case f == nil:
		return syscall.ENOENT
	case len(f.names) > 0:
		return syscall.ENOTEMPTY
	}
	t.do(change{{folder, name, nil}})
	return 0
}

// rename gives a file another name, and replaces the file that had that name.
func (t *tree) rename(from *file, name string, to *file, newName string) syscall.Errno {
	t.mu.Lock()
	defer t.mu.Unlock()
	f, replaced := from.names[name], to.names[newName]
	switch {
	case f == nil:
		return syscall.ENOENT
	case replaced != nil && len(replaced.names) > 0:
		return syscall.ENOTEMPTY
	case f == replaced:
		return 0
	}
	t.do(change{{from, name, nil}, {to, newName, f}})
	return 0
}

// list returns the entries of a folder, ordered by name.
func (t *tree) list(folder *file) []entry {
	t.mu.Lock()
	defer t.mu.Unlock()
	entries := make([]entry, 0, len(folder.names))
	for _, name := range slices.Sorted(maps.Keys(folder.names)) {
		entries = append(entries, entry{folder, name, folder.names[name]})
	}
	return entries
}

// read reads from a place in a file, and returns how many bytes there were.
func (t *tree) read(f *file, to []byte, from int64) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if from >= int64(len(f.content)) {
		return 0
	}
	return copy(to, f.content[from:])
}

// write writes at a place in a file, and lets the file grow if necessary.
func (t *tree) write(f *file, content []byte, at int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	end := int(at) + len(content)
	if end > len(f.content) {
		f.resize(end)
	}
	copy(f.content[at:], content)
	f.spoil(int(at), end)
	f.time = time.Now() //nolint:forbidigo // a file system tells the time of day
}

// truncate gives a file another size.
func (t *tree) truncate(f *file, size int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f.resize(size)
}

// resize gives the content another size; what is new is zero.
func (f *file) resize(size int) {
	before := len(f.content)
	f.content = resized(f.content, size)
	f.spoil(min(before, size), max(before, size))
}

func resized(content []byte, size int) []byte {
	if size <= len(content) {
		return content[:size]
	}
	return append(content, make([]byte, size-len(content))...)
}

// spoil notes that the content between two places is not on the disk.
func (f *file) spoil(from, to int) {
	for n := from / page; n*page < to; n++ {
		f.dirty[n] = struct{}{}
	}
}

// sync writes the content of a file, or the names in a folder, to the disk. It reports
// whether there was power to do so.
func (t *tree) sync(f *file) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dead {
		t.held++
		return false
	}
	t.counters.syncs.Add(1)
	if f.names != nil {
		t.syncNames(f)
		return true
	}
	f.keptContent = resized(f.keptContent, len(f.content))
	for n := range f.dirty {
		f.keepPage(n)
	}
	clear(f.dirty)
	return true
}

// keepPage writes one page to the disk, up to the size that the file has there.
func (f *file) keepPage(n int) {
	from := n * page
	if to := min(from+page, len(f.content), len(f.keptContent)); from < to {
		copy(f.keptContent[from:to], f.content[from:to])
	}
}

// syncNames writes the names in a folder to the disk. A rename between folders also writes
// the changes of the other folder before it, because changes reach the disk in order.
func (t *tree) syncNames(folder *file) {
	folders := map[*file]bool{folder: true}
	var now, later []change
	for _, c := range slices.Backward(t.renamed) {
		if !slices.ContainsFunc(c, func(e entry) bool { return folders[e.folder] }) {
			later = append(later, c)
			continue
		}
		now = append(now, c)
		for _, e := range c {
			folders[e.folder] = true
		}
	}
	slices.Reverse(now)
	slices.Reverse(later)
	t.keepNames(now)
	t.renamed = later
}

func (t *tree) keepNames(changes []change) {
	for _, c := range changes {
		for _, e := range c {
			set(e.folder.keptNames, e)
		}
	}
}
