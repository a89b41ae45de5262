package api

import (
	"mime"
	"strings"
	"testing"
)

func TestContentDisposition(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, plain, full string }{
		{"a.jpg", "a.jpg", "a.jpg"},
		{"relatório final (2).pdf", "relat_rio final (2).pdf", "relatório final (2).pdf"},
		{`um "grande" 100%.txt`, "um _grande_ 100_.txt", `um "grande" 100%.txt`},
		{"日本 😀.png", "__ _.png", "日本 😀.png"},
		{"a\r\nSet-Cookie: b", "aSet-Cookie: b", "aSet-Cookie: b"},
		{`..\..\etc/passwd`, ".._.._etc_passwd", ".._.._etc_passwd"},
		{"a;b=c'd*.txt", "a;b=c'd*.txt", "a;b=c'd*.txt"},
	} {
		got := contentDisposition(test.name)
		if !strings.Contains(got, `filename="`+test.plain+`";`) {
			t.Errorf("%q: %s has no plain name %q", test.name, got, test.plain)
		}
		kind, params, err := mime.ParseMediaType(got)
		if err != nil || kind != "attachment" || params["filename"] != test.full {
			t.Errorf("%q: %s reads as %q, %v", test.name, got, params["filename"], err)
		}
	}
	if got := contentDisposition(""); got != "attachment" {
		t.Errorf("without a name: %s", got)
	}
}
