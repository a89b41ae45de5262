package cli_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/cli"
)

func TestSend(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file := filepath.Join(folder, "a b.txt")
	if err := os.WriteFile(file, []byte("a"), 0o600); err != nil {
		t.Fatal(err)
	}
	unknown := filepath.Join(folder, "unknown")
	if err := os.WriteFile(unknown, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	const data, url = "data:text/plain;base64,YQ==", "HTTPS://shop.example/a.png"
	for name, test := range map[string]struct {
		args []string
		want string // path, and body without its recipient
	}{
		"text":             {[]string{"text", "Oi <b>"}, `/text "message":"Oi \u003cb\u003e"}`},
		"text that quotes": {[]string{"text", "--quote", "3EB0", "--", "-1"}, `/text "message":"-1","quoteMessageId":"3EB0"}`},
		"image": {
			[]string{"image", url, "--caption", "c", "--quote", "3EB0", "--view-once"},
			`/image "image":"` + url + `","caption":"c","quoteMessageId":"3EB0","viewOnce":true}`,
		},
		"video":                  {[]string{"video", file}, `/video "video":"` + data + `"}`},
		"voice":                  {[]string{"voice", file, "--view-once"}, `/audio-note "audio":"` + data + `","viewOnce":true}`},
		"audio":                  {[]string{"audio", unknown}, `/audio-file "audio":"data:application/octet-stream;base64,"}`},
		"document":               {[]string{"document", file}, `/document "document":"` + data + `","fileName":"a b.txt"}`},
		"document under a name":  {[]string{"document", file, "--file-name", "n", "--caption", "c"}, `/document "document":"` + data + `","caption":"c","fileName":"n"}`},
		"document from the web":  {[]string{"document", url}, `/document "document":"` + url + `"}`},
		"sticker":                {[]string{"sticker", url}, `/sticker "sticker":"` + url + `"}`},
		"location":               {[]string{"location", "--latitude", "-23.5", "--longitude", "0", "--name", "n", "--address", "a"}, `/location "latitude":-23.5,"longitude":0,"name":"n","address":"a"}`},
		"contact":                {[]string{"contact", "--name", "Ana", "--phone", "55", "--organization", "o"}, `/contact "contact":{"fullName":"Ana","phoneNumber":"55","organization":"o"}}`},
		"contact, less of it":    {[]string{"contact", "--name", "Ana", "--phone", "55"}, `/contact "contact":{"fullName":"Ana","phoneNumber":"55"}}`},
		"text with its own name": {[]string{"text", "a", "--idempotency-key", "once"}, `/text "message":"a"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					t.Error(err)
				}
				got := strings.TrimPrefix(r.URL.Path, "/api/message/I") + " " + strings.TrimPrefix(string(body), `{"to":"5511988887766",`)
				if got != test.want || r.Header.Get("X-Api-Key") != "rcd_x" {
					t.Errorf("asked %s\nwant  %s", got, test.want)
				}
				w.Header().Set("Idempotency-Replayed", strings.ReplaceAll(r.Header.Get("Idempotency-Key"), "once", "true"))
				w.WriteHeader(http.StatusCreated)
				_, _ = io.WriteString(w, `{"id":"019a","messageId":"3EB1"}`) // the client has its own eyes
			}))
			defer server.Close()
			var out, complaints strings.Builder
			args := append([]string{"send", test.args[0], "--url", server.URL, "--api-key", "rcd_x", "--instance", "I", "--to", "5511988887766"}, test.args[1:]...)
			if code := cli.Run(t.Context(), args, strings.NewReader(""), &out, &complaints); code != 0 {
				t.Fatalf("exit code %d: %s", code, complaints.String())
			}
			printed := "id         019a\nmessageId  3EB1\n"
			if strings.Contains(strings.Join(args, " "), "once") && strings.Contains(strings.Join(args, " "), "--idempotency-key") {
				printed += "It was sent before, with the same key: nothing was sent now.\n"
			}
			if out.String() != printed {
				t.Errorf("printed %q, want %q", out.String(), printed)
			}
		})
	}
}

func TestSendFails(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusConflict)
		_, _ = io.WriteString(w, `{"statusCode":409,"message":"the instance is not connected","error":"INSTANCE_NOT_CONNECTED","timestamp":"2026-11-20T14:22:10.123Z","path":"/"}`) // as above
	}))
	t.Cleanup(server.Close)
	for name, test := range map[string]struct {
		args []string
		code int
		want string
	}{
		"refused":        {[]string{"text", "a", "--to", "1"}, 75, "the instance is not connected (409 INSTANCE_NOT_CONNECTED)"},
		"no such file":   {[]string{"image", filepath.Join(t.TempDir(), "nothing.png"), "--to", "1"}, 1, "read the file to send"},
		"a folder":       {[]string{"document", t.TempDir(), "--to", "1"}, 1, "read media"},
		"no recipient":   {[]string{"text", "a"}, 2, "--to"},
		"no position":    {[]string{"location", "--to", "1"}, 2, "--latitude"},
		"no such number": {[]string{"location", "--to", "1", "--latitude", "north", "--longitude", "1"}, 2, "latitude"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out, complaints strings.Builder
			args := append([]string{"send", test.args[0], "--url", server.URL, "--api-key", "rcd_x", "--instance", "I"}, test.args[1:]...)
			code := cli.Run(t.Context(), args, strings.NewReader(""), &out, &complaints)
			if code != test.code || !strings.Contains(complaints.String(), test.want) {
				t.Errorf("exit code %d, said %q; want %d, %q", code, complaints.String(), test.code, test.want)
			}
		})
	}
}
