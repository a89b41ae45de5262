package label_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/label"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/testkit/database"
)

// silence is a platform that takes labels at once, but those of one instance when it is told to.
type silence struct {
	instance string
	asked    chan struct{} // receives when the platform is asked for that instance
	answer   chan struct{} // closed when it answers
}

func (s silence) Session(_ context.Context, instanceID string) (gateway.Session, error) {
	return session{chats: chats{silence: s, instanceID: instanceID}}, nil
}

// session is one that has chats alone.
type session struct {
	gateway.Session

	chats chats
}

func (s session) Chats() gateway.Chats { return s.chats }

// chats is the part of a session that changes labels.
type chats struct {
	gateway.Chats

	silence    silence
	instanceID string
}

func (c chats) ChangeLabel(ctx context.Context, _ gateway.LabelChange) error {
	if c.instanceID != c.silence.instance {
		return nil
	}
	c.silence.asked <- struct{}{}
	select {
	case <-c.silence.answer:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// While the platform is silent to an instance that makes a label, others make theirs.
func TestSilenceHoldsNoOtherInstance(t *testing.T) {
	t.Parallel()
	data, err := store.Open(t.Context(), store.Config{Path: database.File(t), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := data.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := data.CreateAccount(t.Context(), gateway.Account{ID: "account", Name: "account"}); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"silent", "other"} {
		if err := data.CreateInstance(t.Context(), gateway.Instance{ID: id, AccountID: "account"}); err != nil {
			t.Fatal(err)
		}
	}
	keeper, err := label.NewRecorder(data)
	if err != nil {
		t.Fatal(err)
	}
	platform := silence{"silent", make(chan struct{}), make(chan struct{})}
	service, err := label.New(label.Config{Store: data.Labels, Chats: struct{ label.Chats }{}, Sessions: platform, Recorder: keeper, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	made := make(chan error, 1)
	go func() {
		_, err := service.Create(t.Context(), "silent", "to pay", 1)
		made <- err
	}()
	<-platform.asked
	// The lock is waited for with the context, which ends only where the test fails.
	soon, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := service.Create(soon, "other", "to pay", 1); err != nil {
		t.Errorf("the other instance makes no label: %v", err)
	}
	close(platform.answer)
	if err := <-made; err != nil {
		t.Error(err)
	}
	for _, id := range []string{"silent", "other"} {
		page, err := service.List(t.Context(), id, gateway.PageRequest{Page: 1, Limit: 10})
		if err != nil || page.Total != 1 || page.Items[0].Name != "to pay" {
			t.Errorf("%s has %+v, %v", id, page.Items, err)
		}
	}
}
