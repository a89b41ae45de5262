// Package noise is the lowest layer of the sandbox's platform server: frames in
// websocket messages, the responder of the Noise XX handshake with its
// certificate chain, and the encrypted transport of binary nodes.
//
// It knows no stanza: what a node means, who may log in and what is answered
// is the business of the platform package, its only caller.
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

// Conn is one client's connection after the handshake. ReadNode has one caller
// at a time; everything else is safe for concurrent use.
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

// Payload returns what the client said about itself in the handshake: a
// registration or a login. The caller must not change it.
func (c *Conn) Payload() *waWa6.ClientPayload { return c.payload }

// ClientKey returns the client's Noise static public key, which the handshake
// has proved it owns: the credential of a linked device.
func (c *Conn) ClientKey() [32]byte { return c.clientKey }

// ReadNode returns the client's next node. An error is final: the connection
// is to be closed. When ctx ends the websocket is closed with it.
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

// WriteNode sends node as one frame in one websocket message; concurrent calls
// are sent one after the other. A node that cannot be encoded leaves the
// connection usable; after any other error every later call fails. When ctx
// ends during the write the websocket is closed.
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
	// The counter is the nonce: sealing and sending are one step, and once a
	// frame was not sent the client could read none after it.
	ciphertext := c.writing.Seal(nil, nonceOf(c.written), plaintext, nil)
	c.written++
	if err := writeFrame(ctx, c.ws, ciphertext); err != nil {
		c.broken = fmt.Errorf("noise: write frame: %w", err)
		return c.broken
	}
	return nil
}

// Close performs the websocket's closing handshake with code and reason; it
// waits a few seconds at most for the client's part.
func (c *Conn) Close(code websocket.StatusCode, reason string) error {
	return c.ws.Close(code, reason)
}

// CloseNow drops the connection without a goodbye.
func (c *Conn) CloseNow() error { return c.ws.CloseNow() }
