//go:build linux

package disk_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/recado-project/recado/e2e/powerloss/disk"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// work is a program on the disk; a step that fails ends the test.
type work struct {
	t    *testing.T
	root string
}

func (w work) path(name string) string { return filepath.Join(w.root, name) }

func (w work) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// write writes into a file, which is made if it does not exist.
func (w work) write(name, content string, at int64) {
	w.t.Helper()
	file, err := os.OpenFile(w.path(name), os.O_CREATE|os.O_RDWR, 0o600)
	w.must(err)
	_, err = file.WriteAt([]byte(content), at)
	w.must(errors.Join(err, file.Close()))
}

// sync syncs a file or a folder.
func (w work) sync(names ...string) {
	w.t.Helper()
	for _, name := range names {
		file, err := os.Open(w.path(name))
		w.must(err)
		w.must(errors.Join(file.Sync(), file.Close()))
	}
}

func (w work) rename(from, to string) {
	w.t.Helper()
	w.must(os.Rename(w.path(from), w.path(to)))
}

func (w work) mkdir(name string) {
	w.t.Helper()
	w.must(os.Mkdir(w.path(name), 0o700))
}

func (w work) remove(name string) {
	w.t.Helper()
	w.must(os.Remove(w.path(name)))
}

func (w work) truncate(name string, size int64) {
	w.t.Helper()
	w.must(os.Truncate(w.path(name), size))
}

// unmap ends the mapping of a file. What was changed in it is written before: the kernel would
// write it while it lets this process, which answers for the disk, get no memory.
func (w work) unmap(mapped []byte) {
	w.t.Helper()
	w.must(unix.Msync(mapped, unix.MS_SYNC))
	w.must(unix.Munmap(mapped))
}

// left returns what is on the disk: "name=content" of all files, ordered by name.
func (w work) left() string {
	w.t.Helper()
	var files []string
	w.must(filepath.WalkDir(w.root, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		files = append(files, strings.TrimPrefix(path, w.root+"/")+"="+string(content))
		return err
	}))
	return strings.Join(files, " ")
}

const page = 4096

// What is lost when the power fails, and what survives.
func TestPowerLoss(t *testing.T) {
	t.Parallel()
	all := disk.Survivors{Names: 1, Sizes: 1, Pages: 1}
	pages := strings.Repeat("x", 2*page)
	zeros := strings.Repeat("\x00", 2*page)
	for name, c := range cases.Sorted(map[string]struct {
		work      func(w work)
		survivors disk.Survivors
		want      string
	}{
		"a file that was not synced":           {work: func(w work) { w.write("a", "1", 0) }},
		"a file whose folder was not synced":   {work: func(w work) { w.write("a", "1", 0); w.sync("a") }},
		"a file whose content was not synced":  {work: func(w work) { w.write("a", "1", 0); w.sync(".") }, want: "a="},
		"a file that was synced":               {work: func(w work) { w.write("a", "1", 0); w.sync("a", ".") }, want: "a=1"},
		"written over after the sync":          {work: func(w work) { w.write("a", "12", 0); w.sync("a", "."); w.write("a", "3", 0) }, want: "a=12"},
		"written over and synced":              {work: func(w work) { w.write("a", "12", 0); w.sync("a", "."); w.write("a", "3", 0); w.sync("a") }, want: "a=32"},
		"longer after the sync":                {work: func(w work) { w.write("a", "1", 0); w.sync("a", "."); w.write("a", "2", 1) }, want: "a=1"},
		"longer and synced":                    {work: func(w work) { w.write("a", "1", 0); w.sync("a", "."); w.write("a", "2", 1); w.sync("a") }, want: "a=12"},
		"shorter after the sync":               {work: func(w work) { w.write("a", "12", 0); w.sync("a", "."); w.truncate("a", 1) }, want: "a=12"},
		"shorter and synced":                   {work: func(w work) { w.write("a", "12", 0); w.sync("a", "."); w.truncate("a", 1); w.sync("a") }, want: "a=1"},
		"shorter and longer again":             {work: func(w work) { w.write("a", "12", 0); w.truncate("a", 0); w.truncate("a", 2); w.sync("a", ".") }, want: "a=\x00\x00"},
		"a hole":                               {work: func(w work) { w.write("a", "1", 2); w.sync("a", ".") }, want: "a=\x00\x001"},
		"another file was synced":              {work: func(w work) { w.write("a", "1", 0); w.write("b", "2", 0); w.sync("b", ".") }, want: "a= b=2"},
		"renamed without a sync of the folder": {work: func(w work) { w.write("a", "1", 0); w.sync("a", "."); w.rename("a", "b") }, want: "a=1"},
		"renamed":                              {work: func(w work) { w.write("a", "1", 0); w.sync("a", "."); w.rename("a", "b"); w.sync(".") }, want: "b=1"},
		"renamed over another one": {work: func(w work) {
			w.write("a", "1", 0)
			w.write("b", "2", 0)
			w.sync("a", "b", ".")
			w.rename("a", "b")
			w.sync(".")
		}, want: "b=1"},
		"renamed over another one, not synced":  {work: func(w work) { w.write("a", "1", 0); w.write("b", "2", 0); w.sync("a", "b", "."); w.rename("a", "b") }, want: "a=1 b=2"},
		"removed without a sync of the folder":  {work: func(w work) { w.write("a", "1", 0); w.sync("a", "."); w.remove("a") }, want: "a=1"},
		"removed":                               {work: func(w work) { w.write("a", "1", 0); w.sync("a", "."); w.remove("a"); w.sync(".") }},
		"in a folder whose name was not synced": {work: func(w work) { w.mkdir("f"); w.write("f/a", "1", 0); w.sync("f/a", "f") }},
		"in a folder":                           {work: func(w work) { w.mkdir("f"); w.write("f/a", "1", 0); w.sync("f/a", "f", ".") }, want: "f/a=1"},
		"into another folder, the old one not synced": {work: func(w work) {
			w.mkdir("f")
			w.write("a", "1", 0)
			w.sync("a", ".")
			w.rename("a", "f/a")
			w.sync("f")
		}, want: "f/a=1"},
		"into another folder, nothing synced": {work: func(w work) {
			w.mkdir("f")
			w.write("a", "1", 0)
			w.sync("a", ".")
			w.rename("a", "f/a")
		}, want: "a=1"},
		"all survives": {work: func(w work) { w.write("a", "1", 0); w.rename("a", "b") }, survivors: all, want: "b=1"},
		"names and sizes survive": {
			work:      func(w work) { w.write("a", pages, 0); w.rename("a", "b") },
			survivors: disk.Survivors{Names: 1, Sizes: 1}, want: "b=" + zeros,
		},
		"names survive":            {work: func(w work) { w.write("a", "1", 0) }, survivors: disk.Survivors{Names: 1, Pages: 1}, want: "a="},
		"what survives once stays": {work: func(w work) { w.write("a", pages, 0); w.sync(".", "a") }, survivors: disk.Survivors{Sizes: 1}, want: "a=" + pages},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := disk.Mount(t)
			w := work{t, d.Path}
			c.work(w)
			d.Cut()
			d.Restart(c.survivors)
			if got := w.left(); got != c.want {
				t.Errorf("left is %q, want %q", got, c.want)
			}
			d.Cut()
			d.Restart(all) // of what is on the disk already
			if got := w.left(); got != c.want {
				t.Errorf("left is %q after another loss, want %q", got, c.want)
			}
		})
	}
}

// If pages survive by chance, some do and some don't, in no order, and each of them is
// whole.
func TestPagesSurviveByChance(t *testing.T) {
	t.Parallel()
	const pages = 100
	d := disk.Mount(t)
	w := work{t, d.Path}
	w.write("a", strings.Repeat("o", pages*page), 0)
	w.sync("a", ".")
	w.write("a", strings.Repeat("n", pages*page), 0)
	d.Cut()
	d.Restart(disk.Survivors{Pages: 0.5})
	content, err := os.ReadFile(w.path("a"))
	w.must(err)
	before, after := 0, 0
	for part := range slices.Chunk(content, page) {
		switch string(part) {
		case strings.Repeat("o", page):
			before++
		case strings.Repeat("n", page):
			after++
		}
	}
	if before == 0 || after == 0 || before+after != pages {
		t.Errorf("%d pages as before, %d as after, of %d", before, after, pages)
	}
}

// Two programs that map a file into memory, as SQLite does with the index of its log, see
// the same content.
func TestMappedMemoryIsShared(t *testing.T) {
	t.Parallel()
	w := work{t, disk.Mount(t).Path}
	w.write("a", strings.Repeat("x", page), 0)
	var maps [2][]byte
	for i := range maps {
		file, err := os.OpenFile(w.path("a"), os.O_RDWR, 0)
		w.must(err)
		maps[i], err = unix.Mmap(int(file.Fd()), 0, page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		w.must(errors.Join(err, file.Close()))
	}
	maps[0][7] = 'y'
	if got := maps[1][7]; got != 'y' {
		t.Errorf("the second reads %q", got)
	}
	for _, mapped := range maps {
		w.unmap(mapped)
	}
}

// Without power no sync succeeds: a program that calls it waits until it is killed.
func TestSyncWaitsWithoutPower(t *testing.T) {
	t.Parallel()
	d := disk.Mount(t)
	w := work{t, d.Path}
	w.write("a", "1", 0)
	w.sync("a", ".")
	w.write("a", "2", 0)
	d.Cut()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := exec.CommandContext(ctx, "sync", w.path("a")).Run(); err == nil || ctx.Err() == nil {
		t.Errorf("the sync ended with %v before it was killed", err)
	}
	d.Restart(disk.Survivors{})
	if got := w.left(); got != "a=1" {
		t.Errorf("left is %q", got)
	}
}

// Writes and syncs are counted as programs call them; reads, and what the
// kernel writes of mapped memory, are not.
func TestCounts(t *testing.T) {
	t.Parallel()
	d := disk.Mount(t)
	w := work{t, d.Path}
	count := func(what string, fn func(), want disk.Counts) {
		t.Helper()
		before := d.Counts()
		fn()
		if got := d.Counts().Minus(before); got != want {
			t.Errorf("%s: counted %+v, want %+v", what, got, want)
		}
	}
	count("a write", func() { w.write("a", "12345", 0) }, disk.Counts{Writes: 1, Bytes: 5})
	// It lies across the border of two pages, as the pages in the log of SQLite do.
	count("a large write", func() { w.write("a", strings.Repeat("x", page), 24) }, disk.Counts{Writes: 1, Bytes: page})
	count("a sync of a file and of a folder", func() { w.sync("a", ".") }, disk.Counts{Syncs: 2})
	count("a read", func() { w.left() }, disk.Counts{})
	count("mapped memory", func() {
		file, err := os.OpenFile(w.path("a"), os.O_RDWR, 0)
		w.must(err)
		mapped, err := unix.Mmap(int(file.Fd()), 0, page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		w.must(errors.Join(err, file.Close()))
		mapped[0] = 'y'
		w.unmap(mapped)
	}, disk.Counts{Syncs: 1}) // that of the test itself
	if got := w.left(); !strings.HasPrefix(got, "a=y2345") {
		t.Errorf("the mapped memory did not reach the file: %.10q", got)
	}
	d.Cut()
	d.Restart(disk.Survivors{})
	count("after a loss of power", func() { w.write("a", "1", 0) }, disk.Counts{Writes: 1, Bytes: 1})
}
