package groups

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
)

// What is kept of groups is everything that the list has, in whichever order they come.
func TestKeptGroups(t *testing.T) {
	t.Parallel()
	all := []gateway.Group{
		{
			ID: "1@g.us", Subject: "Clients 🛒", Description: "a\nb", Owner: gateway.Party{JID: "5511988887766@s.whatsapp.net", LID: "1@lid", Name: "Ana"},
			CreatedAt: time.Unix(1795545352, 0).UTC(), Size: 3, Role: gateway.RoleAdmin, Community: "2@g.us", Announces: true,
			Rules: gateway.GroupRules{AdminsWrite: true, AdminsEdit: true, AdminsAdd: true, Approval: true, Disappearing: time.Hour},
		},
		{ID: "2@g.us", IsCommunity: true, CreatedAt: time.Unix(0, 0).UTC()},
	}
	var writes []string
	g := New(nil, func(_ context.Context, list []byte) error {
		writes = append(writes, string(list))
		return nil
	})
	if err := g.keep(t.Context(), all, 1); err != nil {
		t.Fatal(err)
	}
	got, ok := Decode([]byte(writes[0]))
	if !ok || !reflect.DeepEqual(got, all) {
		t.Errorf("%+v were kept as %+v (%v)", all, got, ok)
	}
	slices.Reverse(all)
	if err := g.keep(t.Context(), all, 2); err != nil || len(writes) != 1 {
		t.Errorf("the same list is written %d times (%v)", len(writes), err)
	}
	if _, ok := Decode([]byte("{")); ok {
		t.Error("what is broken is a list")
	}

	none := New(nil, func(context.Context, []byte) error { return errors.New("on purpose") })
	if err := none.keep(t.Context(), nil, 1); err == nil || none.kept != (kept{}) {
		t.Errorf("a list that was not written counts as kept (%v)", err)
	}
}

// A list that is too long to keep takes the place of the one before: an old one would be wrong.
func TestLongListsAreNotKept(t *testing.T) {
	t.Parallel()
	var last []byte
	g := New(nil, func(_ context.Context, list []byte) error { last = list; return nil })
	for _, test := range []struct{ groups, description int }{{0, 0}, {10, 2048}, {gateway.MaxGroups, 0}, {gateway.MaxGroups, 2048}, {1, 1}} {
		var all []gateway.Group
		for n := range test.groups {
			all = append(all, gateway.Group{ID: gateway.JID(fmt.Sprintf("1203630%011d@g.us", n)), Subject: "Group", Description: strings.Repeat("a", test.description)})
		}
		if err := g.keep(t.Context(), all, uint64(test.groups)); err != nil {
			t.Fatal(err)
		}
		if fits := test.groups*test.description < maxStored; (last != nil) != fits || len(last) > maxStored {
			t.Errorf("%d groups with descriptions of %d: %d bytes are kept", test.groups, test.description, len(last))
		}
	}
}
