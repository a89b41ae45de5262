package mediahost_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/sandbox/mediahost"
	"github.com/recado-project/recado/internal/testkit/cases"
)

func newHost(t *testing.T) *mediahost.Host {
	t.Helper()
	host, err := mediahost.New(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = host.Close() })
	return host
}

func do(t *testing.T, host *mediahost.Host, method, path string, body []byte) *httptest.ResponseRecorder {
	t.Helper()
	answer := httptest.NewRecorder()
	host.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), method, path, bytes.NewReader(body)))
	return answer
}

func TestPhoneReadsItsOwnFile(t *testing.T) {
	t.Parallel()
	host := newHost(t)
	for _, size := range []int{0, 1, 15, 16, 17, 100_000} {
		plain := bytes.Repeat([]byte{'x'}, size)
		pointer, err := host.Put("media.example", mediahost.Document, plain)
		if err != nil {
			t.Fatal(err)
		}
		got, err := host.Get(mediahost.Document, pointer)
		if err != nil || !bytes.Equal(got, plain) {
			t.Errorf("%d bytes came back as %d (%v)", size, len(got), err)
		}
		if answer := do(t, host, http.MethodGet, pointer.DirectPath+"&hash=x&mms-type=document&__wa-mms=", nil); answer.Code != http.StatusOK {
			t.Errorf("the download answered %d", answer.Code)
		}
	}
}

func TestGetRefusesWhatTheMessageDoesNotSay(t *testing.T) {
	t.Parallel()
	host := newHost(t)
	pointer, err := host.Put("media.example", mediahost.Image, []byte("a picture"))
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range cases.Sorted(map[string]func(p *mediahost.Pointer){
		"another key":            func(p *mediahost.Pointer) { p.Key = bytes.Repeat([]byte{1}, 32) },
		"no key":                 func(p *mediahost.Pointer) { p.Key = nil },
		"another encrypted hash": func(p *mediahost.Pointer) { p.EncryptedSHA256 = make([]byte, 32) },
		"another hash":           func(p *mediahost.Pointer) { p.SHA256 = make([]byte, 32) },
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			changed := pointer
			change(&changed)
			if _, err := host.Get(mediahost.Image, changed); err == nil {
				t.Error("accepted")
			}
		})
	}
	if _, err := host.Get(mediahost.Video, pointer); err == nil {
		t.Error("a picture was read as a video")
	}
}

func TestUploadIsCheckedAgainstItsToken(t *testing.T) {
	t.Parallel()
	host := newHost(t)
	hash := sha256.Sum256([]byte("ciphertext"))
	token := base64.URLEncoding.EncodeToString(hash[:])
	if answer := do(t, host, http.MethodPost, "/mms/image/"+token+"?auth=x", []byte("something else")); answer.Code != http.StatusBadRequest {
		t.Errorf("another content answered %d", answer.Code)
	}
	if answer := do(t, host, http.MethodPost, "/mms/image/nonsense", []byte("ciphertext")); answer.Code != http.StatusBadRequest {
		t.Errorf("a token that is no hash answered %d", answer.Code)
	}
	answer := do(t, host, http.MethodPost, "/mms/image/"+token+"?auth=x", []byte("ciphertext"))
	if answer.Code != http.StatusOK || !strings.Contains(answer.Body.String(), `"direct_path":"/v/`) {
		t.Errorf("answered %d %s", answer.Code, answer.Body)
	}
}

func TestDroppedFileIsGone(t *testing.T) {
	t.Parallel()
	host := newHost(t)
	pointer, err := host.Put("media.example", mediahost.Image, []byte("a picture"))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := host.Drop(pointer.DirectPath); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := host.Get(mediahost.Image, pointer); !errors.Is(err, mediahost.ErrGone) {
		t.Errorf("answered %v", err)
	}
	if answer := do(t, host, http.MethodGet, pointer.DirectPath, nil); answer.Code != http.StatusNotFound {
		t.Errorf("the download answered %d", answer.Code)
	}
	for _, path := range []string{"/v/../../etc/passwd", "/v/", "/v/%2e%2e"} {
		if answer := do(t, host, http.MethodGet, path, nil); answer.Code != http.StatusNotFound {
			t.Errorf("%s answered %d", path, answer.Code)
		}
	}
}
