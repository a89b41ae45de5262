// What the removal of old messages must do on both databases.

package storetest

import (
	"slices"
	"testing"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

func testMessageRetention(t *testing.T, f *fixture) {
	t.Helper()
	account := f.account()
	instance, other := f.instance(account.ID, 1), f.instance(account.ID, 2)
	var ids []string
	for n := range 6 {
		message := f.message(instance, n)
		message.Status = gateway.MessageSent
		if n == 1 {
			message.Status = gateway.MessagePending
		}
		f.check(f.accept(message, nil))
		ids = append(ids, message.ID)
	}
	elsewhere := f.message(other, 9)
	elsewhere.Status = gateway.MessageSent
	f.check(f.accept(elsewhere, nil))
	for name, c := range cases.Sorted(map[string]struct {
		find func() ([]string, error)
		want []string
	}{
		"before":            {func() ([]string, error) { return f.MessagesBefore(f.ctx(), instance.ID, after(3), 10) }, []string{ids[0], ids[2]}},
		"before, in slices": {func() ([]string, error) { return f.MessagesBefore(f.ctx(), instance.ID, after(3), 1) }, []string{ids[0]}},
		"beyond":            {func() ([]string, error) { return f.MessagesBeyond(f.ctx(), instance.ID, 3, 10) }, []string{ids[2], ids[0]}},
		"beyond none":       {func() ([]string, error) { return f.MessagesBeyond(f.ctx(), instance.ID, 6, 10) }, nil},
	}) {
		found, err := c.find()
		f.check(err)
		if !slices.Equal(found, c.want) {
			t.Errorf("%s: found %v, want %v", name, found, c.want)
		}
	}
	f.check(f.DeleteMessages(f.ctx(), instance.ID, []string{ids[0], elsewhere.ID}))
	left, err := f.FindMessages(f.ctx(), instance.ID, ids[0])
	f.check(err)
	if len(left) != 0 {
		t.Error("the message is still there")
	}
	f.get(other, elsewhere.ID) // another instance's stays
}
