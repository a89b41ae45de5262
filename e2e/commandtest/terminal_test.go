package commandtest_test

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/creack/pty"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit/await"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/process"
)

// screen is the terminal of a running program.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *screen) contains(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Contains(s.text.String(), text)
}

func (s *screen) read(from io.Reader) {
	buffer := make([]byte, 4096)
	for {
		count, err := from.Read(buffer)
		s.mu.Lock()
		s.text.Write(buffer[:count])
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// onTerminal starts the program in a window of that size, until the test ends.
func onTerminal(t *testing.T, size pty.Winsize, args ...string) *screen {
	t.Helper()
	cmd := exec.Command(process.Program(t), args...)
	window, err := pty.StartWithSize(cmd, &size)
	if err != nil {
		t.Fatal(err)
	}
	s := &screen{}
	read := make(chan struct{})
	go func() {
		defer close(read)
		s.read(window)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may be gone already
		_ = cmd.Wait()         // "signal: killed" is what was asked for
		<-read
		if err := window.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// A code can be scanned in every theme, and is not shown where its top would be
// cut off.
func TestCodeOnATerminal(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "ready.json")
	start(t, "dev", "--listen", "127.0.0.1:0", "--data", t.TempDir(), "--ready-file", file, "--empty")
	gateway := awaitReady(t, file)
	if _, err := client.New(gateway.BaseURL, gateway.PartnerKey).CreateInstance(t.Context(), client.NewInstance{Name: "shop"}); err != nil {
		t.Fatal(err)
	}
	link := []string{"qr", "shop", "--url", gateway.BaseURL, "--api-key", gateway.PartnerKey}
	small := onTerminal(t, pty.Winsize{Rows: 24, Cols: 80}, link...)
	await.Until(t, "a word about the window", func() bool { return small.contains("this one has 80 and 24. Enlarge it, or use --phone.") })
	large := onTerminal(t, pty.Winsize{Rows: 60, Cols: 120}, link...)
	await.Until(t, "the code", func() bool {
		return large.contains("Code 1, valid until ") && large.contains("\x1b[38;5;231;48;5;16m█") && large.contains("▀\x1b[0m\r\n")
	})
	if small.contains("█") {
		t.Error("the small window shows a part of the code")
	}
	typed := onTerminal(t, pty.Winsize{Rows: 24, Cols: 80}, append(link, "--phone", "5511999990300")...)
	await.Until(t, "the characters", func() bool { return typed.contains("valid until ") })
	typed.mu.Lock()
	defer typed.mu.Unlock()
	_, code, _ := strings.Cut(typed.text.String(), "Type: ")
	if code = strings.Fields(code)[0]; len(code) != 9 || code[4] != '-' {
		t.Errorf("the characters are %q, want them as the phone shows them", code)
	}
}

// The output of dev fits into a terminal of 80 columns: first the banner, then a short line
// for each request.
func TestDevOnATerminal(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "ready.json")
	window := onTerminal(t, pty.Winsize{Rows: 24, Cols: 80},
		"dev", "--listen", "127.0.0.1:0", "--data", t.TempDir(), "--ready-file", file)
	await.Until(t, "the banner", func() bool { return window.contains("Ctrl-C stops.") })
	gateway := awaitReady(t, file)
	window.mu.Lock()
	banner := window.text.String()
	window.mu.Unlock()
	if !strings.HasPrefix(banner, "\r\nRecado is ready.") || strings.Contains(banner, "reason=") || !strings.Contains(banner, "\ngo run ./cmd/recado send text --instance demo --to") || !strings.Contains(banner, "\ngo run ./cmd/recado logs demo --after") {
		t.Errorf("it begins with %s", banner)
	}
	for line := range strings.Lines(banner) {
		if line = strings.TrimSpace(line); len(line) > 80 && !strings.Contains(line, "/events") {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
	if _, err := client.New(gateway.BaseURL, gateway.APIKey).SendText(t.Context(), gateway.InstanceID,
		client.Text{To: recipient, Message: "Oi!"}); err != nil {
		t.Fatal(err)
	}
	await.Until(t, "the line of the request", func() bool { return window.contains("POST …/text 201 ") })
	if window.contains("request_id") {
		t.Error("the line of the request is long")
	}
}

// In a terminal, results are for people: a head over a list, names in front of
// values, and how far an upload is.
func TestResultsOnATerminal(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "ready.json")
	start(t, "dev", "--listen", "127.0.0.1:0", "--data", t.TempDir(), "--ready-file", file)
	gateway := awaitReady(t, file)
	large := filepath.Join(t.TempDir(), "large.bin")
	if err := os.WriteFile(large, make([]byte, 3<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	size := pty.Winsize{Rows: 24, Cols: 80}
	flags := []string{"--url", gateway.BaseURL, "--api-key", gateway.APIKey}
	list := onTerminal(t, size, append([]string{"list"}, flags...)...)
	await.Until(t, "the list", func() bool {
		return list.contains("ID") && list.contains("NAME  STATUS") && list.contains("demo  connected")
	})
	sent := onTerminal(t, size, append([]string{"send", "document", large, "--to", recipient}, flags...)...)
	await.Until(t, "the message", func() bool {
		return sent.contains("\rsending: 50 % of 3.0 MiB") && sent.contains("\nmessageId  3EB0")
	})
}

// The program completes command lines for a shell.
func TestCompletion(t *testing.T) {
	t.Parallel()
	for line, want := range cases.Sorted(map[string]string{"recado ins": "instances", "recado send te": "text", "recado send text --quo": "--quote"}) {
		cmd := exec.CommandContext(t.Context(), process.Program(t))
		cmd.Env = append(os.Environ(), "COMP_LINE="+line)
		output, err := cmd.Output()
		if err != nil || strings.TrimSpace(string(output)) != want {
			t.Errorf("%s: completed with %q (%v), want %s", line, output, err, want)
		}
	}
}

// With --json, scripts read where the gateway is from its first line.
func TestDevTellsScripts(t *testing.T) {
	t.Parallel()
	p := start(t, "dev", "--listen", "127.0.0.1:0", "--data", t.TempDir(), "--empty", "--json")
	line := p.Await("{")
	base, _, _ := strings.Cut(strings.TrimPrefix(line, `{"baseUrl":"`), `"`)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/readyz", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil || response.StatusCode != http.StatusOK {
		t.Errorf("%s answers %s (%v)", base, response.Status, err)
	}
}
