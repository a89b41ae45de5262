package caches

import (
	"fmt"
	"testing"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// Of a flood of calls the newest can be rejected, each once.
func TestRingingCallsAreBounded(t *testing.T) {
	t.Parallel()
	var calls Ringing
	id := func(n int) string { return fmt.Sprint("CALL ", n) }
	for n := range 3 * maxRinging {
		calls.Add(RingingCall{Call: gateway.Call{ID: id(n)}})
		calls.Add(RingingCall{Call: gateway.Call{ID: id(n)}}) // delivered again
	}
	if len(calls.calls) != maxRinging {
		t.Errorf("%d calls ring, want %d", len(calls.calls), maxRinging)
	}
	for n, want := range cases.Sorted(map[int]bool{0: false, 2*maxRinging - 1: false, 2 * maxRinging: true, 3*maxRinging - 1: true}) {
		if _, found := calls.End(id(n)); found != want {
			t.Errorf("call %d rings: %v, want %v", n, found, want)
		}
		if _, found := calls.End(id(n)); found {
			t.Errorf("call %d ends twice", n)
		}
	}
}
