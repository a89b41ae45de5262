package server_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/media/place"
	"github.com/recado-project/recado/internal/server"
	"github.com/recado-project/recado/internal/sqlite"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/postgres"
)

// unmount takes a folder away, as when a file system is not mounted: an empty folder is under its
// name. It returns what mounts it again.
func unmount(t *testing.T, folder string) (mount func()) {
	t.Helper()
	away := folder + "-away"
	if err := errors.Join(os.Rename(folder, away), os.Mkdir(folder, 0o700)); err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		// Nothing was left in the empty folder: it could not be removed.
		if err := errors.Join(os.Remove(folder), os.Rename(away, folder)); err != nil {
			t.Fatal(err)
		}
	}
}

// While the place of files is away, what needs it is refused with a word when to come again, messages that
// were accepted wait, and no start takes the empty folder for the place. When it is back, everything
// is sent.
func TestPlaceOfFilesIsAway(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "mount")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	var log lockedLog
	o := testkit.Options{DataDir: t.TempDir(), MediaURL: "file://" + folder, Log: &log}
	g, id := testkit.StartLinked(t, o)
	send := func(at time.Time) (client.Sent, error) {
		t.Helper()
		return g.Client.SendImage(t.Context(), id, client.Image{
			To: customerNumber, Image: client.DataURI("image/png", picture(t)), SendAt: at, Prefer: client.RespondAsync,
		})
	}
	var sent []client.Sent
	for range 4 {
		one, err := send(time.Now().Add(time.Second))
		if err != nil {
			t.Fatal(err)
		}
		sent = append(sent, one)
	}
	mount := unmount(t, folder)
	_, err := send(time.Time{})
	testkit.Refused(t, err, http.StatusServiceUnavailable, client.CodeUnavailable)
	if refusal, ok := errors.AsType[*client.Error](err); !ok || refusal.RetryAfter == 0 {
		t.Errorf("it does not say when to come again: %v", err)
	}
	testkit.Await(t, "a message waits for its file, and says so", func() bool {
		for line := range strings.Lines(log.String()) {
			if strings.Contains(line, "queued message not sent") && strings.Contains(line, "level=WARN") &&
				strings.Contains(line, "instance_id="+id) && strings.Contains(line, "message_id=") {
				return true
			}
		}
		return false
	})
	if waiting := queueOf(t, g, id); len(waiting) != len(sent) {
		t.Errorf("%d messages wait", len(waiting))
	}
	mount()
	last, err := send(time.Now())
	if err != nil {
		t.Errorf("after the place is back: %v", err)
	}
	sent = append(sent, last)
	mount = unmount(t, folder)
	g.Stop()

	if err := testkit.StartError(t, o); !errors.Is(err, place.ErrNotThePlace) || !strings.Contains(err.Error(), "mounted?") {
		t.Errorf("a start with an empty folder ends with %v", err)
	}
	mount()
	g = testkit.Start(t, o)
	for _, one := range sent {
		g.Phones.AwaitMessage(t, customerNumber, one.MessageID)
	}
	awaitEmptyQueue(t, g, id)
}

// Nodes have one place of files: a second one with another folder is refused, and so is a node
// without one.
func TestNodesHaveOnePlaceOfFiles(t *testing.T) {
	t.Parallel()
	url, one, two := postgres.Start(t), t.TempDir(), t.TempDir()
	node := func(n int, folder string) testkit.Options {
		o := testkit.Options{DatabaseURL: url, DataDir: t.TempDir(), MediaURL: "file://" + folder}
		o.Cluster = server.Cluster{Advertise: fmt.Sprintf("http://127.0.0.1:%d", n), Secret: "a secret of the nodes alone"}
		return o
	}
	testkit.Start(t, node(1, one))
	if err := testkit.StartError(t, node(2, two)); !errors.Is(err, place.ErrNotThePlace) {
		t.Errorf("the second node ends with %v", err)
	}
	if err := testkit.StartError(t, node(2, one)); err != nil {
		t.Errorf("a node with the same folder ends with %v", err)
	}
	alone := testkit.Options{DatabaseURL: url, DataDir: t.TempDir()}
	alone.Cluster = node(2, one).Cluster
	if err := testkit.StartError(t, alone); !errors.Is(err, place.ErrNotThePlace) {
		t.Errorf("a node that keeps files to itself ends with %v", err)
	}
}

// A place that is new is taken if somebody says so. What earlier versions have left, the name of
// the owner at the place or in the database alone, goes on by itself.
func TestNewPlaceOfFiles(t *testing.T) {
	t.Parallel()
	one, two := t.TempDir(), t.TempDir()
	o := testkit.Options{DataDir: t.TempDir(), MediaURL: "file://" + one}
	start := func(what string, refused error) {
		t.Helper()
		if err := testkit.StartError(t, o); !errors.Is(err, refused) {
			t.Errorf("%s: the start ends with %v", what, err)
		}
	}
	forget := func() { // as an earlier version has left it
		t.Helper()
		pool, err := sqlite.OpenPool(t.Context(), filepath.Join(o.DataDir, "recado.db"), 1)
		if err != nil {
			t.Fatal(err)
		}
		_, err = pool.ExecContext(t.Context(), "DELETE FROM file_place")
		if err := errors.Join(err, pool.Close()); err != nil {
			t.Fatal(err)
		}
	}
	start("the first place", nil)
	o.MediaURL = "file://" + two
	start("another place", place.ErrNotThePlace)
	o.MediaIsNew = true
	start("a place that is new", nil)
	o.MediaIsNew = false
	start("the new place again", nil)
	forget()
	start("an earlier version, which has named the place", nil)
	forget()
	if err := errors.Join(os.Remove(filepath.Join(two, "owner")), os.Remove(filepath.Join(two, "owner.attrs"))); err != nil {
		t.Fatal(err)
	}
	start("an earlier version, whose place has no name", nil)
	start("the same again", nil)
	o.DataDir = t.TempDir()
	start("another database", place.ErrOthersPlace)
	o.MediaIsNew = true
	start("another database that is told that the place is new", place.ErrOthersPlace)
}
