package whatsapp

import (
	"context"
	"fmt"
	"log/slog"
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

// The watch tells each pair once, when the store learns it.
func TestLIDWatchTellsWhatIsNew(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	db, err := sqlite.OpenPool(ctx, filepath.Join(t.TempDir(), "sessions.db"), 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	container := sqlstore.NewWithDB(db, string(SQLite), nil)
	if err := container.Upgrade(ctx); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	told := map[string]int{}
	watch := &lidWatch{LIDStore: container.LIDMap, learnt: func(pairs []store.LIDMapping) {
		mu.Lock()
		defer mu.Unlock()
		for _, pair := range pairs {
			told[pair.LID.User]++
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
	if len(told) != len(many) {
		t.Errorf("%d pairs were told, want %d", len(told), len(many))
	}
	for lid, times := range told {
		if times != 1 {
			t.Errorf("%s was told %d times", lid, times)
		}
	}
}

// Of a few pairs each is told, of very many only those that somebody waits for.
func TestLearntPairsAreBounded(t *testing.T) {
	t.Parallel()
	s := &session{logger: slog.New(slog.DiscardHandler), ctx: context.Background()}
	s.errands.busy = true // nobody works on them: they are counted
	var many []store.LIDMapping
	for n := range maxNewPairs + 1 {
		many = append(many, pair(n))
	}
	s.learnt(many[:maxNewPairs])
	if got := len(s.errands.waiting); got != maxNewPairs {
		t.Errorf("%d of %d pairs are told", got, maxNewPairs)
	}
	s.errands.waiting = nil
	s.numbered(pair(7).LID, types.EmptyJID)
	s.learnt(many)
	if got := len(s.errands.waiting); got != 1 {
		t.Errorf("%d of %d pairs are told", got, len(many))
	}
	s.errands.waiting = nil
	s.numbered(pair(8).LID, types.EmptyJID)
	s.numbered(pair(8).LID, pair(8).PN) // another session has learnt it
	s.numbered(pair(8).LID, pair(8).PN)
	if got := len(s.errands.waiting); got != 1 {
		t.Errorf("the pair is told %d times", got)
	}
}
