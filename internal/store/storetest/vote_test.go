// The votes in polls.

package storetest

import (
	"crypto/sha256"
	"errors"
	"reflect"
	"testing"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
)

func testVotes(t *testing.T, f *fixture) {
	t.Helper()
	account := f.account()
	instance := f.instance(account.ID, 1)
	poll := f.message(instance, 1)
	f.add(poll, true)
	ana, ben := gateway.Party{JID: "1@s.whatsapp.net", Name: "Ana"}, gateway.Party{LID: "22@lid", Name: "Ben"}
	yes, no := sha256.Sum256([]byte("yes")), sha256.Sum256([]byte("no"))
	n := 0
	vote := func(vote gateway.StoredVote, want ...gateway.StoredVote) {
		t.Helper()
		var reported []gateway.StoredVote
		n++
		f.check(f.KeepVote(f.ctx(), poll, vote, func(votes []gateway.StoredVote, _ bool) (eventlog.Event, error) {
			reported = votes
			return f.event(instance, n), nil
		}))
		if !reflect.DeepEqual(reported, want) {
			t.Errorf("reported %+v, want %+v", reported, want)
		}
	}
	first := gateway.StoredVote{By: ana, Choices: [][sha256.Size]byte{yes}, At: after(1)}
	second := gateway.StoredVote{By: ben, Choices: [][sha256.Size]byte{no, yes}, At: after(2)}
	vote(first, first)
	vote(second, first, second)
	// Her LID is known by now, and it is her vote all the same.
	ana.LID = "11@lid"
	changed := gateway.StoredVote{By: ana, Choices: [][sha256.Size]byte{no}, At: after(3)}
	vote(changed, second, changed)
	vote(gateway.StoredVote{By: ana, At: after(2)}) // an older one: nothing is reported
	back := gateway.StoredVote{By: ben, At: after(4)}
	vote(back, changed, back)
	kept, err := f.ListVotes(f.ctx(), poll.ID)
	f.check(err)
	if want := []gateway.StoredVote{changed, back}; !reflect.DeepEqual(kept, want) {
		t.Errorf("kept %+v, want %+v", kept, want)
	}
	f.wantEvents(instance.ID, 1, 2, 3, 5)

	refusal := errors.New("no event")
	err = f.KeepVote(f.ctx(), poll, first, func([]gateway.StoredVote, bool) (eventlog.Event, error) { return eventlog.Event{}, refusal })
	if err != nil {
		t.Errorf("an older vote is reported: %v", err)
	}
	last := gateway.StoredVote{By: ben, Choices: [][sha256.Size]byte{no}, At: after(9)}
	if err := f.KeepVote(f.ctx(), poll, last, func([]gateway.StoredVote, bool) (eventlog.Event, error) { return eventlog.Event{}, refusal }); !errors.Is(err, refusal) {
		t.Errorf("a vote without an event: %v", err)
	}
	f.check(f.DeleteMessages(f.ctx(), instance.ID, []string{poll.ID}))
	if kept, err := f.ListVotes(f.ctx(), poll.ID); err != nil || len(kept) > 0 {
		t.Errorf("votes of a poll that is gone: %+v (%v)", kept, err)
	}
	err = f.KeepVote(f.ctx(), poll, last, func([]gateway.StoredVote, bool) (eventlog.Event, error) { return f.event(instance, 6), nil })
	wantKind(t, err, gateway.NotFound, gateway.CodeMessageNotFound)
}
