package media

import (
	"cmp"
	"encoding/base64"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/needs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a file may take to decode or convert where a test is not about that time. A
// process that does so comes after everything else that the machine has to do, which beside all other
// tests, and with the race detector, is minutes.
const patience = 20 * time.Minute

// unhurried decoders have that time.
func unhurried(d *decoders) *decoders {
	d.complete, d.apart = patience, patience
	return d
}

// start makes a service with its own folder, which gives files time unless the config says how much,
// and checks at the end that nothing is left in it.
func start(t *testing.T, config Config) *Service {
	t.Helper()
	config.TempDir = t.TempDir()
	config.ToolTimeout = cmp.Or(config.ToolTimeout, patience)
	service, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	unhurried(service.decoders)
	service.tool.start = patience
	t.Cleanup(func() {
		wantEmpty(t, config.TempDir)
		if err := service.Close(); err != nil {
			t.Error(err)
		}
	})
	return service
}

func wantEmpty(t *testing.T, folder string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		t.Errorf("%s is left over", entry.Name())
	}
}

// needFFmpeg skips a test on a machine without ffmpeg.
func needFFmpeg(t *testing.T) {
	t.Helper()
	needs.Require(t, "ffmpeg")
}

// sample returns one of the files in testdata: tones and test pictures of two
// seconds that ffmpeg made.
func sample(tb testing.TB, name string) []byte {
	tb.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		tb.Fatal(err)
	}
	return content
}

func dataURI(mimeType string, content []byte) string {
	return "data:" + mimeType + ";base64," + base64.StdEncoding.EncodeToString(content)
}

// opened opens media that has to be taken, and closes it at the end.
func opened(t *testing.T, s *Service, kind gateway.MessageType, input string, hints Hints) *File {
	t.Helper()
	file, err := s.Open(t.Context(), kind, input, hints)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	})
	return file
}

func wantCode(t *testing.T, err error, kind gateway.Kind, code string) gateway.Error {
	t.Helper()
	failure, ok := errors.AsType[*gateway.Error](err)
	if !ok || failure.Kind != kind || failure.Code != code {
		t.Fatalf("the error is %v, want %s", err, code)
	}
	return *failure
}

// serve starts a server on loopback that ends with the test.
func serve(t *testing.T, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server
}

func serveBytes(t *testing.T, content []byte) *httptest.Server {
	t.Helper()
	return serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(content) })
}

// clock is a time that stands still unless a test moves it.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func noon() *clock { return &clock{at: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)} }
