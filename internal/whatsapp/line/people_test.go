package line

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

// counter counts what is received.
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
	l := New(Config{
		Context: t.Context(), Client: whatsmeow.NewClient(&store.Device{}, nil), Receiver: receiver, GivenUp: func() {},
		Logger: slog.New(slog.DiscardHandler), Now: time.Now, Wait: time.Second,
	})
	// reported is how many pairs are reported by the tasks of do.
	reported := func(do func()) int {
		before := len(receiver.received)
		do()
		done := make(chan struct{})
		if !l.Tasks.Add(func() { close(done) }) {
			t.Fatal("too many tasks wait")
		}
		<-done
		return len(receiver.received) - before
	}
	var many []store.LIDMapping
	for n := range maxNewPairs + 1 {
		many = append(many, pair(n))
	}
	if got := reported(func() { l.PairsLearnt(many[:maxNewPairs]) }); got != maxNewPairs {
		t.Errorf("%d of %d pairs are reported", got, maxNewPairs)
	}
	l.numbered(pair(7).LID, types.EmptyJID)
	if got := reported(func() { l.PairsLearnt(many) }); got != 1 {
		t.Errorf("%d of %d pairs are reported", got, len(many))
	}
	l.numbered(pair(8).LID, types.EmptyJID)
	if got := reported(func() {
		l.numbered(pair(8).LID, pair(8).PN) // another session has learnt it
		l.numbered(pair(8).LID, pair(8).PN)
	}); got != 1 {
		t.Errorf("the pair is reported %d times", got)
	}
}
