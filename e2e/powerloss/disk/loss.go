//go:build linux

package disk

import (
	"maps"
	"math/rand/v2"
)

// Survivors holds the chances, from 0 to 1, that something which was not synced survives
// a loss of power: a disk may have written it anyway, and in any order. With the zero
// value nothing survives.
type Survivors struct {
	// Names is the chance of one change of names, if all changes before it have
	// survived: file systems keep their order.
	Names float64
	// Sizes is the chance of the size of a file. If the size survives and the content
	// does not, the file has zeros there.
	Sizes float64
	// Pages is the chance of one page of a file.
	Pages float64
}

func survives(chance float64) bool {
	return chance > 0 && rand.Float64() < chance //nolint:gosec // nothing is to be kept secret
}

// cut turns the power off: nothing reaches the disk from now on.
func (t *tree) cut() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.dead, t.held = true, 0
}

// restart turns the power on again, with the files that are on the disk.
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

// revert resets a file, or a folder with everything in it, to what is on the disk.
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
