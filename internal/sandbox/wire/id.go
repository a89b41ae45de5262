package wire

import (
	"crypto/rand"
	"encoding/hex"
	"strings"
)

// NewID names a stanza of the server's own.
func NewID() string {
	return RandomHex(8)
}

// NewMessageID names a message that a phone sends, in the form that handsets
// use.
func NewMessageID() string {
	return "AC" + strings.ToUpper(RandomHex(15))
}

// RandomHex returns so many random bytes in hexadecimal digits.
func RandomHex(size int) string {
	raw := make([]byte, size)
	_, _ = rand.Read(raw) // it never fails: the process would have ended
	return hex.EncodeToString(raw)
}
