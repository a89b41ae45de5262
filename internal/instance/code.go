package instance

import (
	"context"
	"errors"
	"net"
	"syscall"
	"time"

	"github.com/recado-project/recado/internal/gateway"
)

// QR starts linking if necessary and returns the code that a person scans now, waiting up
// to ten seconds for the first one. Its error is Conflict for an instance that is linked
// already, also for one that is stopped, which stays stopped; PaymentRequired for one that
// waits for its payment.
func (s *Service) QR(ctx context.Context, id string) (gateway.QRCode, error) {
	sup, err := s.startLinking(ctx, id)
	if err != nil {
		return gateway.QRCode{}, err
	}
	code, _, err := sup.waitForCode(ctx, codeWait)
	return code, err
}

// PairingCode is like QR for a person who can't scan: it returns the characters
// to type on the phone of number.
func (s *Service) PairingCode(ctx context.Context, id, number string) (gateway.PairingCode, error) {
	sup, err := s.startLinking(ctx, id)
	if err != nil {
		return gateway.PairingCode{}, err
	}
	_, session, err := sup.waitForCode(ctx, codeWait)
	if err != nil {
		return gateway.PairingCode{}, err
	}
	code, err := session.PairingCode(ctx, number)
	if err == nil {
		sup.keepPairing(session, number, code)
	}
	return code, err
}

func (s *Service) startLinking(ctx context.Context, id string) (*supervisor, error) {
	sup := s.supervisor(id)
	err := s.command(ctx, id, func(ctx context.Context, sup *supervisor) error {
		return sup.startLinking(ctx)
	})
	return sup, err
}

// waitForCode waits until a code is shown, and returns it with its session.
func (s *supervisor) waitForCode(ctx context.Context, limit time.Duration) (gateway.QRCode, gateway.SupervisedSession, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		s.mu.Lock()
		code, session, trouble, failure, changed := s.code, s.session, s.trouble, s.failure, s.changed
		s.mu.Unlock()
		switch {
		case failure != nil:
			return gateway.QRCode{}, nil, failure
		case session == nil:
			return gateway.QRCode{}, nil, linkingEnded()
		case code.Code != "":
			return code, session, nil
		case isNoHost(trouble): // waiting would not help
			return gateway.QRCode{}, nil, noCode(trouble, limit)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			if s.service.Passkey(s.id).Open() {
				return gateway.QRCode{}, nil, gateway.Errorf(gateway.Conflict, gateway.CodeNotConnected,
					"the last code was scanned, and the platform asks for a passkey now: GET …/passkey")
			}
			return gateway.QRCode{}, nil, noCode(trouble, limit)
		}
	}
}

// noCode says why there is no code: asking again helps only if the platform can be
// reached.
func noCode(trouble error, limit time.Duration) error {
	if trouble == nil {
		return gateway.Errorf(gateway.PlatformTimeout, gateway.CodePlatformTimeout,
			"the platform gave no code within %s; ask again", limit)
	}
	why := "it did not answer in time"
	if reason := whyLost(trouble); reason.IsProxy() {
		why = proxyProblem(reason)
	} else if failure, ok := errors.AsType[*net.DNSError](trouble); ok && isNoHost(trouble) {
		why = "its host " + failure.Name + " does not exist, or this machine can't look names up"
	} else if errors.Is(trouble, syscall.ECONNREFUSED) {
		why = "it refuses connections"
	}
	return gateway.Errorf(gateway.PlatformTimeout, gateway.CodePlatformTimeout,
		"the platform can't be reached: %s; the gateway goes on trying", why)
}

// isNoHost reports whether the platform's host name does not exist.
func isNoHost(trouble error) bool {
	failure, ok := errors.AsType[*net.DNSError](trouble)
	return ok && failure.IsNotFound
}

func linkingEnded() error {
	return gateway.Errorf(gateway.Conflict, gateway.CodeNotConnected,
		"linking was ended; ask for the code again to start anew")
}

// startLinking is the command behind Service.QR: it starts a session unless one runs
// already.
func (s *supervisor) startLinking(ctx context.Context) error {
	instance, err := s.service.sessions.config.Store.GetInstance(ctx, s.id)
	if err != nil {
		return err
	}
	if instance.Status == gateway.StatusPaymentPending {
		return paymentRequired()
	}
	if instance.Linked() && instance.Status == gateway.StatusManuallyStopped {
		// A request for a code does not undo the stop.
		return gateway.Errorf(gateway.Conflict, gateway.CodeAlreadyConnected,
			"the instance is linked and was stopped; restart it to bring it back, or log it out to link it anew")
	}
	if !s.running() {
		if err := s.start(ctx, started); err != nil {
			return err
		}
		// Starting forgets keys that are gone.
		if instance, err = s.service.sessions.config.Store.GetInstance(ctx, s.id); err != nil {
			return err
		}
	}
	if instance.Linked() {
		return gateway.Errorf(gateway.Conflict, gateway.CodeAlreadyConnected,
			"the instance is linked already; log it out to link it anew")
	}
	return nil
}
