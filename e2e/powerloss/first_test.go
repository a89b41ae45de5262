//go:build linux

package powerloss_test

import (
	"strings"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/e2e/powerloss/disk"
)

// From the first key in a new folder to the first message: everything that was
// acknowledged survives a loss of power right after the acknowledgement.
func TestFirstSteps(t *testing.T) {
	t.Parallel()
	w := newEmptyWorld(t)
	ctx := t.Context()

	w.losePower(disk.Survivors{})
	made, err := w.client.CreateAPIKey(ctx, client.NewKey{Name: "second", Partner: true})
	if err != nil {
		t.Fatalf("with the first key: %v", err)
	}

	w.losePower(disk.Survivors{})
	w.client = client.New(w.url, made.Key)
	instance, err := w.client.CreateInstance(ctx, client.NewInstance{Name: "shop"})
	if err != nil {
		t.Fatalf("with the second key: %v", err)
	}

	w.losePower(disk.Survivors{})
	w.instance = instance.InstanceID
	w.scan()
	w.followConnected()
	w.losePower(disk.Survivors{})
	w.awaitConnected() // it is still linked

	saved, err := w.client.SaveWebhookConfig(ctx, w.instance, client.NewWebhookConfig{WebhookURL: w.sink.URL, Secret: "a secret of 24 characters"})
	if err != nil {
		t.Fatal(err)
	}
	w.losePower(disk.Survivors{})
	if found, err := w.client.GetWebhookConfig(ctx, w.instance); err != nil || found != saved {
		t.Errorf("the webhook is %+v (%v), was %+v", found, err, saved)
	}

	if err := w.client.RevokeAPIKey(ctx, made.ID); err != nil {
		t.Fatal(err)
	}
	w.losePower(disk.Survivors{})
	if _, err := w.client.ListInstances(ctx, client.ListInstancesParams{}, 0, 0); err == nil {
		t.Error("a key that was revoked is good again")
	}
	w.client = client.New(w.url, w.key)
	w.awaitConnected()
	w.phones.AwaitMessage(t, customer(0), w.send(customer(0), "hello").MessageID)
	w.receive(customer(1), "who has taken the keys for a first message") // which were made before the losses
}

// followConnected returns as soon as the event log says that the instance is connected.
func (w *world) followConnected() {
	w.t.Helper()
	stream, err := w.client.Events(w.t.Context(), w.instance, client.EventsParams{After: new(int64(0)), Types: []string{"instance.status"}})
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = stream.Close() }()
	for {
		event, err := stream.Next()
		if err != nil {
			w.t.Fatal(err)
		}
		if strings.Contains(string(event.Data), `"status":"connected"`) {
			return
		}
	}
}
