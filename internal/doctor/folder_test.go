package doctor

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/server"
	"github.com/recado-project/recado/internal/testkit/cases"
)

func TestFolder(t *testing.T) {
	t.Parallel()
	good := folder(t)
	look := func(path string) []Finding {
		t.Helper()
		return with(t, server.Config{DataDir: path}).folder(t.Context())
	}
	says(t, look(good), OK, good+" can be written")
	if left, err := os.ReadDir(good); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
	says(t, look(filepath.Join(good, "missing")), Warning, "there is no ")
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	says(t, look(file), Wrong, "is not a folder")
	says(t, look("/proc/self"), Wrong, "nothing can be written") // not even by root
	if err := os.Chmod(good, 0o750); err != nil {
		t.Fatal(err)
	}
	says(t, look(good), Warning, "its mode is 0750")
}

// A folder of somebody else, and files of somebody else in it.
func TestFolderOfOthers(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		says(t, with(t, server.Config{DataDir: "/"}).folder(t.Context()), Warning, "belongs to the user 0")
		return
	}
	path := folder(t)
	file := filepath.Join(path, "recado.db-wal")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	look := func() []Finding { return with(t, server.Config{DataDir: path}).folder(t.Context()) }
	says(t, look(), OK, "can be written")
	if err := os.Chown(file, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	says(t, look(), Wrong, "another owner, which the gateway may be unable to write: recado.db-wal")
	if err := os.Chown(path, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	says(t, look(), Warning, "belongs to the user 12345, and this is the user 0")
}

func TestFileSystem(t *testing.T) {
	t.Parallel()
	sqlite, postgres := with(t, server.Config{}), with(t, server.Config{DatabaseURL: "postgres://localhost/x"})
	for kind, want := range cases.Sorted(map[string][2]State{
		"ext4": {OK, OK}, "": {OK, OK}, "nfs4": {Wrong, Warning}, "cifs": {Wrong, Warning}, "tmpfs": {Wrong, OK}, "overlay": {Wrong, OK},
	}) {
		for i, e := range []*examination{sqlite, postgres} {
			if found := e.fileSystemFinding("/data", fileSystem{Kind: kind}); found.State != want[i] {
				t.Errorf("%q: %+v, want %s", kind, found, want[i])
			}
		}
	}
	if system, err := lookAtFileSystem("/dev/shm"); err == nil && system.isMemory() { // a real one
		says(t, with(t, server.Config{DataDir: "/dev/shm"}).fileSystem("/dev/shm"), Wrong, "is in memory")
	}
}

func TestSpace(t *testing.T) {
	t.Parallel()
	const giga = 1 << 30
	for _, test := range []struct {
		free, all int64
		want      State
	}{{50 * giga, 100 * giga, OK}, {4 * giga, 100 * giga, Warning}, {giga - 1, 2 * giga, Warning}, {10 << 20, 100 * giga, Wrong}, {0, 0, Wrong}} {
		if found := spaceFinding(test.free, test.all); found.State != test.want {
			t.Errorf("%d of %d: %+v", test.free, test.all, found)
		}
	}
	says(t, inodes(fileSystem{Inodes: 100, FreeInodes: 50}), OK, "50 of 100")
	says(t, inodes(fileSystem{Inodes: 100, FreeInodes: 4}), Warning, "4 of 100")
	says(t, inodes(fileSystem{Inodes: 100}), Wrong, "no more files")
	if found := inodes(fileSystem{}); found != nil {
		t.Errorf("without a limit: %v", found)
	}
	found := with(t, server.Config{DataDir: filepath.Join(t.TempDir(), "not", "yet")}).space(t.Context())
	if found[0].Check != "disk space" || found[0].Found == "" {
		t.Errorf("the real disk: %v", found)
	}
}

func TestFsync(t *testing.T) {
	t.Parallel()
	e := with(t, server.Config{})
	found := e.fsync(t.Context())
	if len(found) != 1 || found[0].State == Wrong {
		t.Errorf("the real disk: %v", found)
	}
	if left, err := os.ReadDir(e.config.Server.DataDir); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
	says(t, with(t, server.Config{DataDir: "/proc/self"}).fsync(t.Context()), Wrong, "it fails")
	fine(t, with(t, server.Config{DataDir: "/not/there"}).fsync(t.Context()))

	plain, careless := fileSystem{Cache: "write back"}, fileSystem{Options: []string{"rw", "nobarrier"}}
	says(t, []Finding{e.fsyncFinding(2*time.Millisecond, 9*time.Millisecond, plain)}, OK, "its cache is write back. That is plausible, and no proof")
	says(t, []Finding{e.fsyncFinding(2*time.Microsecond, time.Millisecond, plain)}, Warning, "faster than a disk can be")
	says(t, []Finding{e.fsyncFinding(80*time.Millisecond, time.Second, plain)}, Warning, "messages wait for it")
	says(t, []Finding{e.fsyncFinding(2*time.Millisecond, time.Second, careless)}, Wrong, "does not make the disk write its cache")
}
