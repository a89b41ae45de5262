package whatsapp

import (
	"context"
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
	// pairsAtOnce bounds how many are looked up in one query.
	pairsAtOnce = 500
	// maxNumberless bounds how many people are remembered as told without number.
	maxNumberless = 1024
)

// lidWatch stands before the store of LIDs and notices which pairs are new to it.
// whatsmeow writes them there from wherever it learns them, and with locks held:
// so learnt only notes them.
//
// The store is one for all sessions of a database. A pair that another session
// has learnt is not new any more; whom this session has told without number is
// told when the pair is first used, by numbered.
type lidWatch struct {
	store.LIDStore
	learnt func(pairs []store.LIDMapping)
}

// PutLIDMapping writes one pair.
func (w *lidWatch) PutLIDMapping(ctx context.Context, lid, pn types.JID) error {
	known, err := w.GetLIDForPN(ctx, pn)
	if err == nil && known.User == lid.User {
		return nil
	}
	if err := w.LIDStore.PutLIDMapping(ctx, lid, pn); err != nil {
		return err
	}
	w.learnt([]store.LIDMapping{{LID: lid.ToNonAD(), PN: pn.ToNonAD()}})
	return nil
}

// PutManyLIDMappings writes pairs, all or none.
func (w *lidWatch) PutManyLIDMappings(ctx context.Context, pairs []store.LIDMapping) error {
	fresh := w.fresh(ctx, pairs) // before: the store takes out of the slice what it knows
	if err := w.LIDStore.PutManyLIDMappings(ctx, pairs); err != nil {
		return err
	}
	if len(fresh) > 0 {
		w.learnt(fresh)
	}
	return nil
}

// fresh returns the pairs that the store does not have.
func (w *lidWatch) fresh(ctx context.Context, pairs []store.LIDMapping) []store.LIDMapping {
	var fresh []store.LIDMapping
	for some := range slices.Chunk(pairs, pairsAtOnce) {
		numbers := make([]types.JID, len(some))
		for i, pair := range some {
			numbers[i] = pair.PN.ToNonAD()
		}
		known, err := w.GetManyLIDsForPNs(ctx, numbers)
		if err != nil {
			continue // they are stored, and not told
		}
		for i, pair := range some {
			lid := pair.LID.ToNonAD()
			if lid.Server == types.HiddenUserServer && numbers[i].Server == types.DefaultUserServer &&
				known[numbers[i]].User != lid.User {
				fresh = append(fresh, store.LIDMapping{LID: lid, PN: numbers[i]})
			}
		}
	}
	return fresh
}

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
