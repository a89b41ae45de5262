package sandbox_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/sandbox"
	"github.com/recado-project/recado/internal/sandbox/scan"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// childVariable names the environment variable with the database of a sandbox that
// this test binary serves as a child process.
const childVariable = "SANDBOX_TEST_CHILD"

// serveChild runs in the process that is killed. It prints its address and serves
// until it is killed.
func serveChild(path string) error {
	ctx := context.Background()
	server, err := sandbox.New(ctx, sandbox.Config{Path: path, Seed: seed(), ReadDelay: 30 * time.Millisecond})
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(os.Stdout, "listening on", listener.Addr()); err != nil {
		return err
	}
	ended := make(chan error, 2)
	go func() { ended <- server.Run(ctx) }()
	go func() {
		ended <- (&http.Server{Handler: server.Handler(scan.None{}), ReadHeaderTimeout: time.Minute}).Serve(listener)
	}()
	return <-ended
}

// killable is a world whose sandbox is a child process.
type killable struct {
	*world

	path    string
	process *exec.Cmd
}

func newKillable(t *testing.T) *killable {
	t.Helper()
	k := &killable{world: &world{tb: t}, path: filepath.Join(t.TempDir(), "sandbox.db")}
	k.dial = k.client()
	k.spawn()
	t.Cleanup(func() {
		k.kill()
		k.dial.CloseIdleConnections()
	})
	return k
}

func (k *killable) spawn() {
	k.tb.Helper()
	k.process = exec.CommandContext(context.Background(), os.Args[0])
	k.process.Env = append(os.Environ(), childVariable+"="+k.path)
	k.process.Stderr = os.Stderr
	out, err := k.process.StdoutPipe()
	if err != nil {
		k.tb.Fatal(err)
	}
	if err := k.process.Start(); err != nil {
		k.tb.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		k.tb.Fatal(err)
	}
	address := strings.TrimSpace(strings.TrimPrefix(line, "listening on"))
	k.address.Store(&address)
}

// kill ends the process as kill -9 does.
func (k *killable) kill() {
	k.address.Store(nil)
	if err := k.process.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		k.tb.Error(err)
	}
	_ = k.process.Wait() // it was killed
	k.dial.CloseIdleConnections()
}

func TestConfirmedMessagesSurviveAKill(t *testing.T) {
	t.Parallel()
	k := newKillable(t)
	k.do(http.MethodPut, "/phones/"+other, map[string]bool{"online": false}, nil)
	c := k.newClient().reconnectItself().link(gateway)
	c.text(friend, "first")
	away := k.newClient().link(partner).synchronised()
	away.Disconnect()
	var accepted []string
	var sending sync.WaitGroup
	sending.Go(func() {
		for i := range 60 {
			c.online()
			to, text := friend, fmt.Sprint("out ", i)
			if i%2 == 0 {
				to = other
			}
			if _, err := c.tryText(to, text); err == nil {
				accepted = append(accepted, text)
			}
		}
	})
	var sent []string
	for i := range 20 {
		sent = append(sent, k.send(friend, partner, fmt.Sprint("in ", i)))
		if i%7 == 3 {
			k.kill()
			k.spawn()
		}
	}
	sending.Wait()
	k.do(http.MethodPut, "/phones/"+other, map[string]bool{"online": true}, nil)
	shown := map[string]int{}
	k.until("the phones show what was accepted", func() bool {
		clear(shown)
		for _, text := range append(texts(k.messages(friend)), texts(k.messages(other))...) {
			shown[text]++
		}
		for _, text := range accepted {
			if shown[text] == 0 {
				return false
			}
		}
		return true
	}, func() any { return shown })
	for text, times := range cases.Sorted(shown) {
		if times != 1 {
			t.Errorf("%q is shown %d times", text, times)
		}
	}
	away.restart()
	expect[*events.OfflineSyncCompleted](away, nil)
	for i, id := range sent {
		if m := away.got(fmt.Sprint("in ", i)); m.Info.ID != id {
			t.Errorf("got %+v", m.Info)
		}
	}
}
