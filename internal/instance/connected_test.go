package instance

import (
	"context"
	"log/slog"
	"testing"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/testkit/database"
)

// slowStore is a store whose updates wait to be let through.
type slowStore struct {
	*store.Store

	asked, granted chan struct{}
}

func (s *slowStore) UpdateInstance(
	ctx context.Context, id string, change func(*gateway.Instance) ([]eventlog.Event, error),
) (gateway.Instance, error) {
	s.asked <- struct{}{}
	<-s.granted
	return s.Store.UpdateInstance(ctx, id, change)
}

// unused are the parts of a service that a test does not call.
type unused struct {
	gateway.Connector
	Receivers
	Log
}

// newSlowService makes a service without a connector, whose one instance is
// called phone.
func newSlowService(t *testing.T, status gateway.Status, device string) (*Service, *slowStore) {
	t.Helper()
	logger := slog.New(slog.DiscardHandler)
	data, err := store.Open(t.Context(), store.Config{Path: database.File(t), Logger: logger})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := data.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := data.CreateAccount(t.Context(), gateway.Account{ID: "account", Name: "account"}); err != nil {
		t.Fatal(err)
	}
	kept := gateway.Instance{ID: "phone", AccountID: "account", Status: status, Device: device}
	if err := data.CreateInstance(t.Context(), kept); err != nil {
		t.Fatal(err)
	}
	slow := &slowStore{Store: data, asked: make(chan struct{}), granted: make(chan struct{})}
	sessions, err := NewSessions(SessionsConfig{Store: slow, Connector: unused{}})
	if err != nil {
		t.Fatal(err)
	}
	service, err := New(Config{Sessions: sessions, Receivers: unused{}, Log: unused{}, Logger: logger})
	if err != nil {
		t.Fatal(err)
	}
	return service, slow
}

// "connected" is said when it is true and written, not before: not where the
// process has just been started and the session has not, nor between the session
// and the status.
func TestConnectedIsTrueAndWritten(t *testing.T) {
	t.Parallel()
	service, slow := newSlowService(t, gateway.StatusConnected, "keys")
	wantStatus(t, service, gateway.StatusConnecting)
	if _, err := service.sessions.Session(t.Context(), "phone"); gateway.KindOf(err) != gateway.Conflict {
		t.Errorf("a session before there is one: %v", err)
	}

	sup := service.supervisor("phone")
	sup.session = struct{ gateway.SupervisedSession }{} // nothing is asked of it
	h := &lifecycle{supervisor: sup}
	written := make(chan error, 1)
	go func() { written <- h.Connected(t.Context(), gateway.Profile{}) }()
	<-slow.asked
	if _, err := service.sessions.Session(t.Context(), "phone"); err != nil {
		t.Errorf("who reads the status in a moment can't send yet: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := service.AwaitConnected(ended, "phone"); err == nil {
		t.Error("it was connected before the status said so")
	}
	close(slow.granted)
	if err := <-written; err != nil {
		t.Fatal(err)
	}
	if err := service.AwaitConnected(t.Context(), "phone"); err != nil {
		t.Fatal(err)
	}
	wantStatus(t, service, gateway.StatusConnected)
}

func wantStatus(t *testing.T, service *Service, want gateway.Status) {
	t.Helper()
	got, err := service.Get(t.Context(), "phone")
	if err != nil || got.Status != want {
		t.Errorf("it is %s, want %s (%v)", got.Status, want, err)
	}
	list, err := service.List(t.Context(), gateway.Key{AccountID: "account"}, gateway.PageRequest{Page: 1, Limit: 10})
	if err != nil || len(list.Items) != 1 || list.Items[0].Status != want {
		t.Errorf("listed %+v, want %s (%v)", list.Items, want, err)
	}
}
