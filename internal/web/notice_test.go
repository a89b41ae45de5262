package web_test

import (
	"encoding/json"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/web"
)

func TestNotice(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"Saved.", "Não \"é\" 👍\n\\", ""} {
		answer := httptest.NewRecorder()
		web.Notice(answer, text)
		header := answer.Header().Get("HX-Trigger")
		if strings.ContainsFunc(header, func(letter rune) bool { return letter < ' ' || letter > '~' }) {
			t.Errorf("%q is no header", header)
		}
		var got struct {
			Toast string `json:"toast"`
		}
		if err := json.Unmarshal([]byte(header), &got); err != nil || got.Toast != text {
			t.Errorf("%q is read as %q (%v)", text, got.Toast, err)
		}
	}
}

func TestRefuse(t *testing.T) {
	t.Parallel()
	answer := httptest.NewRecorder()
	web.Refuse(answer, 409, "É tarde.")
	if text, err := url.PathUnescape(answer.Header().Get("X-Problem")); answer.Code != 409 || text != "É tarde." || err != nil {
		t.Errorf("answered %d %q (%v)", answer.Code, text, err)
	}
}

func TestSentence(t *testing.T) {
	t.Parallel()
	for message, want := range cases.Sorted(map[string]string{
		"the number is not registered": "The number is not registered.", "é obrigatório": "É obrigatório.", "Done.": "Done.", "": "", "👍": "👍.",
	}) {
		if got := web.Sentence(message); got != want {
			t.Errorf("%q becomes %q, want %q", message, got, want)
		}
	}
}
