// Variables that look like settings.

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
