package whatsapp

import (
	"context"
	"fmt"
	"strings"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/whatsapp/wire"
)

// linking shows the codes of the platform, one after another. It belongs to the owner's
// goroutine.
type linking struct {
	session *session
	codes   []string
	attempt int // over all connections of this linking
	timer   *time.Timer
	first   bool
	// loginWanted says that the platform has asked for the login that follows a
	// pairing, before whatsmeow signalled that the pairing is done.
	loginWanted bool
}

// begin shows the first of the codes.
func (l *linking) begin(ctx context.Context, codes []string) {
	l.stop()
	l.codes, l.first, l.loginWanted = codes, true, false
	config := l.session.connector.config
	l.session.mu.Lock()
	l.session.codesEnd = config.Now().Add(config.FirstCode + time.Duration(len(codes)-1)*config.NextCodes)
	l.session.mu.Unlock()
	l.next(ctx)
}

// next shows the next code and reports whether there is one.
func (l *linking) next(ctx context.Context) bool {
	l.stopTimer()
	if len(l.codes) == 0 {
		return false
	}
	config := l.session.connector.config
	shown := config.NextCodes
	if l.first {
		shown, l.first = config.FirstCode, false
	}
	code := l.codes[0]
	l.codes = l.codes[1:]
	l.attempt++
	l.timer = time.NewTimer(shown)
	l.session.lifecycle.CodeShown(ctx, gateway.QRCode{
		Code:      code,
		ExpiresAt: config.Now().Add(shown),
		Attempt:   l.attempt,
	})
	return true
}

// expired delivers when the code that is shown runs out. It is nil, which never delivers,
// if none is shown.
func (l *linking) expired() <-chan time.Time {
	if l.timer == nil {
		return nil
	}
	return l.timer.C
}

// stop shows no more codes: one was used, or their connection is gone.
func (l *linking) stop() {
	l.stopTimer()
	l.codes = nil
}

func (l *linking) stopTimer() {
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
}

// PairingCode asks for the characters to type on the phone (gateway.Linking).
func (s *session) PairingCode(ctx context.Context, number string) (gateway.PairingCode, error) {
	ctx, cancel := context.WithTimeout(ctx, s.connector.config.SendTimeout)
	defer cancel()
	code, err := s.current().PairPhone(ctx, number, true, whatsmeow.PairClientChrome, clientName)
	if err != nil {
		return gateway.PairingCode{}, wire.Failure(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return gateway.PairingCode{Code: strings.ReplaceAll(code, "-", ""), ExpiresAt: s.codesEnd}, nil
}

// clientName is what the phone shows that it is being linked to; the platform accepts only
// "Browser (System)" with names that it knows.
const clientName = "Chrome (Linux)"

// Logout ends the session on the platform and removes its keys
// (gateway.Linking). whatsmeow's own Logout is of no use: it deletes the keys while its
// goroutines still read them.
func (s *session) Logout(ctx context.Context) error {
	s.mu.Lock()
	device := s.device
	s.mu.Unlock()
	own, err := types.ParseJID(device)
	if err != nil {
		return fmt.Errorf("whatsapp: log out: %w", err)
	}
	_, err = s.current().DangerousInternals().SendIQ(ctx, whatsmeow.DangerousInfoQuery{ //nolint:staticcheck // the only way to ask without deleting; the version is pinned
		Namespace: "md",
		Type:      whatsmeow.DangerousInfoQueryType("set"),
		To:        types.ServerJID,
		Content: []binary.Node{{
			Tag:   "remove-companion-device",
			Attrs: binary.Attrs{"jid": own, "reason": "user_initiated"},
		}},
	})
	if err != nil {
		return fmt.Errorf("whatsapp: log out: %w", err)
	}
	s.Close() //nolint:contextcheck // it is the end of the session, whose own context has ended
	return s.connector.Forget(ctx, device)
}
