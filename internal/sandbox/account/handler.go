package account

import (
	"context"

	waBinary "go.mau.fi/whatsmeow/binary"

	"github.com/recado-project/recado/internal/sandbox/wire"
)

// Asker is the client that sends a request.
type Asker struct {
	Device *Device
	Origin wire.Origin // how the client reached the server
}

// Handler answers one kind of request of a linked device. It returns the content of
// the result, or a wire.Error.
type Handler func(ctx context.Context, c Asker, iq waBinary.Node) ([]waBinary.Node, error)
