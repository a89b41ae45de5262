package bucket_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media"
	"github.com/recado-project/recado/internal/media/bucket"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/s3"
)

// connectTo connects with less patience than usual, through a host of the test's.
func connectTo(tb testing.TB, host, name string) (connected *bucket.Bucket, temp string, err error) {
	tb.Helper()
	pathStyle := true
	temp = tb.TempDir()
	connected, err = bucket.Connect(tb.Context(), bucket.Config{
		Endpoint: host, Plain: true, Region: "us-east-1", Bucket: name, PathStyle: &pathStyle, TempDir: temp, Patience: 3 * time.Second,
	})
	if err == nil {
		tb.Cleanup(connected.Close)
	}
	return connected, temp, err
}

func blobsOf(t *testing.T, store media.Store) *media.Blobs {
	t.Helper()
	blobs, err := media.OpenBlobs(t.Context(), media.BlobsConfig{Store: store, Shared: true})
	if err != nil {
		t.Fatal(err)
	}
	return blobs
}

// opened is a bucket of a server that works.
func opened(t *testing.T, server *s3.Server, prefix string) *media.Blobs {
	t.Helper()
	connected, _, err := connectTo(t, server.Address(), s3.Bucket)
	if err != nil {
		t.Fatal(err)
	}
	return blobsOf(t, connected.Store(prefix, nil))
}

func put(t *testing.T, blobs *media.Blobs, key, content string) error {
	t.Helper()
	return blobs.Put(t.Context(), key, strings.NewReader(content), media.BlobMeta{MimeType: "image/png", Size: int64(len(content))})
}

// get opens a file that was put just before.
func get(t *testing.T, blobs *media.Blobs, content string) *media.Blob {
	t.Helper()
	if err := put(t, blobs, "one/photo", content); err != nil {
		t.Fatal(err)
	}
	file, err := blobs.Get(t.Context(), "one/photo")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	return file
}

// A store that is away, or answers nothing, is an error that says so within its time, and
// never that a file is not there. Afterwards all is as before.
func TestStoreThatIsAway(t *testing.T) {
	t.Parallel()
	for name, outage := range cases.Sorted(map[string]func(server *s3.Server) (end func()){
		"it is gone": func(server *s3.Server) func() {
			server.End()
			return server.Begin
		},
		"it is silent": func(server *s3.Server) func() {
			server.Pause()
			return server.Resume
		},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := s3.Start(t)
			connected, temp, err := connectTo(t, server.Address(), s3.Bucket)
			if err != nil {
				t.Fatal(err)
			}
			blobs := blobsOf(t, connected.Store("", nil))
			file := get(t, blobs, "content")
			end := outage(server)
			var tries sync.WaitGroup
			for what, try := range cases.Sorted(map[string]func() error{
				"stat":   func() error { _, err := blobs.Stat(t.Context(), "one/photo"); return err },
				"absent": func() error { _, err := blobs.Stat(t.Context(), "one/none"); return err },
				"get":    func() error { _, err := blobs.Get(t.Context(), "one/photo"); return err },
				"put":    func() error { return put(t, blobs, "one/other", "content") },
				"delete": func() error { return blobs.Delete(t.Context(), "one/photo") },
				"folder": func() error { return blobs.DeleteFolder(t.Context(), "one") },
				"list":   func() error { _, err := blobs.Folders(t.Context()); return err },
			}) {
				tries.Go(func() {
					began := time.Now()
					refusal, ok := gateway.AsError(try())
					if !ok || refusal.Kind != gateway.Unavailable || refusal.RetryAfter == 0 || refusal.Cause == nil {
						t.Errorf("%s: it ends with %v", what, refusal)
					}
					if took := time.Since(began); took > 20*time.Second {
						t.Errorf("%s took %s", what, took)
					}
				})
			}
			tries.Wait()
			if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
				t.Errorf("temporary files are left: %v, %v", left, err)
			}
			end()
			if content, err := io.ReadAll(file); err != nil || string(content) != "content" {
				t.Errorf("a file that was open is %q, %v", content, err)
			}
			if err := errors.Join(file.Close(), put(t, blobs, "one/other", "content")); err != nil {
				t.Error(err)
			}
		})
	}
}

// A start goes on without a store that can't be reached, but not with a bucket that is not
// there, or not for us.
func TestConnect(t *testing.T) {
	t.Parallel()
	server := s3.Start(t)
	if _, _, err := connectTo(t, server.Address(), "another"); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("a bucket that does not exist: %v", err)
	}
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
	t.Cleanup(refusing.Close)
	if _, _, err := connectTo(t, refusing.Listener.Addr().String(), s3.Bucket); err == nil || !strings.Contains(err.Error(), "refused to us") {
		t.Errorf("a bucket that is refused: %v", err)
	}
	server.End()
	if _, _, err := connectTo(t, server.Address(), s3.Bucket); err != nil {
		t.Errorf("a store that is away: %v", err)
	}
}

// That a whole bucket is gone does not mean that a file is: who believed it would give up a
// message that waits.
func TestMissingBucketIsNoMissingFile(t *testing.T) {
	t.Parallel()
	server := s3.Start(t)
	blobs := opened(t, server, "")
	if err := os.RemoveAll(server.Folder()); err != nil {
		t.Fatal(err)
	}
	_, err := blobs.Stat(t.Context(), "one/photo")
	_, getErr := blobs.Get(t.Context(), "one/photo")
	if gateway.KindOf(err) != gateway.Unavailable || gateway.KindOf(getErr) != gateway.Unavailable {
		t.Errorf("it ends with %v, %v", err, getErr)
	}
}

// A connection that breaks in the middle of a file is opened anew where the reader was.
func TestBrokenConnectionGoesOn(t *testing.T) {
	t.Parallel()
	server := s3.Start(t)
	behind := &url.URL{Scheme: "http", Host: server.Address()}
	transport := &http.Transport{DisableKeepAlives: true}
	proxy := &httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(behind)
		r.Out.Host = r.In.Host // it is part of what is signed
	}}
	var opens atomic.Int32
	cutting := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && opens.Add(1) < 4 {
			w = &cutWriter{ResponseWriter: w, left: 300_000}
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(cutting.Close)
	connected, _, err := connectTo(t, cutting.Listener.Addr().String(), s3.Bucket)
	if err != nil {
		t.Fatal(err)
	}
	content := strings.Repeat("0123456789", 200_000)
	file := get(t, blobsOf(t, connected.Store("", nil)), content)
	if got, err := io.ReadAll(file); err != nil || !bytes.Equal(got, []byte(content)) {
		t.Errorf("%d bytes came, %v; want %d", len(got), err, len(content))
	}
	if opens.Load() != 4 {
		t.Errorf("%d connections were made, want 3 that broke and one more", opens.Load())
	}
}

// cutWriter breaks the connection after so many bytes.
type cutWriter struct {
	http.ResponseWriter

	left int
}

// Write implements io.Writer.
func (w *cutWriter) Write(p []byte) (int, error) {
	if len(p) > w.left {
		panic(http.ErrAbortHandler)
	}
	w.left -= len(p)
	return w.ResponseWriter.Write(p)
}

// A presigned URL works without credentials, in ranges, and answers as it was told to.
func TestPresignedURL(t *testing.T) {
	t.Parallel()
	server := s3.Start(t)
	file := get(t, opened(t, server, "a/b/"), "0123456789")
	as := media.Answer{ContentType: "image/png", ContentDisposition: `attachment; filename="a.png"; filename*=UTF-8''%C3%A7.png`, CacheControl: "private"}
	signed, err := file.Presign(t.Context(), as)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	follow := func(address string) (status int, header http.Header, body string) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Range", "bytes=2-4")
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = response.Body.Close() }()
		content, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, response.Header, string(content)
	}
	status, header, content := follow(signed)
	if status != http.StatusPartialContent || content != "234" {
		t.Errorf("answered %d with %q", status, content)
	}
	for name, want := range cases.Sorted(map[string]string{
		"Content-Type": as.ContentType, "Content-Disposition": as.ContentDisposition, "Cache-Control": as.CacheControl, "Accept-Ranges": "bytes",
	}) {
		if got := header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if status, _, _ := follow(strings.Replace(signed, "image%2Fpng", "text%2Fhtml", 1)); status != http.StatusForbidden {
		t.Errorf("a URL that was changed is answered %d", status)
	}
	if names := server.Names(); len(names) != 1 || names[0] != filepath.Join("a", "b", "one", "photo") {
		t.Errorf("the bucket has %q", names)
	}
}
