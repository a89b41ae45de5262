package api

import (
	"context"
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"

	"github.com/recado-project/recado/internal/gateway"
)

// Limits bound what clients may ask for, beside the size of single requests.
type Limits struct {
	// Bodies bounds the bytes of all request bodies that are held at a time, in
	// memory and in temporary files, three quarters of which may be one key's; 0
	// means 256 MiB, and it is never less than two of the largest bodies.
	Bodies int64
	// PerKey and PerInstance are how many requests a minute a key may make, and how
	// many may be made about an instance; as many may come at once. 0: any number.
	PerKey, PerInstance int
	// Streams is how many event streams a key may have open; 0 means 100, less
	// than 0 any number.
	Streams int
	// Instances is how many instances an account may have; 0: any number.
	Instances int
}

const (
	defaultMaxStreams = 100
	// maxBuckets bounds how many keys or instances a limit remembers; of more, the
	// one that asked the longest ago begins anew.
	maxBuckets = 100_000
	// streamsRetry is when a stream may have ended.
	streamsRetry = 5 * time.Second
)

func (l Limits) withDefaults() Limits {
	if l.Streams == 0 {
		l.Streams = defaultMaxStreams
	}
	return l
}

// pace lets so many requests a minute through for each of many, by a token bucket.
// It is safe for concurrent use.
type pace struct {
	what      string // whose pace it is, for refusals
	perMinute int
	mu        sync.Mutex
	buckets   *lru.Cache[string, *rate.Limiter]
}

// newPace makes a pace; nil, which lets everything through, for 0 a minute.
func newPace(what string, perMinute int) (*pace, error) {
	if perMinute <= 0 {
		return nil, nil //nolint:nilnil // no limit is the usual case
	}
	buckets, err := lru.New[string, *rate.Limiter](maxBuckets)
	return &pace{what: what, perMinute: perMinute, buckets: buckets}, err
}

// admit counts a request of id, tells in the headers of the answer how many more
// may come, and refuses one too many.
func (p *pace) admit(header http.Header, id string, now time.Time) error {
	if p == nil {
		return nil
	}
	bucket := p.bucket(id)
	admitted := bucket.AllowN(now, 1)
	tokens := max(bucket.TokensAt(now), 0)
	seconds := func(missing float64) int { return int(math.Ceil(missing * 60 / float64(p.perMinute))) }
	remaining := int(tokens)
	// Of two limits the one that is closer is told.
	if told, err := strconv.Atoi(header.Get("RateLimit-Remaining")); err != nil || remaining < told {
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

// places bounds how many of something each key has at a time. It is safe for
// concurrent use.
type places struct {
	most int // less than 0: any number

	mu    sync.Mutex
	taken map[string]int
}

func newPlaces(most int) *places { return &places{most: most, taken: map[string]int{}} }

// take takes a place of the key, and reports whether there was one. The caller
// calls done once.
func (p *places) take(key string) (done func(), ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.most >= 0 && p.taken[key] >= p.most {
		return nil, false
	}
	p.taken[key]++
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.taken[key]--
		if p.taken[key] == 0 {
			delete(p.taken, key)
		}
	}, true
}

// admitStream takes one of the key's streams until the exchange ends.
func (s *service) admitStream(x *exchange) error {
	done, ok := s.streams.take(x.key.ID)
	if !ok {
		refusal := gateway.Errorf(gateway.RateLimited, gateway.CodeRateLimited, "the API key has %d streams open, and may have no more", s.Limits.Streams)
		refusal.RetryAfter = streamsRetry
		return refusal
	}
	x.atEnd = done
	return nil
}

// createWithin creates an instance unless the account has as many as it may.
func (s *service) createWithin(ctx context.Context, accountID, name string) (gateway.Instance, error) {
	if s.Limits.Instances > 0 {
		// Two that come at the same time must not both find the last place.
		s.creating.Lock()
		defer s.creating.Unlock()
		page, err := s.Instances.List(ctx, gateway.Key{AccountID: accountID}, gateway.PageRequest{Page: 1, Limit: 1})
		if err != nil {
			return gateway.Instance{}, err
		}
		if page.Total >= s.Limits.Instances {
			return gateway.Instance{}, gateway.Errorf(gateway.Conflict, gateway.CodeInstanceLimit,
				"the account has %d instances, and may have no more: delete one, or ask whoever runs the gateway", page.Total)
		}
	}
	return s.Instances.Create(ctx, accountID, name)
}
