package gateway_test

import (
	"testing"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

func TestParseMessageRef(t *testing.T) {
	t.Parallel()
	tests := map[string]gateway.MessageRef{
		"3EB0C431C26A1916E07E":                   {ID: "3EB0C431C26A1916E07E"},
		"5511988887766@s.whatsapp.net_3EB0C431":  {Chat: "5511988887766@s.whatsapp.net", ID: "3EB0C431"},
		"5511988887766@c.us_3EB0C431":            {Chat: "5511988887766@s.whatsapp.net", ID: "3EB0C431"},
		"true_5511988887766@c.us_3EB0C431":       {Chat: "5511988887766@s.whatsapp.net", ID: "3EB0C431"},
		"false_120363012345678901@g.us_3EB0C431": {Chat: "120363012345678901@g.us", ID: "3EB0C431"},
		"123456@lid_3EB0C431":                    {Chat: "123456@lid", ID: "3EB0C431"},
		"0192f0c4-7d1e-7c3a-9a51-0a1b2c3d4e5f":   {ID: "0192f0c4-7d1e-7c3a-9a51-0a1b2c3d4e5f"},
		"no_chat":                                {ID: "no_chat"},
		"\t3EB0\n":                               {ID: "3EB0"},
		"":                                       {},
	}
	for text, want := range cases.Sorted(tests) {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			if got := gateway.ParseMessageRef(text); got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
}

func FuzzParseMessageRef(f *testing.F) {
	for _, seed := range []string{"3EB0", "1@lid_2", "true_1@c.us_2", "_", "a_b_c"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ref := gateway.ParseMessageRef(text)
		if ref.Chat == "" {
			return
		}
		if again := gateway.ParseMessageRef(string(ref.Chat) + "_" + ref.ID); again != ref {
			t.Errorf("%q is %+v, and that is %+v", text, ref, again)
		}
	})
}
