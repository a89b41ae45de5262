// The padding of plaintexts.

package signal

import (
	"crypto/rand"
	"errors"
	"slices"
)

var errPadding = errors.New("signal: bad padding")

// Pad returns plaintext with 1 to 15 more bytes, each of which is their number.
// Every message is padded before it is encrypted. Pad does not change its argument.
func Pad(plaintext []byte) []byte {
	var random [1]byte
	_, _ = rand.Read(random[:]) // it never returns an error
	size := random[0] & 15
	if size == 0 {
		size = 15
	}
	padded := slices.Grow(slices.Clip(plaintext), int(size))
	for range size {
		padded = append(padded, size)
	}
	return padded
}

// Unpad removes the padding of a decrypted message. The result shares the
// argument's memory.
func Unpad(padded []byte) ([]byte, error) {
	if len(padded) == 0 {
		return nil, errPadding
	}
	last := padded[len(padded)-1]
	size := int(last)
	if size == 0 || size > 16 || size > len(padded) {
		return nil, errPadding
	}
	rest := len(padded) - size
	for _, b := range padded[rest:] {
		if b != last {
			return nil, errPadding
		}
	}
	return padded[:rest], nil
}
