// The encoding of a row, and the checksum of a table.

package copying

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
)

// The first byte of a value says what it is.
const (
	isNil byte = iota
	isNumber
	isText
	isBytes
	isFalse
	isTrue
)

// maxValue bounds a value, so that a damaged archive can't ask for all the memory.
const maxValue = 1 << 30

// AppendRow appends the bytes of a row.
func AppendRow(to []byte, row Row) ([]byte, error) {
	to = binary.AppendUvarint(to, uint64(len(row)))
	for _, value := range row {
		switch value := value.(type) {
		case nil:
			to = append(to, isNil)
		case int64:
			to = binary.AppendVarint(append(to, isNumber), value)
		case string:
			to = append(binary.AppendUvarint(append(to, isText), uint64(len(value))), value...)
		case []byte:
			to = append(binary.AppendUvarint(append(to, isBytes), uint64(len(value))), value...)
		case bool:
			if value {
				to = append(to, isTrue)
			} else {
				to = append(to, isFalse)
			}
		default:
			return nil, fmt.Errorf("a value is a %T", value)
		}
	}
	return to, nil
}

// ReadRow reads what AppendRow has written. At the end its error is io.EOF.
func ReadRow(from *bufio.Reader, columns int) (Row, error) {
	count, err := binary.ReadUvarint(from)
	if err != nil {
		return nil, err // io.EOF before the first byte
	}
	if count != uint64(columns) { //nolint:gosec // it is the length of a list
		return nil, fmt.Errorf("a row has %d values instead of %d", count, columns)
	}
	row := make(Row, columns)
	for i := range row {
		if row[i], err = readValue(from); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
	}
	return row, nil
}

func readValue(from *bufio.Reader) (any, error) {
	kind, err := from.ReadByte()
	if err != nil {
		return nil, err
	}
	switch kind {
	case isNil:
		return nil, nil //nolint:nilnil // it is the value
	case isNumber:
		return binary.ReadVarint(from)
	case isFalse, isTrue:
		return kind == isTrue, nil
	case isText, isBytes:
		size, err := binary.ReadUvarint(from)
		if err != nil {
			return nil, err
		}
		if size > maxValue {
			return nil, fmt.Errorf("a value has %d bytes", size)
		}
		value, err := io.ReadAll(io.LimitReader(from, int64(size))) // it allocates only what is there
		if err == nil && uint64(len(value)) < size {
			err = io.ErrUnexpectedEOF
		}
		if err != nil || kind == isBytes {
			return value, err
		}
		return string(value), nil
	default:
		return nil, fmt.Errorf("a value is of the unknown kind %d", kind)
	}
}

// Sum is a checksum of the rows of a table that does not depend on their order: two tables with the same
// sum have the same rows.
type Sum struct {
	Rows int64
	hash [4]uint64
}

// Add adds a row.
func (s *Sum) Add(row Row) error {
	encoded, err := AppendRow(nil, row)
	if err != nil {
		return err
	}
	s.Rows++
	hash := sha256.Sum256(encoded)
	for i := range s.hash {
		s.hash[i] += binary.BigEndian.Uint64(hash[8*i:])
	}
	return nil
}

// Text is the sum for people and for files.
func (s *Sum) Text() string {
	var all []byte
	for _, part := range s.hash {
		all = binary.BigEndian.AppendUint64(all, part)
	}
	return fmt.Sprintf("%d:%s", s.Rows, hex.EncodeToString(all))
}
