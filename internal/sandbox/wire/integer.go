package wire

import "encoding/binary"

// Bytes32 encodes a registration ID as four bytes.
func Bytes32(v uint32) []byte { return binary.BigEndian.AppendUint32(nil, v) }

// Uint24 decodes the ID of a key from three bytes.
func Uint24(b []byte) uint32 { return uint32(b[0])<<16 | uint32(b[1])<<8 | uint32(b[2]) }

// Bytes24 encodes the ID of a key as three bytes.
func Bytes24(v uint32) []byte { return []byte{byte(v >> 16), byte(v >> 8), byte(v)} } //nolint:gosec // the low three bytes are meant
