package whatsapp

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/gateway"
)

func pair(n int) store.LIDMapping {
	return store.LIDMapping{
		LID: types.NewJID(fmt.Sprintf("9%05d", n), types.HiddenUserServer),
		PN:  types.NewJID(fmt.Sprintf("55%05d", n), types.DefaultUserServer),
	}
}

// counter counts what a session receives.
type counter struct {
	gateway.Receiver

	received []gateway.Incoming
}

func (c *counter) Receive(_ context.Context, incoming gateway.Incoming) error {
	c.received = append(c.received, incoming)
	return nil
}

// Of a few pairs each is reported, of very many only those of people who were shown
// without a number.
func TestLearntPairsAreBounded(t *testing.T) {
	t.Parallel()
	receiver := &counter{}
	s := &session{
		lifetime:  lifetime{ctx: t.Context()},
		connector: &Connector{config: Config{Now: time.Now}},
		receiver:  receiver,
		logger:    slog.New(slog.DiscardHandler),
		identity:  identity{client: &whatsmeow.Client{Store: &store.Device{}}},
	}
	// reported is how many pairs are reported by the tasks of do.
	reported := func(do func()) int {
		before := len(receiver.received)
		do()
		done := make(chan struct{})
		if !s.tasks.Add(func() { close(done) }) {
			t.Fatal("too many tasks wait")
		}
		<-done
		return len(receiver.received) - before
	}
	var many []store.LIDMapping
	for n := range maxNewPairs + 1 {
		many = append(many, pair(n))
	}
	if got := reported(func() { s.pairsLearnt(many[:maxNewPairs]) }); got != maxNewPairs {
		t.Errorf("%d of %d pairs are reported", got, maxNewPairs)
	}
	s.numbered(pair(7).LID, types.EmptyJID)
	if got := reported(func() { s.pairsLearnt(many) }); got != 1 {
		t.Errorf("%d of %d pairs are reported", got, len(many))
	}
	s.numbered(pair(8).LID, types.EmptyJID)
	if got := reported(func() {
		s.numbered(pair(8).LID, pair(8).PN) // another session has learnt it
		s.numbered(pair(8).LID, pair(8).PN)
	}); got != 1 {
		t.Errorf("the pair is reported %d times", got)
	}
}
