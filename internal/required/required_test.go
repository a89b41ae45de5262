package required_test

import (
	"io"
	"testing"

	"github.com/recado-project/recado/internal/required"
)

type config struct {
	Reader io.Reader
	Now    func() int
	Count  *int
	Limit  int
}

func TestCheckNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	whole := config{Reader: io.LimitReader(nil, 1), Now: func() int { return 0 }, Count: new(int)}
	for _, c := range []struct {
		change   func(*config)
		optional []string
		want     string
	}{
		{func(*config) {}, nil, ""},
		{func(c *config) { c.Reader = nil }, nil, "room: the configuration lacks Reader"},
		{func(c *config) { c.Now = nil }, nil, "room: the configuration lacks Now"},
		{func(c *config) { c.Count = nil }, []string{"Now"}, "room: the configuration lacks Count"},
		{func(c *config) { c.Now, c.Count = nil, nil }, []string{"Now", "Count"}, ""},
	} {
		given := whole
		c.change(&given)
		got := ""
		if err := required.Check("room", given, c.optional...); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("without %v: %q, want %q", c.optional, got, c.want)
		}
	}
}

// The name of an optional field is not left behind when the field goes.
func TestCheckRefusesUnknownNames(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("an optional field that is not there is accepted")
		}
	}()
	_ = required.Check("room", config{}, "Other") // it panics
}
