//go:build linux

package imagetest_test

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	buildWait = 9 * time.Minute // a program whose libraries were never compiled here before
	stepWait  = 2 * time.Minute
	killWait  = 5 * time.Second
)

// run runs a command to its end and returns what it printed. When its time is over, it
// ends the command with all processes that it has started.
func run(t *testing.T, wait time.Duration, command *exec.Cmd) string {
	t.Helper()
	output, err := try(t, wait, command)
	if err != nil {
		t.Fatalf("%s: %v", strings.Join(command.Args, " "), err)
	}
	return output
}

// try is run for a command that may fail. The error has what it printed about that.
func try(t *testing.T, wait time.Duration, command *exec.Cmd) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	bounded := exec.CommandContext(ctx, command.Path, command.Args[1:]...)
	bounded.Dir, bounded.Env, bounded.Stdin, bounded.SysProcAttr = command.Dir, command.Env, command.Stdin, command.SysProcAttr
	if bounded.SysProcAttr == nil {
		bounded.SysProcAttr = &syscall.SysProcAttr{}
	}
	bounded.SysProcAttr.Setpgid = true
	bounded.Cancel = func() error { return syscall.Kill(-bounded.Process.Pid, syscall.SIGKILL) }
	bounded.WaitDelay = killWait
	var output, complaint bytes.Buffer
	bounded.Stdout, bounded.Stderr = &output, &complaint
	if err := bounded.Run(); err != nil {
		return output.String(), fmt.Errorf("%w\n%s%s", err, &output, &complaint)
	}
	return output.String(), nil
}

// buildRoot makes what the Dockerfile's first stage makes, with its own commands but
// without its base image, and returns the folder that stands for the stage.
func buildRoot(t *testing.T) string {
	t.Helper()
	const made = "/root-of-image"
	script, stage := "", t.TempDir()
	for _, i := range stages(t)["build"] {
		if i.word == "RUN" && strings.Contains(i.arguments, made) {
			script += strings.ReplaceAll(i.arguments, made, stage+made) + "\n"
		}
	}
	if script == "" {
		t.Fatalf("the Dockerfile's first stage makes no %s", made)
	}
	command := exec.CommandContext(t.Context(), "sh", "-euc", script)
	command.Dir = root
	// The image is checked, not its version: that would need git, and a clone of one's own.
	command.Env = append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -buildvcs=false")
	run(t, buildWait, command)
	return stage
}

// buildah runs buildah with a store in folder, so that no image stays on the machine.
func buildah(t *testing.T, folder string, arguments ...string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "buildah", append([]string{
		"--storage-driver", "vfs", "--root", filepath.Join(folder, "store"), "--runroot", filepath.Join(folder, "run"),
	}, arguments...)...)
	command.Env = append(os.Environ(), "TMPDIR="+folder)
	run(t, stepWait, command)
}

// config is what an image says about itself to whatever runs it.
type config struct {
	User         string              `json:"User"`         //nolint:tagliatelle // the archive's own names, here and below
	Env          []string            `json:"Env"`          //nolint:tagliatelle // as above
	Entrypoint   []string            `json:"Entrypoint"`   //nolint:tagliatelle // as above
	Cmd          []string            `json:"Cmd"`          //nolint:tagliatelle // as above
	Volumes      map[string]struct{} `json:"Volumes"`      //nolint:tagliatelle // as above
	ExposedPorts map[string]struct{} `json:"ExposedPorts"` //nolint:tagliatelle // as above
	WorkingDir   string              `json:"WorkingDir"`   //nolint:tagliatelle // as above
	Healthcheck  healthcheck         `json:"Healthcheck"`  //nolint:tagliatelle // as above
}

// healthcheck is how the program in an image is asked whether it works.
type healthcheck struct {
	Test []string `json:"Test"` //nolint:tagliatelle // as above
}

// unpackImage unpacks an archive in Docker's form, whose layers are not compressed, and
// returns the image's settings. The files are under into, with their owners.
func unpackImage(t *testing.T, archive, into string) config {
	t.Helper()
	var manifest []struct {
		Config string   `json:"Config"` //nolint:tagliatelle // the archive's own names
		Layers []string `json:"Layers"` //nolint:tagliatelle // as above
	}
	var image struct {
		Config config `json:"config"`
	}
	fromArchive(t, archive, "manifest.json", func(r io.Reader) error { return json.NewDecoder(r).Decode(&manifest) })
	if len(manifest) != 1 {
		t.Fatalf("the archive has %d images", len(manifest))
	}
	fromArchive(t, archive, manifest[0].Config, func(r io.Reader) error { return json.NewDecoder(r).Decode(&image) })
	for _, layer := range manifest[0].Layers {
		fromArchive(t, archive, layer, func(r io.Reader) error { return unpack(tar.NewReader(r), into) })
	}
	return image.Config
}

// fromArchive gives use the content of a file in a tar archive.
func fromArchive(t *testing.T, archive, name string, use func(io.Reader) error) {
	t.Helper()
	file, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	for reader := tar.NewReader(file); ; {
		header, err := reader.Next()
		if err != nil {
			t.Fatalf("%s in %s: %v", name, archive, err)
		}
		if header.Name != name {
			continue
		}
		if err := use(reader); err != nil {
			t.Fatalf("%s in %s: %v", name, archive, err)
		}
		return
	}
}

// unpack writes the files of a layer, with their owners and modes. A layer of this image
// has files and folders only.
func unpack(layer *tar.Reader, into string) error {
	for {
		header, err := layer.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		path := filepath.Join(into, filepath.Clean("/"+header.Name))
		switch header.Typeflag {
		case tar.TypeDir:
			err = os.Mkdir(path, 0o700)
			if errors.Is(err, fs.ErrExist) {
				err = nil
			}
		case tar.TypeReg:
			err = writeFile(path, layer)
		default:
			err = errors.New(header.Name + " is neither a file nor a folder")
		}
		if err == nil {
			err = os.Chown(path, header.Uid, header.Gid)
		}
		if err == nil {
			err = os.Chmod(path, header.FileInfo().Mode().Perm())
		}
		if err != nil {
			return err
		}
	}
}

func writeFile(path string, content io.Reader) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	return errors.Join(err, file.Close())
}
