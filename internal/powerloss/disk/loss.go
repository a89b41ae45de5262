//go:build linux

package disk

import (
	"maps"
	"math/rand/v2"
)

// Survivors says with which chance, from 0 to 1, something survives a loss of
// power though nobody has waited for it. A disk may have written it, in an order
// of its own. Of the zero value nothing survives.
type Survivors struct {
	// Names is of one change of names, as long as all before it have survived: file
	// systems keep their order.
	Names float64
	// Sizes is of the size of a file. Where it has survived and the content has
	// not, the file has zeros there.
	Sizes float64
	// Pages is of one page of a file.
	Pages float64
}

func survives(chance float64) bool {
	return chance > 0 && rand.Float64() < chance //nolint:gosec // nothing is to be kept secret
}

// cut takes the power: nothing gets to the disk from now on.
func (t *tree) cut() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.dead = true
}

// restart gives the power back, with the files that are on the disk.
func (t *tree) restart(s Survivors) {
	t.mu.Lock()
	defer t.mu.Unlock()
	kept := 0
	for kept < len(t.renamed) && survives(s.Names) {
		kept++
	}
	t.keepNames(t.renamed[:kept])
	t.renamed, t.dead = nil, false
	t.root.revert(s, map[*file]bool{})
}

// revert makes a file, and all that a folder has, what it is on the disk.
func (f *file) revert(s Survivors, done map[*file]bool) {
	if done[f] {
		return // it is on the disk under two names
	}
	done[f] = true
	if f.names != nil {
		f.names = maps.Clone(f.keptNames)
		for _, child := range f.names {
			child.revert(s, done)
		}
		return
	}
	if survives(s.Sizes) {
		f.keptContent = resized(f.keptContent, len(f.content))
	}
	for n := range f.dirty {
		if survives(s.Pages) {
			f.keepPage(n)
		}
	}
	clear(f.dirty)
	f.content = append([]byte(nil), f.keptContent...)
}
