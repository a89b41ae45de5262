//go:build linux

package imagetest_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/testkit/cases"
)

// archived returns an archive like those of a release, with a program that prints a word.
func archived(t *testing.T, word string) []byte {
	t.Helper()
	var archive bytes.Buffer
	packed := gzip.NewWriter(&archive)
	files := tar.NewWriter(packed)
	program := "#!/bin/sh\necho " + word + "\n"
	if err := files.WriteHeader(&tar.Header{Name: "recado", Mode: 0o755, Size: int64(len(program))}); err != nil {
		t.Fatal(err)
	}
	if _, err := files.Write([]byte(program)); err != nil {
		t.Fatal(err)
	}
	if err := files.Close(); err != nil {
		t.Fatal(err)
	}
	if err := packed.Close(); err != nil {
		t.Fatal(err)
	}
	return archive.Bytes()
}

// The installer takes the archive of the system that it runs on, and installs nothing that has
// another checksum, that is missing, or that is for no system it knows.
func TestReleaseInstallerChecksWhatItInstalls(t *testing.T) {
	t.Parallel()
	arm, intel := archived(t, "arm"), archived(t, "intel")
	sums := fmt.Sprintf("%x  recado_1.2.3_linux_arm64.tar.gz\n%x  recado_1.2.3_linux_amd64.tar.gz\n", sha256.Sum256(arm), sha256.Sum256(intel))
	for name, c := range cases.Sorted(map[string]struct {
		system, machine, sums string
		without               string // a file that is not served
		prints, complains     string
	}{
		"arm":               {"Linux", "aarch64", sums, "", "arm", ""},
		"intel":             {"Linux", "x86_64", sums, "", "intel", ""},
		"two of another":    {"Linux", "x86_64", strings.ReplaceAll(sums, "amd64", "arm64"), "", "", "names no archive"},
		"another archive":   {"Linux", "x86_64", fmt.Sprintf("%x  recado_1.2.3_linux_amd64.tar.gz\n", sha256.Sum256(arm)), "", "", "nothing was installed"},
		"missing archive":   {"Linux", "x86_64", sums, "/recado_1.2.3_linux_amd64.tar.gz", "", "can't download"},
		"missing checksums": {"Linux", "x86_64", sums, "/checksums.txt", "", "can't download"},
		"no such system":    {"Plan9", "x86_64", sums, "", "", "no archive for Plan9"},
		"no such processor": {"Linux", "mips", sums, "", "", "processor mips"},
		"not in this one":   {"Darwin", "arm64", sums, "", "", "names no archive"},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := map[string][]byte{
				"/checksums.txt": []byte(c.sums), "/recado_1.2.3_linux_arm64.tar.gz": arm, "/recado_1.2.3_linux_amd64.tar.gz": intel,
			}
			delete(files, c.without)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				content, ok := files[r.URL.Path]
				if !ok {
					http.NotFound(w, r)
					return
				}
				_, _ = w.Write(content)
			}))
			defer server.Close()
			// A uname of another machine, before the one of this.
			programs, to := t.TempDir(), filepath.Join(t.TempDir(), "bin")
			uname := fmt.Sprintf("#!/bin/sh\ncase $1 in -s) echo %s ;; -m) echo %s ;; esac\n", c.system, c.machine)
			if err := os.WriteFile(filepath.Join(programs, "uname"), []byte(uname), 0o700); err != nil {
				t.Fatal(err)
			}
			command := exec.CommandContext(t.Context(), "sh", filepath.Join(root, "deploy", "install.sh"))
			command.Env = append(os.Environ(), "PATH="+programs+":"+os.Getenv("PATH"), "RECADO_DOWNLOADS="+server.URL, "RECADO_INSTALL_TO="+to)
			_, err := try(t, stepWait, command)
			if c.complains != "" {
				if err == nil || !strings.Contains(err.Error(), c.complains) {
					t.Errorf("the installer ends with %v, and not with %q", err, c.complains)
				}
				if _, err := os.Stat(filepath.Join(to, "recado")); err == nil {
					t.Error("a program was installed")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if printed := run(t, stepWait, exec.CommandContext(t.Context(), filepath.Join(to, "recado"))); strings.TrimSpace(printed) != c.prints {
				t.Errorf("the program prints %q, and not %q", printed, c.prints)
			}
		})
	}
}
