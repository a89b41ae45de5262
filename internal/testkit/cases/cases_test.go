package cases_test

import (
	"slices"
	"testing"

	"github.com/recado-project/recado/internal/testkit/cases"
)

func TestSorted(t *testing.T) {
	t.Parallel()
	var names []string
	sum := 0
	for name, number := range cases.Sorted(map[string]int{"d": 4, "b": 2, "e": 5, "a": 1, "c": 3}) {
		names, sum = append(names, name), sum*10+number
	}
	if !slices.Equal(names, []string{"a", "b", "c", "d", "e"}) || sum != 12345 {
		t.Errorf("the cases came as %q with the values %d", names, sum)
	}
}

// A loop may end before the last case, and there may be no case at all.
func TestSortedEnds(t *testing.T) {
	t.Parallel()
	visited := 0
	for number := range cases.Sorted(map[int]bool{3: true, 1: true, 2: true}) {
		visited++
		if number == 2 {
			break
		}
	}
	for range cases.Sorted(map[string]bool(nil)) {
		visited++
	}
	if visited != 2 {
		t.Errorf("the loops visited %d cases", visited)
	}
}
