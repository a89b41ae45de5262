// The instances of this process follow the webhooks of their accounts.

package accountwide

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/webhook"
)

// followedAtOnce is how many instances follow a change at the same time.
const followedAtOnce = 16

// instances remembers what the instances of this process follow. Only Run uses it, but for the
// lock.
type instances struct {
	mu       sync.Mutex
	accounts map[string]string // of instances; they never change
	followed map[string]string // what instances follow: see versionOf
}

func newInstances() instances {
	return instances{accounts: map[string]string{}, followed: map[string]string{}}
}

// Run makes the instances of this process follow the webhooks of their accounts, until ctx ends:
// at once what was changed here, and soon what another node has changed.
func (s *Service) Run(ctx context.Context) error {
	ticker := time.NewTicker(s.config.Every)
	defer ticker.Stop()
	for {
		if err := s.follow(ctx); err != nil && ctx.Err() == nil {
			s.config.Logger.WarnContext(ctx, "webhooks of accounts not looked at; it is tried again", slog.Any("error", err))
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		case <-s.changed:
		}
	}
}

// follow makes each instance follow what there is now. One that can't keeps no other from it.
func (s *Service) follow(ctx context.Context) error {
	all, err := s.config.Store.AllAccountWebhooks(ctx)
	if err != nil {
		return err
	}
	of := map[string][]webhook.Webhook{}
	for _, hook := range all {
		of[hook.AccountID] = append(of[hook.AccountID], hook.Webhook)
	}
	taken := s.config.Webhooks.Taken()
	if err := s.learn(ctx, taken, len(all) > 0); err != nil {
		return err
	}
	var work errgroup.Group
	work.SetLimit(followedAtOnce)
	for _, id := range taken {
		hooks := of[s.accounts[id]]
		version := versionOf(hooks)
		s.mu.Lock()
		same := s.followed[id] == version
		s.mu.Unlock()
		if same {
			continue
		}
		work.Go(func() error {
			held, here := s.config.Tenures.WithTenure(ctx, id)
			if !here {
				return nil // another node's by now
			}
			if err := s.config.Webhooks.Follow(held, id, hooks); err != nil {
				if !errors.Is(err, gateway.ErrTenureOver) && gateway.KindOf(err) != gateway.NotFound {
					s.config.Logger.WarnContext(ctx, "an instance does not follow the webhooks of its account yet; it is tried again",
						slog.String("instance_id", id), slog.Any("error", err))
				}
				return nil
			}
			s.mu.Lock()
			s.followed[id] = version
			s.mu.Unlock()
			return nil
		})
	}
	_ = work.Wait() // none returns an error
	return nil
}

// learn finds out the accounts of instances that are new here, if there is something that they
// might follow, and forgets those that have left this node.
func (s *Service) learn(ctx context.Context, taken []string, wanted bool) error {
	here := make(map[string]bool, len(taken))
	var unknown []string
	for _, id := range taken {
		here[id] = true
		if s.accounts[id] == "" {
			unknown = append(unknown, id)
		}
	}
	gone := func(id, _ string) bool { return !here[id] }
	maps.DeleteFunc(s.accounts, gone)
	s.mu.Lock()
	maps.DeleteFunc(s.followed, gone)
	s.mu.Unlock()
	if len(unknown) == 0 || !wanted {
		return nil
	}
	found, err := s.config.Store.AccountsOf(ctx, unknown)
	maps.Copy(s.accounts, found)
	return err
}

// versionOf is the same as long as nothing is changed; empty if there are no webhooks.
func versionOf(hooks []webhook.Webhook) string {
	var version strings.Builder
	for _, hook := range hooks {
		version.WriteString(hook.ID + hook.UpdatedAt.Format(time.RFC3339Nano) + " ")
	}
	return version.String()
}
