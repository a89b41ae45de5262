// What idempotency keys must do on both databases.

package storetest

import (
	"reflect"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

func testIdempotency(t *testing.T, f *fixture) {
	t.Helper()
	instance := f.instance(f.account().ID, 1)
	message := f.message(instance, 1)
	record := gateway.Idempotency{
		KeyID: newID(), Key: "order 1", RequestHash: []byte{0, 0xff}, InstanceID: instance.ID, MessageID: message.ID, CreatedAt: after(1),
	}
	f.check(f.accept(message, &record))
	f.wantRecord(record)
	if _, found, err := f.FindIdempotency(f.ctx(), newID(), record.Key); found || err != nil {
		t.Errorf("found %v, %v for another API key", found, err)
	}
	record.Failure = &gateway.Error{
		Kind: gateway.RateLimited, Code: gateway.CodeRecipientRestricted, Message: "not to new contacts",
		Fields: []gateway.FieldError{{Field: "to", Message: "is new"}}, RetryAfter: time.Minute,
	}
	f.check(f.FailIdempotency(f.ctx(), record.KeyID, record.Key, record.Failure))
	f.wantRecord(record)
	f.check(f.FailIdempotency(f.ctx(), newID(), record.Key, record.Failure))
}

func (f *fixture) wantRecord(want gateway.Idempotency) {
	f.t.Helper()
	got, found, err := f.FindIdempotency(f.ctx(), want.KeyID, want.Key)
	f.check(err)
	if !found || !reflect.DeepEqual(got, want) { //nolint:govet // the records hold no error but one of ours, by value
		f.t.Errorf("found %v %+v, want %+v", found, got, want)
	}
}

// Of many requests with one key that arrive at the same time, one is accepted.
func testIdempotencyAtOnce(t *testing.T, f *fixture) {
	t.Helper()
	instance := f.instance(f.account().ID, 1)
	keyID := newID()
	var accepted atomic.Int64
	var group sync.WaitGroup
	for n := range 20 {
		message := f.message(instance, n)
		group.Go(func() {
			record := gateway.Idempotency{KeyID: keyID, Key: "order", InstanceID: instance.ID, MessageID: message.ID, CreatedAt: after(n)}
			err := f.accept(message, &record)
			if err == nil {
				accepted.Add(1)
				return
			}
			wantKind(t, err, gateway.Conflict, gateway.CodeIdempotencyConflict)
		})
	}
	group.Wait()
	page, err := f.Chats.ListMessages(f.ctx(), instance.ID, gateway.MessageFilter{}, gateway.PageRequest{Page: 1, Limit: 1})
	f.check(err)
	if accepted.Load() != 1 || page.Total != 1 {
		t.Errorf("%d were accepted and %d messages are there, want 1", accepted.Load(), page.Total)
	}
}

func testDeleteIdempotency(t *testing.T, f *fixture) {
	t.Helper()
	instance := f.instance(f.account().ID, 1)
	keyID := newID()
	var group sync.WaitGroup
	const old, all = 1_003, 1_005 // more than one slice
	for n := range all {
		message := f.message(instance, n)
		group.Go(func() {
			record := gateway.Idempotency{KeyID: keyID, Key: strconv.Itoa(n), InstanceID: instance.ID, MessageID: message.ID, CreatedAt: after(n)}
			if err := f.accept(message, &record); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	removed, err := f.DeleteIdempotency(f.ctx(), after(old))
	f.check(err)
	if removed != old {
		t.Errorf("removed %d, want %d", removed, old)
	}
	for n, want := range cases.Sorted(map[int]bool{old - 1: false, old: true, all - 1: true}) {
		if _, found, err := f.FindIdempotency(f.ctx(), keyID, strconv.Itoa(n)); found != want || err != nil {
			t.Errorf("record %d: found %v, %v, want %v", n, found, err, want)
		}
	}
}
