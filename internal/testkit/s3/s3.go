// Package s3 gives tests a real S3-compatible server over a temporary folder. Only tests
// import it.
package s3

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/testkit/await"
	"github.com/recado-project/recado/internal/testkit/process"
	"github.com/recado-project/recado/needs"
)

const (
	startTimeout = 30 * time.Second
	pollInterval = 20 * time.Millisecond
)

// Bucket is the name of the bucket that every server has.
const Bucket = "recado"

// The credentials of every server.
const (
	accessKey = "recado-test"
	secretKey = "recado-test-secret" //nolint:gosec // it opens nothing but a test's own server
)

// keeper starts the server, and ends it with its own input: when the test ends, or the test
// binary, however that ends.
const keeper = `"$1" --port "$2" --region us-east-1 --quiet posix --sidecar "$3/about" "$3/files" >"$3/log" 2>&1 & server=$!; echo "$server"; read -r _; kill -9 "$server"; wait`

// Server is a running server.
type Server struct {
	tb      testing.TB
	address string
	dir     string
	pid     int
	input   io.Closer
	command *exec.Cmd
}

// Start starts a server of this test's own, with an empty bucket, and ends it with the test.
// Its credentials are put into the environment of the test binary, where the program looks
// for them.
//
// If the server is not built, the test does what needs.Require says.
func Start(tb testing.TB) *Server {
	tb.Helper()
	s := &Server{tb: tb, address: process.FreeAddress(tb), dir: tb.TempDir()}
	for _, folder := range []string{"about", filepath.Join("files", Bucket)} {
		if err := os.MkdirAll(filepath.Join(s.dir, folder), 0o700); err != nil {
			tb.Fatal(err)
		}
	}
	s.Begin()
	tb.Cleanup(s.End)
	return s
}

// Program returns the path of the server's program, for a test that starts it by itself. Where
// it is not built, it does what Start does.
func Program(tb testing.TB) string {
	tb.Helper()
	needs.Require(tb, "versitygw")
	if err := credentials(); err != nil {
		tb.Fatal(err)
	}
	return needs.Find("versitygw")
}

// credentials puts them into the environment, once for a test binary.
var credentials = sync.OnceValue(func() error { //nolint:gochecknoglobals // see above
	return errors.Join(os.Setenv("AWS_ACCESS_KEY_ID", accessKey), os.Setenv("AWS_SECRET_ACCESS_KEY", secretKey))
})

// Begin starts the server again after End, at the same address and with the same files. It
// returns when the server answers.
func (s *Server) Begin() {
	s.tb.Helper()
	program := Program(s.tb)
	s.command = exec.CommandContext(context.WithoutCancel(s.tb.Context()), "sh", "-c", keeper, "sh", program, s.address, s.dir) //nolint:gosec // names of the test
	s.command.Env = append(os.Environ(), "ROOT_ACCESS_KEY="+accessKey, "ROOT_SECRET_KEY="+secretKey)
	var err error
	if s.input, err = s.command.StdinPipe(); err != nil {
		s.tb.Fatal(err)
	}
	output, err := s.command.StdoutPipe()
	if err != nil {
		s.tb.Fatal(err)
	}
	if err := s.command.Start(); err != nil {
		s.tb.Fatal(err)
	}
	if s.pid, err = readNumber(output); err != nil {
		s.tb.Fatal(err)
	}
	s.await()
}

func readNumber(from io.Reader) (int, error) {
	number := 0
	for one := make([]byte, 1); ; {
		if _, err := io.ReadFull(from, one); err != nil {
			return 0, err
		}
		if one[0] < '0' || one[0] > '9' {
			return number, nil
		}
		number = number*10 + int(one[0]-'0')
	}
}

// await returns when the server answers.
func (s *Server) await() {
	s.tb.Helper()
	ctx, cancel := context.WithTimeout(s.tb.Context(), startTimeout)
	defer cancel()
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.address+"/", http.NoBody)
		if err != nil {
			s.tb.Fatal(err)
		}
		if response, err := client.Do(request); err == nil {
			_ = response.Body.Close()
			return
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			log, _ := os.ReadFile(filepath.Join(s.dir, "log"))
			s.tb.Fatalf("the S3 server does not answer: %s", log)
		}
	}
}

// End ends the server as kill -9 does. Its files stay until the end of the test. It may be
// called twice.
func (s *Server) End() {
	if s.input == nil {
		return
	}
	s.Resume()
	_ = s.input.Close()
	_ = s.command.Wait() // the shell reports that the server was ended
	s.input = nil
}

// Pause has the server take connections and answer nothing, until Resume.
func (s *Server) Pause() {
	s.tb.Helper()
	if err := pause(s.pid); err != nil {
		s.tb.Fatal(err)
	}
	await.Until(s.tb, "the server to stop", func() bool { return stopped(s.pid) })
}

// Resume ends a Pause.
func (s *Server) Resume() { resume(s.pid) }

// Address is the host and port of the server.
func (s *Server) Address() string { return s.address }

// URL names a part of the bucket as an operator does.
func (s *Server) URL(prefix string) string {
	return "s3://" + Bucket + "/" + prefix + "?" + url.Values{
		"endpoint": {"http://" + s.address}, "region": {"us-east-1"}, "path-style": {"true"},
	}.Encode()
}

// Folder is where the bucket is on the server's disk.
func (s *Server) Folder() string { return filepath.Join(s.dir, "files", Bucket) }

// Names returns the names in the bucket, as they are on the server's disk.
func (s *Server) Names() []string {
	s.tb.Helper()
	var names []string
	root := s.Folder()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it was removed just now
		}
		if err == nil && entry.IsDir() && entry.Name() == ".sgwtmp" { // what is half uploaded
			return fs.SkipDir
		}
		if err == nil && !entry.IsDir() {
			names = append(names, strings.TrimPrefix(path, root+"/"))
		}
		return err
	})
	if err != nil {
		s.tb.Fatal(err)
	}
	return names
}
