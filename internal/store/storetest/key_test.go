// What API keys must do on both databases.

package storetest

import (
	"reflect"
	"testing"

	"github.com/recado-project/recado/internal/gateway"
)

func testKeys(t *testing.T, f *fixture) {
	t.Helper()
	account, stranger := f.account(), f.account()
	all := gateway.Key{ID: newID(), AccountID: account.ID, Name: "all", Hash: []byte("one"), CreatedAt: after(0)}
	some := gateway.Key{
		ID: newID(), AccountID: account.ID, Name: "some", Hash: []byte("two"), InstanceIDs: []string{newID(), newID()},
		Partner: true, CreatedAt: after(1), ExpiresAt: after(9),
	}
	f.check(f.CreateKey(f.ctx(), some))
	f.check(f.CreateKey(f.ctx(), all))
	for _, want := range []gateway.Key{all, some} {
		got, found, err := f.FindKey(f.ctx(), want.Hash)
		f.check(err)
		if !found || !reflect.DeepEqual(got, want) {
			t.Errorf("found %v %+v, want %+v", found, got, want)
		}
	}
	if _, found, err := f.FindKey(f.ctx(), []byte("three")); found || err != nil {
		t.Errorf("found %v, %v for a hash without key", found, err)
	}
	double := gateway.Key{ID: newID(), AccountID: account.ID, Hash: all.Hash, CreatedAt: start()}
	wantKind(t, f.CreateKey(f.ctx(), double), gateway.Conflict, "ALREADY_EXISTS")

	wantKind(t, f.RevokeKey(f.ctx(), stranger.ID, all.ID, after(2)), gateway.NotFound, gateway.CodeNotFound)
	f.check(f.RevokeKey(f.ctx(), account.ID, all.ID, after(2)))
	f.check(f.RevokeKey(f.ctx(), account.ID, all.ID, after(3)))
	all.RevokedAt = after(2)
	page, err := f.ListKeys(f.ctx(), account.ID, gateway.PageRequest{Page: 1, Limit: 10})
	f.check(err)
	if want := (gateway.Page[gateway.Key]{Items: []gateway.Key{all, some}, Total: 2}); !reflect.DeepEqual(page, want) {
		t.Errorf("listed %+v, want %+v", page, want)
	}
	for _, want := range []gateway.Key{all, some} {
		got, found, err := f.GetKey(f.ctx(), account.ID, want.ID)
		f.check(err)
		if !found || !reflect.DeepEqual(got, want) {
			t.Errorf("got %v %+v, want %+v", found, got, want)
		}
	}
	if _, found, err := f.GetKey(f.ctx(), stranger.ID, all.ID); found || err != nil {
		t.Errorf("got %v, %v of another account", found, err)
	}
	many := []string{some.ID, all.ID}
	for range 500 {
		many = append(many, newID())
	}
	for _, ids := range [][]string{many, append(many[2:], all.ID)} {
		revoked, err := f.RevokedKeys(f.ctx(), ids)
		f.check(err)
		if !reflect.DeepEqual(revoked, []string{all.ID}) {
			t.Errorf("revoked are %v, want %s", revoked, all.ID)
		}
	}
	page, err = f.ListKeys(f.ctx(), account.ID, gateway.PageRequest{Page: 2, Limit: 1})
	f.check(err)
	if page.Total != 2 || len(page.Items) != 1 || page.Items[0].ID != some.ID {
		t.Errorf("second page of one is %+v", page)
	}
}

func testTouchKey(t *testing.T, f *fixture) {
	t.Helper()
	key := gateway.Key{ID: newID(), AccountID: f.account().ID, Hash: []byte("one"), CreatedAt: start()}
	f.check(f.CreateKey(f.ctx(), key))
	f.check(f.TouchKey(f.ctx(), key.ID, after(5)))
	f.check(f.TouchKey(f.ctx(), key.ID, after(4)))
	f.check(f.TouchKey(f.ctx(), newID(), after(4)))
	got, _, err := f.FindKey(f.ctx(), key.Hash)
	f.check(err)
	if !got.LastUsedAt.Equal(after(5)) {
		t.Errorf("last used %v, want the latest time", got.LastUsedAt)
	}
}

func testNoteSpoken(t *testing.T, f *fixture) {
	t.Helper()
	key := gateway.Key{ID: newID(), AccountID: f.account().ID, Hash: []byte("one"), CreatedAt: start()}
	f.check(f.CreateKey(f.ctx(), key))
	spoken := key.Spoke("evolution", after(1), gateway.RefusedOperation{Operation: "message/sendTemplate", Reason: "send a text"})
	f.check(f.NoteSpoken(f.ctx(), key.ID, spoken))
	f.check(f.NoteSpoken(f.ctx(), newID(), spoken))
	got, _, err := f.GetKey(f.ctx(), key.AccountID, key.ID)
	f.check(err)
	if !reflect.DeepEqual(got.Spoken, spoken) {
		t.Errorf("spoken is %+v, want %+v", got.Spoken, spoken)
	}
}
