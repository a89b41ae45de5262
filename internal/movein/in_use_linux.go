// Who uses a SQLite file, or a folder.

package movein

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// ofdGetlk asks for locks of every process, and of other files of this one (fcntl(2)).
const ofdGetlk = 36

// inUse says how another process uses a SQLite file, by its locks and by the processes that have the file
// open. It returns an empty text if it sees none.
//
// A program that is connected in WAL mode locks the file all the time; any other only while it reads or
// writes. Only root sees the processes of other users. Of processes outside of this container only the
// locks are visible.
func inUse(path string) (why string, err error) {
	for _, part := range []struct {
		suffix        string
		start, length int64 // of the bytes that SQLite locks
	}{{"", 0x40000000, 512}, {"-shm", 120, 9}} {
		locked, err := isLocked(path+part.suffix, part.start, part.length)
		if err != nil {
			return "", err
		}
		if locked {
			return "another process has locked this file", nil
		}
	}
	return openedBy(path)
}

// isLocked reports whether there is a lock within some bytes of a file. A file that does
// not exist has none.
func isLocked(path string, start, length int64) (bool, error) {
	file, err := os.Open(path) //nolint:gosec // the operator names it
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer func() { _ = file.Close() }() // it was only looked at
	lock := syscall.Flock_t{Type: syscall.F_WRLCK, Start: start, Len: length}
	if err := syscall.FcntlFlock(file.Fd(), ofdGetlk, &lock); err != nil {
		return false, fmt.Errorf("look for locks: %w", err)
	}
	return lock.Type != syscall.F_UNLCK, nil
}

// openedBy names a process that has the file open; empty if none is seen.
func openedBy(path string) (string, error) {
	about, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	processes, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return "", err
	}
	for _, process := range processes {
		if name := processName(filepath.Base(process)); name != "" && hasOpen(process, []fs.FileInfo{about}) {
			return name + " has this file open", nil
		}
	}
	return "", nil
}

// processName names a process by its number; empty if it has ended.
func processName(process string) string {
	name, err := os.ReadFile("/proc/" + process + "/comm") //nolint:gosec // it is a number
	if err != nil {
		return ""
	}
	return fmt.Sprintf("process %s (%s)", process, strings.TrimSpace(string(name)))
}

// maxParents is how many folders above those of the devices a program may work: a program in /srv/bot may
// have them in /srv/bot/data/sessions.
const maxParents = 3

// folderInUse says how another process uses folders of devices, which are at path or in it: its working
// directory is there, or it has credentials open. A program on Baileys mostly works in a folder above
// them, so a JavaScript runtime counts there too. It returns an empty text if it sees none.
func folderInUse(path string, folders []*stateFolder) (why string, err error) {
	within, around := []fs.FileInfo{}, []fs.FileInfo{}
	var creds []fs.FileInfo
	for _, folder := range folders {
		about, err := folder.root.Stat(folder.name)
		if err != nil {
			return "", err
		}
		within = append(within, about)
		if about, err := folder.root.Lstat(filepath.Join(folder.name, credsFile)); err == nil {
			creds = append(creds, about)
		}
	}
	path, err = filepath.Abs(path)
	if err != nil {
		return "", err
	}
	for range maxParents {
		if about, err := os.Stat(path); err == nil && path != filepath.Dir(path) {
			around = append(around, about)
		}
		path = filepath.Dir(path)
	}
	processes, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return "", err
	}
	own := ancestors()
	for _, folder := range processes {
		process := filepath.Base(folder)
		if slices.Contains(own, process) {
			continue // those that have started this program may work anywhere
		}
		what := ""
		where, err := os.Stat(folder + "/cwd")
		switch {
		case err != nil: // it has ended, or is not ours to see
		case isOne(where, within), isOne(where, around) && isScript(folder):
			what = "works in or around this folder"
		}
		if what == "" && hasOpen(folder, creds) {
			what = "has " + credsFile + " open"
		}
		if name := processName(process); what != "" && name != "" {
			return name + " " + what, nil
		}
	}
	return "", nil
}

func isOne(file fs.FileInfo, files []fs.FileInfo) bool {
	return slices.ContainsFunc(files, func(other fs.FileInfo) bool { return os.SameFile(file, other) })
}

// hasOpen reports whether a process has one of some files open.
func hasOpen(process string, files []fs.FileInfo) bool {
	opened, err := os.ReadDir(process + "/fd")
	if err != nil {
		return false // it has ended, or is not ours to see
	}
	return slices.ContainsFunc(opened, func(descriptor fs.DirEntry) bool {
		about, err := os.Stat(process + "/fd/" + descriptor.Name())
		return err == nil && about.Mode().IsRegular() && isOne(about, files)
	})
}

// isScript reports whether a process is a runtime of JavaScript.
func isScript(process string) bool {
	program, err := os.Readlink(process + "/exe")
	if err != nil {
		return false
	}
	name := strings.TrimSuffix(filepath.Base(program), " (deleted)")
	return slices.Contains([]string{"node", "nodejs", "bun", "deno"}, name)
}

// ancestors returns this process and its parents.
func ancestors() []string {
	process := strconv.Itoa(os.Getpid())
	found := []string{process}
	for process != "0" && process != "1" {
		about, err := os.ReadFile("/proc/" + process + "/stat") //nolint:gosec // it is a number
		if err != nil {
			break
		}
		// The name in brackets may have blanks; behind it are the state and the parent.
		_, behind, _ := strings.Cut(string(about[strings.LastIndexByte(string(about), ')')+1:]), " ")
		fields := strings.Fields(behind)
		if len(fields) < 2 {
			break
		}
		process = fields[1]
		found = append(found, process)
	}
	return found
}
