package platform

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// Faults are what the platform does wrong on purpose. The zero value is none.
type Faults struct {
	AckDelay     time.Duration // before a message of a client is acknowledged
	DropAcks     float64       // the share of acknowledgements that get lost, 0 to 1
	SendError    int           // refuses messages with this code; 0: accepts them
	RefuseLogins bool
	Outdated     bool // refuses clients as too old

	// Silent is where the platform stops answering a client that connects; it
	// keeps the connection open until the faults are replaced. Who is connected
	// already notices nothing.
	Silent Silence
	// StallMedia and StallHistory are how many bytes of a file the media host
	// sends before it falls silent; nil sends all of it. A history is a file of
	// its own.
	StallMedia, StallHistory *int64
	// MediaPadding is how many bytes the media host sends behind each file.
	MediaPadding int64
}

// Silence is a step of connecting that is never answered.
type Silence string

// The steps, in their order. The zero value answers all of them.
const (
	// SilentConnection takes the TCP connection and sends nothing: no TLS either,
	// on a listener that SilentListener has wrapped. Elsewhere it is SilentUpgrade.
	SilentConnection Silence = "connection"
	SilentUpgrade    Silence = "upgrade"   // the websocket's request; over wss, TLS is done
	SilentHandshake  Silence = "handshake" // the websocket is open
	SilentLogin      Silence = "login"     // keys are exchanged, nothing comes after it
)

func silences() []string {
	return []string{string(SilentConnection), string(SilentUpgrade), string(SilentHandshake), string(SilentLogin)}
}

const maxMediaPadding = 1 << 30

// drops decides whether this acknowledgement gets lost.
func (f *Faults) drops() bool {
	return f.DropAcks > 0 && rand.Float64() < f.DropAcks //nolint:gosec // chance, not a secret
}

// faults are those of now, and a signal that they are others.
type faults struct{ now atomic.Pointer[faultsOfNow] }

type faultsOfNow struct {
	Faults

	replaced chan struct{} // closed when others take their place
}

func newFaults() *faults {
	f := &faults{}
	f.now.Store(&faultsOfNow{replaced: make(chan struct{})})
	return f
}

// current returns the faults; the caller does not change them.
func (f *faults) current() *faultsOfNow { return f.now.Load() }

func (f *faults) replace(by Faults) {
	close(f.now.Swap(&faultsOfNow{Faults: by, replaced: make(chan struct{})}).replaced)
}

// SetFaults replaces all faults. Whoever a silence of before keeps waiting is
// cut off.
func (s *Server) SetFaults(f Faults) error {
	switch {
	case f.AckDelay < 0:
		return invalidf("ackDelayMs", "must not be negative")
	case f.DropAcks < 0 || f.DropAcks > 1:
		return invalidf("dropAcks", "must be between 0 and 1")
	case f.SendError < 0 || f.SendError > 999:
		return invalidf("sendError", "must be a code between 1 and 999, or 0 for none")
	case f.Silent != "" && !slices.Contains(silences(), string(f.Silent)):
		return invalidf("silent", "must be one of %s, or empty for none", strings.Join(silences(), ", "))
	case f.StallMedia != nil && *f.StallMedia < 0:
		return invalidf("stallMediaAfterBytes", "must not be negative")
	case f.StallHistory != nil && *f.StallHistory < 0:
		return invalidf("stallHistoryAfterBytes", "must not be negative")
	case f.MediaPadding < 0 || f.MediaPadding > maxMediaPadding:
		return invalidf("mediaPaddingBytes", "must be between 0 and %d", maxMediaPadding)
	}
	s.faults.replace(f)
	return nil
}

// Disconnect cuts the connections of a number's linked devices without a
// goodbye; of everybody, where the number is empty.
func (s *Server) Disconnect(ctx context.Context, number string) error {
	if number == "" {
		for _, c := range s.connections.all() {
			c.cut()
		}
		return nil
	}
	of, err := s.phoneOf(ctx, number)
	if err != nil {
		return err
	}
	for _, linked := range of.companions() {
		if c := linked.conn.Load(); c != nil {
			c.cut()
		}
	}
	return nil
}
