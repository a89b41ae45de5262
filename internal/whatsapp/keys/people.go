// The pairs of number and LID.

package keys

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
)

const (
	// everybody is the device of the rows that all devices share.
	everybody = 0

	kindLIDOfNumber = "lid of number"
	kindNumberOfLID = "number of lid"

	// rememberedPairs bounds how many rows of pairs are held in memory; each has some 150
	// bytes.
	rememberedPairs = 1 << 15
)

// people are the pairs of number and LID, which all devices share (store.LIDStore). They
// are safe for concurrent use.
type people struct {
	rows *rows
	mu   sync.Mutex // one change at a time: it depends on what there is
}

var _ store.LIDStore = (*people)(nil)

func newPeople(rows Store) (*people, error) {
	shared, err := newRows(rows, "", everybody, rememberedPairs)
	if err != nil {
		return nil, err
	}
	return &people{rows: shared}, nil
}

// GetLIDForPN returns the LID of a number, empty if it is not known.
func (p *people) GetLIDForPN(ctx context.Context, pn types.JID) (types.JID, error) {
	if pn.Server != types.DefaultUserServer {
		return types.EmptyJID, fmt.Errorf("keys: %s is no number", pn)
	}
	return p.other(ctx, kindLIDOfNumber, pn, types.HiddenUserServer)
}

// GetPNForLID returns the number of a LID, empty if it is not known.
func (p *people) GetPNForLID(ctx context.Context, lid types.JID) (types.JID, error) {
	if lid.Server != types.HiddenUserServer {
		return types.EmptyJID, fmt.Errorf("keys: %s is no LID", lid)
	}
	return p.other(ctx, kindNumberOfLID, lid, types.DefaultUserServer)
}

func (p *people) other(ctx context.Context, kind string, of types.JID, server string) (types.JID, error) {
	user, err := p.rows.get(ctx, kind, nameOf(of.User))
	if err != nil || len(user) == 0 {
		return types.EmptyJID, err
	}
	return types.JID{User: string(user), Device: of.Device, Server: server}, nil
}

// GetManyLIDsForPNs returns the LIDs of those numbers that have a known one.
func (p *people) GetManyLIDsForPNs(ctx context.Context, pns []types.JID) (map[types.JID]types.JID, error) {
	return p.others(ctx, kindLIDOfNumber, pns, types.DefaultUserServer, types.HiddenUserServer)
}

// GetManyPNsForLIDs returns the numbers of those LIDs that have a known one.
func (p *people) GetManyPNsForLIDs(ctx context.Context, lids []types.JID) (map[types.JID]types.JID, error) {
	return p.others(ctx, kindNumberOfLID, lids, types.HiddenUserServer, types.DefaultUserServer)
}

// others returns the other addresses of those people who have one of a server, as far as they are
// known.
func (p *people) others(ctx context.Context, kind string, people []types.JID, server, other string) (map[types.JID]types.JID, error) {
	names := make([]string, 0, len(people))
	for _, who := range people {
		if who.Server == server {
			names = append(names, nameOf(who.User))
		}
	}
	users, err := p.rows.getMany(ctx, kind, names)
	if err != nil {
		return nil, err
	}
	known := make(map[types.JID]types.JID, len(users))
	for _, who := range people {
		if user := users[nameOf(who.User)]; who.Server == server && len(user) > 0 {
			known[who] = types.JID{User: string(user), Device: who.Device, Server: other}
		}
	}
	return known, nil
}

// PutLIDMapping writes one pair.
func (p *people) PutLIDMapping(ctx context.Context, lid, pn types.JID) error {
	if !isPair(lid, pn) {
		return fmt.Errorf("keys: %s and %s are no pair of LID and number", lid, pn)
	}
	_, err := p.learn(ctx, []store.LIDMapping{{LID: lid, PN: pn}})
	return err
}

// PutManyLIDMappings writes pairs, all or none.
func (p *people) PutManyLIDMappings(ctx context.Context, pairs []store.LIDMapping) error {
	_, err := p.learn(ctx, pairs)
	return err
}

func isPair(lid, pn types.JID) bool {
	return lid.Server == types.HiddenUserServer && pn.Server == types.DefaultUserServer
}

// learn writes pairs, and returns those that were not known. What is no pair is left out.
func (p *people) learn(ctx context.Context, pairs []store.LIDMapping) ([]store.LIDMapping, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var fresh []store.LIDMapping
	for _, pair := range pairs {
		pair.LID, pair.PN = pair.LID.ToNonAD(), pair.PN.ToNonAD()
		if !isPair(pair.LID, pair.PN) {
			continue
		}
		known, err := p.GetLIDForPN(ctx, pair.PN)
		if err != nil {
			return nil, err
		}
		if known == pair.LID {
			continue
		}
		before, err := p.GetPNForLID(ctx, pair.LID)
		if err != nil {
			return nil, err
		}
		// A number has one LID, and a LID one number.
		if !known.IsEmpty() {
			p.rows.put(ctx, kindNumberOfLID, nameOf(known.User), nil)
		}
		if !before.IsEmpty() && before != pair.PN {
			p.rows.put(ctx, kindLIDOfNumber, nameOf(before.User), nil)
		}
		p.rows.put(ctx, kindLIDOfNumber, nameOf(pair.PN.User), []byte(pair.LID.User))
		p.rows.put(ctx, kindNumberOfLID, nameOf(pair.LID.User), []byte(pair.PN.User))
		fresh = append(fresh, pair)
	}
	if len(fresh) == 0 {
		return nil, nil
	}
	// Not as part of what ctx belongs to: a decryption or a send writes other rows.
	return fresh, p.rows.flush(ctx, nil)
}

// observedPeople notices which pairs are new. whatsmeow writes them wherever it learns
// them, with locks held, so learnt must only note them.
//
// A pair that another session has learnt is not new any more.
type observedPeople struct {
	*people

	learnt func(pairs []store.LIDMapping)
}

// PutLIDMapping writes one pair.
func (p *observedPeople) PutLIDMapping(ctx context.Context, lid, pn types.JID) error {
	if !isPair(lid, pn) {
		return errors.New("keys: no pair of LID and number")
	}
	return p.PutManyLIDMappings(ctx, []store.LIDMapping{{LID: lid, PN: pn}})
}

// PutManyLIDMappings writes pairs, all or none.
func (p *observedPeople) PutManyLIDMappings(ctx context.Context, pairs []store.LIDMapping) error {
	fresh, err := p.learn(ctx, pairs)
	if err == nil && len(fresh) > 0 && p.learnt != nil {
		p.learnt(fresh)
	}
	return err
}
