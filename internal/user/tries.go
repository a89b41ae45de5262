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
	// maxTries bounds for how many names and addresses tries are counted; the one that
	// was tried longest ago goes first.
	maxTries = 10_000
)

// tries counts the tries for each name and from each address.
type tries struct {
	mu    sync.Mutex
	known *lru.Cache[string, *tried]
}

type tried struct {
	count int
	last  time.Time
	until time.Time // one has to wait
}

func newTries() (*tries, error) {
	known, err := lru.New[string, *tried](maxTries)
	if err != nil {
		return nil, fmt.Errorf("user: count tries: %w", err)
	}
	return &tries{known: known}, nil
}

// try counts a try for a name from an address; one of them may be empty. It returns a
// RateLimited if somebody has to wait. A try counts before its outcome is known, so that
// many at once are no way around.
func (t *tries) try(now time.Time, name, address string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	counted := map[*tried]int{}
	var wait time.Duration
	for _, of := range []struct {
		key   string
		limit int
	}{{nameKey(name), triesOfName}, {addressKey(address), triesOfAddress}} {
		if of.key == "" {
			continue
		}
		one, ok := t.known.Get(of.key)
		if !ok || now.Sub(one.last) > forgetAfter {
			one = &tried{last: now}
			t.known.Add(of.key, one)
		}
		wait = max(wait, one.until.Sub(now))
		counted[one] = of.limit
	}
	if wait > 0 {
		refusal := gateway.Errorf(gateway.RateLimited, CodeTooManyTries, "too many tries: try again in %s", wait.Round(time.Second))
		refusal.RetryAfter = wait
		return refusal
	}
	for one, limit := range counted {
		one.count, one.last = one.count+1, now
		if over := one.count - limit; over >= 0 {
			one.until = now.Add(min(firstWait<<min(over, 10), maxWait))
		}
	}
	return nil
}

// succeeded forgets the tries for a name, and the last one from the address.
func (t *tries) succeeded(name, address string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.known.Remove(nameKey(name))
	if one, ok := t.known.Get(addressKey(address)); ok && one.count > 0 {
		one.count--
		one.until = time.Time{}
	}
}

// waits reports whether the name has to wait.
func (t *tries) waits(now time.Time, name string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	one, ok := t.known.Get(nameKey(name))
	return ok && one.until.After(now)
}

// nameKey is what the tries for a name are counted under; empty for no name. A name that
// nobody can have is cut, so that it takes no more memory than others.
func nameKey(name string) string {
	if name == "" {
		return ""
	}
	return "name " + strings.ToLower(name[:min(len(name), maxName)])
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
		return "address " + netip.PrefixFrom(ip, 64).Masked().String()
	}
	return "address " + ip.String()
}
