// The platform's question for a passkey, while an instance is being linked.

package instance

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
)

// Passkey returns the platform's question for a passkey: the one that is open, or how the
// last one of this linking ended. It starts no linking.
func (s *Service) Passkey(id string) gateway.PasskeyQuestion {
	sup := s.supervisor(id)
	sup.mu.Lock()
	defer sup.mu.Unlock()
	if sup.passkey.State == "" {
		return gateway.PasskeyQuestion{State: gateway.PasskeyNone}
	}
	return sup.passkey
}

// AnswerPasskey hands the platform what a browser has signed (gateway.Linking).
func (s *Service) AnswerPasskey(ctx context.Context, id string, assertion []byte) error {
	session, err := s.supervisor(id).beingLinked()
	if err != nil {
		return err
	}
	return session.AnswerPasskey(ctx, assertion)
}

// ConfirmPasskey says that the phone shows the same code (gateway.Linking). It may be called
// again, also when the device is linked.
func (s *Service) ConfirmPasskey(ctx context.Context, id string) error {
	if s.Passkey(id).State == gateway.PasskeyDone {
		return nil
	}
	session, err := s.supervisor(id).beingLinked()
	if err != nil {
		return err
	}
	return session.ConfirmPasskey(ctx)
}

// beingLinked returns the session that may be asked for a passkey.
func (s *supervisor) beingLinked() (gateway.SupervisedSession, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session == nil || s.up {
		return nil, gateway.Errorf(gateway.Conflict, gateway.CodeNotConnected,
			"the instance is not being linked: get a code first, and scan it")
	}
	return s.session, nil
}

// PasskeyChanged keeps the question for requests and appends its event. The code that was
// shown is void.
func (l *lifecycle) PasskeyChanged(ctx context.Context, question gateway.PasskeyQuestion) {
	l.set(func(s *supervisor) {
		s.passkey = question
		if question.State == gateway.PasskeyRequested {
			s.code = gateway.QRCode{}
		}
	})
	if !l.current() {
		return
	}
	if err := l.appendPasskey(ctx, question); err != nil {
		// A request gets the question all the same; only the event is missing.
		l.supervisor.service.config.Logger.ErrorContext(ctx, "event of a passkey not appended", slog.String("instance_id", l.supervisor.id), slog.Any("error", err))
	}
}

func (l *lifecycle) appendPasskey(ctx context.Context, question gateway.PasskeyQuestion) error {
	data, err := eventlog.NewInstancePasskey(question)
	if err != nil {
		return fmt.Errorf("instance: read the platform's request: %w", err)
	}
	service := l.supervisor.service
	event, err := eventlog.NewEvent(l.supervisor.id, "", "", service.sessions.config.Now(), data)
	if err != nil {
		return err
	}
	return service.config.Log.Append(ctx, event)
}
