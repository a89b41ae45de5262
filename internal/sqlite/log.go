// Writing the log with few calls.

package sqlite

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"modernc.org/libc"
	"modernc.org/libc/sys/types"
	sqlite3 "modernc.org/sqlite/lib"
)

// SQLite writes every page of a commit to its log with two calls: 24 bytes, and the page behind
// them. Here they are gathered, and written with one call when SQLite syncs the log, reads it or
// asks for anything else of it. Nobody can tell the difference: other connections look at what was
// written only once SQLite has synced it, because every connection of this room has
// synchronous=FULL, and what a connection reads itself is written before.

const (
	// gathering is SQLite's name of the file system that does so.
	gathering = "gathering"
	// maxGathered is at how many bytes a part of a large commit is written. SQLite's own file
	// system writes less than 128 KB at once.
	maxGathered = 64 << 10
)

// gatheredLog is the log as one connection has it open. It is in SQLite's memory, where SQLite
// looks for the functions that work with the file, so they come first. One goroutine at a time
// uses a connection.
type gatheredLog struct {
	own    sqlite3.Tsqlite3_io_methods // which gather
	below  uintptr                     // those that write
	at     int64                       // where in the file the bytes belong that wait
	size   int                         // how many they are
	buffer [maxGathered]byte
}

// The kinds of these functions.
type (
	openFunc  = func(tls *libc.TLS, vfs, name, file uintptr, flags int32, outFlags uintptr) int32
	closeFunc = func(tls *libc.TLS, file uintptr) int32
	moveFunc  = func(tls *libc.TLS, file, memory uintptr, size int32, at int64) int32 // read and write
	cutFunc   = func(tls *libc.TLS, file uintptr, size int64) int32
	syncFunc  = func(tls *libc.TLS, file uintptr, flags int32) int32
	sizeFunc  = func(tls *libc.TLS, file, size uintptr) int32
)

//nolint:gochecknoglobals // SQLite has one list of file systems, for the whole process
var (
	openBelow openFunc
	gather    = sync.OnceValue(registerGathering)
)

// registerGathering makes the file system known to SQLite. It is the usual one but for logs.
func registerGathering() error {
	tls := libc.NewTLS()
	defer tls.Close()
	below := sqlite3.Xsqlite3_vfs_find(tls, 0)
	vfs := allocate[sqlite3.Tsqlite3_vfs](tls) // for ever
	name, err := libc.CString(gathering)
	if below == 0 || vfs == nil || err != nil {
		return errors.Join(errors.New("sqlite: no file system"), err)
	}
	*vfs = *behind[sqlite3.Tsqlite3_vfs](below)
	openBelow = function[openFunc](vfs.FxOpen)
	vfs.FzName, vfs.FxOpen = name, pointer[openFunc](openGathered)
	if code := sqlite3.Xsqlite3_vfs_register(tls, address(vfs), 0); code != sqlite3.SQLITE_OK {
		return fmt.Errorf("sqlite: register a file system: error %d", code)
	}
	return nil
}

func openGathered(tls *libc.TLS, vfs, name, file uintptr, flags int32, outFlags uintptr) int32 {
	code := openBelow(tls, vfs, name, file, flags, outFlags)
	if code != sqlite3.SQLITE_OK || flags&sqlite3.SQLITE_OPEN_WAL == 0 {
		return code
	}
	opened, l := behind[sqlite3.Tsqlite3_file](file), allocate[gatheredLog](tls)
	if l == nil {
		return code // it is written as SQLite does
	}
	l.own, l.below, l.at, l.size = *behind[sqlite3.Tsqlite3_io_methods](opened.FpMethods), opened.FpMethods, 0, 0
	l.own.FxClose, l.own.FxRead, l.own.FxWrite = pointer[closeFunc](closeGathered), pointer[moveFunc](readGathered), pointer[moveFunc](writeGathered)
	l.own.FxTruncate, l.own.FxSync, l.own.FxFileSize = pointer[cutFunc](truncateGathered), pointer[syncFunc](syncGathered), pointer[sizeFunc](sizeGathered)
	opened.FpMethods = address(l)
	return code
}

// logOf returns the log and what works with it below.
func logOf(file uintptr) (*gatheredLog, *sqlite3.Tsqlite3_io_methods) {
	l := behind[gatheredLog](behind[sqlite3.Tsqlite3_file](file).FpMethods)
	return l, behind[sqlite3.Tsqlite3_io_methods](l.below)
}

// written writes what waits, and returns what works with the log below. If it fails, SQLite is told,
// and gives the commit up.
func written(tls *libc.TLS, file uintptr) (below *sqlite3.Tsqlite3_io_methods, code int32) {
	l, below := logOf(file)
	if l.size > 0 {
		code = function[moveFunc](below.FxWrite)(tls, file, address(&l.buffer), int32(l.size), l.at) //nolint:gosec // maxGathered at most
		l.size = 0
	}
	return below, code
}

func writeGathered(tls *libc.TLS, file, memory uintptr, size int32, at int64) int32 {
	l, below := logOf(file)
	if at != l.at+int64(l.size) || l.size+int(size) > maxGathered {
		if _, code := written(tls, file); code != sqlite3.SQLITE_OK {
			return code
		}
		l.at = at
	}
	if size > maxGathered {
		return function[moveFunc](below.FxWrite)(tls, file, memory, size, at)
	}
	l.size += copy(l.buffer[l.size:], unsafe.Slice(behind[byte](memory), size)) //nolint:gosec // SQLite says how much it has there
	return sqlite3.SQLITE_OK
}

func readGathered(tls *libc.TLS, file, memory uintptr, size int32, at int64) int32 {
	below, code := written(tls, file)
	if code != sqlite3.SQLITE_OK {
		return code
	}
	return function[moveFunc](below.FxRead)(tls, file, memory, size, at)
}

func truncateGathered(tls *libc.TLS, file uintptr, size int64) int32 {
	below, code := written(tls, file)
	if code != sqlite3.SQLITE_OK {
		return code
	}
	return function[cutFunc](below.FxTruncate)(tls, file, size)
}

func syncGathered(tls *libc.TLS, file uintptr, flags int32) int32 {
	below, code := written(tls, file)
	if code != sqlite3.SQLITE_OK {
		return code
	}
	return function[syncFunc](below.FxSync)(tls, file, flags)
}

func sizeGathered(tls *libc.TLS, file, size uintptr) int32 {
	below, code := written(tls, file)
	if code != sqlite3.SQLITE_OK {
		return code
	}
	return function[sizeFunc](below.FxFileSize)(tls, file, size)
}

// closeGathered closes the log. What still waits belongs to no commit.
func closeGathered(tls *libc.TLS, file uintptr) int32 {
	l, below := logOf(file)
	behind[sqlite3.Tsqlite3_file](file).FpMethods = l.below
	libc.Xfree(tls, address(l))
	return function[closeFunc](below.FxClose)(tls, file)
}

// allocate takes memory of SQLite, which Go neither moves nor collects; nil if there is none left.
func allocate[T any](tls *libc.TLS) *T {
	return behind[T](libc.Xmalloc(tls, types.Size_t(unsafe.Sizeof(*new(T)))))
}

// behind is what SQLite has at an address of its memory, and address the other way round.
func behind[T any](address uintptr) *T { return *(**T)(unsafe.Pointer(&address)) } //nolint:gosec // the language of SQLite's file systems

func address[T any](of *T) uintptr { return uintptr(unsafe.Pointer(of)) } //nolint:gosec // as above

// function is the Go function that SQLite has as an address, and pointer the other way round, for
// functions that are declared, which are never collected.
func function[F any](address uintptr) F { return *(*F)(unsafe.Pointer(&address)) } //nolint:gosec // as above

func pointer[F any](f F) uintptr { return *(*uintptr)(unsafe.Pointer(&f)) } //nolint:gosec // as above
