// The uploads of accounts.

package storetest

import (
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media/upload"
)

// An account sees its own uploads alone, as long as they last, and has no more of them than there is room for.
func testUploads(t *testing.T, f *fixture) {
	t.Helper()
	account, other := f.account(), f.account()
	made := func(of gateway.Account, n int, size int64) upload.Upload {
		return upload.Upload{
			ID: newID(), AccountID: of.ID, MimeType: "image/png", FileName: "a.png", Size: size, SHA256: []byte{1, 2, byte(n)},
			CreatedAt: after(n), ExpiresAt: after(n).Add(upload.Lifetime),
		}
	}
	add := func(one upload.Upload, room upload.Room, want bool) {
		t.Helper()
		added, err := f.AddUpload(f.ctx(), one, room)
		f.check(err)
		if added != want {
			t.Errorf("with %+v it was added: %t", room, added)
		}
	}
	first, second, others := made(account, 1, 3<<32), made(account, 2, 7), made(other, 3, 100)
	all := upload.Room{Count: 2, Bytes: math.MaxInt64}
	add(first, all, true)
	add(others, all, true)
	add(second, upload.Room{Count: 2, Bytes: first.Size - 1}, false)
	add(second, upload.Room{Count: 1, Bytes: math.MaxInt64}, false)
	add(second, upload.Room{Count: 2, Bytes: first.Size}, true)

	for _, of := range []struct {
		account string
		want    bool
	}{{account.ID, true}, {other.ID, false}} {
		got, found, err := f.FindUpload(f.ctx(), of.account, first.ID)
		f.check(err)
		if found != of.want || found && !reflect.DeepEqual(got, first) {
			t.Errorf("the account finds %+v, %t", got, found)
		}
		if !of.want {
			deleted, err := f.DeleteUpload(f.ctx(), of.account, first.ID)
			f.check(err)
			if deleted {
				t.Error("another account has deleted it")
			}
		}
	}
	list := func(at time.Time) []upload.Upload {
		t.Helper()
		page, err := f.ListUploads(f.ctx(), account.ID, at, gateway.PageRequest{Page: 1, Limit: 10})
		f.check(err)
		return page.Items
	}
	if got := list(after(1)); !reflect.DeepEqual(got, []upload.Upload{first, second}) {
		t.Errorf("there are %+v", got)
	}
	if got := list(first.ExpiresAt); !reflect.DeepEqual(got, []upload.Upload{second}) {
		t.Errorf("when the first ends there are %+v", got)
	}
	ended, err := f.EndedUploads(f.ctx(), second.ExpiresAt, 10)
	f.check(err)
	if !reflect.DeepEqual(ended, []upload.Upload{first, second}) {
		t.Errorf("ended are %+v", ended)
	}
	for _, want := range []bool{true, false} {
		deleted, err := f.DeleteUpload(f.ctx(), account.ID, first.ID)
		f.check(err)
		if deleted != want {
			t.Errorf("it is deleted: %t", deleted)
		}
	}
}
