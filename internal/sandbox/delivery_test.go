package sandbox_test

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/sandbox"
	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/phonenumber"
	"github.com/recado-project/recado/internal/sqlite"
)

func TestWaitingStanzasComeInOrderAfterTheLogin(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newClient().link(gateway)
	id := c.text(friend, "hello") // the bootstrap is over when this was read
	c.receipt(id, types.ReceiptTypeRead)
	c.Disconnect()
	const count = 150
	for i := range count {
		w.send(friend, gateway, fmt.Sprint("waiting ", i))
	}
	c.restart()
	preview := expect[*events.OfflineSyncPreview](c, nil)
	if preview.Messages != count {
		t.Errorf("the preview says %+v", preview)
	}
	done := expect[*events.OfflineSyncCompleted](c, nil)
	if done.Count != preview.Total {
		t.Errorf("%d came, the preview said %+v", done.Count, preview)
	}
	next := 0
	for _, m := range seen[*events.Message](c) {
		if m.Message.GetConversation() == fmt.Sprint("waiting ", next) {
			next++
		}
	}
	if next != count {
		t.Errorf("%d of %d came in order", next, count)
	}
}

func TestAcknowledgedMessageSurvivesARestart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.do(http.MethodPut, "/phones/"+friend, map[string]bool{"online": false}, nil)
	c := w.newClient().link(gateway).synchronised()
	id := c.text(friend, "keep it")
	w.message(gateway, id, anyMessage)
	w.down()
	expect[*events.Disconnected](c, nil)
	c.forget()
	w.start()
	expect[*events.Connected](c, nil)
	w.do(http.MethodPut, "/phones/"+friend, map[string]bool{"online": true}, nil)
	c.receipt(id, types.ReceiptTypeRead)
	c.text(friend, "and once more") // the sessions have survived as well
	w.until("both are shown", func() bool { return len(w.messages(friend)) == 2 }, func() any { return w.messages(friend) })
	w.send(friend, gateway, "back")
	c.got("back")
}

func TestUnacknowledgedMessageComesAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newClient()
	var times atomic.Int32
	c.SynchronousAck = true
	c.EnableDecryptedEventBuffer = true
	c.AddEventHandlerWithSuccessStatus(func(event any) bool {
		m, ok := event.(*events.Message)
		if !ok || m.Message.GetConversation() != "twice" {
			return true
		}
		return times.Add(1) > 1 // the first delivery is not acknowledged
	})
	c.link(gateway)
	w.send(friend, gateway, "twice")
	c.got("twice")
	c.forget()
	w.do(http.MethodPost, "/faults/disconnect", map[string]string{"number": gateway}, nil)
	c.got("twice")
	id := w.send(friend, gateway, "after")
	c.got("after")
	w.message(friend, id, hasStatus("delivered"))
}

func TestRepeatedFrameIsDeliveredOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one, two := w.newClient().link(gateway), w.newClient().link(partner)
	one.text(partner, "first")
	two.got("first")
	enc, _, err := one.encryptFor(two.Store.GetLID(), "again and again")
	if err != nil {
		t.Fatal(err)
	}
	frame := waBinary.Node{
		Tag:   "message",
		Attrs: waBinary.Attrs{"id": "REPEATED", "type": "text", "to": two.Store.GetLID().ToNonAD()},
		Content: []waBinary.Node{{Tag: "participants", Content: []waBinary.Node{
			{Tag: "to", Attrs: waBinary.Attrs{"jid": two.Store.GetLID()}, Content: []waBinary.Node{*enc}},
			{Tag: "to", Attrs: waBinary.Attrs{"jid": two.Store.GetLID()}, Content: []waBinary.Node{*enc}},
		}}},
	}
	for range 3 {
		if err := one.internals().SendNode(context.Background(), frame); err != nil {
			t.Fatal(err)
		}
	}
	one.text(partner, "last")
	two.got("last")
	count := 0
	for _, m := range seen[*events.Message](two) {
		if m.Info.ID == "REPEATED" {
			count++
		}
	}
	if count != 1 || len(seen[*events.UndecryptableMessage](two)) > 0 {
		t.Errorf("it came %d times, %d messages could not be read", count, len(seen[*events.UndecryptableMessage](two)))
	}
}

func TestClientAsksThePhoneToSendAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newClient().link(gateway)
	c.text(friend, "hi")
	w.send(friend, gateway, "session")
	m := c.got("session")
	c.text(friend, "both ways")
	ctx := context.Background()
	if err := c.Store.Sessions.DeleteSession(ctx, m.Info.Sender.SignalAddress().String()); err != nil {
		t.Fatal(err)
	}
	id := w.send(friend, gateway, "lost")
	w.send(friend, gateway, "lost too")
	if m := c.got("lost"); m.Info.ID != id || m.RetryCount != 1 {
		t.Errorf("got %+v after %d retries", m.Info, m.RetryCount)
	}
	c.got("lost too")
	w.activity(friend, func(a account.Activity) bool {
		return a.Type == "retry" && a.From == pn(gateway).String() && a.Value == id
	})
}

func TestPhoneAsksTheClientToSendAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newClient().link(gateway).synchronised()
	first := c.text(friend, "hi")
	c.receipt(first, types.ReceiptTypeRead)
	w.send(friend, gateway, "session")
	c.got("session")
	w.down()
	expect[*events.Disconnected](c, nil)
	c.forget()
	w.forgetSessions(friend)
	w.forgetSessions(gateway) // the account's own phone can't decrypt its copy either
	w.start()
	expect[*events.Connected](c, nil)
	id := c.text(friend, "unreadable")
	c.receipt(id, types.ReceiptTypeRetry)
	c.receipt(id, types.ReceiptTypeRead)
	if m := w.message(friend, id, anyMessage); m.Text != "unreadable" {
		t.Errorf("shown as %+v", m)
	}
	if m := w.message(gateway, id, anyMessage); m.Chat != friend+"@s.whatsapp.net" || !m.FromMe {
		t.Errorf("the own phone shows %+v", m)
	}
	w.activity(gateway, func(a account.Activity) bool {
		return a.Type == "retry" && a.From == pn(friend).String() && a.Value == id
	})
}

func TestClientAsksAClientToSendAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one, two := w.newClient().link(gateway), w.newClient().link(partner)
	one.text(partner, "first")
	two.got("first")
	two.text(gateway, "session")
	one.got("session")
	one.text(partner, "second")
	two.got("second")
	if err := two.Store.Sessions.DeleteSession(context.Background(), one.Store.GetLID().SignalAddress().String()); err != nil {
		t.Fatal(err)
	}
	id := one.text(partner, "lost")
	if m := two.got("lost"); m.Info.ID != id {
		t.Errorf("got %+v", m.Info)
	}
	w.message(partner, id, anyMessage)
}

func TestClientIsAskedForKeysWhenTheyRunOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(cfg *sandbox.Config) { cfg.Load = true })
	c := w.newClient().link(gateway)
	ctx := context.Background()
	for {
		left, err := c.internals().GetServerPreKeyCount(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if left > 50 {
			break // refilled
		}
		// Each request for the bundle takes a one-time key.
		if _, err := c.internals().FetchPreKeys(ctx, []types.JID{c.Store.GetLID()}); err != nil {
			t.Fatal(err)
		}
	}
}

// forgetSessions lets a phone lose its Signal sessions. The sandbox must be down.
func (w *world) forgetSessions(number string) {
	w.tb.Helper()
	db, err := sqlite.Open(context.Background(), w.cfg.Path)
	if err != nil {
		w.tb.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	err = db.Write(context.Background(), func(ctx context.Context, tx *sqlite.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM records WHERE number = $1 AND kind = 'session'", phonenumber.Canonical(number))
		return err
	})
	if err != nil {
		w.tb.Fatal(err)
	}
}
