package movein_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/movein"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/needs"
)

// baileysVariable holds the bareConfig of tools/secondclient/devices.js.
const baileysVariable = "RECADO_TEST_BAILEYS"

// baileysNode is the version of Node that Baileys needs.
const baileysNode = 20

// baileysPrograms are where programs on Baileys run, by the version of Baileys. They are
// installed once for the test binary; removeBaileys removes them.
var baileysPrograms = struct { //nolint:gochecknoglobals // see above
	mu      sync.Mutex
	folders map[string]string
}{folders: map[string]string{}}

func removeBaileys() {
	for _, folder := range baileysPrograms.folders {
		_ = os.RemoveAll(folder) // it is a temporary folder
	}
}

// baileysFolder installs Baileys, as its lock file in a folder of tools says, and returns
// where it is. If node or npm is not installed, the test does what needs.Require says.
func baileysFolder(t *testing.T, version string) string {
	t.Helper()
	needs.Require(t, "npm")
	found, err := exec.CommandContext(t.Context(), needs.Find("node"), "--version").Output()
	check(t, err)
	major, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(string(found)), "v"), ".")
	if number, _ := strconv.Atoi(major); number < baileysNode {
		t.Skipf("node is older than version %d; needs/install.sh brings a newer one", baileysNode)
	}
	baileysPrograms.mu.Lock()
	defer baileysPrograms.mu.Unlock()
	if folder, ok := baileysPrograms.folders[version]; ok {
		return folder
	}
	folder, err := os.MkdirTemp("", "recado-baileys-") //nolint:usetesting // it outlives this test
	check(t, err)
	baileysPrograms.folders[version] = folder
	tools := filepath.Join("..", "..", "tools", "secondclient")
	for _, pattern := range []string{"*.js", ".npmrc", filepath.Join(version, "package*.json")} {
		files, err := filepath.Glob(filepath.Join(tools, pattern))
		check(t, err)
		for _, file := range files {
			content, err := os.ReadFile(file)
			check(t, err)
			check(t, os.WriteFile(filepath.Join(folder, filepath.Base(file)), content, 0o600))
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	install := exec.CommandContext(ctx, "npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts")
	install.Dir = folder
	if output, err := install.CombinedOutput(); err != nil {
		t.Fatalf("install Baileys: %v\n%s", err, output)
	}
	return folder
}

// startBaileys starts a program on Baileys, of a version.
func startBaileys(version string) func(*testing.T, bareConfig) *otherProgram {
	return func(t *testing.T, config bareConfig) *otherProgram {
		t.Helper()
		encoded, err := json.Marshal(config)
		check(t, err)
		return startOther(t, baileysVariable+"="+string(encoded), needs.Find("node"), filepath.Join(baileysFolder(t, version), "devices.js"))
	}
}

// newest is the version of Baileys that the sandbox is checked with; its lock file is in
// the folder itself.
const newest = "."

// aWhileAgo makes all files of a folder older: its program was stopped some time ago.
func aWhileAgo(t *testing.T, folder string) {
	t.Helper()
	before := time.Now().Add(-time.Minute)
	check(t, filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		return os.Chtimes(path, before, before)
	}))
}

// useBaileys is a move from Baileys up to the moment before the import. It returns the
// identifiers of the messages that wait.
func useBaileys(t *testing.T, version string, count int) (m *move, waiting [][]string) {
	t.Helper()
	baileysFolder(t, version) // before anything else is made: it may skip the test
	m, before := newMove(t, count, testkit.Options{DataDir: t.TempDir()}, filepath.Join(t.TempDir(), "srv", "gateway", "data", "sessions"))
	m.start, m.from = startBaileys(version), movein.FromBaileys
	m.useOther(before)
	waiting = append(m.say(before, "are you there"), m.say(before, "hello again")...)
	before.Stop()
	aWhileAgo(t, m.store)
	return m, waiting
}

// Devices of a program on Baileys come without a code, as those of one on whatsmeow do.
// Version 6 names LIDs as it names numbers.
func TestMoveInFromBaileys(t *testing.T) {
	t.Parallel()
	for name, c := range cases.Sorted(map[string]struct {
		version string
		count   int
	}{"version 7": {newest, deviceCount(t, 2)}, "version 6": {"version6", 2}}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, waiting := useBaileys(t, c.version, c.count)
			after, results := m.goOn(waiting)
			m.followsState(after, results)
		})
	}
}

// followsState fails the test unless the instances learn what is changed on their phones:
// app state goes on where the other program was.
func (m *move) followsState(g *testkit.Gateway, results []movein.Result) {
	m.t.Helper()
	for n, one := range m.devices {
		name := fmt.Sprintf("Padaria %d", n)
		g.Phones.Update(m.t, one.Owner, map[string]any{"name": name})
		testkit.Await(m.t, "the new name", func() bool {
			return g.Instance(m.t, results[n].InstanceID).MessengerName == name
		})
	}
}
