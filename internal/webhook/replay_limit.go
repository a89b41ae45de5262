// How often a webhook may be replayed.

package webhook

import (
	"fmt"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"

	"github.com/recado-project/recado/internal/gateway"
)

const (
	// replaysAtOnce is how many replays of one instance may follow each other; after
	// that one is allowed every Schedule.ReplayEvery.
	replaysAtOnce = 6
	// maxReplayed bounds how many instances have a limiter of their own at a time.
	maxReplayed = 100_000
)

// replays limits how often the events of an instance are delivered again, because
// each replay is many requests to an endpoint whose owner may not expect them.
type replays struct {
	every   time.Duration
	buckets *lru.Cache[string, *rate.Limiter]
}

func newReplays(every time.Duration) (*replays, error) {
	buckets, err := lru.New[string, *rate.Limiter](maxReplayed)
	if err != nil {
		return nil, fmt.Errorf("webhook: remember replays: %w", err)
	}
	return &replays{every: every, buckets: buckets}, nil
}

// admit refuses a replay that comes too soon.
func (r *replays) admit(instanceID string, now time.Time) error {
	bucket := rate.NewLimiter(rate.Every(r.every), replaysAtOnce)
	if known, ok, _ := r.buckets.PeekOrAdd(instanceID, bucket); ok {
		bucket = known
	}
	if bucket.AllowN(now, 1) {
		return nil
	}
	refusal := gateway.Errorf(gateway.RateLimited, gateway.CodeRateLimited,
		"too many replays of the webhooks of this instance: one is possible every %s", r.every)
	missing := 1 - bucket.TokensAt(now)
	refusal.RetryAfter = time.Duration(missing * float64(r.every))
	return refusal
}
