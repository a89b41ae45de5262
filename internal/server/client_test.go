package server_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit"
)

// An instance that is requested by its id is the same as in the list, however many
// there are.
func TestClientFindsInstances(t *testing.T) {
	t.Parallel()
	g := testkit.Start(t, testkit.Options{})
	for range 101 {
		if _, err := g.Partner.CreateInstance(t.Context(), client.NewInstance{Name: "shop"}); err != nil {
			t.Fatal(err)
		}
	}
	count := 0
	var last client.Instance
	for instance, err := range g.Client.Instances(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		last = instance
		count++
	}
	if count != 101 {
		t.Errorf("%d instances are listed", count)
	}
	got, err := g.Client.GetInstance(t.Context(), last.InstanceID)
	if err != nil || got != last {
		t.Errorf("got %+v (%v), want %+v", got, err, last)
	}
	_, err = g.Client.GetInstance(t.Context(), "019aa1f4-5b0c-7e43-9d1f-6a1f2f6f3b11")
	testkit.Refused(t, err, http.StatusNotFound, client.CodeInstanceNotFound)
}

// The list of deliveries has the state of the delivery and its reason.
func TestDeliveryState(t *testing.T) {
	t.Parallel()
	g := testkit.Start(t, testkit.Options{})
	id := g.Link(t, otherNumber)
	sink := testkit.NewSink(t)
	var hookID string
	save := func(active bool) {
		t.Helper()
		saved, err := g.Client.SaveWebhookConfig(t.Context(), id, client.NewWebhookConfig{WebhookURL: sink.URL, IsActive: &active})
		if err != nil {
			t.Fatal(err)
		}
		hookID = saved.ID
	}
	await := func(states ...string) client.DeliveryState {
		t.Helper()
		var state client.DeliveryState
		testkit.Await(t, "the delivery to be "+states[0], func() bool {
			page, err := g.Client.ListWebhookDeliveries(t.Context(), id, hookID, 0, 0)
			if err != nil {
				t.Fatal(err)
			}
			state = page.Delivery
			return slices.Contains(states, state.State)
		})
		return state
	}
	save(true)
	if state := await(client.StateFlowing); state.Since != nil || state.Until != nil || state.PendingEvents != 0 {
		t.Errorf("it flows: %+v", state)
	}
	sink.Answer(func(testkit.Delivered) int { return http.StatusGone })
	g.Phones.SendText(t, customerNumber, otherNumber, "Alguém aí?")
	if state := await(client.StateSuspended); state.Since == nil || state.Reason == nil || state.PendingEvents == 0 || state.OldestPendingAt == nil {
		t.Errorf("it is suspended: %+v", state)
	}
	save(false)
	await(client.StateInactive)
}
