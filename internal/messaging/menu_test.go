package messaging_test

import (
	"testing"

	"github.com/recado-project/recado/internal/messaging"
)

// A text chooses the option that it is, however it is written, or the one whose number it is.
func TestTextsChoose(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text    string
		options []string
		want    string
	}{
		{"Sim", []string{"Sim", "Não"}, "Sim"},
		{" nao\n", []string{"Sim", "Não"}, "Não"},
		{"NÃO", []string{"Sim", "Não"}, "Não"},
		{"na\u0303o", []string{"Sim", "Não"}, "Não"},
		{"falar  com alguém", []string{"Falar com alguém", "Sair"}, "Falar com alguém"},
		{"2", []string{"Sim", "Não"}, "Não"},
		{" 1 ", []string{"Sim", "Não"}, "Sim"},
		{"2", []string{"2", "1"}, "2"},
		{"são", []string{"Sao", "são"}, "são"},
		{"👍", []string{"👍", "👎"}, "👍"},
		{"3", []string{"Sim", "Não"}, ""},
		{"0", []string{"Sim", "Não"}, ""},
		{"-1", []string{"Sim", "Não"}, ""},
		{"+1", []string{"Sim", "Não"}, ""},
		{"01", []string{"Sim", "Não"}, ""},
		{"Sim, por favor", []string{"Sim", "Não"}, ""},
		{"", []string{"Sim", "Não"}, ""},
		{"\u0303", []string{"\u0301", "Não"}, ""},
		{"1", nil, ""},
	} {
		want := test.want
		if want != "" {
			want = "id of " + want
		}
		if got := messaging.ChosenBy(test.text, test.options...); got != want {
			t.Errorf("%q chooses %q of %q, want %q", test.text, got, test.options, want)
		}
	}
}

// Whatever somebody writes chooses an option or nothing.
func FuzzTextsChoose(f *testing.F) {
	f.Add("sim", "Sim", "Não")
	f.Add("2", "\xff", "\u0303")
	f.Fuzz(func(t *testing.T, text, first, second string) {
		switch got := messaging.ChosenBy(text, first, second); got {
		case "", "id of " + first, "id of " + second:
		default:
			t.Errorf("%q chooses %q", text, got)
		}
	})
}
