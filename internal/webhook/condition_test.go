package webhook_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/webhook"
	"github.com/recado-project/recado/internal/webhook/backlog"
)

// Clients are told how the delivery is doing: that it flows, what it waits for,
// why it stopped, and how much is left.
func TestConditionOfADelivery(t *testing.T) {
	t.Parallel()
	var status atomic.Int64
	status.Store(http.StatusOK)
	endpoint := receive(t, func(http.ResponseWriter, *http.Request, received) int { return int(status.Load()) })
	schedule := quick()
	schedule.Endpoint = []time.Duration{time.Hour}
	var warned atomic.Int64
	logger := slog.New(slog.NewTextHandler(writer(func(line []byte) {
		if bytes.Contains(line, []byte("level=WARN")) && bytes.Contains(line, []byte("webhook suspended")) {
			warned.Add(1)
		}
	}), nil))
	r := newRig(t, webhook.Config{AllowPrivateURLs: true, Schedule: schedule, Logger: logger})
	id := r.instance()
	_, err := r.service.Condition(t.Context(), webhook.First(id))
	wantCode(t, err, gateway.NotFound, gateway.CodeWebhookNotFound)
	r.save(id, webhook.Settings{URL: endpoint.server.URL})
	await := func(what string, reached func(c webhook.Condition) bool) (condition webhook.Condition) {
		t.Helper()
		eventually(t, what, func() bool {
			var err error
			condition, err = r.service.Condition(t.Context(), webhook.First(id))
			r.check(err)
			return reached(condition)
		})
		return condition
	}
	r.append(id, "chat", 1)
	if c := await("it flows", func(c webhook.Condition) bool { return c.Pending == 0 }); c != (webhook.Condition{Flow: webhook.FlowFlowing}) {
		t.Errorf("delivered: %+v", c)
	}

	status.Store(http.StatusInternalServerError)
	r.append(id, "chat", 2, 3)
	c := await("it waits", func(c webhook.Condition) bool { return c.Flow == webhook.FlowWaiting })
	if c.Pending != 2 || c.OldestPendingAt.IsZero() || c.Reason == "" || time.Until(c.Until) < time.Minute || c.Since.IsZero() {
		t.Errorf("waiting: %+v", c)
	}
	lines, err := r.service.Deliveries(t.Context(), webhook.First(id), gateway.PageRequest{Page: 1, Limit: 10})
	r.check(err)
	if first := lines.Items[0]; first.State != webhook.DeliveryFailed || first.Failures != 1 || !first.NextTry.Equal(c.Until) {
		t.Errorf("the newest attempt is %+v", first)
	}

	status.Store(http.StatusGone)
	r.check(r.service.Resume(t.Context(), webhook.First(id)))
	c = await("it is suspended", func(c webhook.Condition) bool { return c.Flow == webhook.FlowSuspended })
	if c.Reason != backlog.ReasonGone || !c.Until.IsZero() || c.Since.IsZero() || c.Pending < 2 {
		t.Errorf("suspended: %+v", c)
	}
	eventually(t, "a warning in the log", func() bool { return warned.Load() == 1 })
	r.save(id, webhook.Settings{URL: endpoint.server.URL, Active: new(false)})
	if c := await("it is inactive", func(c webhook.Condition) bool { return c.Flow == webhook.FlowInactive }); c.Pending != 0 {
		t.Errorf("inactive: %+v", c)
	}
}

// writer calls itself with what is written to it.
type writer func(line []byte)

func (w writer) Write(line []byte) (int, error) {
	w(line)
	return len(line), nil
}

// Events come once, in the order of their chat, many chats at a time.
func TestDeliversInOrder(t *testing.T) {
	t.Parallel()
	const chats, each = 40, 25
	gate := make(chan struct{})
	endpoint := receive(t, func(http.ResponseWriter, *http.Request, received) int {
		<-gate
		return http.StatusNoContent
	})
	r := newRig(t, webhook.Config{AllowPrivateURLs: true})
	id := r.hooked(endpoint.server.URL)
	r.spread(id, chats, each)
	eventually(t, "as many are in flight as may be at first", func() bool { return endpoint.busyNow() == 8 })
	close(gate)
	endpoint.waitFor(chats * each)
	endpoint.wantOrder(chats, each)
	if n := len(endpoint.came()); n != chats*each {
		t.Errorf("%d requests came for %d events", n, chats*each)
	}
	if endpoint.widest > 32 {
		t.Errorf("%d requests were in flight at the same time", endpoint.widest)
	}
	eventually(t, "the cursor is at the end", func() bool { return r.health(id).Cursor == chats*each })
	if n := r.service.InMemory(id); n != 0 {
		t.Errorf("%d events are in memory of a webhook that has nothing to do", n)
	}
}
