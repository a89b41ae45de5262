// Package link links clients to accounts, by QR code or by pairing code, and
// unlinks their devices.
package link

import (
	"sync"
	"time"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/passkey"
	"github.com/recado-project/recado/internal/sandbox/setting"
	"github.com/recado-project/recado/internal/sqlite"
)

// Service links and unlinks devices. It knows the clients that wait to be linked. It
// is safe for concurrent use.
type Service struct {
	config Config
	db     *sqlite.DB
	now    func() time.Time

	mu    sync.Mutex
	byRef map[string]*Candidate
	asked map[string]*ceremony // the newest question for a passkey, by the account's number
}

// Config is what a Service needs.
type Config struct {
	Accounts *account.Directory
	Settings *setting.Service
	Passkeys *passkey.Service
	Holders  *account.Holders
}

// New returns the service.
func New(config Config) *Service {
	return &Service{config: config, db: config.Accounts.DB, now: config.Accounts.Now, byRef: map[string]*Candidate{}, asked: map[string]*ceremony{}}
}

func (s *Service) add(c *Candidate) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, ref := range c.refs {
		s.byRef[ref] = c
	}
}

// Forget removes a client that has disconnected.
func (s *Service) Forget(c *Candidate) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, ref := range c.refs {
		delete(s.byRef, ref)
	}
}

// find returns the client that shows the ref, or nil if there is none.
func (s *Service) find(ref string, now time.Time) *Candidate {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.byRef[ref]
	if c == nil || !c.current(ref, now) {
		return nil
	}
	return c
}

// all returns the clients that wait to be linked.
func (s *Service) all() []*Candidate {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []*Candidate
	for ref, c := range s.byRef {
		if ref == c.refs[0] {
			list = append(list, c)
		}
	}
	return list
}
