package server

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Only what is the program's file and nothing else is given back: not what was written,
// what the loader has changed, or another file's.
func TestProgramAreas(t *testing.T) {
	t.Parallel()
	exe, err := os.Readlink("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	smaps := filepath.Join(t.TempDir(), "smaps")
	if err := os.WriteFile(smaps, []byte(strings.ReplaceAll(`00400000-0156d000 r-xp 00000000 fe:00 9978162    PROGRAM
Size:              17844 kB
Anonymous:             0 kB
VmFlags: rd ex mr mw me
0156d000-02c88000 r--p 0116d000 fe:00 9978162    PROGRAM
Anonymous:             0 kB
02c88000-02c89000 r--p 02887000 fe:00 9978162    PROGRAM
Anonymous:             4 kB
02c89000-02ea6000 rw-p 02888000 fe:00 9978162    PROGRAM
Anonymous:             0 kB
02ea6000-02f4b000 rw-p 00000000 00:00 0
Anonymous:             0 kB
7f0000000000-7f0000001000 r--s 00000000 fe:00 77    PROGRAM
Anonymous:             0 kB
7f0000001000-7f0000002000 r--p 00000000 fe:00 77    /usr/share/zoneinfo/UTC
Anonymous:             0 kB
7f0000002000-7f0000003000 r-xp 00000000 00:00 0    [vdso]
Anonymous:             0 kB
`, "PROGRAM", exe)), 0o600); err != nil {
		t.Fatal(err)
	}
	areas, err := programAreas(smaps, "/proc/self/exe")
	if want := []area{{0x400000, 0x156d000}, {0x156d000, 0x2c88000}}; err != nil || !slices.Equal(areas, want) {
		t.Errorf("areas are %x (%v), want %x", areas, err, want)
	}
}

// The process goes on after its pages went, and has its own program among its areas.
func TestProgramIsForgotten(t *testing.T) {
	t.Parallel()
	if areas, err := programAreas("/proc/self/smaps", "/proc/self/exe"); err != nil || len(areas) == 0 {
		t.Fatalf("areas are %x (%v)", areas, err)
	}
	if err := forgetProgram(); err != nil {
		t.Error(err)
	}
}
