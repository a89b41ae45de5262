// The worlds that most tests begin with are made once for a test binary, and copied.

package testkit

import (
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/recado-project/recado/internal/gateway"
)

// LinkedNumber is the number of the account that StartLinked links.
const LinkedNumber = "5511999990100"

// world is the data folder of a program that was stopped, with its sandbox on SQLite.
type world struct {
	once       sync.Once
	files      map[string][]byte // by the path in the folder; nil: it could not be made
	instanceID string            // linked to the phone of LinkedNumber; empty: there is none
}

//nolint:gochecknoglobals // caches, of tests alone
var empty, linked world

// StartLinked starts the program, as Start does, with an instance that was linked to the phone of
// LinkedNumber before the program was stopped. It returns once the instance is connected. That is
// several times as quick as Start and Link; the data are the test's own.
func StartLinked(tb testing.TB, options Options) (g *Gateway, instanceID string) {
	tb.Helper()
	if !options.canBeCopied() {
		g = Start(tb, options)
		instanceID = g.Link(tb, LinkedNumber)
		return g, instanceID
	}
	options.DataDir = linked.copied(tb, func(g *Gateway) string {
		id := g.Link(tb, LinkedNumber)
		Await(tb, "the account's name", func() bool { return g.Instance(tb, id).MessengerName != "" })
		return id
	})
	g = start(tb, options)
	g.AwaitStatus(tb, linked.instanceID, gateway.StatusConnected)
	return g, linked.instanceID
}

// canBeCopied reports whether a program with these options may find data of another.
func (o Options) canBeCopied() bool {
	return o.DataDir == "" && o.DatabaseURL == "" && o.MasterKey == nil && o.Now == nil && o.PasskeyName == ""
}

// copied returns a folder of the test's own with a copy of the world, which arrange completes when
// it is made; it returns the ID of a linked instance.
func (w *world) copied(tb testing.TB, arrange func(g *Gateway) (instanceID string)) (dir string) {
	tb.Helper()
	w.once.Do(func() {
		dir := tb.TempDir()
		g := start(tb, Options{DataDir: dir})
		w.instanceID = arrange(g)
		g.Stop()
		w.files = contents(tb, dir)
	})
	if w.files == nil {
		tb.Fatal("the world that tests begin with could not be made, see the first test that failed")
	}
	dir = tb.TempDir()
	for name, content := range w.files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	return dir
}

// contents reads all files of a folder.
func contents(tb testing.TB, dir string) map[string][]byte {
	tb.Helper()
	files := map[string][]byte{}
	root := os.DirFS(dir)
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files[name], err = fs.ReadFile(root, name)
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return files
}
