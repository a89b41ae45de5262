package gateway_test

import (
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

func TestParseInvite(t *testing.T) {
	t.Parallel()
	const code = "AbCdEfGhIjKlMnOpQrStUv"
	for text, want := range cases.Sorted(map[string]string{
		code:                                 code,
		" " + code + "\n":                    code,
		"https://chat.whatsapp.com/" + code:  code,
		"http://chat.whatsapp.com/" + code:   code,
		"chat.whatsapp.com/" + code:          code,
		gateway.InviteLink(code) + "/":       code,
		gateway.InviteLink(code) + "?mode=x": code,
		gateway.InviteLink("invite/" + code): code,
		"":                                   "",
		"https://chat.whatsapp.com/":         "",
		"https://example.org/" + code:        "",
		"../" + code:                         "",
		code + "/" + code:                    "",
		"a b":                                "",
		"a\x00":                              "",
		strings.Repeat("a", 64):              strings.Repeat("a", 64),
		strings.Repeat("a", 65):              "",
	}) {
		if got, ok := gateway.ParseInvite(text); ok != (want != "") || ok && got != want {
			t.Errorf("%q is %q (%t), want %q", text, got, ok, want)
		}
	}
}

// A code that is accepted can stand in a URL, and its link leads to the same code.
func FuzzParseInvite(f *testing.F) {
	for _, text := range []string{"AbCd", "https://chat.whatsapp.com/AbCd?x#y", "a/b", "\xff", ""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		code, ok := gateway.ParseInvite(text)
		if !ok {
			return
		}
		if again, ok := gateway.ParseInvite(gateway.InviteLink(code)); !ok || again != code || strings.ContainsAny(code, "/?#% ") {
			t.Errorf("%q has the code %q, whose link has %q", text, code, again)
		}
	})
}
