package browser_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/e2e/browsertest/browser"
)

// processesWith returns the numbers of the processes whose command line has the text.
func processesWith(text string) (numbers []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		if line, err := os.ReadFile(file); err == nil && bytes.Contains(line, []byte(text)) {
			numbers = append(numbers, filepath.Base(filepath.Dir(file)))
		}
	}
	return numbers
}

// A test binary that is killed takes every process of its browser with it.
func TestBrowserEndsWithAKilledTest(t *testing.T) {
	t.Parallel()
	if os.Getenv(asVictim) != "" {
		base, _ := site(t, "here")
		browser.New(t, base).Open("/")
		fmt.Println("ready")
		<-t.Context().Done() // until it is killed
		return
	}
	browser.New(t, "http://127.0.0.1") // skips the test where there is no browser
	folder := t.TempDir()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestBrowserEndsWithAKilledTest$", "-test.timeout", "2m")
	cmd.Env = append(os.Environ(), asVictim+"=1", "TMPDIR="+folder) // the folder is in the command lines of the browser
	output, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(output)
	ready := false
	for !ready && lines.Scan() {
		ready = strings.Contains(lines.Text(), "ready")
	}
	if len(processesWith(folder)) < 2 {
		t.Error("the browser has no processes")
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	deadline := time.NewTimer(time.Minute)
	defer deadline.Stop()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		left := processesWith(folder)
		if len(left) == 0 {
			return
		}
		select {
		case <-ticker.C:
		case <-deadline.C:
			t.Fatalf("the processes %v are left", left)
		}
	}
}
