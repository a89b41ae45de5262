package contacts

import (
	"strings"
	"testing"

	waBinary "go.mau.fi/whatsmeow/binary"

	"github.com/recado-project/recado/internal/testkit/cases"
)

// A username is what the messenger's clients take for one; of anything else nothing is told.
func TestUsernameIn(t *testing.T) {
	t.Parallel()
	for name, test := range cases.Sorted(map[string]struct {
		content any
		want    string
	}{
		"bytes":         {[]byte("ana.souza_1"), "ana.souza_1"},
		"text":          {"Ana", "Ana"},
		"longest":       {strings.Repeat("a", 35), strings.Repeat("a", 35)},
		"none":          {nil, ""},
		"empty":         {"", ""},
		"too short":     {"an", ""},
		"too long":      {strings.Repeat("a", 36), ""},
		"a space":       {"ana souza", ""},
		"a direction":   {"ana\u202esouza", ""},
		"another one":   {"an\u0430", ""}, // that is a Cyrillic letter
		"no UTF-8":      {[]byte("ana\xff"), ""},
		"a null":        {[]byte("ana\x00"), ""},
		"nodes":         {[]waBinary.Node{{Tag: "error"}}, ""},
		"something odd": {7, ""},
	}) {
		answer := &waBinary.Node{Tag: "list", Content: []waBinary.Node{{Tag: "user", Content: []waBinary.Node{{Tag: "username", Content: test.content}}}}}
		if got := usernameIn(answer); got != test.want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := usernameIn(&waBinary.Node{Tag: "list"}); got != "" {
		t.Errorf("of nobody: %q", got)
	}
}
