package noise

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"

	waBinary "go.mau.fi/whatsmeow/binary"
)

// compressed is the bit of a node's first byte that announces zlib.
const compressed = 2

// maxNode bounds a node after decompression: no frame could carry more without.
const maxNode = maxFrame

var (
	errNode   = errors.New("noise: malformed node")
	errEncode = errors.New("noise: node cannot be encoded")
)

// decodeNode reads the plaintext of a transport frame. Byte contents share its
// memory.
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
	// The decoder asserts types that only a well-behaved sender gets right, as
	// when a tag is a list: it panics where it should refuse.
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

// inflate decompresses at most maxNode bytes.
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

// encodeNode returns the plaintext of a transport frame.
func encodeNode(node waBinary.Node) (plaintext []byte, err error) {
	// The encoder has no other way than a panic to refuse an attribute's type.
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
