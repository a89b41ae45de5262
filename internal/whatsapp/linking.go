package whatsapp

import (
	"context"
	"time"

	"github.com/recado-project/recado/internal/gateway"
)

// linking shows the codes that the platform gave, one after another. It belongs
// to the owner's goroutine.
type linking struct {
	session *session
	codes   []string
	attempt int // over all connections of this linking
	timer   *time.Timer
	first   bool
	// loginWanted says that the platform has asked for the login that follows a
	// pairing, before whatsmeow told that the pairing is done.
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

// expired delivers when the code that is shown runs out; nil, which never
// delivers, where none is shown.
func (l *linking) expired() <-chan time.Time {
	if l.timer == nil {
		return nil
	}
	return l.timer.C
}

// stop ends the showing: a code was used, or the connection that it belongs to
// is gone.
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
