// How often somebody may try to sign in.

package user

import (
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/recado-project/recado/internal/gateway"
)

const (
	// After so many tries for a name, or from an address, one has to wait. Several people
	// may share an address.
	triesOfName    = 5
	triesOfAddress = 20
	// The wait doubles with each try that follows.
	firstWait = 30 * time.Second
	maxWait   = 15 * time.Minute
	// Tries are forgotten after a while without another.
	forgetAfter = time.Hour
	// maxTries bounds for how many of each kind tries are counted, and for how many of them
	// somebody has to wait.
	maxTries = 10_000
)

// tries counts the tries for each name and from each address.
type tries struct {
	mu        sync.Mutex
	users     *counts // by the names of users
	others    *counts // by names that no user has, so that a flood of them pushes nobody else out
	addresses *counts
}

type tried struct {
	count int
	last  time.Time
	until time.Time // one has to wait
	told  bool      // of this wait
}

func newTries() (*tries, error) {
	t := &tries{}
	for _, kind := range []**counts{&t.users, &t.others, &t.addresses} {
		var err error
		if *kind, err = newCounts(); err != nil {
			return nil, fmt.Errorf("user: count tries: %w", err)
		}
	}
	return t, nil
}

// counts is what is known of the tries of one kind. Where there is no room, the one that was tried
// longest ago goes first; those that have to wait are no part of that, and have a room of their own.
type counts struct{ counted, waiting *lru.Cache[string, *tried] }

func newCounts() (*counts, error) {
	counted, err := lru.New[string, *tried](maxTries)
	if err != nil {
		return nil, err
	}
	waiting, err := lru.New[string, *tried](maxTries)
	return &counts{counted, waiting}, err
}

// find returns what is known of a key; nil if that is nothing, or is forgotten by now.
func (c *counts) find(key string, now time.Time) *tried {
	for _, known := range []*lru.Cache[string, *tried]{c.waiting, c.counted} {
		one, ok := known.Get(key)
		if ok && now.Sub(one.last) <= forgetAfter {
			return one
		}
		known.Remove(key)
	}
	return nil
}

// count counts a try for a key, of which there may be so many before one has to wait.
func (c *counts) count(key string, now time.Time, limit int) {
	one := c.find(key, now)
	if one == nil {
		one = &tried{}
		c.counted.Add(key, one)
	}
	one.count, one.last = one.count+1, now
	if over := one.count - limit; over >= 0 {
		one.until, one.told = now.Add(min(firstWait<<min(over, 10), maxWait)), false
		c.counted.Remove(key)
		c.waiting.Add(key, one)
	}
}

func (c *counts) forget(key string) {
	c.counted.Remove(key)
	c.waiting.Remove(key)
}

// wait is how long a key has to wait; zero or less if it does not.
func (c *counts) wait(key string, now time.Time) time.Duration {
	if one := c.find(key, now); one != nil {
		return one.until.Sub(now)
	}
	return 0
}

// tell reports whether a key has to wait and nobody was told of that yet.
func (c *counts) tell(key string, now time.Time) bool {
	one := c.find(key, now)
	if one == nil || one.told || !one.until.After(now) {
		return false
	}
	one.told = true
	return true
}

// who is whose try it is; either may be empty.
type who struct {
	name    string
	known   bool // a user has the name
	address string
}

// names are the counts that the name is in.
func (t *tries) names(w who) *counts {
	if w.known {
		return t.users
	}
	return t.others
}

// held returns a RateLimited if somebody at the address has to wait, whatever the name.
func (t *tries) held(now time.Time, address string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return mustWait(t.addresses.wait(addressKey(address), now))
}

// try counts a try. It returns a RateLimited if somebody has to wait, and then counts nothing. A try
// counts before its outcome is known, so that many at once are no way around.
func (t *tries) try(now time.Time, w who) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	name, address := nameKey(w.name), addressKey(w.address)
	if err := mustWait(max(t.names(w).wait(name, now), t.addresses.wait(address, now))); err != nil {
		return err
	}
	if name != "" {
		t.names(w).count(name, now, triesOfName)
	}
	if address != "" {
		t.addresses.count(address, now, triesOfAddress)
	}
	return nil
}

func mustWait(wait time.Duration) error {
	if wait <= 0 {
		return nil
	}
	refusal := gateway.Errorf(gateway.RateLimited, CodeTooManyTries, "too many tries: try again in %s", wait.Round(time.Second))
	refusal.RetryAfter = wait
	return refusal
}

// failed reports what has to wait from now on, because the try was wrong: the name of a user, the
// address. Each wait is reported once.
func (t *tries) failed(now time.Time, w who) (name, address bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return w.known && t.users.tell(nameKey(w.name), now), t.addresses.tell(addressKey(w.address), now)
}

// succeeded forgets the tries for a user's name, and the last one from the address.
func (t *tries) succeeded(name, address string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.users.forget(nameKey(name))
	for _, known := range []*lru.Cache[string, *tried]{t.addresses.counted, t.addresses.waiting} {
		if one, ok := known.Get(addressKey(address)); ok && one.count > 0 {
			one.count--
			one.until = time.Time{}
		}
	}
}

// nameKey is what the tries for a name are counted under; empty for no name. A name that
// nobody can have is cut, so that it takes no more memory than others.
func nameKey(name string) string {
	if name == "" {
		return ""
	}
	return strings.ToLower(name[:min(len(name), maxName)])
}

// addressKey is the same for an address. Somebody with one address of IPv6 has the whole
// network of 64 bits.
func addressKey(address string) string {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return ""
	}
	ip = ip.Unmap().WithZone("")
	if ip.Is6() {
		return netip.PrefixFrom(ip, 64).Masked().String()
	}
	return ip.String()
}
