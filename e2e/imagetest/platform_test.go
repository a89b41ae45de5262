//go:build linux

package imagetest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/testkit/cases"
)

// The Dockerfile's first stage compiles for the processor that the image is for, whatever the
// machine has. The compiler of this test notes what it is asked for, and compiles nothing.
func TestImageReleaseIsForTheProcessorThatIsAskedFor(t *testing.T) {
	t.Parallel()
	if !strings.Contains(read(t, "Dockerfile"), "\nFROM --platform=$BUILDPLATFORM docker.io/library/golang:") {
		t.Error("the compiler is emulated for another processor")
	}
	given, script := "", ""
	for _, i := range stages(t)["build"] {
		switch {
		case i.word == "ARG":
			given += i.arguments + " "
		case i.word == "RUN" && strings.Contains(i.arguments, "go build"):
			script, _, _ = strings.Cut(i.arguments, "&&")
		}
	}
	if given != "TARGETOS TARGETARCH " || script == "" {
		t.Fatalf("the stage is given %q and runs %q", given, script)
	}
	programs := t.TempDir()
	noting := "#!/bin/sh\necho \"$CGO_ENABLED $GOOS/$GOARCH\"\n"
	if err := os.WriteFile(filepath.Join(programs, "go"), []byte(noting), 0o700); err != nil {
		t.Fatal(err)
	}
	for asked, want := range cases.Sorted(map[string]string{"TARGETOS=linux TARGETARCH=arm64": "0 linux/arm64", "": "0 /"}) {
		command := exec.CommandContext(t.Context(), "sh", "-euc", script)
		command.Env = append(strings.Fields(asked), "PATH="+programs+":/usr/bin:/bin")
		if got := strings.TrimSpace(run(t, stepWait, command)); got != want {
			t.Errorf("asked for %q, the compiler gets %q and not %q", asked, got, want)
		}
	}
}
