//go:build linux

package imagetest_test

import (
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// maxBytes is what the image may have at most on its way over the network, compressed
// with zstd.
const maxBytes = 22_000_000

// The image of the Dockerfile is small, says what it needs, and runs as somebody without
// rights who can write to /data and nowhere else.
func TestImageRuns(t *testing.T) { //nolint:paralleltest // its steps build on each other, and it wants the processors for itself
	requireBuildah(t)
	folder, tree := t.TempDir(), newTree(t)
	policy := filepath.Join(folder, "policy.json") // so that none has to be installed
	if err := os.WriteFile(policy, []byte(`{"default":[{"type":"insecureAcceptAnything"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	// The last stage is the Dockerfile's own. Only the stage that it copies from is
	// another: the base image of that one would have to be downloaded.
	buildah(t, folder, "build", "--isolation", "chroot", "--format", "docker", "--signature-policy", policy,
		"--build-context", "build="+buildRoot(t), "--target", "slim", "--tag", "localhost/recado",
		"--file", filepath.Join(root, "Dockerfile"), t.TempDir())
	compressed, archive := filepath.Join(folder, "compressed"), filepath.Join(folder, "recado.tar")
	buildah(t, folder, "push", "--signature-policy", policy, "--format", "oci",
		"--compression-format", "zstd", "--compression-level", "10", "localhost/recado", "oci:"+compressed)
	buildah(t, folder, "push", "--signature-policy", policy, "localhost/recado", "docker-archive:"+archive)

	if bytes := size(t, compressed); bytes >= maxBytes {
		t.Errorf("the image has %d bytes, which is not under %d", bytes, maxBytes)
	} else {
		t.Logf("the image has %d bytes, compressed with zstd", bytes)
	}
	settings := unpackImage(t, archive, tree)
	if len(settings.Env) > 0 && strings.HasPrefix(settings.Env[0], "PATH=") {
		settings.Env = settings.Env[1:] // every image has one
	}
	if want := (config{
		User: "65532:65532", Env: []string{"RECADO_LISTEN=0.0.0.0:8080", "RECADO_DATA=/data", "TMPDIR=/data/tmp"},
		Entrypoint: []string{"/recado"}, Cmd: []string{"serve"},
		Volumes: map[string]struct{}{"/data": {}}, ExposedPorts: map[string]struct{}{"8080/tcp": {}}, WorkingDir: "/data",
		Healthcheck: healthcheck{[]string{"CMD", "/recado", "health"}},
	}); !reflect.DeepEqual(settings, want) {
		t.Errorf("the image says %+v, not %+v", settings, want)
	}
	requireCertificates(t, tree)
	serveInside(t, container{tree, settings})

	// The service of compose.yaml to try things with, which is the same image.
	other := newTree(t)
	settings = unpackImage(t, archive, other)
	service := readCompose(t).Services["sandbox"]
	settings.Cmd, settings.Healthcheck = onFreePort(t, service.Command), service.Healthcheck
	tryInside(t, container{other, settings})
}

// What the image has more than the slim one is what ffmpeg needs to run, and nothing else.
func TestImageHasWhatFFmpegNeeds(t *testing.T) {
	t.Parallel()
	requireBuildah(t)
	const made = "/root-of-ffmpeg"
	all := stages(t)
	if want := []instruction{{"COPY", "--from=ffmpeg " + made + "/ /"}}; !slices.Equal(all["recado"], want) || !strings.Contains(read(t, "Dockerfile"), "\nFROM slim AS recado\n") {
		t.Errorf("upon the slim image, the other has %q and not %q", all["recado"], want)
	}
	tree := newTree(t)
	i := slices.IndexFunc(all["ffmpeg"], func(i instruction) bool { return strings.Contains(i.arguments, made) })
	if i < 0 {
		t.Fatalf("no stage makes %s", made)
	}
	script := strings.ReplaceAll(strings.TrimPrefix(all["ffmpeg"][i].arguments, "mkdir "+made), made, tree)
	run(t, stepWait, exec.CommandContext(t.Context(), "sh", "-euc", "true "+script))
	for _, program := range []string{"/usr/bin/ffprobe", "/usr/bin/ffmpeg"} {
		command := exec.CommandContext(t.Context(), program, "-v", "error", "-f", "lavfi", "-i", "testsrc=duration=1:size=64x64", "-f", "null", "-")
		if program == "/usr/bin/ffprobe" {
			command.Args = command.Args[:7]
		}
		command.Env, command.Dir = []string{}, "/"
		command.SysProcAttr = &syscall.SysProcAttr{Chroot: tree, Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
		run(t, stepWait, command)
	}
	if _, err := os.Stat(filepath.Join(tree, "bin", "sh")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the image has a shell: %v", err)
	}
}

// newTree returns a folder for the files of an image, which everybody may read.
func newTree(t *testing.T) string {
	t.Helper()
	tree := t.TempDir()
	if err := os.Chmod(tree, 0o755); err != nil {
		t.Fatal(err)
	}
	return tree
}

// onFreePort returns a command that listens on a free port of loopback, where compose.yaml
// names a port of its container.
func onFreePort(t *testing.T, command []string) []string {
	t.Helper()
	command = slices.Clone(command)
	i := slices.Index(command, "--listen")
	if i < 0 || i+1 == len(command) {
		t.Fatalf("%q listens nowhere", command)
	}
	command[i+1] = "127.0.0.1:0"
	return command
}

// requireBuildah ends the test if there is no buildah, or no right to give files and a
// process to another user. RECADO_TEST_IMAGE=required makes that a failure; in CI it is
// one if the program is missing.
func requireBuildah(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("buildah"); err != nil {
		if os.Getenv("CI") == "true" || os.Getenv("RECADO_TEST_IMAGE") == "required" {
			t.Fatal("buildah is not installed")
		}
		t.Skip("buildah is not installed")
	}
	if os.Getuid() != 0 {
		const reason = "only root may build an image whose folder belongs to another user, and run a program as that user"
		if os.Getenv("RECADO_TEST_IMAGE") == "required" {
			t.Fatal(reason)
		}
		t.Skip(reason)
	}
}

// size returns how many bytes the files in a folder have together.
func size(t *testing.T, folder string) (bytes int64) {
	t.Helper()
	err := filepath.WalkDir(folder, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			bytes += info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}

// requireCertificates fails the test unless the program in the image can check whom it
// talks to.
func requireCertificates(t *testing.T, tree string) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(tree, "etc", "ssl", "certs", "ca-certificates.crt"))
	if err != nil {
		t.Fatal(err)
	}
	if !x509.NewCertPool().AppendCertsFromPEM(content) {
		t.Error("the image has no certificates of authorities")
	}
}

// serveInside runs the gateway in the image: it becomes healthy, answers, and stops when
// it is told to.
func serveInside(t *testing.T, c container) {
	t.Helper()
	before := c.snapshot(t)
	gateway := c.start(t, "RECADO_LISTEN=127.0.0.1:0", "RECADO_JSON=true")
	var ready struct {
		URL string `json:"url"`
	}
	if err := json.NewDecoder(gateway.output).Decode(&ready); err != nil {
		t.Fatalf("the gateway does not say where it answers: %v", err)
	}
	health := c.config.Healthcheck.Test[1:]
	if _, err := try(t, stepWait, c.command(t, health, "RECADO_URL="+ready.URL)); err != nil {
		t.Errorf("the gateway is not healthy: %v", err)
	}
	key := run(t, stepWait, c.command(t, append(c.config.Entrypoint, "keys", "create", "--name", "ops", "--partner")))
	if answer := get(t, ready.URL+"/api/instances", strings.TrimSpace(key)); answer != http.StatusOK {
		t.Errorf("the gateway answers %d to a key that was made beside it", answer)
	}
	if err := gateway.terminate(); err != nil {
		t.Errorf("the gateway did not stop cleanly: %v", err)
	}
	if output, err := try(t, stepWait, c.command(t, health, "RECADO_URL="+ready.URL)); err == nil {
		t.Errorf("a gateway that has stopped is healthy: %s", output)
	}
	if after := c.snapshot(t); !reflect.DeepEqual(before, after) {
		t.Errorf("the program has written beside /data: before %v, after %v", before, after)
	}
	if info, err := os.Stat(filepath.Join(c.tree, "data", "tmp")); err != nil || !info.IsDir() {
		t.Errorf("the program has made no folder for temporary files, where the image says: %v", err)
	}
	// The control: whoever could write elsewhere would be noticed.
	if err := os.WriteFile(filepath.Join(c.tree, "etc", "more"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if reflect.DeepEqual(before, c.snapshot(t)) {
		t.Error("a new file beside /data is not noticed")
	}
}

// tryInside runs the gateway with a sandbox in the image: it is healthy, and its page of
// phones is there.
func tryInside(t *testing.T, c container) {
	t.Helper()
	before := c.snapshot(t)
	sandbox := c.start(t, "RECADO_JSON=true")
	var ready struct {
		URL string `json:"baseUrl"`
		Key string `json:"apiKey"`
	}
	if err := json.NewDecoder(sandbox.output).Decode(&ready); err != nil {
		t.Fatalf("the sandbox does not say where it answers: %v", err)
	}
	health := slices.Clone(c.config.Healthcheck.Test[1:])
	health[len(health)-1] = ready.URL
	if _, err := try(t, stepWait, c.command(t, health)); err != nil {
		t.Errorf("the sandbox is not healthy: %v", err)
	}
	for _, path := range []string{"/api/instances", "/sandbox"} {
		if answer := get(t, ready.URL+path, ready.Key); answer != http.StatusOK {
			t.Errorf("%s answers %d", path, answer)
		}
	}
	if err := sandbox.terminate(); err != nil {
		t.Errorf("the sandbox did not stop cleanly: %v", err)
	}
	if after := c.snapshot(t); !reflect.DeepEqual(before, after) {
		t.Errorf("the program has written beside /data: before %v, after %v", before, after)
	}
}

// get asks for a page with an API key, and returns the status of the answer.
func get(t *testing.T, address, key string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("X-Api-Key", key)
	response, err := (&http.Client{Timeout: stepWait}).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil {
		t.Error(err)
	}
	return response.StatusCode
}

// snapshot returns what is in the image beside /data: the mode, the size and the time of
// the last change of every file and folder. A file that was made and deleted has changed
// the time of its folder.
func (c container) snapshot(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(c.tree, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if path == filepath.Join(c.tree, "data") {
			return fs.SkipDir
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		changed := info.Sys().(*syscall.Stat_t).Ctim //nolint:forcetypeassert // on Linux, it is nothing else
		found[path] = fmt.Sprintf("%s %d %d.%09d", info.Mode(), info.Size(), changed.Sec, changed.Nsec)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
