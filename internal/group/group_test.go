package group

import (
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

func TestCheckTexts(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ subject, description, want string }{
		{"Team", "", ""},
		{strings.Repeat("é", 100), strings.Repeat("é", 2048), ""},
		{strings.Repeat("é", 101), strings.Repeat("é", 2049), "subject must have 100 characters or less; description must have 2048 characters or less"},
		{" \t", "", "subject must not be blank"},
		{"a\nb", "a\nb", "subject must not contain control characters, or characters that change the direction of the text"},
		{"a\u202eb", "", "subject must not contain control characters, or characters that change the direction of the text"},
	} {
		got := ""
		if refusal, ok := gateway.AsError(checkTexts(&test.subject, &test.description)); ok {
			got = refusal.Message
		}
		if got != test.want {
			t.Errorf("%q, %q: %q, want %q", test.subject, test.description, got, test.want)
		}
	}
	if err := checkTexts(nil, nil); err != nil {
		t.Errorf("nothing to check is refused: %v", err)
	}
}

func TestPageOf(t *testing.T) {
	t.Parallel()
	groups := []gateway.Group{{ID: "3@g.us", Subject: "b"}, {ID: "1@g.us", Subject: "c"}, {ID: "2@g.us", Subject: "a"}}
	for page, want := range cases.Sorted(map[int]string{1: "ab", 2: "c", 3: "", 1 << 40: ""}) {
		got := ""
		found := pageOf(groups, gateway.PageRequest{Page: page, Limit: 2})
		for _, group := range found.Items {
			got += group.Subject
		}
		if got != want || found.Total != 3 {
			t.Errorf("page %d has %q of %d, want %q", page, got, found.Total, want)
		}
	}
}
