// Media in a data URI: decoded into a temporary file while the body is read.

package body

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"

	"github.com/recado-project/recado/internal/media"
)

const (
	// mediaFile is the name of temporary files of media in every package; the files
	// that a killed process left behind are found by it.
	mediaFile = "recado-media-*"
	// base64Block is how much base64 is decoded at a time: a multiple of 4.
	base64Block = 32 << 10
)

// inlineMedia is the media of a data URI, in a temporary file.
type inlineMedia struct {
	declared string // the type as given
	size     int64  // of what was decoded so far
	invalid  bool   // it is not base64

	file    *os.File
	hash    hash.Hash
	encoded []byte // base64 that waits to be decoded
	decoded []byte
	padding int
}

func newInlineMedia(folder, declared string) (*inlineMedia, error) {
	file, err := os.CreateTemp(folder, mediaFile)
	if err != nil {
		return nil, fmt.Errorf("body: make temporary file: %w", err)
	}
	// A file without a name goes with the process, however that ends. Where an open
	// file can't be removed, close removes it.
	_ = os.Remove(file.Name())
	return &inlineMedia{
		declared: declared, file: file, hash: sha256.New(),
		encoded: make([]byte, 0, base64Block), decoded: make([]byte, base64.RawStdEncoding.DecodedLen(base64Block)),
	}, nil
}

// add takes the next character of the base64.
func (m *inlineMedia) add(c byte) error {
	switch {
	case m.invalid || c == '\r' || c == '\n':
		return nil
	case c == '=':
		m.padding++
		m.invalid = m.padding > 2
		return nil
	case m.padding > 0:
		m.invalid = true
		return nil
	}
	if m.encoded = append(m.encoded, c); len(m.encoded) == base64Block {
		return m.decode()
	}
	return nil
}

func (m *inlineMedia) decode() error {
	n, err := base64.RawStdEncoding.Decode(m.decoded, m.encoded)
	m.encoded = m.encoded[:0]
	if err != nil {
		m.invalid = true
		return nil //nolint:nilerr // the client's mistake: problem reports it
	}
	return m.write(m.decoded[:n])
}

// write takes content that is decoded.
func (m *inlineMedia) write(content []byte) error {
	m.hash.Write(content)
	m.size += int64(len(content))
	if _, err := m.file.Write(content); err != nil {
		return fmt.Errorf("body: write temporary file: %w", err)
	}
	return nil
}

// finish decodes the rest, and returns the hash of everything, spelt so that it is
// valid base64 too.
func (m *inlineMedia) finish() (string, error) {
	err := m.decode()
	m.encoded, m.decoded = nil, nil
	return hex.EncodeToString(m.hash.Sum(nil)), err
}

// problem says what is wrong with the data; empty means nothing is.
func (m *inlineMedia) problem() string {
	switch {
	case m.invalid:
		return "must be a data URI whose data is valid base64"
	case m.size == 0:
		return "must not be empty"
	}
	return ""
}

// content is the media for the use case.
func (m *inlineMedia) content() *media.Decoded {
	return &media.Decoded{Declared: m.declared, Size: m.size, SHA256: m.hash.Sum(nil), Content: m.file}
}

func (m *inlineMedia) close() error {
	err := m.file.Close()
	//nolint:gosec // it is the name that the system gave it
	if removed := os.Remove(m.file.Name()); removed != nil && !errors.Is(removed, fs.ErrNotExist) {
		err = errors.Join(err, removed)
	}
	if err != nil {
		return fmt.Errorf("body: remove temporary file: %w", err)
	}
	return nil
}
