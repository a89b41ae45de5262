// The check of an encoded node before it is decoded.

package noise

import (
	"fmt"

	"go.mau.fi/whatsmeow/binary/token"
)

const (
	// maxDepth bounds how deep nodes and values are nested. Real stanzas stay below
	// ten.
	maxDepth = 64

	// maxParts bounds the number of nodes and values in one stanza. An upload of
	// 812 prekeys has about seven thousand.
	maxParts = 1 << 18
)

// checkNode checks an encoded node without decoding it, because the decoder trusts
// its input. It recurses as deep as the sender wants, and a stack overflow ends the
// process without a chance to recover. It allocates lists of the length that the
// sender claims, and turns a few bytes into a node of several hundred. So checkNode
// bounds depth and number, and each list must be complete.
func checkNode(data []byte) error {
	c := checker{data: data}
	if err := c.node(0); err != nil {
		return err
	}
	if len(c.data) > 0 {
		return fmt.Errorf("%w: %d bytes too many", errNode, len(c.data))
	}
	return nil
}

// checker is the state of the check. data has the bytes that are still to be read.
type checker struct {
	data  []byte
	parts int
}

// enter counts a node or a value at depth.
func (c *checker) enter(depth int) error {
	c.parts++
	if depth > maxDepth || c.parts > maxParts {
		return fmt.Errorf("%w: nested too deep or too large", errNode)
	}
	return nil
}

// number reads size bytes as a big-endian number.
func (c *checker) number(size int) (int, error) {
	if len(c.data) < size {
		return 0, fmt.Errorf("%w: cut short", errNode)
	}
	n := 0
	for _, b := range c.data[:size] {
		n = n<<8 | int(b)
	}
	c.data = c.data[size:]
	return n, nil
}

func (c *checker) skip(size int) error {
	if len(c.data) < size {
		return fmt.Errorf("%w: cut short", errNode)
	}
	c.data = c.data[size:]
	return nil
}

// skipCounted skips as many bytes as the number in the next size bytes says.
func (c *checker) skipCounted(size, mask int) error {
	n, err := c.number(size)
	if err != nil {
		return err
	}
	return c.skip(n & mask)
}

func (c *checker) node(depth int) error {
	if err := c.enter(depth); err != nil {
		return err
	}
	kind, err := c.number(1)
	if err != nil {
		return err
	}
	size, err := c.listSize(kind)
	if err != nil {
		return err
	}
	// A node has a tag, keys with their values, and the content if the size is
	// even.
	for range size {
		if err := c.value(depth + 1); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) listSize(kind int) (int, error) {
	switch kind {
	case token.List8:
		return c.number(1)
	case token.List16:
		return c.number(2)
	default:
		return 0, fmt.Errorf("%w: %d is no list", errNode, kind)
	}
}

// value checks anything that may be a tag, an attribute or a content.
func (c *checker) value(depth int) error {
	if err := c.enter(depth); err != nil {
		return err
	}
	kind, err := c.number(1)
	if err != nil {
		return err
	}
	switch kind {
	case token.List8, token.List16:
		return c.list(kind, depth)
	case token.Binary8:
		return c.skipCounted(1, 0xff)
	case token.Binary20:
		return c.skipCounted(3, 0xfffff)
	case token.Binary32:
		return c.skipCounted(4, 0xffffffff)
	case token.Nibble8, token.Hex8:
		return c.skipCounted(1, 0x7f)
	case token.Dictionary0, token.Dictionary1, token.Dictionary2, token.Dictionary3:
		return c.skip(1)
	case token.JIDPair:
		return c.jid(0, 0, true, depth)
	case token.ADJID:
		return c.jid(2, 0, false, depth)
	case token.FBJID:
		return c.jid(0, 2, true, depth)
	case token.InteropJID:
		return c.jid(0, 4, true, depth)
	default:
		return nil // a token of one byte, or one that the decoder refuses
	}
}

func (c *checker) list(kind, depth int) error {
	size, err := c.listSize(kind)
	if err != nil {
		return err
	}
	for range size {
		if err := c.node(depth + 1); err != nil {
			return err
		}
	}
	return nil
}

// jid checks an address: some bytes before the user, the user, some bytes after it,
// and the server if it is spelled out.
func (c *checker) jid(before, between int, server bool, depth int) error {
	if err := c.skip(before); err != nil {
		return err
	}
	if err := c.value(depth + 1); err != nil {
		return err
	}
	if err := c.skip(between); err != nil || !server {
		return err
	}
	return c.value(depth + 1)
}
