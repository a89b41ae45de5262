package torture_test

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/recado-project/recado/internal/testkit/await"
	"github.com/recado-project/recado/internal/testkit/postgres"
	"github.com/recado-project/recado/internal/testkit/sink"
)

// The endpoint is down, a hundred messages arrive, the gateway is killed and started
// again, and the endpoint comes back: all messages are delivered in order.
func TestEndpointDownAndKilled(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, databaseURL string) {
		t.Helper()
		const count = 100
		w := newWorld(t, databaseURL, 1)
		var down atomic.Bool
		down.Store(true)
		w.sink.Answer(func(sink.Delivered) int {
			if down.Load() {
				return http.StatusBadGateway
			}
			return http.StatusNoContent
		})
		var book ledger
		chat := w.shops[0].id + "/" + customer(0) + "@s.whatsapp.net"
		for n := range count {
			book.wrote(chat, w.phones.SendText(t, customer(0), w.shops[0].number, fmt.Sprint(n)))
		}
		w.awaitEvents(w.shops[0].id, count)
		w.restart()
		if got := book.judge(arrivals(t, w.sink.Delivered(), "message.received")); got.Lost != count {
			t.Errorf("before the endpoint is back: %v", got)
		}
		down.Store(false)
		await.Until(t, "everything is delivered", func() bool {
			return book.judge(arrivals(t, w.sink.Delivered(), "message.received")).Lost == 0
		})
		got := book.judge(arrivals(t, w.sink.Delivered(), "message.received"))
		t.Logf("endpoint down, %d messages, kill -9, start, endpoint up: %v", count, got)
		if got != (verdict{Written: count}) {
			t.Errorf("judged %v", got)
		}
	})
}

// PostgreSQL crashes under load, again and again, while the gateway runs: nothing is lost,
// and the gateway continues by itself.
func TestPostgreSQLRestartsUnderLoad(t *testing.T) {
	t.Parallel()
	url, restart := postgres.StartOwn(t)
	w := newWorld(t, url, 1)
	load := startLoad(w)
	for range crashes {
		load.advance(10 * customers)
		restart()
		w.awaitConnected(w.shops[0].id)
	}
	load.stop()
	load.judge()
	t.Logf("%d crashes of PostgreSQL", crashes)
}
