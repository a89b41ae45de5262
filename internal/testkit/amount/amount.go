// Package amount lets a test that does a thing hundreds of times do it a few times with every
// change, and as often as it promises in the long run (make torture). Only tests import it.
package amount

// Of returns few with every change, and many in the long run. A test that calls it is named in
// the recipe of make torture.
func Of(few, many int) int {
	if long {
		return many
	}
	return few
}
