// The beginning of a connection.

package noise

import (
	"context"
	"errors"
	"fmt"

	"github.com/coder/websocket"
)

var errText = errors.New("noise: not a binary message")

// Accept does the server's side of the handshake on ws, which must have been
// accepted without compression. It returns the connection once the client has
// proved its key and sent its payload. The deadline of ctx bounds the handshake.
// After an error the websocket is closed.
func Accept(ctx context.Context, ws *websocket.Conn, authority *Authority) (*Conn, error) {
	conn, err := accept(ctx, ws, authority)
	if err != nil {
		// Clients treat all failed handshakes alike, so nothing is sent. An error
		// of the close adds nothing to this one.
		_ = ws.CloseNow()
		return nil, err
	}
	return conn, nil
}

func accept(ctx context.Context, ws *websocket.Conn, authority *Authority) (*Conn, error) {
	handshake, err := newResponder(authority)
	if err != nil {
		return nil, err
	}
	ws.SetReadLimit(maxHandshakeFrame)
	frames := &frameReader{limit: maxHandshakeFrame, next: messages(ws)}
	if err := frames.readIntro(ctx); err != nil {
		return nil, fmt.Errorf("noise: read intro: %w", err)
	}
	hello, err := frames.read(ctx)
	if err != nil {
		return nil, fmt.Errorf("noise: read client hello: %w", err)
	}
	answer, err := handshake.answer(hello)
	if err != nil {
		return nil, err
	}
	if err := writeFrame(ctx, ws, answer); err != nil {
		return nil, fmt.Errorf("noise: write server hello: %w", err)
	}
	last, err := frames.read(ctx)
	if err != nil {
		return nil, fmt.Errorf("noise: read client finish: %w", err)
	}
	key, payload, err := handshake.finish(last)
	if err != nil {
		return nil, err
	}
	client, server, err := handshake.split()
	if err != nil {
		return nil, err
	}
	ws.SetReadLimit(headerSize + maxFrame)
	frames.limit = maxFrame
	return &Conn{
		ws: ws, frames: frames, payload: payload, clientKey: key,
		reading: client, writing: server, turn: make(chan struct{}, 1),
	}, nil
}

// messages returns a function that reads a connection's binary messages.
func messages(ws *websocket.Conn) func(context.Context) ([]byte, error) {
	return func(ctx context.Context) ([]byte, error) {
		kind, message, err := ws.Read(ctx)
		if err != nil {
			return nil, err
		}
		if kind != websocket.MessageBinary {
			return nil, errText
		}
		return message, nil
	}
}

// writeFrame sends body as one frame in one message. whatsmeow loses frames that
// are spread over several messages.
func writeFrame(ctx context.Context, ws *websocket.Conn, body []byte) error {
	whole, err := frame(body)
	if err != nil {
		return err
	}
	return ws.Write(ctx, websocket.MessageBinary, whole)
}
