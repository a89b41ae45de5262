package storetest

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/messaging/queue"
)

// queued makes a message that waits, left in the queue n seconds after the start. It is not
// added.
func (f *fixture) queued(instance gateway.Instance, n int) queue.Message {
	return queue.Message{
		ID: newID(), InstanceID: instance.ID, PlatformID: "3EB0" + newID(), To: gateway.Recipient{Number: "12195550123"},
		Type: gateway.TypeText, Text: fmt.Sprint("Olá ", n), QuotedID: "3EB0", Payload: []byte("encoded"), FileSize: int64(n),
		Menu: gateway.Menu{Options: []gateway.MenuOption{{ID: "a", Text: "A"}}}, ClientData: "order 17",
		DueAt: after(100 - n), CreatedAt: after(n),
	}
}

func testQueue(t *testing.T, f *fixture) {
	t.Helper()
	account := f.account()
	instance, other := f.instance(account.ID, 1), f.instance(account.ID, 2)
	first, second, foreign := f.queued(instance, 1), f.queued(instance, 2), f.queued(other, 3)
	second.To = gateway.Recipient{Chat: "120363025246125888@g.us"}
	for _, message := range []queue.Message{second, first, foreign} {
		f.check(f.AddQueued(f.ctx(), message, nil))
	}
	for _, id := range []string{first.ID, first.PlatformID} {
		got, found, err := f.FindQueued(f.ctx(), instance.ID, id)
		f.check(err)
		if !found || !reflect.DeepEqual(got, first) {
			t.Errorf("found %+v, %t; want %+v", got, found, first)
		}
		if _, found, err = f.FindQueued(f.ctx(), other.ID, id); found || err != nil {
			t.Errorf("another instance finds it: %v", err)
		}
	}
	page, err := f.ListQueued(f.ctx(), instance.ID, gateway.PageRequest{Page: 1, Limit: 1})
	f.check(err)
	if page.Total != 2 || len(page.Items) != 1 || !reflect.DeepEqual(page.Items[0], first) {
		t.Errorf("the first page is %+v", page)
	}
	heads, err := f.QueuedHeads(f.ctx(), []string{instance.ID, other.ID})
	f.check(err)
	if want := []queue.Head{first.Head(), second.Head(), foreign.Head()}; !reflect.DeepEqual(heads, want) {
		t.Errorf("the queue remembers %+v, want %+v", heads, want)
	}
	if of, err := f.QueuedHeads(f.ctx(), []string{other.ID}); err != nil || !reflect.DeepEqual(of, []queue.Head{foreign.Head()}) {
		t.Errorf("of one instance the queue remembers %+v, %v", of, err)
	}
	if ids, err := f.AllQueued(f.ctx()); err != nil || len(ids) != 3 {
		t.Errorf("in the queue are %v, %v", ids, err)
	}
	f.check(f.RemoveQueued(f.ctx(), instance.ID, first.ID, foreign.ID, newID()))
	heads, err = f.QueuedHeads(f.ctx(), []string{instance.ID, other.ID})
	f.check(err)
	if want := []queue.Head{second.Head(), foreign.Head()}; !reflect.DeepEqual(heads, want) {
		t.Errorf("after the removal the queue remembers %+v, want %+v", heads, want)
	}
	f.check(f.DeleteInstance(f.ctx(), other.ID))
	if heads, err = f.QueuedHeads(f.ctx(), []string{instance.ID, other.ID}); err != nil || len(heads) != 1 {
		t.Errorf("after the instance was deleted the queue remembers %+v, %v", heads, err)
	}
	if err := f.AddQueued(f.ctx(), f.queued(other, 4), nil); gateway.KindOf(err) != gateway.NotFound {
		t.Errorf("for an instance that is gone: %v", err)
	}
}

func testQueueIdempotency(t *testing.T, f *fixture) {
	t.Helper()
	instance := f.instance(f.account().ID, 1)
	first, second := f.queued(instance, 1), f.queued(instance, 2)
	record := gateway.Idempotency{KeyID: newID(), Key: "once", RequestHash: []byte{1}, InstanceID: instance.ID, MessageID: first.ID, CreatedAt: after(1)}
	f.check(f.AddQueued(f.ctx(), first, &record))
	if err := f.AddQueued(f.ctx(), second, &record); gateway.KindOf(err) != gateway.Conflict {
		t.Errorf("with a key that is taken: %v", err)
	}
	if _, found, err := f.FindQueued(f.ctx(), instance.ID, second.ID); found || err != nil {
		t.Errorf("a message with a key that is taken was added: %v", err)
	}
	got, found, err := f.FindIdempotency(f.ctx(), record.KeyID, record.Key)
	f.check(err)
	if !found || got.MessageID != first.ID {
		t.Errorf("the record is %+v, %t", got, found)
	}
}

// A message of the queue that is being sent is not given up: the queue sends it again.
func testPendingInQueue(t *testing.T, f *fixture) {
	t.Helper()
	instance := f.instance(f.account().ID, 1)
	waiting := f.queued(instance, 1)
	f.check(f.AddQueued(f.ctx(), waiting, nil))
	message := f.message(instance, 1)
	message.ID, message.Source, message.FromMe, message.WireKey, message.Status = waiting.ID, gateway.SourceAPI, true, "", gateway.MessagePending
	f.check(f.AcceptMessage(f.ctx(), message, nil)())
	heads, err := f.QueuedHeads(f.ctx(), []string{instance.ID})
	f.check(err)
	if len(heads) != 1 || !heads[0].Tried {
		t.Errorf("the queue remembers %+v", heads)
	}
	for _, want := range []int{0, 1} {
		pending, err := f.PendingMessages(f.ctx(), gateway.Position{}, after(1000), 10)
		f.check(err)
		if len(pending) != want {
			t.Errorf("pending are %+v, want %d", pending, want)
		}
		f.check(f.RemoveQueued(f.ctx(), instance.ID, waiting.ID))
	}
}

func testNewChats(t *testing.T, f *fixture) {
	t.Helper()
	instance := f.instance(f.account().ID, 1)
	for n, chat := range []gateway.JID{"1@lid", "2@lid", "1@lid", "3@lid"} {
		f.check(f.AddNewChat(f.ctx(), instance.ID, chat, after(n+1), after(0)))
	}
	times := func(since time.Time) []time.Time {
		t.Helper()
		chats, err := f.NewChatsSince(f.ctx(), instance.ID, since)
		f.check(err)
		var got []time.Time
		for _, chat := range chats {
			if chat.Chat == "" {
				t.Error("a chat has no address")
			}
			got = append(got, chat.At)
		}
		return got
	}
	if got, want := times(after(0)), []time.Time{after(1), after(2), after(4)}; !slices.Equal(got, want) {
		t.Errorf("chats began at %v, want %v", got, want)
	}
	if got := times(after(1)); len(got) != 2 {
		t.Errorf("after the first one they began at %v", got)
	}
	f.check(f.AddNewChat(f.ctx(), instance.ID, "4@lid", after(9), after(2)))
	if got, want := times(time.Time{}), []time.Time{after(4), after(9)}; !slices.Equal(got, want) {
		t.Errorf("those that are kept began at %v, want %v", got, want)
	}
}

func testSentSince(t *testing.T, f *fixture) {
	t.Helper()
	account := f.account()
	instance, other := f.instance(account.ID, 1), f.instance(account.ID, 2)
	accept := func(of gateway.Instance, n int, status gateway.MessageStatus) {
		t.Helper()
		message := f.message(of, n)
		message.Source, message.FromMe, message.WireKey, message.Status = gateway.SourceAPI, true, "", status
		f.check(f.AcceptMessage(f.ctx(), message, nil)())
	}
	received := f.message(instance, 1)
	received.FromMe, received.Source, received.WireKey = false, gateway.SourcePeer, "key"
	f.add(received, true)
	accept(instance, 2, gateway.MessageSent)
	accept(instance, 3, gateway.MessageFailed)
	accept(other, 4, gateway.MessageSent)
	accept(instance, 5, gateway.MessagePending)
	accept(instance, 6, gateway.MessageRead)
	for _, c := range []struct {
		since, limit int
		want         []int
	}{{0, 10, []int{2, 5, 6}}, {2, 10, []int{5, 6}}, {0, 2, []int{5, 6}}, {6, 10, nil}} {
		got, err := f.SentSince(f.ctx(), instance.ID, after(c.since), c.limit)
		f.check(err)
		var want []time.Time
		for _, n := range c.want {
			want = append(want, after(n))
		}
		if !slices.Equal(got, want) {
			t.Errorf("since %d, %d at most: %v, want %v", c.since, c.limit, got, want)
		}
	}
}
