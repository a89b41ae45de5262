// Package process runs the program as its users do, as a process that can be
// killed. Only tests import it.
package process

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// Tests go by their own settings, not by those of whoever runs them. So the program's settings are
// taken out of the environment before any test; what says how to test stays.
func init() { //nolint:gochecknoinits // see above
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, "RECADO_") && !strings.HasPrefix(name, "RECADO_TEST_") {
			if err := os.Unsetenv(name); err != nil {
				panic(err)
			}
		}
	}
}

// FreeAddress returns a loopback address that is free, for a program that listens there
// again after it was killed. The system uses none of these ports for outgoing
// connections, so the port stays free meanwhile.
func FreeAddress(tb testing.TB) string {
	tb.Helper()
	const first, ports, tries = 20000, 10000, 100
	for range tries {
		address := fmt.Sprintf("127.0.0.1:%d", first+rand.IntN(ports)) //nolint:gosec // the number is no secret
		listener, err := (&net.ListenConfig{}).Listen(tb.Context(), "tcp", address)
		if err != nil {
			continue
		}
		if err := listener.Close(); err != nil {
			tb.Fatal(err)
		}
		return address
	}
	tb.Fatal("no free port was found")
	return ""
}

// Process is a running program. It is killed when the test ends.
type Process struct {
	tb   testing.TB
	cmd  *exec.Cmd
	read chan struct{} // closed at the end of the output
	end  sync.Once

	mu      sync.Mutex
	changed *sync.Cond
	lines   []string // of the output, without those that Await has passed
	done    bool
}

// Start runs a program, which inherits the environment of the test.
func Start(tb testing.TB, program string, args ...string) *Process {
	tb.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(tb.Context()), program, args...) //nolint:gosec // a test names the program
	cmd.Stderr = tb.Output()
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	p := &Process{tb: tb, cmd: cmd, read: make(chan struct{})}
	p.changed = sync.NewCond(&p.mu)
	go p.listen(bufio.NewScanner(pipe))
	tb.Cleanup(p.Kill)
	return p
}

// listen collects the lines that the program prints, so that it never waits for a reader.
func (p *Process) listen(output *bufio.Scanner) {
	defer close(p.read)
	for output.Scan() {
		p.add(output.Text(), false)
	}
	p.add("", true)
}

func (p *Process) add(line string, last bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done = last; !last {
		p.lines = append(p.lines, line)
	}
	p.changed.Broadcast()
}

// Await returns the next line of the output that starts with prefix, and skips the lines
// before it. It fails the test if the output ends first.
func (p *Process) Await(prefix string) string {
	p.tb.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		for len(p.lines) > 0 {
			line := p.lines[0]
			p.lines = p.lines[1:]
			if strings.HasPrefix(line, prefix) {
				return line
			}
		}
		if p.done {
			p.tb.Fatalf("the output ended before a line with %q", prefix)
		}
		p.changed.Wait()
	}
}

// PID returns the number of the process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Kill ends the process as kill -9 does, and waits for its end. It may be called
// twice, and after Stop.
func (p *Process) Kill() {
	p.end.Do(func() {
		_ = p.cmd.Process.Kill() // it may be gone already
		<-p.read
		_ = p.cmd.Wait() // its error "signal: killed" is expected
	})
}

// Stop ends the process as an operator does, and waits for its end. It fails the test if
// the program reports a failure.
func (p *Process) Stop() {
	p.tb.Helper()
	p.end.Do(func() {
		if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
			p.tb.Error(err)
		}
		<-p.read
		if err := p.cmd.Wait(); err != nil {
			p.tb.Errorf("the program ended with %v", err)
		}
	})
}
