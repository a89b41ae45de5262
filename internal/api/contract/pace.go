// Limits of requests per second, by key and by instance.

package contract

import (
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"

	"github.com/recado-project/recado/internal/gateway"
)

// maxBuckets bounds how many keys or instances a pace remembers. Beyond it, the one
// that asked the longest ago begins anew.
const maxBuckets = 100_000

// pace admits so many requests a minute for each of many ids, by token buckets. It is
// safe for concurrent use.
type pace struct {
	what      string // that the ids name, for refusals
	perMinute int
	mu        sync.Mutex
	buckets   *lru.Cache[string, *rate.Limiter]
}

// newPace makes a pace; nil, which admits everything, for 0 a minute.
func newPace(what string, perMinute int) (*pace, error) {
	if perMinute <= 0 {
		return nil, nil //nolint:nilnil // no limit is the usual case
	}
	buckets, err := lru.New[string, *rate.Limiter](maxBuckets)
	return &pace{what: what, perMinute: perMinute, buckets: buckets}, err
}

// admit counts a request of id, and says in the headers of the answer how many more
// may come. Its error is RateLimited for one too many.
func (p *pace) admit(header http.Header, id string, now time.Time) error {
	if p == nil {
		return nil
	}
	bucket := p.bucket(id)
	admitted := bucket.AllowN(now, 1)
	tokens := max(bucket.TokensAt(now), 0)
	seconds := func(missing float64) int { return int(math.Ceil(missing * 60 / float64(p.perMinute))) }
	remaining := int(tokens)
	// Of two limits the headers name the closer one.
	if named, err := strconv.Atoi(header.Get("RateLimit-Remaining")); err != nil || remaining < named {
		header.Set("RateLimit-Limit", strconv.Itoa(p.perMinute))
		header.Set("RateLimit-Remaining", strconv.Itoa(remaining))
		header.Set("RateLimit-Reset", strconv.Itoa(seconds(float64(p.perMinute)-tokens)))
	}
	if admitted {
		return nil
	}
	refusal := gateway.Errorf(gateway.RateLimited, gateway.CodeRateLimited, "%s may have %d requests a minute", p.what, p.perMinute)
	refusal.RetryAfter = time.Duration(max(1, seconds(1-tokens))) * time.Second
	return refusal
}

func (p *pace) bucket(id string) *rate.Limiter {
	p.mu.Lock()
	defer p.mu.Unlock()
	bucket, ok := p.buckets.Get(id)
	if !ok {
		bucket = rate.NewLimiter(rate.Limit(float64(p.perMinute)/60), p.perMinute)
		p.buckets.Add(id, bucket)
	}
	return bucket
}
