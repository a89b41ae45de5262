package caches_test

import (
	"fmt"
	"testing"

	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/whatsapp/caches"
)

const id = gateway.JID("120363012345678901@g.us")

// An answer about a group that was on its way while the group changed is not held.
func TestGroupsHoldNoOldAnswer(t *testing.T) {
	t.Parallel()
	var groups caches.Groups
	hold := func(since uint64) bool {
		if err := groups.Put(gateway.Group{ID: id}, since); err != nil {
			t.Fatal(err)
		}
		_, held := groups.Get(id)
		return held
	}
	if !hold(groups.Seen()) {
		t.Error("a group is not held")
	}
	since := groups.Seen()
	groups.Forget(id)
	if hold(since) {
		t.Error("an answer from before a change is held")
	}
	since = groups.Seen()
	groups.ForgetAll()
	if hold(since) {
		t.Error("an answer from an old connection is held")
	}
}

func TestFollowedAreBounded(t *testing.T) {
	t.Parallel()
	var followed caches.Followed
	for range 2 {
		if followed.Set("1@lid", true) {
			t.Error("a contact that is not followed was online")
		}
	}
	if !followed.Add("1@lid") {
		t.Error("a contact is not followed")
	}
	if followed.Add("1@lid") {
		t.Error("a contact is followed twice")
	}
	if followed.Set("1@lid", true) || !followed.Set("1@lid", false) {
		t.Error("what a contact showed before is not known")
	}
	count := 0
	for followed.Add(gateway.JID(fmt.Sprintf("2%d@lid", count))) {
		count++
		if count > 100_000 {
			t.Fatal("any number of contacts is followed")
		}
	}
	followed.Clear()
	if !followed.Add("1@lid") {
		t.Error("the next connection does not follow the contact")
	}
}

func TestPeople(t *testing.T) {
	t.Parallel()
	var people caches.People
	ana := types.NewJID("100", types.HiddenUserServer)
	if people.Has(ana) {
		t.Error("an empty set has somebody")
	}
	people.Remove(ana)
	people.Add(ana)
	if !people.Has(ana) {
		t.Error("who was added is not there")
	}
	people.Remove(ana)
	if people.Has(ana) {
		t.Error("who was removed is still there")
	}
}
