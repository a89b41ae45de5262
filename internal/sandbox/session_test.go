package sandbox_test

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/sandbox"
	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/testkit/cases"
)

func (w *world) devices(number string) []int {
	w.tb.Helper()
	var phone account.Phone
	w.do(http.MethodGet, "/phones/"+number, nil, &phone)
	return phone.Devices
}

func TestLogoutOfTheClientRemovesTheDevice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newClient().link(gateway).synchronised()
	if err := c.Logout(context.Background()); !errors.Is(err, errKeysKept) { // all the rest went well
		t.Fatal(err)
	}
	if left := w.devices(gateway); len(left) != 0 {
		t.Errorf("devices left: %v", left)
	}
	again := w.newClient().link(gateway)
	if again.Store.ID.Device != 2 {
		t.Errorf("linked again as %s", again.Store.ID)
	}
}

func TestUnlinkLogsTheClientOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	online, away := w.newClient().link(gateway).synchronised(), w.newClient().link(gateway).synchronised()
	away.Disconnect()
	w.do(http.MethodPost, "/phones/"+gateway+"/unlink", nil, nil)
	if out := expect[*events.LoggedOut](online, nil); out.OnConnect {
		t.Errorf("got %+v", out)
	}
	away.connect()
	if out := expect[*events.LoggedOut](away, nil); !out.OnConnect {
		t.Errorf("got %+v", out)
	}
	if left := w.devices(gateway); len(left) != 0 {
		t.Errorf("devices left: %v", left)
	}
	w.newClient().link(gateway)
}

func TestSecondLoginReplacesTheFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newClient().link(gateway)
	twin := &client{w: w, container: c.container, changed: make(chan struct{})}
	stored, err := c.container.GetFirstDevice(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	twin.use(stored)
	twin.connect()
	expect[*events.Connected](twin, nil)
	expect[*events.StreamReplaced](c, nil)
	id := twin.text(friend, "the second one works")
	twin.receipt(id, types.ReceiptTypeRead)
}

func TestReplaceEndsTheSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newClient().link(gateway)
	w.do(http.MethodPost, "/phones/"+gateway+"/replace", nil, nil)
	expect[*events.StreamReplaced](c, nil)
	c.restart()
	expect[*events.Connected](c, nil)
}

func TestBannedAccountIsRefused(t *testing.T) {
	t.Parallel()
	for name, body := range cases.Sorted(map[string]map[string]int{"for good": {}, "for a while": {"seconds": 3600}}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			c := w.newClient().link(gateway)
			w.do(http.MethodPost, "/phones/"+gateway+"/ban", body, nil)
			ban := expect[*events.TemporaryBan](c, nil)
			if want := time.Duration(body["seconds"]) * time.Second; ban.Expire > want || ban.Expire < want-time.Minute {
				t.Errorf("got %+v", ban)
			}
			if c.Store.ID == nil {
				t.Error("the client has lost its keys")
			}
			w.down()
			w.start()
			c.restart()
			expect[*events.TemporaryBan](c, nil)
		})
	}
}

func TestBanEnds(t *testing.T) {
	t.Parallel()
	var ahead atomic.Int64 // how far the sandbox's clock is ahead
	w := newWorld(t, func(cfg *sandbox.Config) {
		cfg.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	})
	c := w.newClient().link(gateway)
	w.do(http.MethodPost, "/phones/"+gateway+"/ban", map[string]int{"seconds": 60}, nil)
	expect[*events.TemporaryBan](c, nil)
	ahead.Add(int64(2 * time.Minute))
	c.restart()
	expect[*events.Connected](c, nil)
}

func TestBanIsLifted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newClient().link(gateway)
	w.do(http.MethodPost, "/phones/"+gateway+"/ban", nil, nil)
	expect[*events.TemporaryBan](c, nil)
	w.do(http.MethodDelete, "/phones/"+gateway+"/ban", nil, nil)
	c.restart()
	expect[*events.Connected](c, nil)
	w.down()
	w.start()
	c.restart()
	expect[*events.Connected](c, nil)
}

func TestLoginsAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newClient().link(gateway)
	w.do(http.MethodPut, "/faults", map[string]bool{"outdated": true}, nil)
	w.do(http.MethodPost, "/faults/disconnect", nil, nil)
	expect[*events.ClientOutdated](c, nil)
	w.do(http.MethodPut, "/faults", map[string]bool{"refuseLogins": true}, nil)
	c.restart()
	expect[*events.Disconnected](c, nil)
	if len(seen[*events.Connected](c)) > 0 {
		t.Error("a login was accepted")
	}
	w.do(http.MethodPut, "/faults", nil, nil)
	expect[*events.Connected](c, nil)
}

func TestFaultsOfAcknowledgements(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newClient().link(gateway)
	c.text(friend, "all is well")
	w.do(http.MethodPut, "/faults", map[string]int{"sendError": 463}, nil)
	if id, err := c.tryText(friend, "refused"); err == nil {
		t.Errorf("%s was accepted", id)
	}
	w.do(http.MethodPut, "/faults", map[string]int{"ackDelayMs": 150}, nil)
	start := time.Now()
	c.text(friend, "slow")
	if took := time.Since(start); took < 150*time.Millisecond {
		t.Errorf("acknowledged after %v", took)
	}
	w.do(http.MethodPut, "/faults", map[string]float64{"dropAcks": 1}, nil)
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	if _, err := c.SendMessage(ctx, types.NewJID(friend, types.DefaultUserServer), textMessage("no answer")); err == nil {
		t.Error("acknowledged")
	}
	w.do(http.MethodPut, "/faults", nil, nil)
	c.text(friend, "well again")
	w.until("the phone shows what was accepted", func() bool { return len(w.messages(friend)) == 4 },
		func() any { return w.messages(friend) })
}

func TestLostAcknowledgementDeliversOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newClient().reconnectItself().link(gateway)
	c.text(friend, "first")
	w.do(http.MethodPut, "/faults", map[string]int{"ackDelayMs": 60_000}, nil)
	sent := make(chan error, 1)
	go func() {
		_, err := c.tryText(friend, "once")
		sent <- err
	}()
	w.until("the phone shows it", func() bool { return len(w.messages(friend)) == 2 }, func() any { return w.messages(friend) })
	w.do(http.MethodPut, "/faults", nil, nil)
	w.do(http.MethodPost, "/faults/disconnect", map[string]string{"number": gateway}, nil)
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	c.text(friend, "last")
	w.until("the phone shows the last", func() bool { return len(w.messages(friend)) >= 3 }, func() any { return w.messages(friend) })
	if list := w.messages(friend); len(list) != 3 || list[1].Text != "once" || list[2].Text != "last" {
		t.Errorf("shown: %+v", list)
	}
}
