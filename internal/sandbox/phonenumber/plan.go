// The numbering plan of the world: which digits are a number of some country.

package phonenumber

import (
	_ "embed"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// plan has a line for each region: its country code, the digits that its
// numbers begin with where others have the same code, and what all its numbers look like; then what those of
// its kinds look like, such as mobile numbers. Each of these is the lengths that there are, a colon, and a pattern.
//
// A test makes it of the library phonenumbers, which the program does without: it reads all of its plan into 2.4 MB
// at each start, and brings the names of all places with it.
//
//go:embed plan.txt
var plan string

// inPlan reports whether digits, country code included, are a number of the plan.
func inPlan(digits string) bool {
	for line := range strings.Lines(plan) {
		country, of, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		national, found := strings.CutPrefix(digits, country)
		if !found {
			continue
		}
		looks := strings.Split(of, "\t")
		leading, all, kinds := looks[0], looks[1], looks[2:]
		if leading != "" && !pattern("^(?:"+leading+")").MatchString(national) {
			continue
		}
		isLike := func(look string) bool { return isLike(national, look) }
		if isLike(all) && slices.ContainsFunc(kinds, isLike) {
			return true
		}
		if leading != "" {
			return false // it could be of no other region
		}
	}
	return false
}

// isLike reports whether a number without its country code is as a field of the plan says.
func isLike(national, look string) bool {
	lengths, text, _ := strings.Cut(look, ":")
	if lengths != "" && !slices.Contains(strings.Split(lengths, ","), strconv.Itoa(len(national))) {
		return false
	}
	return pattern("^(?:" + text + ")$").MatchString(national)
}

// patterns are those of the plan that were used, compiled.
var patterns sync.Map //nolint:gochecknoglobals // a cache, which never has more than the plan

func pattern(text string) *regexp.Regexp {
	if known, ok := patterns.Load(text); ok {
		return known.(*regexp.Regexp) //nolint:forcetypeassert // nothing else is in it
	}
	made := regexp.MustCompile(text)
	patterns.Store(text, made)
	return made
}
