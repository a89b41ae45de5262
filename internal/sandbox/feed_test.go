package sandbox_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/sandbox/feed"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// silent numbers neither read nor answer, so that nothing rings but what the test does.
const (
	silent      = "4915100000003"
	otherSilent = "4915200000003"
)

// rung waits until a watcher is woken.
func rung(tb testing.TB, what string, w *feed.Watcher) {
	tb.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-w.Changed():
	case <-timer.C:
		tb.Fatalf("%s: nobody was woken", what)
	}
}

func TestBellRingsForWhatPhonesDo(t *testing.T) {
	t.Parallel()
	group := map[string]any{"subject": "walk", "owner": silent, "participants": []map[string]any{{"number": otherSilent}}}
	for name, c := range cases.Sorted(map[string]struct {
		prepare func(w *world) (id string)
		act     func(w *world, id string)
		numbers []string // the phones that show something else
	}{
		"message": {nil, func(w *world, _ string) { w.send(silent, otherSilent, "hi") }, []string{silent, otherSilent}},
		"read":    {receivedText, func(w *world, id string) { w.do(http.MethodPost, chatPath(otherSilent, id, "read"), nil, nil) }, []string{silent, otherSilent}},
		"reaction": {receivedText, func(w *world, id string) {
			w.do(http.MethodPost, chatPath(otherSilent, id, "reaction"), map[string]string{"reaction": "👍"}, nil)
		}, []string{silent, otherSilent}},
		"edit": {receivedText, func(w *world, id string) {
			w.do(http.MethodPost, chatPath(silent, id, "edit"), map[string]string{"text": "new"}, nil)
		}, []string{silent, otherSilent}},
		"deletion": {receivedText, func(w *world, id string) { w.do(http.MethodDelete, chatPath(silent, id, ""), nil, nil) }, []string{silent, otherSilent}},
		"typing": {receivedText, func(w *world, _ string) {
			w.do(http.MethodPost, "/phones/"+silent+"/presence", map[string]string{"to": otherSilent, "presence": "composing"}, nil)
		}, []string{otherSilent}},
		"presence": {receivedText, func(w *world, _ string) {
			w.do(http.MethodPost, "/phones/"+silent+"/presence", map[string]string{"to": otherSilent, "presence": "available"}, nil)
		}, []string{silent, otherSilent}},
		"offline": {receivedText, func(w *world, _ string) {
			w.do(http.MethodPut, "/phones/"+silent, map[string]bool{"online": false}, nil)
		}, []string{silent}},
		"name": {receivedText, func(w *world, _ string) {
			w.do(http.MethodPut, "/phones/"+silent, map[string]string{"name": "Zé"}, nil)
		}, []string{silent, otherSilent}},
		"group": {receivedText, func(w *world, _ string) { w.do(http.MethodPost, "/groups", group, nil) }, []string{silent, otherSilent}},
		"restriction": {receivedText, func(w *world, _ string) {
			w.do(http.MethodPost, "/phones/"+silent+"/restrict", map[string]int{"seconds": 60}, nil)
		}, []string{silent}},
		"ban":   {receivedText, func(w *world, _ string) { w.do(http.MethodPost, "/phones/"+silent+"/ban", nil, nil) }, []string{silent}},
		"fault": {receivedText, func(w *world, _ string) { w.do(http.MethodPut, "/faults", map[string]bool{"outdated": true}, nil) }, []string{silent, otherSilent}},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			var id string
			if c.prepare != nil {
				id = c.prepare(w)
			}
			all := w.server.Bell.WatchAll()
			defer all.Close()
			var watchers []*feed.Watcher
			for _, number := range c.numbers {
				one := w.server.Bell.Watch(number)
				t.Cleanup(one.Close)
				watchers = append(watchers, one)
			}
			c.act(w, id)
			for n, one := range watchers {
				rung(t, "phone "+c.numbers[n], one)
			}
			rung(t, "all phones", all)
		})
	}
}

// receivedText lets one phone write to the other, and waits until both show it.
func receivedText(w *world) (id string) {
	id = w.send(silent, otherSilent, "hi")
	w.message(otherSilent, id, anyMessage)
	w.message(silent, id, hasStatus("delivered"))
	return id
}

func TestBellRingsForWhatClientsDo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.do(http.MethodGet, "/phones/"+gateway, nil, nil)
	linked := w.server.Bell.Watch(gateway)
	defer linked.Close()
	c := w.newClient().link(gateway)
	rung(t, "the phone of a new device", linked)
	receiver := w.server.Bell.Watch(silent)
	defer receiver.Close()
	id := c.text(silent, "from a client")
	rung(t, "the receiver's phone", receiver)
	w.message(silent, id, anyMessage)
	unlinked := w.server.Bell.Watch(gateway)
	defer unlinked.Close()
	if err := w.server.Linking.Unlink(context.Background(), gateway); err != nil {
		t.Fatal(err)
	}
	rung(t, "the phone of a device that was removed", unlinked)
}
