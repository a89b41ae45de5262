package keys

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/store/sqlstore"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/sqlite"
)

func pair(n int) store.LIDMapping {
	return store.LIDMapping{
		LID: types.NewJID(fmt.Sprintf("9%05d", n), types.HiddenUserServer),
		PN:  types.NewJID(fmt.Sprintf("55%05d", n), types.DefaultUserServer),
	}
}

// Each pair is reported once, when the store learns it.
func TestLIDStoreReportsNewPairs(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	db, err := sqlite.OpenPool(ctx, filepath.Join(t.TempDir(), "sessions.db"), 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	container := sqlstore.NewWithDB(db, "sqlite3", nil)
	if err := container.Upgrade(ctx); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	reported := map[string]int{}
	watch := &lidStore{LIDStore: container.LIDMap, learnt: func(pairs []store.LIDMapping) {
		mu.Lock()
		defer mu.Unlock()
		for _, pair := range pairs {
			reported[pair.LID.User]++
		}
	}}
	var many []store.LIDMapping
	for n := range 2*pairsAtOnce + 1 {
		many = append(many, pair(n))
	}
	device := pair(0)
	device.LID.Device, device.PN.Device = 3, 3
	for range 2 {
		if err := watch.PutLIDMapping(ctx, device.LID, device.PN); err != nil {
			t.Fatal(err)
		}
		if err := watch.PutManyLIDMappings(ctx, append([]store.LIDMapping{{LID: pair(1).PN, PN: pair(1).LID}}, many...)); err != nil {
			t.Fatal(err)
		}
	}
	if len(reported) != len(many) {
		t.Errorf("%d pairs were reported, want %d", len(reported), len(many))
	}
	for lid, times := range reported {
		if times != 1 {
			t.Errorf("%s was reported %d times", lid, times)
		}
	}
}
