package commandtest_test

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/recado-project/recado/internal/testkit/await"
	"github.com/recado-project/recado/internal/testkit/process"
)

// Write adds to what the program has written, where that is no terminal.
func (s *screen) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(text)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// A hangup makes serve read its file again: what can change changes at once, what can't is named,
// and if anything is wrong nothing changes. Secrets are not shown.
func TestReload(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "recado.yaml")
	write := func(lines string) {
		t.Helper()
		if err := os.WriteFile(path, []byte("listen: 127.0.0.1:0\n"+lines), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	data := "data: " + t.TempDir() + "\n"
	write(data)
	var said, log screen
	gateway := exec.CommandContext(context.WithoutCancel(t.Context()), process.Program(t), "serve", "--settings", path)
	gateway.Stdout, gateway.Stderr = &said, &log
	if err := gateway.Start(); err != nil {
		t.Fatal(err)
	}
	wait := sync.OnceValue(gateway.Wait)
	t.Cleanup(func() {
		_ = gateway.Process.Kill() // it may be gone already
		_ = wait()                 // "signal: killed" is what was asked for
	})
	await.Until(t, "its address", func() bool { return strings.Contains(said.String(), " answers at http") })
	base := regexp.MustCompile(`http://[0-9.:]+`).FindString(said.String())
	made, err := exec.CommandContext(t.Context(), process.Program(t), "keys", "create", "--name", "ops", "--settings", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	key := strings.TrimSpace(string(made))
	limit := func() string { // of requests, as an answer tells it
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/api/instances", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("X-Api-Key", key)
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }()
		if answer.StatusCode != http.StatusOK {
			t.Fatalf("answered %s", answer.Status)
		}
		return answer.Header.Get("Ratelimit-Limit")
	}
	for n, step := range []struct {
		lines string
		says  []string // the log, among others
		limit string
	}{
		{data, []string{`msg="settings read again" changed=[]`}, ""},
		{
			data + "rate-limit-key: 100\nlog-level: debug\ncluster-secret: s3cr3t\nmax-media: 5\n",
			[]string{`msg="settings not taken over; everything stays as it is" error="--cluster-secret is for nodes`},
			"",
		},
		{
			data + "rate-limit-key: 100\nlog-level: debug\nmaster-key: s3cr3t\nmax-media: 5\n",
			[]string{`changed="[log-level rate-limit-key]"`, `msg="settings have changed that need a restart" settings="[master-key max-media]"`},
			"100",
		},
		{data + "rate-limit-key: many\n", []string{`recado.yaml:3: rate-limit-key must be a whole number, not \"many\"`}, "100"},
		{data + "rate-limit-key: 1\nkeep-messages: 1h\n", []string{`messages must be kept for 25h0m0s`}, "100"},
		{data + "rate-limit-kye: 1\n", []string{`did you mean rate-limit-key?`}, "100"},
		{data + "rate-limit-key: 200\nmax-media: 5\n", []string{`changed="[log-level rate-limit-key]"`, `settings=[max-media]`}, "200"},
	} {
		write(step.lines)
		before := len(log.String())
		if err := gateway.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		for _, want := range step.says {
			await.Until(t, want, func() bool { return strings.Contains(log.String()[before:], want) })
		}
		if got := limit(); got != step.limit {
			t.Errorf("step %d: the limit is %q, want %q", n, got, step.limit)
		}
	}
	if err := gateway.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := wait(); err != nil {
		t.Errorf("it ended with %v", err)
	}
	if strings.Contains(log.String(), "s3cr3t") {
		t.Error("the log has a secret")
	}
}

// A hangup of the window in which the gateway was started ends it, as it ends other programs: it
// must not go on where nobody sees it. A hangup while the window is there makes it read its
// settings again.
func TestWindowIsClosed(t *testing.T) {
	t.Parallel()
	gateway := exec.CommandContext(context.WithoutCancel(t.Context()), process.Program(t), "serve", "--listen", "127.0.0.1:0", "--data", t.TempDir())
	window, err := pty.StartWithSize(gateway, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		t.Fatal(err)
	}
	patience := time.AfterFunc(time.Minute, func() { _ = gateway.Process.Kill() }) // it may be gone already
	defer patience.Stop()
	t.Cleanup(func() { _ = gateway.Process.Kill() }) // as above
	until := func(text string) {                     // nobody may be reading when the window is closed
		t.Helper()
		var shown strings.Builder
		for buffer := make([]byte, 4096); !strings.Contains(shown.String(), text); {
			count, err := window.Read(buffer)
			shown.Write(buffer[:count])
			if err != nil {
				t.Fatalf("it does not show %q: %v\n%s", text, err, &shown)
			}
		}
	}
	until(" answers at http")
	if err := gateway.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	until("settings read again")
	if err := window.Close(); err != nil {
		t.Fatal(err)
	}
	if err := gateway.Wait(); err != nil {
		t.Errorf("it ended with %v", err)
	}
}
