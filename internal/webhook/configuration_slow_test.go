package webhook_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/webhook"
)

// slowStore holds the save of the webhooks' progress until it is let go.
type slowStore struct {
	webhook.Store

	saving chan struct{} // closed when one is held
	free   chan struct{}
	once   sync.Once
}

func (s *slowStore) SaveProgress(ctx context.Context, progress []webhook.Progress) error {
	s.once.Do(func() { close(s.saving) })
	select {
	case <-s.free:
		return s.Store.SaveProgress(ctx, progress)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// A database that is slow to take the progress of some webhooks keeps nobody from
// changing another one, and who leaves does not wait.
func TestSlowProgressHoldsNoOtherWebhook(t *testing.T) {
	t.Parallel()
	endpoint := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(endpoint.Close)
	r := newRig(t, webhook.Config{AllowPrivateURLs: true})
	r.stop()
	slow := &slowStore{saving: make(chan struct{}), free: make(chan struct{})}
	r.start(webhook.Config{AllowPrivateURLs: true}, func(s webhook.Store) webhook.Store {
		slow.Store = s
		return slow
	})
	free := sync.OnceFunc(func() { close(slow.free) })
	t.Cleanup(free)
	busy := r.hooked(endpoint.URL)
	r.append(busy, "chat", 1)
	<-slow.saving
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if _, err := r.service.Save(ctx, r.instance(), webhook.Settings{URL: endpoint.URL}); err != nil {
		t.Errorf("another webhook: %v", err)
	}
	left, leave := context.WithCancel(t.Context())
	leave()
	if _, err := r.service.Save(left, busy, webhook.Settings{URL: endpoint.URL}); err == nil {
		t.Error("the webhook whose progress is being saved was changed meanwhile")
	}
	free()
	if _, err := r.service.Save(t.Context(), busy, webhook.Settings{URL: endpoint.URL}); err != nil {
		t.Errorf("the same webhook afterwards: %v", err)
	}
}
