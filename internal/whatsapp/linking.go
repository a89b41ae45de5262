// Linking: the codes that are shown, the question for a passkey, and the end of a link.

package whatsapp

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/whatsapp/wire"
)

// secretPart is the place of the secret among the parts of a code, which commas separate.
const secretPart = 3

// maxRefusal bounds the platform's words about an answer that it refuses.
const maxRefusal = 500

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
		return l.awaitPasskey()
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

// renew makes the codes to come with the secret that the platform's question for a passkey
// has changed, and shows the next one: those before it are void.
func (l *linking) renew(ctx context.Context, secret []byte) {
	for i, code := range l.codes {
		if parts := strings.Split(code, ","); len(parts) > secretPart {
			parts[secretPart] = base64.StdEncoding.EncodeToString(secret)
			l.codes[i] = strings.Join(parts, ",")
		}
	}
	l.next(ctx)
}

// awaitPasskey reports whether the linking goes on without a code, until the question for a
// passkey ends.
func (l *linking) awaitPasskey() bool {
	question := l.session.passkeyQuestion()
	if !question.Open() {
		return false
	}
	l.timer = time.NewTimer(max(question.ExpiresAt.Sub(l.session.line.Now()), 0) + partingWait)
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
	ctx, cancel := context.WithTimeout(ctx, s.line.Wait)
	defer cancel()
	kind, name := wire.PairClient(s.label.Kind)
	code, err := s.line.Client().PairPhone(ctx, number, true, kind, name)
	if err != nil {
		return gateway.PairingCode{}, wire.Failure(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return gateway.PairingCode{Code: strings.ReplaceAll(code, "-", ""), ExpiresAt: s.codesEnd}, nil
}

// ceremony is a question for a passkey. The session's mu guards it.
type ceremony struct {
	question gateway.PasskeyQuestion
	request  *types.WebAuthnPublicKey
	sending  bool // an answer is on its way, or the platform has it
	timer    *time.Timer
}

// passkeyQuestion returns the question as it is now.
func (s *session) passkeyQuestion() gateway.PasskeyQuestion {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.passkey.question
}

// passkeyAsked begins a question. The codes that are shown are void from now on, because
// whatsmeow has drawn another secret.
func (s *session) passkeyAsked(event *events.PairPasskeyRequest) {
	if s.Linked() {
		s.logger.WarnContext(s.ctx, "the platform asks a linked device for a passkey")
		return
	}
	secret := bytes.Clone(s.line.Client().Store.AdvSecretKey)
	limit := passkeyLimit(event.PublicKey)
	request, err := passkeyRequest(event.PublicKey)
	if err != nil {
		s.logger.ErrorContext(s.ctx, "the platform's question for a passkey can't be shown", slog.Any("error", err))
		return
	}
	question := gateway.PasskeyQuestion{State: gateway.PasskeyRequested, Request: request, ExpiresAt: s.line.Now().Add(limit)}
	s.mu.Lock()
	if s.passkey.timer != nil {
		s.passkey.timer.Stop()
	}
	s.passkey = ceremony{question: question, request: event.PublicKey}
	s.passkey.timer = time.AfterFunc(limit, func() { s.passkeyExpired(question.ExpiresAt) })
	s.mu.Unlock()
	s.lifecycle.PasskeyChanged(s.ctx, question)
	s.signals.send(signal{kind: passkeyWanted, secret: secret})
}

// passkeyExpired ends the question that was to be answered until then.
func (s *session) passkeyExpired(at time.Time) {
	question := s.passkeyQuestion()
	if !question.ExpiresAt.Equal(at) {
		return
	}
	reason := "nobody answered in time"
	switch {
	case question.Confirmed:
		reason = "the code was not confirmed on the phone in time"
	case question.State == gateway.PasskeyConfirm:
		reason = "the code was not confirmed in time"
	}
	s.line.WhileOpen(func() { s.endPasskey(gateway.PasskeyFailed, reason) })
}

// endPasskey ends the question that is open, if there is one.
func (s *session) endPasskey(state gateway.PasskeyState, reason string) {
	if reason != "" {
		reason += "; scan the code that is shown next"
	}
	s.changePasskey(func(q *gateway.PasskeyQuestion) { *q = gateway.PasskeyQuestion{State: state, Reason: reason} })
}

// changePasskey changes the question that is open, and reports whether there is one.
func (s *session) changePasskey(change func(*gateway.PasskeyQuestion)) bool {
	s.mu.Lock()
	open := s.passkey.question.Open()
	if open {
		change(&s.passkey.question)
	}
	if !s.passkey.question.Open() && s.passkey.timer != nil {
		s.passkey.timer.Stop()
		s.passkey.timer = nil
	}
	question := s.passkey.question
	s.mu.Unlock()
	if open {
		s.lifecycle.PasskeyChanged(s.ctx, question)
	}
	return open
}

// AnswerPasskey hands over what a browser has signed (gateway.Linking).
func (s *session) AnswerPasskey(ctx context.Context, assertion []byte) error {
	s.mu.Lock()
	request, state, busy := s.passkey.request, s.passkey.question.State, s.passkey.sending
	s.mu.Unlock()
	if state == gateway.PasskeyRequested && busy {
		return gateway.Errorf(gateway.Conflict, gateway.CodeNotConnected, "an answer is on its way already")
	}
	if state != gateway.PasskeyRequested {
		return gateway.Errorf(gateway.Conflict, gateway.CodeNotConnected,
			"no passkey is asked for now; it is after a phone whose account needs one has scanned the code")
	}
	answer, err := checkPasskey(request, assertion)
	if err != nil {
		return err
	}
	s.mu.Lock()
	mine := !s.passkey.sending
	s.passkey.sending = true
	s.mu.Unlock()
	if !mine {
		return gateway.Errorf(gateway.Conflict, gateway.CodeNotConnected, "an answer is on its way already")
	}
	ctx, cancel := context.WithTimeout(ctx, s.line.Wait)
	defer cancel()
	err = s.line.Client().SendPasskeyResponse(ctx, answer)
	var refused *whatsmeow.IQError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused):
		reason := fmt.Sprintf("the platform refused the passkey's answer: %s (code %d)", gateway.CleanText(refused.Text, maxRefusal), refused.Code)
		s.line.WhileOpen(func() { s.endPasskey(gateway.PasskeyFailed, reason) })
		return gateway.Errorf(gateway.Invalid, gateway.CodeValidation, "%s; scan the code that is shown next", reason)
	default: // the platform may not have it
		s.mu.Lock()
		s.passkey.sending = false
		s.mu.Unlock()
		return wire.Failure(err)
	}
}

// passkeyAgreed shows the code to compare. Where the platform needs no comparison, because
// this client has proven that its code was scanned, it is confirmed at once.
func (s *session) passkeyAgreed(event *events.PairPasskeyConfirmation) {
	confirm := event.SkipHandoffUX && !s.connector.config.ComparePasskeys
	open := s.changePasskey(func(q *gateway.PasskeyQuestion) {
		q.State, q.Request, q.Code = gateway.PasskeyConfirm, nil, strings.ReplaceAll(event.Code, "-", "")
	})
	if !open || !confirm {
		return
	}
	// whatsmeow calls this on a goroutine of its own, so it may wait for the platform.
	if err := s.sendConfirmation(s.ctx); err != nil {
		s.endPasskey(gateway.PasskeyFailed, "the platform did not take the confirmation: "+err.Error())
		return
	}
	s.changePasskey(func(q *gateway.PasskeyQuestion) { q.Confirmed = true })
}

// ConfirmPasskey says that the phone shows the same code (gateway.Linking).
func (s *session) ConfirmPasskey(ctx context.Context) error {
	question := s.passkeyQuestion()
	if question.Confirmed {
		return nil
	}
	if question.State != gateway.PasskeyConfirm {
		return gateway.Errorf(gateway.Conflict, gateway.CodeNotConnected, "there is no code to confirm")
	}
	if err := s.sendConfirmation(ctx); err != nil {
		return err
	}
	s.line.WhileOpen(func() { s.changePasskey(func(q *gateway.PasskeyQuestion) { q.Confirmed = true }) })
	return nil
}

func (s *session) sendConfirmation(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.line.Wait)
	defer cancel()
	if err := s.line.Client().SendPasskeyConfirmation(ctx); err != nil {
		return wire.Failure(err)
	}
	return nil
}

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
	_, err = s.line.Client().DangerousInternals().SendIQ(ctx, whatsmeow.DangerousInfoQuery{ //nolint:staticcheck // the only way to ask without deleting; the version is pinned
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
