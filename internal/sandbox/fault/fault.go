// Package fault makes the platform fail on purpose. Acknowledgements come late or
// get lost, logins are refused, and connections and files fall silent.
package fault

import (
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/recado-project/recado/internal/sandbox/feed"
	"github.com/recado-project/recado/internal/sandbox/refusal"
	"github.com/recado-project/recado/internal/sandbox/webclient"
	"github.com/recado-project/recado/internal/sandbox/wire"
)

// Faults are the faults that a caller asks for. The zero value is none.
type Faults struct {
	AckDelay     time.Duration // before the acknowledgement of a client's message
	DropAcks     float64       // the share of acknowledgements that get lost, 0 to 1
	SendError    int           // refuses messages with this code; 0: accepts them
	RefuseLogins bool
	Outdated     bool // refuses clients because their version is too old, whichever it is

	// OldestVersion is the oldest version of the web client that is accepted; zero: any.
	// NewestVersion is the one that the page of the web client names; zero: the client
	// library's own. VersionPage is how that page fails.
	OldestVersion, NewestVersion webclient.Version
	VersionPage                  webclient.Failure

	// Silent is the step at which the platform stops answering clients that
	// connect. It keeps the connections open until the faults are replaced. Clients
	// that are connected already are not affected.
	Silent Silence
	// StallMedia and StallHistory are how many bytes of a file the media host sends
	// before it falls silent. If nil, it sends the whole file. A history is fetched
	// as a file.
	StallMedia, StallHistory *int64
	// MediaPadding is how many bytes the media host sends after each file.
	MediaPadding int64
	// DropHandles answers uploads of files for channels as those of others: without a handle.
	DropHandles bool
}

// Silence is a step of connecting that is never answered.
type Silence string

// The steps, in their order. The zero value is no step.
const (
	// SilentConnection accepts the TCP connection and sends nothing, not even TLS
	// on a listener that SilentListener has wrapped. On other listeners it is the
	// same as SilentUpgrade.
	SilentConnection Silence = "connection"
	SilentUpgrade    Silence = "upgrade"   // the websocket's request; over wss, TLS is done
	SilentHandshake  Silence = "handshake" // the websocket is open
	SilentLogin      Silence = "login"     // keys are exchanged
)

func silences() []string {
	return []string{string(SilentConnection), string(SilentUpgrade), string(SilentHandshake), string(SilentLogin)}
}

const maxMediaPadding = 1 << 30

// Drops decides at random whether an acknowledgement gets lost.
func (f *Faults) Drops() bool {
	return f.DropAcks > 0 && rand.Float64() < f.DropAcks //nolint:gosec // chance, not a secret
}

// Service keeps the current faults and applies those that make connections silent.
// It is safe for concurrent use.
type Service struct {
	now         atomic.Pointer[Current]
	connections *wire.Set
	bell        *feed.Bell
	logger      *slog.Logger
}

// Current are the faults until others replace them.
type Current struct {
	Faults

	replaced chan struct{} // closed when others take their place
}

// New returns the service, without faults. It adds the connections that it keeps
// silent to connections. It rings the bell of all phones when the faults change.
func New(connections *wire.Set, bell *feed.Bell, logger *slog.Logger) *Service {
	s := &Service{connections: connections, bell: bell, logger: logger}
	s.now.Store(&Current{replaced: make(chan struct{})})
	return s
}

// Current returns the current faults. The caller must not change them.
func (s *Service) Current() *Current { return s.now.Load() }

// Set replaces all faults. It ends connections that an earlier fault keeps silent.
func (s *Service) Set(by Faults) error {
	switch {
	case by.AckDelay < 0:
		return refusal.Invalidf("ackDelayMs", "must not be negative")
	case by.DropAcks < 0 || by.DropAcks > 1:
		return refusal.Invalidf("dropAcks", "must be between 0 and 1")
	case by.SendError < 0 || by.SendError > 999:
		return refusal.Invalidf("sendError", "must be a code between 1 and 999, or 0 for none")
	case by.VersionPage != "" && !slices.Contains(webclient.Failures(), string(by.VersionPage)):
		return refusal.Invalidf("versionPage", "must be one of %s, or empty for none", strings.Join(webclient.Failures(), ", "))
	case by.Silent != "" && !slices.Contains(silences(), string(by.Silent)):
		return refusal.Invalidf("silent", "must be one of %s, or empty for none", strings.Join(silences(), ", "))
	case by.StallMedia != nil && *by.StallMedia < 0:
		return refusal.Invalidf("stallMediaAfterBytes", "must not be negative")
	case by.StallHistory != nil && *by.StallHistory < 0:
		return refusal.Invalidf("stallHistoryAfterBytes", "must not be negative")
	case by.MediaPadding < 0 || by.MediaPadding > maxMediaPadding:
		return refusal.Invalidf("mediaPaddingBytes", "must be between 0 and %d", maxMediaPadding)
	}
	close(s.now.Swap(&Current{Faults: by, replaced: make(chan struct{})}).replaced)
	s.bell.RingAll()
	return nil
}

// Any reports whether a fault is on.
func (f *Faults) Any() bool { return *f != Faults{} }

// Refuses reports whether the platform refuses clients of that version as outdated.
func (f *Faults) Refuses(version webclient.Version) bool {
	return f.Outdated || version.Less(f.OldestVersion)
}
