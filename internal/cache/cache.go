// Package cache holds in memory what hardly changes and is needed often: rows, and what it took work to find out
// about something that never changes. A cached row is always what the database has: who changes rows announces
// that before and after, and meanwhile every reader asks the database.
package cache

import (
	"sync"
	"time"
)

// Cache holds up to a number of values, which callers must not change.
// It is safe for concurrent use.
type Cache[K comparable, V any] struct {
	most    int
	age     time.Duration
	foreign func() bool
	now     func() time.Time

	mu      sync.Mutex
	values  map[K]entry[V]
	changes uint64 // counts beginnings and ends; a value that was read before one of them may be old
	running int    // changes that have begun and not ended
}

type entry[V any] struct {
	value V
	until time.Time // zero: for ever
}

// Config bounds a cache.
type Config struct {
	Most int // values; required
	// Age is how long a value is used again, if that is not 0. It is the last resort where
	// another process may change the database.
	Age time.Duration
	// Foreign reports whether another process may have changed the database since its last
	// call; nil means that none does.
	Foreign func() bool
	Now     func() time.Time // the clock; required with Age
}

// New makes an empty cache.
func New[K comparable, V any](config Config) *Cache[K, V] {
	return &Cache[K, V]{most: config.Most, age: config.Age, foreign: config.Foreign, now: config.Now, values: map[K]entry[V]{}}
}

// Find returns the value of a key and whether there is one. It calls read, which asks the
// database, unless the value is cached. It caches nothing that read does not find.
func (c *Cache[K, V]) Find(key K, read func() (V, bool, error)) (V, bool, error) {
	changes, cached, ok := c.look(key)
	if ok {
		return cached, true, nil
	}
	value, found, err := read()
	if err == nil && found {
		c.add(changes, key, value)
	}
	return value, found, err
}

// look returns the cached value of a key, or the number of changes up to now.
func (c *Cache[K, V]) look(key K) (changes uint64, _ V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.foreign != nil && c.foreign() {
		clear(c.values)
		c.changes++
	}
	found, ok := c.values[key]
	if ok && !found.until.IsZero() && !c.now().Before(found.until) {
		ok = false
	}
	return c.changes, found.value, ok
}

// add caches a value that was read after that many changes.
func (c *Cache[K, V]) add(changes uint64, key K, value V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running > 0 || changes != c.changes {
		return
	}
	if _, ok := c.values[key]; !ok && len(c.values) >= c.most {
		for some := range c.values {
			delete(c.values, some)
			break
		}
	}
	cached := entry[V]{value: value}
	if c.age > 0 {
		cached.until = c.now().Add(c.age)
	}
	c.values[key] = cached
}

// Change is called before the values of the keys are changed in the database; without
// keys, any value may be changed. The caller calls done when the change has ended, whether
// it succeeded or not.
func (c *Cache[K, V]) Change(keys ...K) (done func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running++
	c.forget(keys)
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.running--
		c.forget(keys)
	}
}

func (c *Cache[K, V]) forget(keys []K) {
	c.changes++
	if len(keys) == 0 {
		clear(c.values)
	}
	for _, key := range keys {
		delete(c.values, key)
	}
}
