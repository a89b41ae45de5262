package platform

import (
	"context"
	"math/rand/v2"
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
}

// drops decides whether this acknowledgement gets lost.
func (f *Faults) drops() bool {
	return f.DropAcks > 0 && rand.Float64() < f.DropAcks //nolint:gosec // chance, not a secret
}

type faults struct{ now atomic.Pointer[Faults] }

func newFaults() *faults {
	f := &faults{}
	f.now.Store(&Faults{})
	return f
}

// current returns the faults; the caller does not change them.
func (f *faults) current() *Faults { return f.now.Load() }

// SetFaults replaces all faults.
func (s *Server) SetFaults(f Faults) error {
	switch {
	case f.AckDelay < 0:
		return invalidf("ackDelayMs", "must not be negative")
	case f.DropAcks < 0 || f.DropAcks > 1:
		return invalidf("dropAcks", "must be between 0 and 1")
	case f.SendError < 0 || f.SendError > 999:
		return invalidf("sendError", "must be a code between 1 and 999, or 0 for none")
	}
	s.faults.now.Store(&f)
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
