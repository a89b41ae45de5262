package doctor

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media/filestore"
	"github.com/recado-project/recado/internal/server"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/proxyserver"
	"github.com/recado-project/recado/internal/testkit/s3"
	"github.com/recado-project/recado/internal/whatsapp"
)

// platformOf is the sandbox of a gateway as a platform.
func platformOf(g *testkit.Gateway) whatsapp.Config {
	root := g.Server.Sandbox().RootKey()
	return whatsapp.Config{PlatformURL: "ws" + strings.TrimPrefix(g.BaseURL, "http"), RootKey: &root}
}

// page answers everything with the same text.
func page(t *testing.T, text string) *httptest.Server {
	t.Helper()
	p := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }))
	t.Cleanup(p.Close)
	return p
}

// A gateway that works is found so while it works: the platform, its clock, and everything that
// needs the database.
func TestBesideAGateway(t *testing.T) {
	t.Parallel()
	data := folder(t)
	g := testkit.Start(t, testkit.Options{DataDir: data})
	g.Link(t, "5511999990100")
	settings := server.Config{DataDir: data, PublicURL: g.BaseURL, Platform: platformOf(g)}
	found := Examine(t.Context(), Config{Server: settings, Now: time.Now})
	for _, one := range found {
		if one.State != OK && one.Check != "ffmpeg" && one.Check != "fsync" && one.Check != "disk space" && one.Check != "file system" { // of the test's machine
			t.Errorf("not ok: %+v", one)
		}
	}
	says(t, found, OK, "has proven that it is the platform")
	says(t, found, OK, "instances: 1, of which 1 are connected")
	says(t, found, OK, "clock, platform's: this machine's clock differs")
	says(t, found, OK, "leads to this gateway")
	g.Link(t, "5511999990101") // it goes on
}

func TestPlatformThatIsNone(t *testing.T) {
	t.Parallel()
	for address, want := range cases.Sorted(map[string]string{
		"ws://" + closedPort(t):                                 "can't be reached",
		"ws" + strings.TrimPrefix(page(t, "hello").URL, "http"): "it answers 200",
		"gopher://platform":                                     "scheme",
	}) {
		e := with(t, server.Config{Platform: whatsapp.Config{PlatformURL: address}})
		says(t, e.platform(t.Context()), Wrong, want)
		if told := <-e.platformClock; told.known && !strings.Contains(want, "200") {
			t.Errorf("%s has told its time: %v", address, told)
		}
	}
}

// withInstances fills a database with instances, one for each proxy, and returns their ids.
func withInstances(t *testing.T, settings server.Config, proxies ...string) (ids []string) {
	t.Helper()
	fill(t, settings, func(s *store.Store) error {
		now := time.Now().UTC().Truncate(time.Millisecond)
		account := gateway.Account{ID: uuid.NewString(), Name: "test", CreatedAt: now}
		err := s.CreateAccount(t.Context(), account)
		for _, proxy := range proxies {
			ids = append(ids, uuid.NewString())
			err = errors.Join(err, s.CreateInstance(t.Context(), gateway.Instance{
				ID: ids[len(ids)-1], AccountID: account.ID, Status: gateway.StatusCreated, Proxy: gateway.Proxy(proxy), CreatedAt: now, UpdatedAt: now,
			}))
		}
		return err
	})
	return ids
}

// Each proxy is tried, and none of their passwords is shown.
func TestProxies(t *testing.T) {
	t.Parallel()
	g := testkit.Start(t, testkit.Options{})
	settings := server.Config{DataDir: folder(t), Platform: platformOf(g), AllowPrivateURLs: true}
	look := func() []Finding {
		t.Helper()
		return openedFor(t, with(t, settings)).proxies(t.Context())
	}
	fine(t, look())
	guarded := proxyserver.Options{User: "ana", Password: "s3nh4"}
	good, gone := proxyserver.SOCKS(t, guarded), proxyserver.HTTP(t, guarded)
	withInstances(t, settings, "", good.URL(), good.URL())
	found := look()
	fine(t, found)
	says(t, found, OK, "1 of 1 lead to the platform")

	elsewhere := proxyserver.HTTP(t, proxyserver.Options{User: "ana", Password: "s3nh4", Target: closedPort(t)})
	settings.DataDir = folder(t)
	withInstances(t, settings, good.URL(), gone.URL(), good.URLAs("socks5h", "ana", "another-s3nh4"), elsewhere.URL())
	gone.Close()
	found = look()
	for _, text := range []string{"it can't be reached", "it refuses the user name", "it does not reach the platform"} {
		says(t, found, Wrong, text)
	}
	says(t, found, OK, "1 of 4 lead to the platform")
	settings.AllowPrivateURLs = false
	found = append(found, look()...)
	says(t, found, Wrong, "its address is a private one")
	if strings.Contains(list(found), "s3nh4") {
		t.Errorf("a password is shown: %s", list(found))
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	bucket := s3.Start(t)
	look := func(address string) []Finding {
		t.Helper()
		at, err := filestore.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		return with(t, server.Config{MediaLocation: at}).files(t.Context())
	}
	fine(t, look(""))
	fine(t, look("file://"+t.TempDir()))
	says(t, look(bucket.URL("x")), OK, "fetched by a presigned URL")
	says(t, look("file:///not/there"), Wrong, "is it mounted?")
	says(t, look(strings.Replace(bucket.URL("x"), "s3://"+s3.Bucket, "s3://another", 1)), Wrong, "does not exist")
	fine(t, with(t, server.Config{DataDir: "/not/there"}).files(t.Context()))

	// Something in front of it that lets only us in, and no links.
	target := &url.URL{Scheme: "http", Host: bucket.Address()}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("X-Amz-Signature") {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		(&httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(target)
			p.Out.Host = p.In.Host
		}}).ServeHTTP(w, r)
	}))
	defer front.Close()
	address := strings.Replace(bucket.URL("x"), url.QueryEscape(bucket.Address()), url.QueryEscape(front.Listener.Addr().String()), 1)
	says(t, look(address), Warning, "does not lead to the file: it is answered 403")
}

func TestFFmpeg(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	e := with(t, server.Config{})
	says(t, e.ffmpeg(t.Context()), Warning, "there is none")
	for _, test := range []struct{ program, script, want string }{
		{"ffmpeg", "exit 1", "does not run"},
		{"ffmpeg", "echo ffmpeg version 9.9", "lacks libopus, aac, libx264, mjpeg, pcm_s16le, libwebp_anim"},
		{"ffmpeg", "echo 'ffmpeg version 9.9  libopus mjpeg pcm_s16le libwebp_anim aac libx264 '", "has no ffprobe"},
		{"ffprobe", "exit 1", "does not run"},
		{"ffprobe", "exit 0", ""},
	} {
		if err := os.WriteFile(filepath.Join(bin, test.program), []byte("#!/bin/sh\n"+test.script), 0o700); err != nil {
			t.Fatal(err)
		}
		if found := e.ffmpeg(t.Context()); test.want != "" {
			says(t, found, Warning, test.want)
		} else {
			fine(t, found)
			says(t, found, OK, "version 9.9")
		}
	}
}
