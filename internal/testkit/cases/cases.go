// Package cases runs the cases of a test in a fixed order. Go visits a map in another order each time, so that
// cases which share a gateway or a database, where one leaves something behind for the next, fail on some days only.
package cases

import (
	"cmp"
	"iter"
	"maps"
	"slices"
)

// Sorted yields the entries of a map in the order of the keys that it has when the loop starts.
func Sorted[Map ~map[K]V, K cmp.Ordered, V any](m Map) iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			if !yield(key, m[key]) {
				return
			}
		}
	}
}
