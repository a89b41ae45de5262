// Encoding and decoding of binary nodes.

package noise

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"

	waBinary "go.mau.fi/whatsmeow/binary"
)

// compressed is the bit in the first byte of a node that means zlib.
const compressed = 2

// maxNode bounds a node after decompression. A frame could not hold a larger one
// without compression.
const maxNode = maxFrame

var (
	errNode   = errors.New("noise: malformed node")
	errEncode = errors.New("noise: node cannot be encoded")
)

// decodeNode decodes the plaintext of a frame. Contents share its memory.
func decodeNode(plaintext []byte) (node *waBinary.Node, err error) {
	if len(plaintext) == 0 {
		return nil, fmt.Errorf("%w: empty", errNode)
	}
	data := plaintext[1:]
	if plaintext[0]&compressed != 0 {
		if data, err = inflate(data); err != nil {
			return nil, err
		}
	}
	if err := checkNode(data); err != nil {
		return nil, err
	}
	// The decoder panics at nodes that a well-behaved sender does not send, such as
	// one whose tag is a list.
	defer func() {
		if cause := recover(); cause != nil {
			node, err = nil, fmt.Errorf("%w: %v", errNode, cause)
		}
	}()
	node, err = waBinary.Unmarshal(data)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNode, err)
	}
	return node, nil
}

// inflate decompresses up to maxNode bytes.
func inflate(data []byte) ([]byte, error) {
	reader, err := zlib.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%w: decompress: %w", errNode, err)
	}
	plain, err := io.ReadAll(io.LimitReader(reader, maxNode+1))
	if err != nil {
		return nil, fmt.Errorf("%w: decompress: %w", errNode, err)
	}
	if len(plain) > maxNode {
		return nil, fmt.Errorf("%w: decompresses to more than %d bytes", errNode, maxNode)
	}
	return plain, nil
}

// encodeNode encodes the plaintext of a frame.
func encodeNode(node waBinary.Node) (plaintext []byte, err error) {
	// The encoder panics at an attribute whose type it does not know.
	defer func() {
		if cause := recover(); cause != nil {
			plaintext, err = nil, fmt.Errorf("%w: %s: %v", errEncode, node.Tag, cause)
		}
	}()
	plaintext, err = waBinary.Marshal(node)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", errEncode, node.Tag, err)
	}
	return plaintext, nil
}
