package cli_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/cli"
	"github.com/recado-project/recado/internal/testkit/cases"
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
	for name, test := range cases.Sorted(map[string]struct {
		args []string
		want string // path, and body without its recipient
	}{
		"text":             {[]string{"text", "Oi <b>"}, `/text "message":"Oi \u003cb\u003e"}`},
		"text that quotes": {[]string{"text", "--quote", "3EB0", "--", "-1"}, `/text "message":"-1","quoteMessageId":"3EB0"}`},
		"image": {
			[]string{"image", url, "--caption", "c", "--quote", "3EB0", "--view-once"},
			`/image "image":"` + url + `","caption":"c","quoteMessageId":"3EB0","viewOnce":true}`,
		},
		"video":                 {[]string{"video", file}, `/video "video":"` + data + `"}`},
		"voice":                 {[]string{"voice", file, "--view-once"}, `/audio-note "audio":"` + data + `","viewOnce":true}`},
		"audio":                 {[]string{"audio", unknown}, `/audio-file "audio":"data:application/octet-stream;base64,"}`},
		"document":              {[]string{"document", file}, `/document "document":"` + data + `","fileName":"a b.txt"}`},
		"document under a name": {[]string{"document", file, "--file-name", "n", "--caption", "c"}, `/document "document":"` + data + `","caption":"c","fileName":"n"}`},
		"document from the web": {[]string{"document", url}, `/document "document":"` + url + `"}`},
		"album": {
			[]string{"album", url, "http://a/b.MP4", "--caption", "c", "--quote", "3EB0"},
			`/album "items":[{"image":"` + url + `","caption":"c"},{"video":"http://a/b.MP4"}],"quoteMessageId":"3EB0"}`,
		},
		"sticker":                {[]string{"sticker", url}, `/sticker "sticker":"` + url + `"}`},
		"sticker from a picture": {[]string{"sticker", url, "--convert"}, `/sticker "sticker":"` + url + `","convert":true}`},
		"text with a preview":    {[]string{"text", "http://a", "--link-preview"}, `/text "message":"http://a","linkPreview":true}`},
		"text of a dash":         {[]string{"text", "--", "- a"}, `/text "message":"- a"}`},
		"text from a pipe":       {[]string{"text", "-"}, `/text "message":"one\ntwo"}`},
		"file from a pipe":       {[]string{"document", "-", "--file-name", "n"}, `/document "document":"data:application/octet-stream;base64,b25lCnR3bwo=","fileName":"n"}`},
		"location, spelled with": {[]string{"location", "--latitude=-23.5", "--longitude=0"}, `/location "latitude":-23.5,"longitude":0}`},
		"location":               {[]string{"location", "--latitude", "-23.5", "--longitude", "0", "--name", "n", "--address", "a"}, `/location "latitude":-23.5,"longitude":0,"name":"n","address":"a"}`},
		"contact":                {[]string{"contact", "--name", "Ana", "--phone", "55", "--organization", "o"}, `/contact "contact":{"fullName":"Ana","phoneNumber":"55","organization":"o"}}`},
		"contact, less of it":    {[]string{"contact", "--name", "Ana", "--phone", "55"}, `/contact "contact":{"fullName":"Ana","phoneNumber":"55"}}`},
		"contacts": {
			[]string{"contact", "--name", "Ana", "--phone", "55", "--name", "Lima, Bia", "--phone", "56", "--organization", "", "--organization", "o"},
			`/contact "contacts":[{"fullName":"Ana","phoneNumber":"55"},{"fullName":"Lima, Bia","phoneNumber":"56","organization":"o"}]}`,
		},
		"event": {
			[]string{"event", "Lunch", "--start", "2031-05-06T10:00:00Z", "--end", "2031-05-06T11:00:00Z", "--place", "Bar", "--description", "d", "--join-link", "http://a", "--extra-guests"},
			`/event "name":"Lunch","start":"2031-05-06T10:00:00Z","end":"2031-05-06T11:00:00Z","description":"d","location":{"name":"Bar"},"joinLink":"http://a","extraGuestsAllowed":true}`,
		},
		"text with its own name": {[]string{"text", "a", "--idempotency-key", "once"}, `/text "message":"a"}`},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					t.Error(err)
				}
				got := strings.TrimPrefix(r.URL.Path, "/api/message/"+instanceID) + " " + strings.TrimPrefix(string(body), `{"to":"5511988887766",`)
				if sorted(got) != sorted(test.want) || r.Header.Get("X-Api-Key") != "rcd_x" {
					t.Errorf("asked %s\nwant  %s", got, test.want)
				}
				w.Header().Set("Idempotency-Replayed", strings.ReplaceAll(r.Header.Get("Idempotency-Key"), "once", "true"))
				w.WriteHeader(http.StatusCreated)
				_, _ = io.WriteString(w, `{"id":"019a","messageId":"3EB1"}`) // the client has its own eyes
			}))
			defer server.Close()
			var out, complaints strings.Builder
			args := append([]string{"send", test.args[0], "--url", server.URL, "--api-key", "rcd_x", "--instance", instanceID, "--to", "5511988887766"}, test.args[1:]...)
			if code := cli.Run(t.Context(), args, strings.NewReader("one\ntwo\n"), &out, &complaints); code != 0 {
				t.Fatalf("exit code %d: %s", code, complaints.String())
			}
			if out.String() != "3EB1\n" {
				t.Errorf("printed %q", out.String())
			}
			said := ""
			if slices.Contains(args, "once") {
				said = "This message was sent before with the same key: nothing was sent now.\n"
			}
			if complaints.String() != said {
				t.Errorf("said %q, want %q", complaints.String(), said)
			}
		})
	}
}

// instanceID is an instance that tests give by its id.
const instanceID = "019aa1f4-5b0c-7e43-9d1f-6a1f2f6f3b11"

// A command that can't work is refused before anything is sent, with an explanation
// of what to write instead.
func TestSendRefuses(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("asked %s", r.URL)
	}))
	t.Cleanup(server.Close)
	folder := t.TempDir()
	large := filepath.Join(folder, "large.pdf")
	if err := os.WriteFile(large, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, 80<<20); err != nil {
		t.Fatal(err)
	}
	for name, test := range cases.Sorted(map[string]struct {
		args []string
		code int
		want string
	}{
		"no such file":           {[]string{"image", filepath.Join(folder, "nothing.png"), "--to", "1"}, 1, "recado: there is no file " + filepath.Join(folder, "nothing.png") + "\n"},
		"a folder":               {[]string{"document", folder, "--to", "1"}, 1, "is a folder"},
		"a large file":           {[]string{"document", large, "--to", "1"}, 1, large + " is too large: it has 80.0 MiB, and the gateway accepts 64.0 MiB"},
		"larger than it is told": {[]string{"document", "-", "--to", "1", "--max-media", "2"}, 1, "standard input is too large"},
		"no recipient":           {[]string{"text", "a"}, 2, "--to is missing"},
		"recipient in its place": {[]string{"text", "5511988887766", "Oi"}, 2, "--to is missing"},
		"file for nobody":        {[]string{"document", large}, 2, "--to is missing"},
		"no quotes":              {[]string{"text", "--to", "1", "Oi", "tudo", "bem?"}, 2, `put the message in quotes: "Oi tudo bem?"`},
		"no message":             {[]string{"text", "--to", "1"}, 2, "the message is missing"},
		"no position":            {[]string{"location", "--to", "1"}, 2, "--latitude and --longitude are missing"},
		"a name without a number": {
			[]string{"contact", "--to", "1", "--name", "Ana", "--phone", "55", "--name", "Bia"},
			2,
			"2 names need as many numbers, and at most as many organizations: repeat --name and --phone for each contact",
		},
		"no such number": {[]string{"location", "--to", "1", "--latitude", "north", "--longitude", "1"}, 2, "latitude"},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := append([]string{"send", test.args[0], "--url", server.URL, "--api-key", "rcd_x", "--instance", instanceID}, test.args[1:]...)
			code, out, said := run(t, "one", args...)
			if code != test.code || !strings.Contains(said, test.want) || out != "" {
				t.Errorf("exit code %d, printed %q, said %q; want %d, %q", code, out, said, test.code, test.want)
			}
		})
	}
}

// sorted is a path and a body with its fields in order.
func sorted(request string) string {
	path, body, _ := strings.Cut(request, " ")
	var object map[string]any
	if err := json.Unmarshal([]byte("{"+strings.TrimPrefix(body, "{")), &object); err != nil {
		return request
	}
	return fmt.Sprint(path, " ", object)
}

// What is wrong with a command line is said before the gateway is called, whichever of its flags it is.
func TestCommandLinesAreCheckedFirst(t *testing.T) {
	t.Parallel()
	const (
		recipient = "recado: --to is missing: a phone number with country code, or a chat ID\n"
		noKey     = "recado: there is no API key: pass one with --api-key or RECADO_API_KEY; `recado keys create --name NAME` creates one\n"
	)
	for line, want := range cases.Sorted(map[string]string{
		"send text a": recipient, "send image a": recipient, "send video a": recipient, "send video-note a": recipient,
		"send voice a": recipient, "send audio a": recipient, "send document a": recipient, "send sticker a": recipient,
		"send album a b": recipient, "send location --latitude 1 --longitude 1": recipient,
		"send contact --name Ana --phone 55": recipient, "send poll a b c": recipient,
		"send event a --start 2031-05-06T10:00:00Z": recipient, "messages forward 3EB0": recipient,
		"chats list --limit 0":        "recado: --limit must be 1 or more\n",
		"status-posts list --limit 0": "recado: --limit must be 1 or more\n",
		"queue cancel":                "recado: give either a message or --all\n",
		"queue cancel 3EB0 --all":     "recado: give either a message or --all\n",
		"webhooks set --header a":     "recado: --header needs a name, a colon and a value\n",
		"webhooks test":               noKey, "blocks": noKey, "instances list": noKey,
	}) {
		code, out, said := run(t, "", append(strings.Fields(line), "--url", "http://127.0.0.1:1")...)
		if code != 2 && !strings.Contains(want, "--header") || out != "" || said != want {
			t.Errorf("%s: exit code %d, printed %q, said %q; want %q", line, code, out, said, want)
		}
	}
}
