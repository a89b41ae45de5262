package media

import (
	"context"
	"errors"
	"mime"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
)

const linkBase = "https://recado.example"

// openLinks makes links to one file, "key" with the content "0123456789".
func openLinks(t *testing.T) (*Links, *clock) {
	t.Helper()
	blobs, _ := openBlobs(t)
	put(t, blobs, "0199/key", "0123456789", BlobMeta{MimeType: "image/jpeg"})
	at := noon()
	links, err := NewLinks(blobs, []byte(strings.Repeat("s", MinLinkSecret)), at.now, func(w http.ResponseWriter, _ *http.Request, err error) {
		status := http.StatusInternalServerError
		if failure, ok := errors.AsType[*gateway.Error](err); ok {
			status = map[gateway.Kind]int{
				gateway.Forbidden: http.StatusForbidden, gateway.NotFound: http.StatusNotFound, gateway.MethodNotAllowed: http.StatusMethodNotAllowed,
				gateway.OutOfRange: http.StatusRequestedRangeNotSatisfiable,
			}[failure.Kind]
		}
		http.Error(w, err.Error(), status)
	})
	if err != nil {
		t.Fatal(err)
	}
	return links, at
}

func ask(links *Links, method, target string, header ...string) *httptest.ResponseRecorder {
	request := httptest.NewRequest(method, target, http.NoBody)
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	recorder := httptest.NewRecorder()
	links.ServeHTTP(recorder, request)
	return recorder
}

func TestLink(t *testing.T) {
	t.Parallel()
	links, _ := openLinks(t)
	link := links.URL(linkBase, "0199/key", "praça.jpg", time.Hour)
	if !strings.HasPrefix(link, linkBase+"/media/0199/key?expires=1795179600&name=") {
		t.Errorf("the link is %s", link)
	}
	for _, test := range []struct {
		name, method, ranged string
		status               int
		body, length         string
	}{
		{"whole", http.MethodGet, "", http.StatusOK, "0123456789", "10"},
		{"head", http.MethodHead, "", http.StatusOK, "", "10"},
		{"range", http.MethodGet, "bytes=2-4", http.StatusPartialContent, "234", "3"},
		{"end", http.MethodGet, "bytes=-2", http.StatusPartialContent, "89", "2"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			response := ask(links, test.method, link, "Range", test.ranged)
			if body := response.Body.String(); response.Code != test.status || body != test.body {
				t.Errorf("answered %d with %q, want %d with %q", response.Code, body, test.status, test.body)
			}
			for name, want := range map[string]string{
				"Content-Type":           "image/jpeg",
				"Content-Length":         test.length,
				"Content-Disposition":    `attachment; filename="pra_a.jpg"; filename*=UTF-8''pra%C3%A7a.jpg`,
				"X-Content-Type-Options": "nosniff",
				"Cache-Control":          "private",
				"Accept-Ranges":          "bytes",
			} {
				if got := response.Header().Get(name); got != want {
					t.Errorf("%s is %q, want %q", name, got, want)
				}
			}
		})
	}
	t.Run("other methods", func(t *testing.T) {
		t.Parallel()
		response := ask(links, http.MethodPost, link)
		if response.Code != http.StatusMethodNotAllowed || response.Header().Get("Allow") != "GET, HEAD" {
			t.Errorf("answered %d, allowing %q", response.Code, response.Header().Get("Allow"))
		}
	})
	t.Run("a file that is gone", func(t *testing.T) {
		t.Parallel()
		if got := ask(links, http.MethodGet, links.URL("", "0199/gone", "a", time.Hour)).Code; got != http.StatusNotFound {
			t.Errorf("answered %d, want 404", got)
		}
	})
}

// A refused range is answered like every other failure, and says how long the
// file is. Nothing of the file's own headers is left but that.
func TestLinkWithARangeThatCannotBeServed(t *testing.T) {
	t.Parallel()
	links, _ := openLinks(t)
	link := links.URL("", "0199/key", "a.jpg", time.Hour)
	for _, test := range []struct{ name, method, ranged, size string }{
		{"beyond", http.MethodGet, "bytes=10-", "bytes */10"},
		{"head", http.MethodHead, "bytes=10-20", "bytes */10"},
		{"malformed", http.MethodGet, "bytes=x", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			response := ask(links, test.method, link, "Range", test.ranged)
			want := "RANGE_NOT_SATISFIABLE: the range " + test.ranged + " can't be served: the file has 10 bytes\n"
			if body := response.Body.String(); response.Code != http.StatusRequestedRangeNotSatisfiable || body != want {
				t.Errorf("answered %d with %q, want 416 with %q", response.Code, body, want)
			}
			header := response.Header()
			if got := header.Get("Content-Range"); got != test.size {
				t.Errorf("Content-Range is %q, want %q", got, test.size)
			}
			if got := header.Get("Content-Disposition"); got != "" {
				t.Errorf("Content-Disposition is %q", got)
			}
		})
	}
}

// Whether a file may still be handed out is asked for each time, and only by who
// has a genuine link.
func TestLinkIsChecked(t *testing.T) {
	t.Parallel()
	links, _ := openLinks(t)
	var asked []string
	links.Check(func(_ context.Context, key string) error {
		asked = append(asked, key)
		if key == "0199/key" {
			return nil
		}
		return gateway.Errorf(gateway.NotFound, gateway.CodeMessageNotFound, "deleted")
	})
	put(t, links.blobs, "0199/deleted", "still there", BlobMeta{})
	if got := ask(links, http.MethodGet, links.URL("", "0199/key", "a", time.Hour)).Code; got != http.StatusOK {
		t.Errorf("what may be handed out is answered %d", got)
	}
	deleted := links.URL("", "0199/deleted", "a", time.Hour)
	response := ask(links, http.MethodGet, deleted)
	if body := response.Body.String(); response.Code != http.StatusNotFound || !strings.HasPrefix(body, "MESSAGE_NOT_FOUND") {
		t.Errorf("what may not is answered %d: %s", response.Code, body)
	}
	if got := ask(links, http.MethodGet, deleted+"x").Code; got != http.StatusForbidden {
		t.Errorf("a changed link is answered %d", got)
	}
	if want := []string{"0199/key", "0199/deleted"}; !slices.Equal(asked, want) {
		t.Errorf("asked for %q, want %q", asked, want)
	}
}

// Changing, leaving out or adding any one character makes a link useless.
func TestLinkTamperedWith(t *testing.T) {
	t.Parallel()
	links, _ := openLinks(t)
	link := links.URL("", "0199/key", "a é+&=%\"A.jpg", time.Hour)
	if got := ask(links, http.MethodGet, link).Code; got != http.StatusOK {
		t.Fatalf("the link itself is answered %d", got)
	}
	try := func(changed string) {
		request, err := http.NewRequest(http.MethodGet, linkBase, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := request.URL.Parse(changed)
		if err != nil || parsed.Fragment != "" {
			return // no request can be made of it, or it is the same request
		}
		request.URL = parsed
		recorder := httptest.NewRecorder()
		links.ServeHTTP(recorder, request)
		if recorder.Code != http.StatusForbidden {
			t.Errorf("%s is answered %d, want 403", changed, recorder.Code)
		}
	}
	for i := len("/"); i < len(link); i++ {
		for _, c := range "aAzZ0159-_.~%+&=?/; " {
			if rune(link[i]) != c {
				try(link[:i] + string(c) + link[i+1:])
			}
			try(link[:i] + string(c) + link[i:])
		}
		try(link[:i] + link[i+1:])
		if swapped := swapCase(link[i]); swapped != link[i] {
			try(link[:i] + string(swapped) + link[i+1:])
		}
	}
	try(link + "&x=y")
	try(strings.Replace(link, "?", "?x=y&", 1))
	try("/media/0199/key")
}

func swapCase(b byte) byte {
	if b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' {
		return b ^ 0x20
	}
	return b
}

func TestLinkExpires(t *testing.T) {
	t.Parallel()
	links, at := openLinks(t)
	link := links.URL("", "0199/key", "a.jpg", time.Hour)
	at.at = at.at.Add(time.Hour)
	if got := ask(links, http.MethodGet, link).Code; got != http.StatusOK {
		t.Errorf("at its last second it is answered %d", got)
	}
	at.at = at.at.Add(time.Second)
	response := ask(links, http.MethodGet, link)
	if body := response.Body.String(); response.Code != http.StatusForbidden || !strings.Contains(body, "expired") {
		t.Errorf("afterwards it is answered %d: %s", response.Code, body)
	}
}

func TestLinkOfAnotherSecret(t *testing.T) {
	t.Parallel()
	links, at := openLinks(t)
	others, err := NewLinks(links.blobs, []byte(strings.Repeat("o", MinLinkSecret)), at.now, links.fail)
	if err != nil {
		t.Fatal(err)
	}
	if got := ask(links, http.MethodGet, others.URL("", "0199/key", "a", time.Hour)).Code; got != http.StatusForbidden {
		t.Errorf("answered %d, want 403", got)
	}
	if _, err := NewLinks(links.blobs, []byte("short"), nil, nil); err == nil {
		t.Error("a short secret was taken")
	}
}

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
