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
	what      string     // that the ids name, for refusals
	perMinute func() int // now; 0 or less admits everything
	mu        sync.Mutex
	buckets   *lru.Cache[string, *rate.Limiter]
}

// newPace makes a pace. perMinute may say another number each time.
func newPace(what string, perMinute func() int) (*pace, error) {
	buckets, err := lru.New[string, *rate.Limiter](maxBuckets)
	return &pace{what: what, perMinute: perMinute, buckets: buckets}, err
}

// admit counts a request of id, and says in the headers of the answer how many more
// may come. Its error is RateLimited for one too many.
func (p *pace) admit(header http.Header, id string, now time.Time) error {
	perMinute := p.perMinute()
	if perMinute <= 0 {
		return nil
	}
	bucket := p.bucket(id, perMinute, now)
	admitted := bucket.AllowN(now, 1)
	tokens := max(bucket.TokensAt(now), 0)
	seconds := func(missing float64) int { return int(math.Ceil(missing * 60 / float64(perMinute))) }
	remaining := int(tokens)
	// Of two limits the headers name the closer one.
	if named, err := strconv.Atoi(header.Get("RateLimit-Remaining")); err != nil || remaining < named {
		header.Set("RateLimit-Limit", strconv.Itoa(perMinute))
		header.Set("RateLimit-Remaining", strconv.Itoa(remaining))
		header.Set("RateLimit-Reset", strconv.Itoa(seconds(float64(perMinute)-tokens)))
	}
	if admitted {
		return nil
	}
	refusal := gateway.Errorf(gateway.RateLimited, gateway.CodeRateLimited, "%s may have %d requests a minute", p.what, perMinute)
	refusal.RetryAfter = time.Duration(max(1, seconds(1-tokens))) * time.Second
	return refusal
}

// bucket is that of an id, with room for as many as may come a minute.
func (p *pace) bucket(id string, perMinute int, now time.Time) *rate.Limiter {
	p.mu.Lock()
	defer p.mu.Unlock()
	bucket, ok := p.buckets.Get(id)
	if !ok {
		bucket = rate.NewLimiter(rate.Limit(float64(perMinute)/60), perMinute)
		p.buckets.Add(id, bucket)
	}
	if bucket.Burst() != perMinute { // the limit has changed
		bucket.SetLimitAt(now, rate.Limit(float64(perMinute)/60))
		bucket.SetBurstAt(now, perMinute)
	}
	return bucket
}
