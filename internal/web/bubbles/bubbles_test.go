package bubbles_test

import (
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/web/bubbles"
	"github.com/recado-project/recado/internal/web/webtest"
)

func TestWordsAreTranslated(t *testing.T) {
	t.Parallel()
	webtest.Words(t)
}

func TestForeignTextsAreMadeFit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text  string
		limit int
		want  string
	}{
		{"Ana", 40, "Ana"},
		{"", 40, ""},
		{"two\n lines\t", 40, "two lines"},
		{"a\x00b\x7f\x1b[31m", 40, "ab[31m"},
		{"turned \u202eround\u2066", 40, "turned round"},
		{"not \xff\xfe UTF-8", 40, "not UTF-8"},
		{strings.Repeat("é", 9), 5, "ééééé…"},
		{"exact", 5, "exact"},
		{strings.Repeat("\x00", 100) + "late", 5, ""},
		{strings.Repeat("𝔵", 1000), 3, "𝔵𝔵𝔵…"},
	} {
		if got := bubbles.Line(c.text, c.limit); got != c.want {
			t.Errorf("%q became %q", c.text, got)
		}
	}
	if got := bubbles.Name("\u202e \n", "5511"); got != "5511" {
		t.Errorf("an empty name is shown as %q", got)
	}
	if text, cut := bubbles.Clip(strings.Repeat("x", 100_000), bubbles.MaxShown); !cut || len(text) != bubbles.MaxShown {
		t.Errorf("a long text is shown with %d characters", len(text))
	}
}

// What cards and pages behind links say of themselves is foreign too.
func TestPartsOfBubblesAreMadeFit(t *testing.T) {
	t.Parallel()
	long := "turned \u202e" + strings.Repeat("x", 1_000)
	line := "turned " + strings.Repeat("x", bubbles.MaxLine-len("turned ")) + "…"
	if got := bubbles.PreviewOf(long, "a\nb"); got.Title != line || got.Description != "a b" {
		t.Errorf("a preview is %+v", got)
	}
	want := bubbles.Contact{Name: "?", Number: "5511988887766", Organization: "a b"}
	if got := bubbles.ContactOf("\u202e", "+5511988887766", "a\nb"); got != want {
		t.Errorf("a card is %+v", got)
	}
}

// What a search has found is shown around its first word, with the words marked as the search compares them.
func TestExcerptMarksWords(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("antes ", 40) + "o Café que\nfoi " + strings.Repeat("depois ", 40)
	for name, test := range cases.Sorted(map[string]struct{ text, search, want string }{
		"words":             {"Um pedido, dois PEDIDOS", "pedido", "Um [pedido], dois [PEDIDO]S"},
		"no part of a word": {"repedido pedido", "pedido", "repedido [pedido]"},
		"accents":           {"Não e NAO", "não", "[Não] e [NAO]"},
		"apart":             {"cafe\u0301 bom", "café", "[cafe\u0301] bom"},
		"ligatures":         {"ﬁm do mês", "fim mes", "[ﬁm] do [mês]"},
		"two words":         {"nota 1042 saiu", "1042: sai", "nota [1042] [sai]u"},
		"wildcards":         {"100% _ de %", "%_", "100% _ de %"},
		"markup":            {"<b>pão</b>", "pao", "<b>[pão]</b>"},
		"directions":        {"\u202epão", "pao", "[pão]"},
		"nothing":           {"", "pao", ""},
	}) {
		if got := flat(bubbles.Excerpt(test.text, test.search)); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
	got := flat(bubbles.Excerpt(long, "cafe"))
	if !strings.HasPrefix(got, "… antes") || !strings.Contains(got, " o [Café] que foi depois") || !strings.HasSuffix(got, "…") || len([]rune(got)) > bubbles.MaxLine+6 {
		t.Errorf("of a long text it shows %q", got)
	}
}

// flat writes pieces as a text with brackets around what is marked.
func flat(pieces []bubbles.Piece) (text string) {
	for _, piece := range pieces {
		if piece.Marked {
			piece.Text = "[" + piece.Text + "]"
		}
		text += piece.Text
	}
	return text
}
