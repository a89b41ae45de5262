// Frames in websocket messages.

package noise

import (
	"context"
	"errors"
	"fmt"
)

const (
	headerSize = 3

	// maxFrame is the largest length that three bytes can hold. whatsmeow sends no
	// larger frame.
	maxFrame = 1<<24 - 1

	// maxHandshakeFrame bounds a frame of a client that has not proved a key yet.
	// Real handshake messages stay below two kilobytes.
	maxHandshakeFrame = 1 << 16
)

// intro begins a client's stream: the name of the protocol, its magic number and
// the version of the token dictionary. It is also the prologue of the handshake.
const intro = "WA\x06\x03"

var (
	errIntro    = errors.New("noise: the stream does not begin with the protocol's intro")
	errTooLarge = errors.New("noise: frame too large")
)

// frameReader cuts a stream of websocket messages into frames. A message may have
// several frames, and a frame may be spread over several messages.
type frameReader struct {
	next    func(context.Context) ([]byte, error) // the next message
	pending []byte                                // received, not yet returned
	limit   int                                   // of a frame's size
}

// readIntro reads and checks the intro.
func (r *frameReader) readIntro(ctx context.Context) error {
	for len(r.pending) < len(intro) {
		if err := r.fill(ctx); err != nil {
			return err
		}
	}
	if string(r.pending[:len(intro)]) != intro {
		return errIntro
	}
	r.pending = r.pending[len(intro):]
	return nil
}

// read returns the body of the next frame. The caller may keep and change it.
func (r *frameReader) read(ctx context.Context) ([]byte, error) {
	for len(r.pending) < headerSize {
		if err := r.fill(ctx); err != nil {
			return nil, err
		}
	}
	size := int(r.pending[0])<<16 | int(r.pending[1])<<8 | int(r.pending[2])
	if size > r.limit {
		return nil, fmt.Errorf("%w: %d bytes, at most %d", errTooLarge, size, r.limit)
	}
	end := headerSize + size
	for len(r.pending) < end {
		if err := r.fill(ctx); err != nil {
			return nil, err
		}
	}
	// The capacity is cut off too, so that decryption in place can't reach into the
	// next frame.
	body := r.pending[headerSize:end:end]
	r.pending = r.pending[end:]
	return body, nil
}

// fill appends one message to the pending bytes. They never exceed one frame and
// one message, which are both bounded.
func (r *frameReader) fill(ctx context.Context) error {
	message, err := r.next(ctx)
	if err != nil {
		return err
	}
	if len(r.pending) == 0 {
		r.pending = message
		return nil
	}
	r.pending = append(r.pending, message...)
	return nil
}

// frame returns body with the header of a frame.
func frame(body []byte) ([]byte, error) {
	if len(body) > maxFrame {
		return nil, fmt.Errorf("%w: %d bytes, at most %d", errTooLarge, len(body), maxFrame)
	}
	whole := make([]byte, headerSize, headerSize+len(body))
	for i, size := headerSize-1, len(body); i >= 0; i, size = i-1, size>>8 {
		whole[i] = byte(size & 0xff)
	}
	return append(whole, body...), nil
}
