//go:build linux

// Package disk is a file system in memory that loses at a power cut what was not
// brought to the disk: the content and the size of a file until that file was
// synced, a name until its folder was. A process that is killed loses none of
// that, because the kernel keeps what it wrote; so only a disk like this one
// shows where a program does not wait for a sync. Only tests import it.
package disk

import (
	"maps"
	"slices"
	"sync"
	"syscall"
	"time"
)

// page is how much of a file is written as a whole, or not at all.
const page = 4096

// tree is the files, as they are and as they are on the disk. It is safe for
// concurrent use.
type tree struct {
	mu      sync.Mutex
	root    *file
	last    uint64   // number of the newest file
	renamed []change // of names, in their order, that are not on the disk
	dead    bool     // the power is off: nothing gets to the disk any more
}

// file is a file or a folder. What is on the disk begins with kept. Its mode and
// its time are on the disk at once: nobody relies on them.
type file struct {
	number uint64
	mode   uint32
	time   time.Time

	content, keptContent []byte
	dirty                map[int]struct{} // pages that are not on the disk

	names, keptNames map[string]*file // of a folder; nil for a file
}

// change is what one operation does to names. It happens as a whole.
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

// do changes names, until the power fails.
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

// remove takes a name away, of a file, or of a folder that is empty.
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

// rename gives a file another name, which takes the place of what had it.
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

// list returns what is in a folder, in the order of the names.
func (t *tree) list(folder *file) []entry {
	t.mu.Lock()
	defer t.mu.Unlock()
	entries := make([]entry, 0, len(folder.names))
	for _, name := range slices.Sorted(maps.Keys(folder.names)) {
		entries = append(entries, entry{folder, name, folder.names[name]})
	}
	return entries
}

// read fills to from a place in a file, and returns how much there was.
func (t *tree) read(f *file, to []byte, from int64) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if from >= int64(len(f.content)) {
		return 0
	}
	return copy(to, f.content[from:])
}

// write writes at a place in a file, which grows where that lies behind its end.
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

// spoil notes that the disk has another content between two places.
func (f *file) spoil(from, to int) {
	for n := from / page; n*page < to; n++ {
		f.dirty[n] = struct{}{}
	}
}

// sync brings the content of a file to the disk, or the names in a folder; and
// reports whether there is power to do so.
func (t *tree) sync(f *file) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dead {
		return false
	}
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

// keepPage brings one page to the disk, as far as the file there reaches.
func (f *file) keepPage(n int) {
	from := n * page
	if to := min(from+page, len(f.content), len(f.keptContent)); from < to {
		copy(f.keptContent[from:to], f.content[from:to])
	}
}

// syncNames brings the names in a folder to the disk, and with a rename those of
// the other folder up to then: what was done to a folder gets there in its order.
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
