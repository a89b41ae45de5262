// A file that does not grow beyond a limit, and how long a transfer may take.

package transport

import (
	"io"
	"os"
	"runtime"
	"time"

	"go.mau.fi/whatsmeow"
)

// slowest is how slow the media host may be, in bytes a second: a slower transfer would
// keep others waiting in vain.
const slowest = 64 << 10

// TransferTime is how long a file of at most limit bytes may take.
func TransferTime(limit int64) time.Duration {
	return time.Minute + time.Duration(limit/slowest)*time.Second
}

// Limited makes a file for whatsmeow to download into that does not grow beyond limit
// bytes; a write beyond it fails with over. The media host may send more than it has
// announced.
func Limited(file *os.File, limit int64, over error) whatsmeow.File {
	return limitedFile{file: file, limit: limit, over: over}
}

// limitedFile is written by whatsmeow from its start to its end, and again from its
// start. It has only the methods that whatsmeow needs: with others io.Copy would find a
// way around Write.
type limitedFile struct {
	file  *os.File
	limit int64
	over  error // what a write beyond the limit is answered
}

// Write writes where the file stands, within the limit.
func (f limitedFile) Write(p []byte) (int, error) {
	runtime.Gosched() // the requests of others go first
	at, err := f.file.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0, err
	}
	if at+int64(len(p)) > f.limit {
		return 0, f.over
	}
	return f.file.Write(p)
}

// Read, and the methods below, are the file's own.
func (f limitedFile) Read(p []byte) (int, error)               { return f.file.Read(p) }
func (f limitedFile) ReadAt(p []byte, at int64) (int, error)   { return f.file.ReadAt(p, at) }
func (f limitedFile) WriteAt(p []byte, at int64) (int, error)  { return f.file.WriteAt(p, at) }
func (f limitedFile) Seek(at int64, whence int) (int64, error) { return f.file.Seek(at, whence) }
func (f limitedFile) Truncate(size int64) error                { return f.file.Truncate(size) }
func (f limitedFile) Stat() (os.FileInfo, error)               { return f.file.Stat() }
