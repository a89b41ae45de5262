// How long instances have been connecting, and why attempts fail.

package instance

import (
	"time"

	"github.com/recado-project/recado/internal/gateway"
)

// Failure says why an attempt to connect has failed.
type Failure string

// The failures of attempts that are nobody's in particular. Those of a proxy are called as the
// reasons of the instance.
const (
	FailureUnreachable Failure = "unreachable" // nothing answers at the platform's address, or not in time
	FailureHungUp      Failure = "hung_up"     // the platform has ended the connection before the login
	FailureOutdated    Failure = "client_outdated"
)

// Failures returns all of them.
func Failures() []Failure {
	return []Failure{
		FailureUnreachable, FailureHungUp, FailureOutdated,
		Failure(gateway.ReasonProxyUnreachable), Failure(gateway.ReasonProxyAuth), Failure(gateway.ReasonProxyPlatform),
	}
}

// failureOf says why an attempt has failed that ended with trouble.
func failureOf(trouble error) Failure {
	switch why := whyLost(trouble); {
	case why.IsProxy():
		return Failure(why)
	case trouble != nil:
		return FailureUnreachable
	default:
		return FailureHungUp
	}
}

// failed tells of an attempt that has failed.
func (l *lifecycle) failed(why Failure) {
	if tell := l.supervisor.service.config.Failed; tell != nil && l.current() {
		tell(why)
	}
}

// wants notes that a linked session is to be connected, and is not. The caller holds mu.
func (s *supervisor) wants(now time.Time) {
	if s.wantedSince.IsZero() && s.session != nil && s.session.Linked() {
		s.wantedSince = now
	}
}

// connectingFor returns for how long the session has been connecting; 0 if it is not.
func (s *supervisor) connectingFor(now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session == nil || s.ended || s.up || s.wantedSince.IsZero() {
		return 0
	}
	return max(now.Sub(s.wantedSince), 0)
}

// Sessions returns how many sessions are connected, and for how long the one has been connecting that
// has done so for the longest time; 0 if all are connected. Sessions that are being linked don't count.
func (s *Service) Sessions() (connected int, longest time.Duration) {
	now := s.sessions.config.Now()
	for _, sup := range s.sessions.all() {
		if sup.connected() != nil {
			connected++
		}
		longest = max(longest, sup.connectingFor(now))
	}
	return connected, longest
}
