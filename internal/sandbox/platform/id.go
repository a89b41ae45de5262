package platform

import (
	"crypto/rand"
	"encoding/hex"
	"strings"
)

// newID names a stanza of the server's own.
func newID() string {
	return randomHex(8)
}

// newMessageID names a message that a phone sends, in the form that handsets
// use.
func newMessageID() string {
	return "AC" + strings.ToUpper(randomHex(15))
}

func randomHex(size int) string {
	raw := make([]byte, size)
	_, _ = rand.Read(raw) // it never fails: the process would have ended
	return hex.EncodeToString(raw)
}
