// Names that are no setting, and the setting that was probably meant.

package settings

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// UnknownVariables returns the names of variables that begin with a prefix, as those of settings
// do, and that no command knows; where a setting was probably meant, with its name.
func UnknownVariables(model *kong.Application, prefix string, environ []string) []string {
	known := map[string]bool{}
	for _, node := range append(model.Leaves(false), model.Node) {
		for _, flag := range node.Flags {
			for _, name := range flag.Envs {
				known[name] = true
			}
		}
	}
	var unknown []string
	for _, one := range environ {
		name, _, _ := strings.Cut(one, "=")
		if strings.HasPrefix(name, prefix) && !known[name] {
			unknown = append(unknown, name+" is no setting"+meant(name, Known(model)))
		}
	}
	slices.Sort(unknown)
	return unknown
}

// far is how many letters may differ between a name and the one that was meant; of a short name,
// no more than a third.
const far = 3

// meant is the end of a sentence that names the setting that was probably meant; empty if
// none is near.
func meant(name string, known []*kong.Flag) string {
	name = strings.TrimPrefix(strings.ReplaceAll(strings.ToLower(name), "_", "-"), "recado-")
	name = strings.TrimLeft(name, "-")
	best, least := "", min(far, (len(name)+2)/3)+1
	for _, flag := range known {
		if distance := differences(name, flag.Name); distance < least {
			best, least = flag.Name, distance
		}
	}
	if best == "" {
		return ""
	}
	return "; did you mean " + best + "?"
}

// differences counts the letters that have to be changed, added or left out to make one name
// of another (Levenshtein's distance).
func differences(one, other string) int {
	row := make([]int, len(other)+1)
	for n := range row {
		row[n] = n
	}
	for n := range len(one) {
		left := row[0]
		row[0] = n + 1
		for m := range len(other) {
			above := row[m+1]
			changed := left
			if one[n] != other[m] {
				changed++
			}
			row[m+1] = min(above+1, row[m]+1, changed)
			left = above
		}
	}
	return row[len(other)]
}
