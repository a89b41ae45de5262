// The pairs of number and LID.

package keys

import (
	"context"
	"slices"

	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
)

// pairsAtOnce bounds how many pairs are looked up in one query.
const pairsAtOnce = 500

// lidStore stands before the store of LIDs and notices which pairs of number and LID
// are new to it. whatsmeow writes them there wherever it learns them, with locks
// held, so learnt must only note them.
//
// All sessions of a database share the store: a pair that another session has learnt
// is not new any more.
type lidStore struct {
	store.LIDStore
	learnt func(pairs []store.LIDMapping)
}

// PutLIDMapping writes one pair.
func (w *lidStore) PutLIDMapping(ctx context.Context, lid, pn types.JID) error {
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
func (w *lidStore) PutManyLIDMappings(ctx context.Context, pairs []store.LIDMapping) error {
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
func (w *lidStore) fresh(ctx context.Context, pairs []store.LIDMapping) []store.LIDMapping {
	var fresh []store.LIDMapping
	for some := range slices.Chunk(pairs, pairsAtOnce) {
		numbers := make([]types.JID, len(some))
		for i, pair := range some {
			numbers[i] = pair.PN.ToNonAD()
		}
		known, err := w.GetManyLIDsForPNs(ctx, numbers)
		if err != nil {
			continue // they are stored, and not reported
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
