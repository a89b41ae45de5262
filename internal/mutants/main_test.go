package main

import (
	"strings"
	"testing"
)

// Each fault of the table can be planted. If one can't, the code has changed, and the table
// has to follow.
func TestFaultsCanBePlanted(t *testing.T) {
	t.Parallel()
	root, err := moduleRoot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, f := range faults() {
		if _, err := mutate(root, f); err != nil {
			t.Errorf("%s: %v", f.name, err)
		}
		if names[f.name] || f.name == "" || f.test == "" || f.run == "" || !strings.HasPrefix(f.test, ".") {
			t.Errorf("%+v: the name must be unique, and the test must be given", f)
		}
		names[f.name] = true
	}
}
