package keys

import (
	"fmt"
	"testing"

	wastore "go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
)

// Many pairs are found together, from memory and from the database, and those that another process
// has learnt since.
func TestManyPairsAreFound(t *testing.T) {
	t.Parallel()
	kept := openStore(t)
	here, elsewhere := newKeys(t, kept).People(), newKeys(t, kept).People()
	var pairs []wastore.LIDMapping
	var pns, lids []types.JID
	for n := range 2*rowsAtOnce + 2 {
		pns = append(pns, types.NewJID(fmt.Sprint(5511900000000+n), types.DefaultUserServer))
		lids = append(lids, types.NewJID(fmt.Sprint(1000+n), types.HiddenUserServer))
		pairs = append(pairs, wastore.LIDMapping{LID: lids[n], PN: pns[n]})
	}
	want := func(when string, of People, known int) {
		t.Helper()
		byNumber, err := of.GetManyLIDsForPNs(t.Context(), append(lids[:1:1], pns...))
		check(t, err)
		byLID, err := of.GetManyPNsForLIDs(t.Context(), append(pns[:1:1], lids...))
		check(t, err)
		if len(byNumber) != known || len(byLID) != known {
			t.Errorf("%s: %d LIDs and %d numbers are found, want %d", when, len(byNumber), len(byLID), known)
		}
		for n := range pns {
			if lid, ok := byNumber[pns[n]]; ok && lid != lids[n] || ok != (n < known) || ok && byLID[lids[n]] != pns[n] {
				t.Fatalf("%s: %s is %s, and %s is %s", when, pns[n], lid, lids[n], byLID[lids[n]])
			}
		}
	}
	want("before", here, 0)
	check(t, elsewhere.PutManyLIDMappings(t.Context(), pairs[:rowsAtOnce+1]))
	want("there", elsewhere, rowsAtOnce+1)
	want("here", here, rowsAtOnce+1)
	check(t, elsewhere.PutManyLIDMappings(t.Context(), pairs))
	want("all here", here, len(pairs))

	own := types.NewADJID(pns[0].User, 0, 3)
	found, err := here.GetManyLIDsForPNs(t.Context(), []types.JID{own})
	check(t, err)
	if lid := found[own]; lid.User != lids[0].User || lid.Device != 3 {
		t.Errorf("the LID of a device is %s", lid)
	}
}
