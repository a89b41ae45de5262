package media

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/outbound"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/nameserver"
)

func TestURL(t *testing.T) {
	t.Parallel()
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "image/png") // a lie
		if r.URL.Path == "/named/" {
			w.Header().Set("Content-Disposition", `attachment; filename="plain.txt"; filename*=UTF-8''or%C3%A7amento.txt`)
		}
		_, _ = w.Write([]byte("Olá!"))
	})
	service := start(t, Config{AllowPrivate: true})
	for _, test := range []struct{ name, path, hint, want string }{
		{"the path's last part", "/files/relat%C3%B3rio%20final.txt?token=x", "", "relatório final.txt"},
		{"the client's own", "/files/a.txt", "Contrato.txt", "Contrato.txt"},
		{"the server's", "/named/", "", "orçamento.txt"},
		{"nobody's", "/", "", "document.txt"},
		{"no path at all", "", "", "document.txt"},
		{"a folder in disguise", "/files/..%2F..%2Fetc%2Fpasswd", "", ".._.._etc_passwd.txt"},
		{"the folder above", "/files/%2E%2E", "", "document.txt"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			file := opened(t, service, gateway.TypeDocument, server.URL+test.path, Hints{FileName: test.hint})
			if file.FileName != test.want {
				t.Errorf("it is called %q, want %q", file.FileName, test.want)
			}
			if file.MimeType != "text/plain" || contentOf(t, file) != "Olá!" {
				t.Errorf("it is %s: %q", file.MimeType, contentOf(t, file))
			}
		})
	}
}

// A document has a name and a type with which a phone can open it, and the content that its server
// has, not what the server has made of it for the way.
func TestDocumentsCanBeOpened(t *testing.T) {
	t.Parallel()
	packed := func(content string) string {
		var out bytes.Buffer
		w := gzip.NewWriter(&out)
		_, _ = w.Write([]byte(content))
		_ = w.Close()
		return out.String()
	}
	deflated := func(content string) string {
		var out bytes.Buffer
		w := zlib.NewWriter(&out)
		_, _ = w.Write([]byte(content))
		_ = w.Close()
		return out.String()
	}
	bare := func(content string) string {
		var out bytes.Buffer
		w, _ := flate.NewWriter(&out, flate.BestSpeed)
		_, _ = w.Write([]byte(content))
		_ = w.Close()
		return out.String()
	}
	const pdf, csv = "%PDF-1.4\n%a document\n", "name;number\nAna;1\n"
	for name, c := range cases.Sorted(map[string]struct {
		path, disposition, declared, encoding, body string
		wantName, wantType, wantBody                string
	}{
		"the header's name before the path":    {"/vfr0jvsrkm79pd9b27twg92s6u2l", `attachment; filename="Contrato 2.pdf"`, "", "", pdf, "Contrato 2.pdf", "application/pdf", pdf},
		"a header without quotes":              {"/x", `attachment; filename=Contrato 2.pdf`, "", "", pdf, "Contrato 2.pdf", "application/pdf", pdf},
		"a header in Latin-1":                  {"/x", "attachment; filename=\"or\xe7amento.pdf\"", "", "", pdf, "orçamento.pdf", "application/pdf", pdf},
		"a path without extension":             {"/files/123", "", "", "", pdf, "123.pdf", "application/pdf", pdf},
		"a name that ends in a number":         {"/files/v1.2", "", "", "", pdf, "v1.2.pdf", "application/pdf", pdf},
		"a script":                             {"/download.php", "", "", "", pdf, "download.pdf", "application/pdf", pdf},
		"an extension that stays":              {"/a.PDF", "", "", "", pdf, "a.PDF", "application/pdf", pdf},
		"a type that the content does not say": {"/a.csv", "", "text/csv; charset=utf-8", "", csv, "a.csv", "text/csv", csv},
		"a type that only the name says":       {"/clientes.csv", "", "application/octet-stream", "", csv, "clientes.csv", "text/csv", csv},
		"a name that the type lacks":           {"/export", "", "text/csv", "", csv, "export.csv", "text/csv", csv},
		"a type that can't be":                 {"/a.txt", "", "image/png", "", csv, "a.txt", "text/plain", csv},
		"packed on the way":                    {"/nota.pdf", "", "application/pdf", "gzip", packed(pdf), "nota.pdf", "application/pdf", pdf},
		"packed on the way, in another way":    {"/nota.pdf", "", "application/pdf", "deflate", deflated(pdf), "nota.pdf", "application/pdf", pdf},
		"packed without its header":            {"/nota.pdf", "", "application/pdf", "deflate", bare(pdf), "nota.pdf", "application/pdf", pdf},
		"a header as mails have it":            {"/x", `attachment; filename="=?UTF-8?B?b3LDp2FtZW50by5wZGY=?="`, "", "", pdf, "orçamento.pdf", "application/pdf", pdf},
		"an archive":                           {"/a.tar.gz", "", "application/gzip", "gzip", packed("x"), "a.tar.gz", "application/gzip", packed("x")},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				set := func(header, value string) {
					if value != "" {
						w.Header().Set(header, value)
					}
				}
				set("Content-Disposition", c.disposition)
				set("Content-Type", c.declared)
				set("Content-Encoding", c.encoding)
				_, _ = w.Write([]byte(c.body))
			})
			file := opened(t, start(t, Config{AllowPrivate: true}), gateway.TypeDocument, server.URL+c.path, Hints{})
			if file.FileName != c.wantName || file.MimeType != c.wantType || contentOf(t, file) != c.wantBody {
				t.Errorf("it is %s, %s, %q", file.FileName, file.MimeType, contentOf(t, file))
			}
		})
	}
	// What is unpacked is bounded as what is fetched is, and what can't be is named.
	service := start(t, Config{AllowPrivate: true, MaxBytes: 1 << 16})
	for name, c := range cases.Sorted(map[string]struct {
		encoding, body string
		kind           gateway.Kind
		want           string
	}{
		"a bomb":                   {"gzip", packed(strings.Repeat("0", 1<<20)), gateway.TooLarge, ""},
		"much that holds nothing":  {"gzip", strings.Repeat(packed(""), 1<<13), gateway.Invalid, "complete file"},
		"another compression":      {"br", "?", gateway.Invalid, `compressed as "br"`},
		"not compressed":           {"gzip", pdf, gateway.Invalid, `compressed as "gzip"`},
		"not compressed either":    {"deflate", pdf, gateway.Invalid, "complete file"},
		"nothing":                  {"gzip", "", gateway.Invalid, "complete file"},
		"compressed, but cut":      {"gzip", packed(pdf)[:30], gateway.Invalid, "complete file"},
		"compressed, with a fault": {"gzip", packed(pdf)[:20] + "\xff\xff\xff\xff\xff\xff" + packed(pdf)[26:], gateway.Invalid, "complete file"},
	}) {
		server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", c.encoding)
			_, _ = w.Write([]byte(c.body))
		})
		_, err := service.Open(t.Context(), gateway.TypeDocument, server.URL+"/nota.pdf", Hints{Field: "document"})
		if gateway.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: answered %v", name, err)
		}
	}
}

func TestFetchFails(t *testing.T) {
	t.Parallel()
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/teapot":
			w.WriteHeader(http.StatusTeapot)
		case "/broken":
			w.Header().Set("Content-Length", "1000")
			_, _ = w.Write([]byte("not a thousand"))
		case "/gone":
			panic(http.ErrAbortHandler)
		case "/slow": // a byte, and then none
			_, _ = w.Write([]byte("x"))
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		case "/file":
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		case "/password":
			http.Redirect(w, r, "http://user:secret@"+r.Host+"/", http.StatusFound)
		default: // /5 leads to /4, and so on
			left, _ := strconv.Atoi(r.URL.Path[1:])
			if left > 0 {
				http.Redirect(w, r, "/"+strconv.Itoa(left-1), http.StatusFound)
				return
			}
			if referer := r.Referer(); referer != "" {
				w.WriteHeader(http.StatusBadRequest)
			}
			_, _ = w.Write([]byte("arrived"))
		}
	})
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	untrusted := httptest.NewUnstartedServer(http.NotFoundHandler())
	untrusted.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) // of our refusal
	untrusted.StartTLS()
	t.Cleanup(untrusted.Close)
	service := start(t, Config{AllowPrivate: true})
	impatient := start(t, Config{AllowPrivate: true, FetchTimeout: 50 * time.Millisecond})
	for _, test := range []struct {
		name, url string
		service   *Service
		want      string
	}{
		{"another status", server.URL + "/teapot", service, "status 418"},
		{"a file that breaks off", server.URL + "/broken", service, "did not answer with a complete file"},
		{"no answer", server.URL + "/gone", service, "did not answer with a complete file"},
		{"a slow drip", server.URL + "/slow", impatient, "too long"},
		{"a redirect to a file", server.URL + "/file", service, "not allowed"},
		{"a redirect with a password", server.URL + "/password", service, "not allowed"},
		{"six redirects", server.URL + "/6", service, "redirects too often"},
		{"a certificate of its own", untrusted.URL, service, "certificate can't be verified"},
		{"nobody there", closed.URL, service, "refused the connection"},
		{"no TLS there", strings.Replace(server.URL, "http:", "https:", 1), service, "does not speak TLS on that port"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := test.service.Open(t.Context(), gateway.TypeDocument, test.url, Hints{Field: "document"})
			failure := wantCode(t, err, gateway.Invalid, gateway.CodeMediaFetchFailed)
			if !strings.Contains(failure.Message, test.want) || strings.Contains(failure.Message, "127.0.0.1") {
				t.Errorf("refused with %q, want something about %q and no address", failure.Message, test.want)
			}
		})
	}
	t.Run("five redirects arrive", func(t *testing.T) {
		t.Parallel()
		file := opened(t, service, gateway.TypeDocument, server.URL+"/5", Hints{})
		if got := contentOf(t, file); got != "arrived" {
			t.Errorf("the content is %q", got)
		}
	})
	t.Run("a client that goes", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(20*time.Millisecond, cancel)
		if _, err := service.Open(ctx, gateway.TypeDocument, server.URL+"/slow", Hints{}); !errors.Is(err, context.Canceled) {
			t.Errorf("the error is %v, want the context's", err)
		}
	})
}

func TestURLOverTheLimit(t *testing.T) {
	t.Parallel()
	const limit = 100_000
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		size, _ := strconv.Atoi(r.URL.Path[len("/known/"):])
		if strings.HasPrefix(r.URL.Path, "/known/") {
			w.Header().Set("Content-Length", strconv.Itoa(size))
		}
		_, _ = w.Write(make([]byte, size))
	})
	service := start(t, Config{AllowPrivate: true, MaxBytes: limit})
	for _, known := range []string{"known", "chunk"} {
		t.Run(known, func(t *testing.T) {
			t.Parallel()
			file := opened(t, service, gateway.TypeDocument, fmt.Sprintf("%s/%s/%d", server.URL, known, limit), Hints{})
			if file.Size != limit {
				t.Errorf("the size is %d, want %d", file.Size, limit)
			}
			_, err := service.Open(t.Context(), gateway.TypeDocument, fmt.Sprintf("%s/%s/%d", server.URL, known, limit+1), Hints{})
			wantCode(t, err, gateway.TooLarge, gateway.CodePayloadTooLarge)
		})
	}
}

func TestForbiddenAddresses(t *testing.T) {
	t.Parallel()
	server := serveBytes(t, []byte("secret"))
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	service := start(t, Config{Resolver: nameserver.Resolver(t, map[string]string{
		"loopback.example.": "127.0.0.1",
		"private.example.":  "10.1.2.3",
		"metadata.example.": "169.254.169.254",
	})})
	for _, host := range []string{
		"127.0.0.1", "[::1]", "0.0.0.0", "[::]", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]",
		"10.0.0.1", "172.16.0.1", "192.168.0.1", "100.64.0.1", "169.254.169.254", "[fe80::1]", "[fd00::1]", "[fd00:ec2::254]",
		"loopback.example", "private.example", "metadata.example",
	} {
		t.Run(host, func(t *testing.T) {
			t.Parallel()
			_, err := service.Open(t.Context(), gateway.TypeDocument, "http://"+net.JoinHostPort(strings.Trim(host, "[]"), port)+"/", Hints{})
			failure := wantCode(t, err, gateway.Invalid, gateway.CodeMediaFetchFailed)
			if !strings.HasSuffix(failure.Message, "it points where fetching is not allowed") {
				t.Errorf("refused with %q", failure.Message)
			}
		})
	}
	// Other spellings of 127.0.0.1 are names, which a resolver may take for it.
	for _, host := range []string{"2130706433", "0x7f000001", "0177.0.0.1", "127.1", "unknown.example"} {
		t.Run(host, func(t *testing.T) {
			t.Parallel()
			_, err := service.Open(t.Context(), gateway.TypeDocument, "http://"+host+":"+port+"/", Hints{})
			wantCode(t, err, gateway.Invalid, gateway.CodeMediaFetchFailed)
		})
	}
}

// Public addresses are refused where the operator, or the program itself, denies
// them.
func TestDeniedPublicAddresses(t *testing.T) {
	t.Parallel()
	service := start(t, Config{
		DenyFetch: []netip.Prefix{netip.MustParsePrefix("203.0.112.0/24")},
		Resolver:  nameserver.Resolver(t, map[string]string{"denied.example.": "203.0.112.7"}),
	})
	for _, host := range []string{"203.0.112.1", "denied.example", "168.63.129.16"} {
		t.Run(host, func(t *testing.T) {
			t.Parallel()
			_, err := service.Open(t.Context(), gateway.TypeDocument, "http://"+host+":9/", Hints{})
			failure := wantCode(t, err, gateway.Invalid, gateway.CodeMediaFetchFailed)
			if !strings.Contains(failure.Message, "it points where fetching is not allowed") {
				t.Errorf("refused with %q", failure.Message)
			}
		})
	}
}

// A host that may be fetched from sends us to one that may not.
func TestRedirectToForbiddenAddress(t *testing.T) {
	t.Parallel()
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if target := r.URL.Query().Get("to"); target != "" {
			http.Redirect(w, r, target, http.StatusTemporaryRedirect)
			return
		}
		_, _ = w.Write([]byte("public"))
	})
	service := start(t, Config{})
	// One address of loopback plays the public one.
	service.fetcher = newFetcher(withDefaults(Config{}), outbound.NewGuard(nil, netip.MustParsePrefix("127.0.0.1/32")))
	opened(t, service, gateway.TypeDocument, server.URL, Hints{})
	for _, target := range []string{"http://127.0.0.2/", "http://[::1]/", "http://169.254.169.254/latest/meta-data/", "https://192.168.1.1/"} {
		t.Run(target, func(t *testing.T) {
			t.Parallel()
			_, err := service.Open(t.Context(), gateway.TypeDocument, server.URL+"?to="+url.QueryEscape(target), Hints{})
			wantCode(t, err, gateway.Invalid, gateway.CodeMediaFetchFailed)
		})
	}
}

// A large file passes through without being held in memory.
//
//nolint:paralleltest // it measures what the whole process allocates
func TestLargeMediaIsStreamed(t *testing.T) {
	const size = 16 << 20
	server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		chunk := bytes.Repeat([]byte{0x7f}, 64<<10)
		for range size / len(chunk) {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	})
	input := dataURI("", bytes.Repeat([]byte{0x7f}, size/2))
	service := start(t, Config{AllowPrivate: true})
	for _, test := range []struct {
		name, input string
		size        int64
	}{{"URL", server.URL, size}, {"data URI", input, size / 2}} {
		t.Run(test.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			file := opened(t, service, gateway.TypeDocument, test.input, Hints{})
			runtime.ReadMemStats(&after)
			if file.Size != test.size {
				t.Errorf("the size is %d, want %d", file.Size, test.size)
			}
			if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 2<<20 {
				t.Errorf("%d bytes were allocated, want at most 2 MiB", allocated)
			}
		})
	}
}
