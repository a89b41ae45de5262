package filestore_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/media/filestore"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/s3"
)

// A place that works is tried out, and nothing is left of it.
func TestProbe(t *testing.T) {
	t.Parallel()
	server, shared := s3.Start(t), t.TempDir()
	for address, presigned := range cases.Sorted(map[string]bool{
		"": false, "file://" + shared: false, server.URL("a"): true, server.URL("b") + "&links=served": false,
	}) {
		data := t.TempDir()
		got, err := parse(t, address).Probe(t.Context(), filestore.Config{DataDir: data, TempDir: t.TempDir()})
		if err != nil || got != presigned {
			t.Errorf("%q: %t, %v", address, got, err)
		}
		for _, folder := range []string{data, shared} {
			if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
				t.Errorf("%q: left %v, %v", address, left, err)
			}
		}
	}
	for _, name := range server.Names() {
		if strings.Contains(name, "doctor") {
			t.Errorf("%s is left", name)
		}
	}
}

// A place that does not work says at which step.
func TestProbeFails(t *testing.T) {
	t.Parallel()
	server := s3.Start(t)
	gone := "http://" + closedPort(t)
	for address, want := range cases.Sorted(map[string]string{
		"file://" + filepath.Join(t.TempDir(), "missing"):                                                                            "is it mounted?",
		"s3://recado/x?endpoint=" + url.QueryEscape(gone) + "&region=us-east-1":                                                      "look for a file",
		strings.Replace(server.URL("x"), "s3://"+s3.Bucket, "s3://another", 1):                                                       "does not exist",
		strings.Replace(server.URL("x"), url.QueryEscape(server.Address()), url.QueryEscape(blocking(t, server, http.MethodPut)), 1): "write a file",
	}) {
		_, err := parse(t, address).Probe(t.Context(), filestore.Config{DataDir: t.TempDir(), TempDir: t.TempDir()})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "X-Amz-Signature") {
			t.Errorf("%s: %v, want something with %q", address, err, want)
		}
	}
}

func closedPort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}

// blocking is the address of something in front of a server that refuses one method.
func blocking(t *testing.T, server *s3.Server, method string) string {
	t.Helper()
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == method {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		(&httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(&url.URL{Scheme: "http", Host: server.Address()})
			p.Out.Host = p.In.Host
		}}).ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	return front.Listener.Addr().String()
}
