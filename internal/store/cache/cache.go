// Package cache keeps rows in memory that hardly change and that every request needs. A
// row that is kept is what the database has: whoever changes rows says so before and
// after, and meanwhile every reader asks the database.
package cache

import (
	"sync"
	"time"
)

// Cache keeps up to a number of values. Values must not be changed by those who get them.
// It is safe for concurrent use.
type Cache[K comparable, V any] struct {
	most    int
	age     time.Duration
	foreign func() bool
	now     func() time.Time

	mu      sync.Mutex
	kept    map[K]entry[V]
	changes uint64 // counts beginnings and ends; a value that was read before one of them may be old
	running int    // changes that have begun and not ended
}

type entry[V any] struct {
	value V
	until time.Time // zero: for ever
}

// Config bounds a cache.
type Config struct {
	Most int // values that are kept; required
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
	return &Cache[K, V]{most: config.Most, age: config.Age, foreign: config.Foreign, now: config.Now, kept: map[K]entry[V]{}}
}

// Find returns the value of a key and whether there is one. It calls read, which asks the
// database, unless the value is kept. What read does not find is not kept.
func (c *Cache[K, V]) Find(key K, read func() (V, bool, error)) (V, bool, error) {
	changes, kept, ok := c.look(key)
	if ok {
		return kept, true, nil
	}
	value, found, err := read()
	if err == nil && found {
		c.keep(changes, key, value)
	}
	return value, found, err
}

// look returns the value that is kept for a key, or the number of changes up to now.
func (c *Cache[K, V]) look(key K) (changes uint64, _ V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.foreign != nil && c.foreign() {
		clear(c.kept)
		c.changes++
	}
	found, ok := c.kept[key]
	if ok && !found.until.IsZero() && !c.now().Before(found.until) {
		ok = false
	}
	return c.changes, found.value, ok
}

// keep keeps a value that was read after that many changes.
func (c *Cache[K, V]) keep(changes uint64, key K, value V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running > 0 || changes != c.changes {
		return
	}
	if _, ok := c.kept[key]; !ok && len(c.kept) >= c.most {
		for some := range c.kept {
			delete(c.kept, some)
			break
		}
	}
	kept := entry[V]{value: value}
	if c.age > 0 {
		kept.until = c.now().Add(c.age)
	}
	c.kept[key] = kept
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
		clear(c.kept)
	}
	for _, key := range keys {
		delete(c.kept, key)
	}
}
