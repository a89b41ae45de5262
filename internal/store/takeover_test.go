package store_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/testkit/amount"
)

// movedInstances is how many are taken over in each round.
const movedInstances = 100

// Instances are taken over again and again, ten thousand times in the long run, and the node that loses one is never
// told: it goes on writing. None of those writes is committed after the takeover. A store that does
// not check tenures shows that the test would see one.
func TestTakeoversWithoutAWord(t *testing.T) {
	t.Parallel()
	rounds := amount.Of(10, 100)
	if takeovers, stale := takeOver(t, rounds, true); takeovers < movedInstances*rounds || stale > 0 {
		t.Errorf("%d of the writes were committed after one of the %d takeovers", stale, takeovers)
	}
	// The control needs one alone, which chance may deny to a few rounds.
	all := 0
	for {
		takeovers, stale := takeOver(t, rounds, false)
		if all += takeovers; stale > 0 {
			return
		}
		if all >= 100*movedInstances {
			t.Fatalf("without the fence there was no stale write in %d takeovers: the test sees nothing", all)
		}
	}
}

// takeOver moves instances to and fro between two nodes that both write whatever they once
// were allowed to. It returns how many takeovers there were, and how many writes were
// committed after one of a later epoch.
func takeOver(t *testing.T, rounds int, fence bool) (takeovers, stale int) {
	t.Helper()
	f := openFenced(t)
	for range movedInstances - 1 {
		f.check(f.create(f.first(uuid.NewString())))
	}
	// What each node believes, which is only ever added to.
	var believed [2]sync.Map
	nodes := [2]string{f.one, f.two}
	ctx, stop := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	var refused atomic.Int64
	defer writers.Wait()
	defer stop()
	for n := range nodes {
		at := open(t, store.Config{URL: f.url, Fenced: fence})
		for range 2 {
			writers.Go(func() {
				for ctx.Err() == nil {
					believed[n].Range(func(_, value any) bool {
						tenure := value.(gateway.Tenure)
						err := at.AppendEvents(gateway.WithTenure(ctx, tenure), tenure.InstanceID, eventlog.Event{
							ID: uuid.NewString(), Kind: eventlog.KindMessageSent, At: f.now, Data: strconv.AppendInt(nil, tenure.Epoch, 10),
						})
						switch {
						case errors.Is(err, gateway.ErrTenureOver):
							refused.Add(1)
						case err != nil && ctx.Err() == nil && fence:
							t.Errorf("a write is answered %v", err)
						}
						return ctx.Err() == nil
					})
				}
			})
		}
	}
	for round := range rounds {
		from, to := nodes[round%2], nodes[(round+1)%2]
		for moved := 0; moved < movedInstances; {
			// Rows that are locked at the moment are left for the next try.
			taken := f.move(from, to)
			for _, tenure := range taken {
				believed[(round+1)%2].Store(tenure.InstanceID, tenure)
			}
			moved += len(taken)
		}
		takeovers += movedInstances
	}
	stop()
	writers.Wait()
	t.Logf("fence %v: %d takeovers, %d writes refused", fence, takeovers, refused.Load())
	f.check(f.raw.QueryRowContext(t.Context(), `SELECT count(*) FROM (SELECT convert_from(data, 'UTF8')::bigint AS epoch,
		max(convert_from(data, 'UTF8')::bigint) OVER (PARTITION BY instance_id ORDER BY sequence) AS newest FROM events) AS seen
		WHERE epoch < newest`).Scan(&stale))
	return takeovers, stale
}
