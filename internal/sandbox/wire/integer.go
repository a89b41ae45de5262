package wire

import "encoding/binary"

// Bytes32 is a registration id as it is sent.
func Bytes32(v uint32) []byte { return binary.BigEndian.AppendUint32(nil, v) }

// Uint24 reads a key's id, which is three bytes.
func Uint24(b []byte) uint32 { return uint32(b[0])<<16 | uint32(b[1])<<8 | uint32(b[2]) }

// Bytes24 is a key's id as it is sent.
func Bytes24(v uint32) []byte { return []byte{byte(v >> 16), byte(v >> 8), byte(v)} } //nolint:gosec // the low three bytes are meant
