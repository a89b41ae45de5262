// An encrypted connection: nodes in, nodes out.

package noise

import (
	"context"
	"crypto/cipher"
	"errors"
	"fmt"
	"math"

	"github.com/coder/websocket"
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/proto/waWa6"
)

var errExhausted = errors.New("noise: the connection's nonces are used up")

// Conn is one client's connection after the handshake. Only one caller at a time
// may call ReadNode; all other methods are safe for concurrent use.
type Conn struct {
	ws        *websocket.Conn
	payload   *waWa6.ClientPayload
	clientKey [32]byte

	frames  *frameReader
	reading cipher.AEAD
	read    uint32 // frames so far, which is the next one's nonce

	turn    chan struct{} // held while writing; guards what follows
	writing cipher.AEAD
	written uint32
	broken  error
}

// Payload returns what the client sent in the handshake: its registration or its
// login. The caller must not change it.
func (c *Conn) Payload() *waWa6.ClientPayload { return c.payload }

// ClientKey returns the client's Noise static public key, which it has proved to
// own in the handshake. It is the credential of a linked device.
func (c *Conn) ClientKey() [32]byte { return c.clientKey }

// ReadNode returns the client's next node. After an error the connection must be
// closed. If ctx ends, the websocket is closed too.
func (c *Conn) ReadNode(ctx context.Context) (*waBinary.Node, error) {
	ciphertext, err := c.frames.read(ctx)
	if err != nil {
		return nil, fmt.Errorf("noise: read frame: %w", err)
	}
	if c.read == math.MaxUint32 {
		return nil, errExhausted
	}
	plaintext, err := c.reading.Open(ciphertext[:0], nonceOf(c.read), ciphertext, nil)
	if err != nil {
		return nil, fmt.Errorf("noise: decrypt frame %d: %w", c.read, err)
	}
	c.read++
	return decodeNode(plaintext)
}

// WriteNode sends node as one frame in one websocket message. Concurrent calls are
// sent one after the other. If a node can't be encoded, the connection stays
// usable; after any other error every later call fails. If ctx ends during the
// write, the websocket is closed.
func (c *Conn) WriteNode(ctx context.Context, node waBinary.Node) error {
	plaintext, err := encodeNode(node)
	if err != nil {
		return err
	}
	if len(plaintext)+c.writing.Overhead() > maxFrame {
		return fmt.Errorf("%w: %s: %d bytes", errEncode, node.Tag, len(plaintext))
	}
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return fmt.Errorf("noise: wait to write: %w", context.Cause(ctx))
	}
	if c.broken != nil {
		return c.broken
	}
	if c.written == math.MaxUint32 {
		return errExhausted
	}
	// The counter is the nonce, so encrypting and sending are one step. After a
	// frame that was not sent, the client could not decrypt any other.
	ciphertext := c.writing.Seal(nil, nonceOf(c.written), plaintext, nil)
	c.written++
	if err := writeFrame(ctx, c.ws, ciphertext); err != nil {
		c.broken = fmt.Errorf("noise: write frame: %w", err)
		return c.broken
	}
	return nil
}

// Close does the websocket's closing handshake with code and reason. It waits at
// most a few seconds for the client.
func (c *Conn) Close(code websocket.StatusCode, reason string) error {
	return c.ws.Close(code, reason)
}

// CloseNow closes the connection without a handshake.
func (c *Conn) CloseNow() error { return c.ws.CloseNow() }
