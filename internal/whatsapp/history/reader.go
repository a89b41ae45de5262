// A reader of protobuf messages of any size.

package history

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// ErrMalformed says that something is no protobuf message.
var ErrMalformed = errors.New("history: malformed protobuf message")

// wireReader reads a protobuf message field by field, without holding it. The content of
// a field has to be read by one of field, message and skip before the next one.
type wireReader struct {
	in   *bufio.Reader
	left int64 // bytes of the message that were not read
}

// newWireReader reads the message that in holds to its end.
func newWireReader(in *bufio.Reader) *wireReader { return &wireReader{in: in, left: math.MaxInt64} }

// next returns the next field; io.EOF at the end of the message.
func (w *wireReader) next() (protowire.Number, protowire.Type, error) {
	if w.left == 0 {
		return 0, 0, io.EOF
	}
	if _, err := w.in.Peek(1); err != nil {
		return 0, 0, err // io.EOF, where the outermost message ends
	}
	tag, err := w.value()
	if err != nil {
		return 0, 0, err
	}
	number, kind := protowire.DecodeTag(tag)
	if !number.IsValid() {
		return 0, 0, ErrMalformed
	}
	return number, kind, nil
}

// value reads a variable-length number.
func (w *wireReader) value() (uint64, error) {
	var value uint64
	for shift := 0; shift < 64; shift += 7 {
		if w.left == 0 {
			return 0, ErrMalformed
		}
		b, err := w.in.ReadByte()
		if err != nil {
			return 0, cut(err)
		}
		w.left--
		value |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return value, nil
		}
	}
	return 0, ErrMalformed
}

// length reads how long a field is that says so.
func (w *wireReader) length() (int64, error) {
	n, err := w.value()
	if err != nil {
		return 0, err
	}
	if n > uint64(w.left) { //nolint:gosec // it is not negative
		return 0, ErrMalformed
	}
	return int64(n), nil //nolint:gosec // it is not more than left
}

// raw reads the bytes of a field. Those of one that is longer than limit are
// passed over; ok is false then.
func (w *wireReader) raw(limit int64) (content []byte, ok bool, err error) {
	n, err := w.length()
	if err != nil {
		return nil, false, err
	}
	if n > limit {
		return nil, false, w.discard(n)
	}
	content = make([]byte, n)
	if _, err := io.ReadFull(w.in, content); err != nil {
		return nil, false, cut(err)
	}
	w.left -= n
	return content, true, nil
}

// field reads the content of a field that is a number or bytes; others, and those
// that are longer than limit, are passed over, and ok is false.
func (w *wireReader) field(kind protowire.Type, limit int64) (content []byte, ok bool, err error) {
	switch kind {
	case protowire.VarintType:
		value, err := w.value()
		return protowire.AppendVarint(nil, value), err == nil, err
	case protowire.BytesType:
		return w.raw(limit)
	default:
		return nil, false, w.skip(kind)
	}
}

// appendField writes a field with the content that wireReader.field has read.
func appendField(message []byte, number protowire.Number, kind protowire.Type, content []byte) []byte {
	message = protowire.AppendTag(message, number, kind)
	if kind == protowire.BytesType {
		return protowire.AppendBytes(message, content)
	}
	return append(message, content...)
}

// message calls read with the message that a field holds. It skips what read leaves.
func (w *wireReader) message(read func(inner *wireReader) error) error {
	n, err := w.length()
	if err != nil {
		return err
	}
	w.left -= n
	inner := &wireReader{in: w.in, left: n}
	if err := read(inner); err != nil {
		return err
	}
	return inner.discard(inner.left)
}

// skip passes over a field of that kind.
func (w *wireReader) skip(kind protowire.Type) error {
	switch kind {
	case protowire.VarintType:
		_, err := w.value()
		return err
	case protowire.Fixed32Type:
		return w.discard(4)
	case protowire.Fixed64Type:
		return w.discard(8)
	case protowire.BytesType:
		n, err := w.length()
		if err != nil {
			return err
		}
		return w.discard(n)
	default: // groups, which the protocol does not use
		return ErrMalformed
	}
}

func (w *wireReader) discard(n int64) error {
	if n > w.left {
		return ErrMalformed
	}
	w.left -= n
	if _, err := io.CopyN(io.Discard, w.in, n); err != nil {
		return cut(err)
	}
	return nil
}

// cut says that a message ended too early.
func cut(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: %w", ErrMalformed, io.ErrUnexpectedEOF)
	}
	return err
}
