package profile

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/gateway"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, about, want string }{
		{"Corner shop", "", ""},
		{strings.Repeat("é", 25), strings.Repeat("é", 139), ""},
		{strings.Repeat("é", 26), strings.Repeat("é", 140), "name must have 25 characters or less; about must have 139 characters or less"},
		{" \t", "a\nb", "name must not be blank"},
		{"a\u202eb", "", "name must not contain control characters, or characters that change the direction of the text"},
	} {
		got := ""
		if refusal, ok := gateway.AsError(check(Change{Name: &test.name, About: &test.about})); ok {
			got = refusal.Message
		}
		if got != test.want {
			t.Errorf("%q, %q: %q, want %q", test.name, test.about, got, test.want)
		}
	}
	if err := check(Change{}); err != nil {
		t.Errorf("nothing to check is refused: %v", err)
	}
}

// What was changed before a refusal is named, and the rest is not tried.
func TestCarryOutSaysHowFarItCame(t *testing.T) {
	t.Parallel()
	var done []string
	does := func(field string, err error) step {
		return step{field, func(context.Context) error {
			done = append(done, field)
			return err
		}}
	}
	refused := gateway.Errorf(gateway.Conflict, gateway.CodeProfileRefused, "no")
	err := carryOut(t.Context(), []step{does("name", nil), does("about", refused), does("picture", nil)})
	if refusal, ok := gateway.AsError(err); !ok || refusal.Message != "no; changed: name; not changed: about, picture" || strings.Join(done, " ") != "name about" {
		t.Errorf("%v, after %q", err, done)
	}
	if err := carryOut(t.Context(), []step{does("name", refused)}); !errors.Is(err, refused) {
		t.Errorf("one change: %v", err)
	}
}
