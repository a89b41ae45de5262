package whatsapp

import (
	"log/slog"
	"slices"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/gateway"
)

const (
	// maxNewPairs bounds how many pairs of number and LID that came in one go are
	// told. More of them are the members of a big group, or a history: people of
	// whom nobody has asked, and whose events carry both addresses when they come.
	maxNewPairs = 32
	// maxNumberless bounds how many people are remembered as told without number.
	maxNumberless = 1024
)

// learnt tells, aside, that numbers and LIDs belong together: all of a few, and
// of many those that this session has told without number.
func (s *session) learnt(pairs []store.LIDMapping) {
	if len(pairs) > maxNewPairs {
		s.logger.InfoContext(s.ctx, "many pairs of number and LID became known", slog.Int("pairs", len(pairs)))
		pairs = slices.DeleteFunc(pairs, func(pair store.LIDMapping) bool { return !s.numberless.has(pair.LID) })
	}
	for _, pair := range pairs {
		s.tellPair(pair)
	}
}

func (s *session) tellPair(pair store.LIDMapping) {
	s.numberless.remove(pair.LID)
	if self := s.Self(); self.Is(jidOf(pair.LID)) || self.Is(jidOf(pair.PN)) {
		return
	}
	told := s.errands.add(func() {
		s.hear(func() {
			s.contactChanged(gateway.ContactChange{
				Contact: s.person(pair.PN, pair.LID, ""), At: s.connector.config.Now().UTC(),
				SourceKey: "lid/" + string(jidOf(pair.LID)) + "/" + string(jidOf(pair.PN)),
			})
		})
	})
	if !told && s.ctx.Err() == nil {
		s.logger.WarnContext(s.ctx, "a pair of number and LID is not told: too much waits")
	}
}

// numbered notes whether somebody is told with a number, and tells the pair where
// that is so now and was not before.
func (s *session) numbered(lid, pn types.JID) {
	if lid.Server != types.HiddenUserServer {
		return
	}
	if pn.IsEmpty() {
		s.numberless.add(lid)
		return
	}
	if s.numberless.has(lid) {
		s.tellPair(store.LIDMapping{LID: lid.ToNonAD(), PN: pn.ToNonAD()})
	}
}

// people is a bounded set of people, by the user part of their LIDs. The zero
// value is empty and ready.
type people struct {
	mu    sync.Mutex
	known *lru.Cache[string, struct{}]
}

func (p *people) add(who types.JID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known == nil {
		p.known, _ = lru.New[string, struct{}](maxNumberless) // it fails for sizes below one
	}
	p.known.Add(who.User, struct{}{})
}

func (p *people) has(who types.JID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.known != nil && p.known.Contains(who.User)
}

func (p *people) remove(who types.JID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known != nil {
		p.known.Remove(who.User)
	}
}
