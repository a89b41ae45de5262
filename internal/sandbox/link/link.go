// Package link links clients to accounts, by QR code or by pairing code, and
// unlinks their devices.
package link

import (
	"sync"
	"time"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/setting"
	"github.com/recado-project/recado/internal/sqlite"
)

// Service links and unlinks devices. It knows the clients that wait to be linked.
type Service struct {
	db       *sqlite.DB
	accounts *account.Directory
	settings *setting.Service
	holders  *account.Holders
	now      func() time.Time

	mu    sync.Mutex
	byRef map[string]*Candidate
}

// New returns the service.
func New(accounts *account.Directory, settings *setting.Service, holders *account.Holders) *Service {
	return &Service{
		db: accounts.DB, accounts: accounts, settings: settings, holders: holders, now: accounts.Now,
		byRef: map[string]*Candidate{},
	}
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
