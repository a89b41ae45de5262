package imagetest_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/oasdiff/yaml"
)

// The release is built from a package that is there, and has files that are there.
func TestReleaseNamesWhatIsThere(t *testing.T) {
	t.Parallel()
	var release struct {
		Builds []struct {
			Main   string   `json:"main"`
			Flags  []string `json:"flags"`
			Env    []string `json:"env"`
			GoOS   []string `json:"goos"`
			GoArch []string `json:"goarch"`
		} `json:"builds"`
		Archives []struct {
			Files []string `json:"files"`
		} `json:"archives"`
		Packages []struct {
			Formats  []string `json:"formats"`
			Contents []struct {
				Source string `json:"src"`
				Target string `json:"dst"`
				Type   string `json:"type"`
			} `json:"contents"`
			Scripts map[string]string `json:"scripts"`
		} `json:"nfpms"`
	}
	if _, err := yaml.Unmarshal([]byte(read(t, ".goreleaser.yaml")), &release, yaml.DecodeOpts{}); err != nil {
		t.Fatal(err)
	}
	if len(release.Builds) != 1 || len(release.Archives) != 1 || len(release.Archives[0].Files) == 0 {
		t.Fatalf("the release is %+v", release)
	}
	build := release.Builds[0]
	if programs := len(build.GoOS) * len(build.GoArch); programs != 6 || strings.Join(build.Env, " ") != "CGO_ENABLED=0" {
		t.Errorf("the release has %d programs, built with %q", programs, build.Env)
	}
	// make profile writes it. The image is built with it too, in the folder /src.
	profile := filepath.Join(build.Main, "release.pgo")
	if flag := "-pgo=" + profile; !slices.Contains(build.Flags, flag) {
		t.Errorf("the release is built with %q, not with %s", build.Flags, flag)
	}
	if flags := "ENV GOFLAGS=-pgo=/src/" + profile + "\n"; !strings.Contains(read(t, "Dockerfile"), flags) {
		t.Errorf("the Dockerfile does not say %q", flags)
	}
	if len(release.Packages) != 1 || strings.Join(release.Packages[0].Formats, " ") != "deb rpm" || len(release.Packages[0].Scripts) != 3 {
		t.Fatalf("the packages are %+v", release.Packages)
	}
	paths := append([]string{profile, filepath.Join(build.Main, "main.go")}, release.Archives[0].Files...)
	for _, content := range release.Packages[0].Contents {
		paths = append(paths, content.Source)
		// What people have changed stays when the package is updated.
		if settings := strings.HasPrefix(content.Target, "/etc/"); settings != (content.Type == "config|noreplace") {
			t.Errorf("%s is of the type %q", content.Target, content.Type)
		}
	}
	for _, script := range release.Packages[0].Scripts {
		paths = append(paths, script)
	}
	for _, path := range paths {
		if _, err := os.Stat(filepath.Join(root, path)); err != nil {
			t.Errorf("the release names %s: %v", path, err)
		}
	}
}

// A package changes of the service what it has to: where the program is, and who runs it. The commands are those of the service.
func TestServiceOfAPackageRunsTheSameCommands(t *testing.T) {
	t.Parallel()
	commands := func(path string) []string {
		return regexp.MustCompile(`(?m)^Exec(?:Start|Reload)=\S.*$`).FindAllString(read(t, path), -1)
	}
	plain := strings.ReplaceAll(strings.Join(commands("deploy/systemd/recado.service"), "\n"), "/usr/local/bin/", "/usr/bin/")
	if packaged := strings.Join(commands("deploy/systemd/package.conf"), "\n"); packaged == "" || packaged != plain {
		t.Errorf("the package runs\n%s\nand the service\n%s", packaged, plain)
	}
}

// The service of systemd runs a command that is there, with settings that are there. It is never given up:
// a database that is away for a minute is no reason to need somebody's hand.
func TestServiceUsesSettingsThatAreThere(t *testing.T) {
	t.Parallel()
	unit, settings := read(t, "deploy/systemd/recado.service"), read(t, "docs/config.md")
	command := regexp.MustCompile(`(?m)^ExecStart=\S+/(recado \w+)$`).FindStringSubmatch(unit)
	if len(command) != 2 || !strings.Contains(settings, "\n## `"+command[1]+"`\n") {
		t.Errorf("the service starts %q, which docs/config.md does not have", command)
	}
	if !strings.Contains(unit, "\nStartLimitIntervalSec=0\n") {
		t.Error("systemd gives the service up after some starts")
	}
	names := regexp.MustCompile(`RECADO_[A-Z_]+`).FindAllString(unit, -1)
	if len(names) == 0 {
		t.Error("the service sets nothing")
	}
	for _, name := range names {
		if !strings.Contains(settings, "`"+name+"`") {
			t.Errorf("the service names %s, which docs/config.md does not have", name)
		}
	}
}
