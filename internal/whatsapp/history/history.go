// Package history reads the history that a phone hands over when it is linked: a packed
// protobuf message of any size, read as a stream of which little is in memory.
package history

import (
	"bufio"
	"compress/zlib"
	"errors"
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/recado-project/recado/internal/share"
)

const (
	// maxInflated bounds the unpacked size of a history, as a multiple of its packed
	// size; text has five to ten times. Up to small every size is read.
	maxInflated, small = 64, 16 << 20
	// maxMessage bounds one message of a history: those with bigger previews are
	// passed over.
	maxMessage = 256 << 10
	// maxChat bounds what is held of one conversation.
	maxChat = 2 << 20
	// maxBatch and maxBatchBytes bound the messages that are handed over at once.
	maxBatch, maxBatchBytes = 50, 1 << 20
	// maxField bounds each field besides the conversations, and maxFields all of
	// them together.
	maxField, maxFields = 64 << 10, 1 << 20
	// sliceSize is how many names, or pairs of number and LID, are handed over
	// at once.
	sliceSize = 500
)

// ErrTooBig says that a history is too big to be read.
var ErrTooBig = errors.New("history: too big")

// Packed is a packed history. It is read as a stream, so its size does not matter.
type Packed struct {
	Open func() (io.Reader, error) // from the start
	Size int64                     // packed
}

// read calls field for every field of the history; field has to consume it.
func (p Packed) read(field func(w *wireReader, number protowire.Number, kind protowire.Type) error) error {
	packed, err := p.Open()
	if err != nil {
		return err
	}
	plain, err := zlib.NewReader(bufio.NewReader(share.Yield(packed)))
	if err != nil {
		return fmt.Errorf("history: unpack history: %w", err)
	}
	defer func() { _ = plain.Close() }() // it was only read
	limited := &limitedReader{from: plain, left: max(maxInflated*p.Size, small)}
	w := newWireReader(bufio.NewReaderSize(limited, 64<<10))
	for {
		number, kind, err := w.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = field(w, number, kind)
		}
		if err != nil {
			return fmt.Errorf("history: read history: %w", err)
		}
	}
}

// limitedReader fails after a number of bytes: a small packed file may unpack to any size.
type limitedReader struct {
	from io.Reader
	left int64
}

// Read reads the next bytes within the limit.
func (l *limitedReader) Read(p []byte) (int, error) {
	n, err := l.from.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, ErrTooBig
	}
	return n, err
}
