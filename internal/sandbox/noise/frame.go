package noise

import (
	"context"
	"errors"
	"fmt"
)

const (
	headerSize = 3

	// maxFrame is what three bytes can say; whatsmeow sends no larger frame.
	maxFrame = 1<<24 - 1

	// maxHandshakeFrame bounds what somebody may send who has not shown a key
	// yet. Real handshake messages stay below two kilobytes.
	maxHandshakeFrame = 1 << 16
)

// intro opens a client's stream: the name of the protocol, its magic number and
// the version of the token dictionary. It is also the handshake's prologue.
const intro = "WA\x06\x03"

var (
	errIntro    = errors.New("noise: the stream does not begin with the protocol's intro")
	errTooLarge = errors.New("noise: frame too large")
)

// frameReader cuts a stream of websocket messages into frames. The borders of
// messages mean nothing: a message may hold several frames, and a frame may be
// spread over several messages.
type frameReader struct {
	next    func(context.Context) ([]byte, error) // the next message
	pending []byte                                // received, not yet returned
	limit   int                                   // of a frame's size
}

// readIntro consumes the intro.
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

// read returns the next frame's body, which is the caller's to keep and change.
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
	// The capacity is cut off as well: decryption in place must not reach into
	// the next frame.
	body := r.pending[headerSize:end:end]
	r.pending = r.pending[end:]
	return body, nil
}

// fill appends one message to what is pending. Pending never exceeds one frame
// and one message, both of which are bounded.
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

// frame returns body with its header.
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
