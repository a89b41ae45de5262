//go:build linux

package imagetest_test

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// container runs the program of an unpacked image as the image says: as its user, with
// its environment, and with its files as the whole file system. The files belong to root,
// so for that user they are read-only.
type container struct {
	tree   string
	config config
}

// command returns a command in the container, with more variables than the image's own.
func (c container) command(t *testing.T, arguments []string, more ...string) *exec.Cmd {
	t.Helper()
	var ids [2]uint32
	user, group, _ := strings.Cut(c.config.User, ":")
	for i, text := range []string{user, group} {
		id, err := strconv.ParseUint(text, 10, 32)
		if err != nil || id == 0 {
			t.Fatalf("the image runs as %q: %v", c.config.User, err)
		}
		ids[i] = uint32(id)
	}
	command := exec.CommandContext(context.WithoutCancel(t.Context()), arguments[0], arguments[1:]...)
	command.Dir, command.Env = c.config.WorkingDir, append(append([]string{}, c.config.Env...), more...)
	command.SysProcAttr = &syscall.SysProcAttr{Chroot: c.tree, Credential: &syscall.Credential{Uid: ids[0], Gid: ids[1]}}
	return command
}

// running is a program that runs.
type running struct {
	output  io.Reader // its standard output
	command *exec.Cmd
	ended   chan error // gets the program's end
}

// start runs what the image runs.
func (c container) start(t *testing.T, more ...string) *running {
	t.Helper()
	return start(t, c.command(t, append(append([]string{}, c.config.Entrypoint...), c.config.Cmd...), more...))
}

// start runs a command. The process ends with the test at the latest, whatever happens.
func start(t *testing.T, command *exec.Cmd) *running {
	t.Helper()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p := &running{output: reader, command: command, ended: make(chan error, 1)}
	p.command.Stdout, p.command.Stderr = writer, t.Output()
	if p.command.SysProcAttr == nil {
		p.command.SysProcAttr = &syscall.SysProcAttr{}
	}
	p.command.SysProcAttr.Pdeathsig = syscall.SIGKILL
	started := make(chan error)
	go func() {
		// The system kills the process with the thread that has started it, so this
		// thread stays until the process has ended, or all do.
		runtime.LockOSThread()
		err := p.command.Start()
		started <- err
		if err == nil {
			p.ended <- p.command.Wait()
		}
	}()
	err = <-started
	if err := errors.Join(err, writer.Close()); err != nil { // the process has its own end
		t.Fatal(err, reader.Close())
	}
	over := time.AfterFunc(stepWait, func() { _ = p.command.Process.Kill() })
	t.Cleanup(func() {
		over.Stop()
		_ = p.command.Process.Kill() // it may be gone already
		p.ended <- <-p.ended
		_ = reader.Close()
	})
	return p
}

// terminate ends the process as an operator's tools do, and returns how it ended.
func (p *running) terminate() error {
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	err := <-p.ended
	p.ended <- err
	return err
}
