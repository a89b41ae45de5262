package gateway_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

func TestCleanText(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, text string
		limit      int
		want       string
	}{
		{"ordinary", "Olá, João 👋\nsegunda linha", 100, "Olá, João 👋\nsegunda linha"},
		{"U+0000", "a\x00b\x00", 100, "ab"},
		{"invalid UTF-8", "a\xff\xfeb", 100, "a\uFFFDb"},
		{"half a character at the end", "caf\xc3", 100, "caf\uFFFD"},
		{"too long", "ação", 2, "aç"},
		{"as long as allowed", "ação", 4, "ação"},
		{"nothing allowed", "x", 0, ""},
		{"empty", "", 10, ""},
	} {
		if got := gateway.CleanText(test.text, test.limit); got != test.want {
			t.Errorf("%s: CleanText(%q, %d) = %q, want %q", test.name, test.text, test.limit, got, test.want)
		}
	}
}

func TestCleanName(t *testing.T) {
	t.Parallel()
	for name, want := range cases.Sorted(map[string]string{
		"Maria da Silva":           "Maria da Silva",
		"  Maria\n\tda Silva \x00": "Mariada Silva",
		"gpj.\u202eexe":            "gpj.exe",
		"\u2066Ana\u2069":          "Ana",
		"ev\x00il":                 "evil",
		"\xff":                     "\uFFFD",
		strings.Repeat("ã", 300):   strings.Repeat("ã", 256),
	}) {
		if got := gateway.CleanName(name); got != want {
			t.Errorf("CleanName(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestCleanID(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"", "3EB0D77BCD1EA0E45644A5", strings.Repeat("Z", 255), "5511999990100@s.whatsapp.net"} {
		if got := gateway.CleanID(id); got != id {
			t.Errorf("CleanID(%q) = %q, want it unchanged", id, got)
		}
	}
	long := strings.Repeat("7", 12_000)
	hostile := []string{"A\x00B", "AB\x00", "A\xffB", "A\xfeB", "A\nB", long, long + "8", "8" + long}
	seen := map[string]string{}
	for _, id := range hostile {
		got := gateway.CleanID(id)
		if len(got) > gateway.MaxID || !utf8.ValidString(got) || strings.ContainsAny(got, "\x00\n") {
			t.Errorf("CleanID(%.20q) = %q, which is not clean", id, got)
		}
		if got != gateway.CleanID(id) {
			t.Errorf("CleanID(%.20q) is another one each time", id)
		}
		if other, taken := seen[got]; taken {
			t.Errorf("CleanID makes the same of %.20q and %.20q", id, other)
		}
		seen[got] = id
	}
}

func TestCleanMimeType(t *testing.T) {
	t.Parallel()
	for mimeType, want := range cases.Sorted(map[string]string{
		"image/jpeg":                      "image/jpeg",
		"audio/ogg; codecs=opus":          "audio/ogg; codecs=opus",
		"":                                "application/octet-stream",
		"image":                           "application/octet-stream",
		"image/jpeg\r\nX-Evil: 1":         "application/octet-stream",
		"a/b; c=" + long(300):             "application/octet-stream",
		"text/html; charset=\xff\x00\x01": "application/octet-stream",
		"image/jpeg\n":                    "application/octet-stream",
		"text/plain; a=\"\x00\"":          "application/octet-stream",
		"image/jpeg; a=\"ação\"":          "application/octet-stream",
	}) {
		if got := gateway.CleanMimeType(mimeType); got != want {
			t.Errorf("CleanMimeType(%q) = %q, want %q", mimeType, got, want)
		}
	}
}

func long(n int) string { return strings.Repeat("x", n) }

func TestCleanFileName(t *testing.T) {
	t.Parallel()
	for name, want := range cases.Sorted(map[string]string{
		"a.pdf":                         "a.pdf",
		"  a.pdf \n":                    "a.pdf",
		"a/b\\c":                        "a_b_c",
		"../../../etc/passwd":           ".._.._.._etc_passwd",
		"..":                            "",
		".":                             "",
		"\x00\x1b[31m":                  "[31m",
		"invoice\u202efdp.exe":          "invoicefdp.exe",
		"a\xffb":                        "ab",
		strings.Repeat("é", 200) + ".x": strings.Repeat("é", 126) + ".x",
	}) {
		got := gateway.CleanFileName(name)
		if got != want {
			t.Errorf("%q became %q, want %q", name, got, want)
		}
		if len(got) > 255 || !utf8.ValidString(got) {
			t.Errorf("%q became %q", name, got)
		}
	}
}

func TestCleanTime(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for _, at := range []time.Time{now, now.AddDate(-10, 0, 0), now.Add(23 * time.Hour)} {
		if got := gateway.CleanTime(at, now); !got.Equal(at) {
			t.Errorf("CleanTime(%s) = %s, want it unchanged", at, got)
		}
	}
	for _, at := range []time.Time{{}, time.Unix(0, 0), now.AddDate(0, 0, 2), time.Unix(1<<60, 0), time.Unix(-1<<60, 0)} {
		if got := gateway.CleanTime(at, now); !got.Equal(now) {
			t.Errorf("CleanTime(%s) = %s, want now", at, got)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add("Olá", 3)
	f.Add("a\x00\xff\u202e", 1)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		limit = min(max(limit, 0), 1000)
		for _, cleaned := range []string{gateway.CleanText(text, limit), gateway.CleanName(text), gateway.CleanID(text)} {
			if !utf8.ValidString(cleaned) || strings.ContainsRune(cleaned, 0) {
				t.Errorf("%q is made into %q", text, cleaned)
			}
		}
		if got := utf8.RuneCountInString(gateway.CleanText(text, limit)); got > limit {
			t.Errorf("CleanText(%q, %d) has %d characters", text, limit, got)
		}
		if got := gateway.CleanID(text); len(got) > gateway.MaxID || gateway.CleanID(got) != got {
			t.Errorf("CleanID(%q) = %q, which is too long or not clean", text, got)
		}
	})
}
