package main

import (
	"strings"
	"testing"
)

// Each fault of the table can be planted: the code has moved on otherwise, and the
// table with it must.
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
			t.Errorf("%+v: a name must be its own, and a test must be named", f)
		}
		names[f.name] = true
	}
}
