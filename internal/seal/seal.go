// Package seal encrypts values that lie in a database or in a backup, each for its own
// place: whoever moves a sealed value to another place can't have it opened there. It knows
// no table; the store's room vault says what is sealed, and keeps the keys.
package seal

import (
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/chacha20poly1305"
)

// keySize is how many bytes a key has.
const keySize = chacha20poly1305.KeySize

// ErrForeign is the error for a value that this key did not seal for this place: the key or
// the place is another one, or the value was changed.
var ErrForeign = errors.New("seal: the value was not sealed with this key for this place")

// Key seals and opens values. It is safe for concurrent use. Printed, it shows nothing of
// its bytes.
type Key struct {
	// XChaCha20-Poly1305: its nonces are long enough to be drawn at random for any number of
	// values, so nothing has to be counted.
	aead cipher.AEAD
	raw  [keySize]byte
}

// NewKey draws a key.
func NewKey() *Key {
	var raw [keySize]byte
	_, _ = rand.Read(raw[:]) // it never fails
	key, err := keyOf(raw[:])
	if err != nil {
		panic(err) // the size is right
	}
	return key
}

// ParseKey reads a key from 64 hexadecimal digits or from the base64 of 32 bytes, with white
// space around it.
func ParseKey(text string) (*Key, error) {
	text = strings.TrimSpace(text)
	for _, decode := range []func(string) ([]byte, error){
		hex.DecodeString, base64.StdEncoding.DecodeString, base64.RawStdEncoding.DecodeString, base64.URLEncoding.DecodeString,
		base64.RawURLEncoding.DecodeString,
	} {
		if raw, err := decode(text); err == nil && len(raw) == keySize {
			return keyOf(raw)
		}
	}
	return nil, errors.New("a key is 32 random bytes, written as 64 hexadecimal digits or in base64")
}

func keyOf(raw []byte) (*Key, error) {
	aead, err := chacha20poly1305.NewX(raw)
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	key := &Key{aead: aead}
	copy(key.raw[:], raw)
	return key, nil
}

// String hides the key from logs.
func (*Key) String() string { return "[key]" }

// GoString hides the key from logs.
func (*Key) GoString() string { return "[key]" }

// Text is the key as ParseKey reads it.
func (k *Key) Text() string { return hex.EncodeToString(k.raw[:]) }

// Seal encrypts a value for a place, which is named by any texts.
func (k *Key) Seal(value []byte, place ...string) []byte {
	sealed := make([]byte, chacha20poly1305.NonceSizeX, chacha20poly1305.NonceSizeX+len(value)+chacha20poly1305.Overhead)
	_, _ = rand.Read(sealed) // it never fails
	return k.aead.Seal(sealed, sealed, value, encoded(place))
}

// Open decrypts a value that was sealed for the place. Its error is ErrForeign.
func (k *Key) Open(sealed []byte, place ...string) ([]byte, error) {
	if len(sealed) < chacha20poly1305.NonceSizeX+chacha20poly1305.Overhead {
		return nil, ErrForeign
	}
	nonce, rest := sealed[:chacha20poly1305.NonceSizeX], sealed[chacha20poly1305.NonceSizeX:]
	value, err := k.aead.Open([]byte{}, nonce, rest, encoded(place))
	if err != nil {
		return nil, ErrForeign
	}
	return value, nil
}

// Wrap seals the other key for a place.
func (k *Key) Wrap(other *Key, place ...string) []byte { return k.Seal(other.raw[:], place...) }

// Unwrap opens a key that was wrapped for the place. Its error is ErrForeign.
func (k *Key) Unwrap(wrapped []byte, place ...string) (*Key, error) {
	raw, err := k.Open(wrapped, place...)
	if err != nil || len(raw) != keySize {
		return nil, ErrForeign
	}
	return keyOf(raw)
}

// encoded writes the texts one after another so that no others are written alike.
func encoded(place []string) []byte {
	size := 0
	for _, text := range place {
		size += binary.MaxVarintLen32 + len(text)
	}
	all := make([]byte, 0, size)
	for _, text := range place {
		all = binary.AppendUvarint(all, uint64(len(text)))
		all = append(all, text...)
	}
	return all
}
