package whatsapp

import (
	"context"
	"fmt"
	"log/slog"
	"testing"

	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
)

func pair(n int) store.LIDMapping {
	return store.LIDMapping{
		LID: types.NewJID(fmt.Sprintf("9%05d", n), types.HiddenUserServer),
		PN:  types.NewJID(fmt.Sprintf("55%05d", n), types.DefaultUserServer),
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
