package api

import "sync"

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

// defaultMaxStreams is the usual Limits.Streams.
const defaultMaxStreams = 100

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
