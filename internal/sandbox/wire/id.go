package wire

import (
	"crypto/rand"
	"encoding/hex"
	"strings"
)

// NewID returns an ID for a stanza that the server sends by itself.
func NewID() string {
	return RandomHex(8)
}

// NewMessageID returns an ID for a message that a phone sends, in the form that
// handsets use.
func NewMessageID() string {
	return "AC" + strings.ToUpper(RandomHex(15))
}

// RandomHex returns size random bytes in hexadecimal digits.
func RandomHex(size int) string {
	raw := make([]byte, size)
	_, _ = rand.Read(raw) // it never fails: the process would have ended
	return hex.EncodeToString(raw)
}
