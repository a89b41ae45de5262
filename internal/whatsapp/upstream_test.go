package whatsapp

import (
	"errors"
	"log/slog"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"sync"
	"testing"
	"time"

	"go.mau.fi/whatsmeow"
	waBinary "go.mau.fi/whatsmeow/binary"
	wastore "go.mau.fi/whatsmeow/store"

	"github.com/recado-project/recado/internal/sandbox"
	"github.com/recado-project/recado/internal/sandbox/scan"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/testkit/database"
)

// The field that slim empties is there, and is a map of the messages that were sent.
func TestUpstreamKeepsSentMessagesInAMap(t *testing.T) {
	t.Parallel()
	field, found := reflect.TypeFor[whatsmeow.Client]().FieldByName(sentField)
	if !found || field.Type.Kind() != reflect.Map || field.Type.Elem() != reflect.TypeFor[whatsmeow.RecentMessage]() {
		t.Errorf("%s is %v", sentField, field.Type)
	}
}

// The library shows every node that it reads to its log, and says there when it has handled the last
// one of a connection.
func TestUpstreamTellsItsLogOfNodesAndOfTheEndOfAQueue(t *testing.T) {
	t.Parallel()
	quiet := slog.New(slog.DiscardHandler)
	box, err := sandbox.New(t.Context(), sandbox.Config{Path: filepath.Join(t.TempDir(), "sandbox.db"), Seed: &[32]byte{1}, Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	kept, err := store.Open(t.Context(), store.Config{Path: database.File(t), Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(box.Handler(scan.None{}))
	defer func() {
		web.Close()
		if err := errors.Join(box.Close(), kept.Close()); err != nil {
			t.Error(err)
		}
	}()
	rootKey := box.RootKey()
	connector, err := New(Config{Keys: kept.Devices, Logger: quiet, PlatformURL: "ws://" + web.Listener.Addr().String(), RootKey: &rootKey})
	if err != nil {
		t.Fatal(err)
	}
	defer connector.Close()
	own, err := connector.keys.Load(t.Context(), "0199a0c4-7f6e-7000-8000-000000000001", "")
	if err != nil {
		t.Fatal(err)
	}
	node, ended := make(chan struct{}), make(chan struct{})
	var first, last sync.Once
	client := newClient(own, upstreamLog{
		log{quiet}, func(*waBinary.Node) { first.Do(func() { close(node) }) }, func() { last.Do(func() { close(ended) }) },
	}, &connector.direct, t.Context())
	if err := client.ConnectContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	await := func(what string, heard <-chan struct{}) {
		t.Helper()
		select {
		case <-heard:
		case <-time.After(20 * time.Second):
			t.Errorf("the log does not hear of %s", what)
		}
	}
	await("a node", node)
	client.Disconnect()
	await("the end of the queue", ended)
}

// aloneVariable is set for a process that runs one test alone.
const aloneVariable = "TEST_ALONE"

// A client that has not sent anything is small. If this fails after an update of the
// library, look how it keeps the messages that it has sent. It is measured in a process of its own:
// what other tests leave behind is freed whenever it is.
func TestAnIdleClientIsSmall(t *testing.T) {
	t.Parallel()
	if os.Getenv(aloneVariable) == "" {
		program, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		alone := exec.CommandContext(t.Context(), program, "-test.run", "^"+t.Name()+"$", "-test.v")
		alone.Env = append(os.Environ(), aloneVariable+"=1")
		if said, err := alone.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, said)
		}
		return
	}
	const clients = 100
	size := func(change func(*whatsmeow.Client)) int64 {
		made := make([]*whatsmeow.Client, clients)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		for i := range made {
			made[i] = whatsmeow.NewClient(&wastore.Device{}, nil)
			change(made[i])
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		runtime.KeepAlive(made)
		return (int64(after.HeapAlloc) - int64(before.HeapAlloc)) / clients
	}
	whole, slimmed := size(func(*whatsmeow.Client) {}), size(slim)
	if slimmed > 24<<10 || slimmed > whole/2 {
		t.Errorf("a client takes %d bytes, and %d as the library makes it", slimmed, whole)
	}
	t.Logf("a client takes %d bytes, and %d as the library makes it", slimmed, whole)
}
