package samples_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gabriel-vasile/mimetype"

	"github.com/recado-project/recado/internal/sandbox/samples"
	"github.com/recado-project/recado/internal/testkit/cases"
)

func get(t *testing.T, method, path string) *httptest.ResponseRecorder {
	t.Helper()
	answer := httptest.NewRecorder()
	samples.Handler(answer, httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader("{}")))
	return answer
}

func TestSamplesAreWhatTheirNamesSay(t *testing.T) {
	t.Parallel()
	for name, kind := range cases.Sorted(map[string]string{
		"photo.png": "image/png", "clip.mp4": "video/mp4", "voice.ogg": "audio/ogg", "tone.mp3": "audio/mpeg",
		"invoice.pdf": "application/pdf", "sticker.webp": "image/webp",
	}) {
		answer := get(t, http.MethodGet, "/sandbox/files/"+name)
		given := answer.Header().Get("Content-Type")
		if answer.Code != http.StatusOK || !strings.HasPrefix(given, kind) || !mimetype.Detect(answer.Body.Bytes()).Is(kind) {
			t.Errorf("%s: %d, %s, and is %s", name, answer.Code, given, mimetype.Detect(answer.Body.Bytes()))
		}
		if size := answer.Body.Len(); size == 0 || size > 20_000 {
			t.Errorf("%s has %d bytes", name, size)
		}
	}
	for _, path := range []string{"", "none.png", "../samples.go", "files/photo.png", "."} {
		if answer := get(t, http.MethodGet, "/sandbox/files/"+path); answer.Code != http.StatusNotFound {
			t.Errorf("%q answers %d", path, answer.Code)
		}
	}
	if answer := get(t, http.MethodPost, "/sandbox/files/recado"); answer.Code != http.StatusNoContent {
		t.Errorf("an event is answered %d", answer.Code)
	}
}
