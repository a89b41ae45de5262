package nodetest_test

import (
	"slices"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit/await"
	"github.com/recado-project/recado/internal/testkit/postgres"
)

// Whom instances know and which groups they are in is listed at every node, also for an instance that
// another node works for, one whose node was killed, and one that is not connected. Reading it takes
// no instance over.
func TestContactsAndGroupsAreListedAtEveryNode(t *testing.T) {
	t.Parallel()
	w := newWorld(t, postgres.Start(t), 2, 2, usualLease)
	const customer = "5511988887766"
	w.phones.Update(t, customer, map[string]any{"name": "Aninha"})
	list := func(at *node, id string) (names, subjects []string) {
		t.Helper()
		awaitTaken(t, func() (err error) {
			names, subjects, err = known(t, at, id)
			return err
		})
		return names, subjects
	}
	want := func(when string, at *node) {
		t.Helper()
		for _, shop := range w.shops {
			names, subjects := list(at, shop.id)
			if !slices.Equal(names, []string{"Aninha"}) || !slices.Equal(subjects, []string{shop.number}) {
				t.Errorf("%s: %s knows %q and is in %q", when, shop.number, names, subjects)
			}
		}
	}
	for _, shop := range w.shops {
		w.phones.CreateGroup(t, shop.number, customer, shop.number)
		w.phones.SendText(t, customer, shop.number, "hello")
		await.Until(t, "the customer is known", func() bool {
			names, _ := list(w.nodes[0], shop.id)
			return slices.Equal(names, []string{"Aninha"})
		})
	}
	first, second := w.nodes[0], w.nodes[1]
	owned := w.ownedBy(first)
	if len(owned) == 0 || len(owned) == len(w.shops) {
		t.Fatalf("a node works for %d instances", len(owned))
	}
	want("at the first node", first)
	want("at the second node", second)
	if now := w.ownedBy(first); len(now) != len(owned) {
		t.Errorf("the first node works for %d instances, and did for %d", len(now), len(owned))
	}

	first.Kill()
	w.awaitElsewhere(owned, first, second)
	for _, shop := range w.shops {
		awaitTaken(t, func() error { return second.client.StopInstance(t.Context(), shop.id) })
	}
	want("stopped", second)
	for _, shop := range w.shops {
		awaitTaken(t, func() error { return second.client.RestartInstance(t.Context(), shop.id) })
		w.awaitConnected(second, shop.id)
	}
	want("connected again", second)
}

// known lists whom an instance knows and which groups it is in.
func known(t *testing.T, at *node, id string) (names, subjects []string, err error) {
	t.Helper()
	for contact, err := range at.client.Contacts(t.Context(), id, client.ListContactsParams{}) {
		if err != nil {
			return nil, nil, err
		}
		names = append(names, *contact.Name)
	}
	for group, err := range at.client.Groups(t.Context(), id, client.ListGroupsParams{}) {
		if err != nil {
			return nil, nil, err
		}
		subjects = append(subjects, group.Subject)
	}
	return names, subjects, nil
}
