// The codes that instances show right now.

package instance

import (
	"cmp"
	"context"
	"slices"

	"github.com/recado-project/recado/internal/gateway"
)

// ShownCode is what links one instance right now.
type ShownCode struct {
	Instance gateway.Instance
	QR       gateway.QRCode
	// Pairing is the code to type on the phone of Number. Its Code is "" if nobody has
	// asked for one.
	Pairing gateway.PairingCode
	Number  string
}

// pairing is a pairing code with the session that shows it.
type pairing struct {
	session gateway.SupervisedSession
	number  string
	code    gateway.PairingCode
}

// ShownCodes returns the codes of all instances that are being linked, in the order of
// the instances' IDs, which is that of their creation. It starts no linking.
func (s *Service) ShownCodes(ctx context.Context) ([]ShownCode, error) {
	var shown []ShownCode
	for _, sup := range s.sessions.all() {
		code, ok := sup.shownCode()
		if !ok {
			continue
		}
		instance, err := s.sessions.config.Store.GetInstance(ctx, sup.id)
		if gateway.KindOf(err) == gateway.NotFound {
			continue // it was deleted a moment ago
		}
		if err != nil {
			return nil, err
		}
		code.Instance = instance
		shown = append(shown, code)
	}
	slices.SortFunc(shown, func(a, b ShownCode) int { return cmp.Compare(a.Instance.ID, b.Instance.ID) })
	return shown, nil
}

// shownCode returns the code that the instance shows. ok is false if it shows none.
func (s *supervisor) shownCode() (code ShownCode, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.service.sessions.config.Now()
	if s.code.Code == "" || !now.Before(s.code.ExpiresAt) {
		return ShownCode{}, false
	}
	code.QR = s.code
	if s.pairing.session == s.session && now.Before(s.pairing.code.ExpiresAt) {
		code.Pairing, code.Number = s.pairing.code, s.pairing.number
	}
	return code, true
}

// keepPairing remembers a pairing code as long as its session shows it.
func (s *supervisor) keepPairing(session gateway.SupervisedSession, number string, code gateway.PairingCode) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session == session {
		s.pairing = pairing{session: session, number: number, code: code}
	}
}

// ShownQR returns the QR code that an instance shows and whether it shows one. It starts
// no linking.
func (s *Service) ShownQR(id string) (gateway.QRCode, bool) {
	code, ok := s.supervisor(id).shownCode()
	return code.QR, ok
}
