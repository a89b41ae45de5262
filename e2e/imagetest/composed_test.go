//go:build linux

package imagetest_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/recado-project/recado/internal/testkit/cases"
)

const (
	clusterFile = "deploy/cluster/compose.yaml"
	n8nFile     = "deploy/n8n/compose.yaml"
)

// composed is a service as Compose itself understands its file: with the variables put in, and
// what it takes from others.
type composed struct {
	Image       string            `json:"image"`
	Command     []string          `json:"command"`
	Entrypoint  []string          `json:"entrypoint"`
	Environment map[string]string `json:"environment"`
	Ports       []struct {
		HostIP    string `json:"host_ip"` //nolint:tagliatelle // Compose's own names, here and below
		Target    int    `json:"target"`
		Published string `json:"published"`
	} `json:"ports"`
	Volumes     []volume `json:"volumes"`
	Healthcheck struct {
		Test []string `json:"test"`
	} `json:"healthcheck"`
	DependsOn map[string]struct {
		Condition string `json:"condition"`
	} `json:"depends_on"` //nolint:tagliatelle // as above
	ReadOnly        bool     `json:"read_only"`         //nolint:tagliatelle // as above
	CapDrop         []string `json:"cap_drop"`          //nolint:tagliatelle // as above
	SecurityOpt     []string `json:"security_opt"`      //nolint:tagliatelle // as above
	StopGracePeriod string   `json:"stop_grace_period"` //nolint:tagliatelle // as above
	Logging         struct {
		Options map[string]string `json:"options"`
	} `json:"logging"`
}

// volume is a folder or a file that a service finds at a place of its own.
type volume struct {
	Type   string `json:"type"`
	Source string `json:"source"`
	Target string `json:"target"`
}

// tools lets one test at a time build a tool: the first compiles it, and the others find it in
// Go's cache. At the same time each would compile all of it.
var tools sync.Mutex //nolint:gochecknoglobals // see above

// runTool runs a program of tools/ and returns what it printed.
func runTool(t *testing.T, name, input string, arguments ...string) (string, error) {
	t.Helper()
	tools.Lock()
	defer tools.Unlock()
	command := exec.CommandContext(t.Context(), "go", append([]string{"run", "."}, arguments...)...)
	command.Dir, command.Stdin = filepath.Join(root, "tools", name), strings.NewReader(input)
	return try(t, buildWait, command)
}

// readWithCompose reads a file with Compose's own library, which checks it against its schema.
// It knows these variables and no others.
func readWithCompose(t *testing.T, file string, variables ...string) (services map[string]composed, err error) {
	t.Helper()
	path := file
	if !filepath.IsAbs(file) {
		if path, err = filepath.Abs(filepath.Join(root, file)); err != nil {
			t.Fatal(err)
		}
	}
	output, err := runTool(t, "compose", "", append([]string{path}, variables...)...)
	if err != nil {
		return nil, err
	}
	var project struct {
		Services map[string]composed `json:"services"`
	}
	if err := json.Unmarshal([]byte(output), &project); err != nil {
		t.Fatal(err)
	}
	return project.Services, nil
}

// secrets are the variables that the file of the cluster asks for.
func secrets() []string {
	return []string{
		"POSTGRES_PASSWORD=of-the-database", "RECADO_CLUSTER_SECRET=of-the-nodes-alone",
		"RECADO_MASTER_KEY=" + strings.Repeat("0123456789abcdef", 4), "FILES_SECRET_KEY=of-the-files",
	}
}

// Compose takes the files, and refuses what is none of its words. No service fills the disk with what it
// prints: Docker keeps all of it unless it is told otherwise.
func TestComposeTakesTheFiles(t *testing.T) {
	t.Parallel()
	for file, variables := range cases.Sorted(map[string][]string{"compose.yaml": nil, clusterFile: secrets(), n8nFile: nil}) {
		services, err := readWithCompose(t, file, variables...)
		if err != nil {
			t.Error(err)
		}
		for name, service := range cases.Sorted(services) {
			if kept := service.Logging.Options; kept["max-size"] != "20m" || kept["max-file"] != "5" {
				t.Errorf("%s: of what %s prints %v is kept", file, name, kept)
			}
		}
	}
	for wrong, instead := range cases.Sorted(map[string]string{"read_only: true": "readonly: true", "shm_size: 256mb": "shm_size: [much]"}) {
		broken := filepath.Join(t.TempDir(), "compose.yaml")
		if err := os.WriteFile(broken, []byte(strings.ReplaceAll(read(t, clusterFile), wrong, instead)), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readWithCompose(t, broken, secrets()...); err == nil {
			t.Errorf("%q is taken", instead)
		}
	}
}

// Beside n8n, both are reached from this machine alone, and from each other by the names that they are told.
func TestComposeOfN8nFits(t *testing.T) {
	t.Parallel()
	settings := read(t, "docs/config.md")
	for command, variables := range cases.Sorted(map[string][]string{"dev": nil, "serve": {"RECADO_COMMAND=serve"}}) {
		services, err := readWithCompose(t, n8nFile, variables...)
		if err != nil {
			t.Fatal(err)
		}
		gateway, flows := services["recado"], services["n8n"]
		if !slices.Equal(gateway.Command, []string{command}) || gateway.Environment["RECADO_DATA"] != "/data/"+command ||
			gateway.Environment["RECADO_ALLOW_HOST"] != "recado" || flows.Environment["WEBHOOK_URL"] != "http://n8n:5678/" {
			t.Errorf("%s: Recado runs %q with %v, and n8n has %v", command, gateway.Command, gateway.Environment, flows.Environment)
		}
		if !gateway.ReadOnly || !slices.Contains(gateway.CapDrop, "ALL") || flows.DependsOn["recado"].Condition != "service_healthy" {
			t.Errorf("%s: Recado may do more than it has to, or n8n does not wait for it", command)
		}
		for name, service := range cases.Sorted(services) {
			if len(service.Ports) != 1 || service.Ports[0].HostIP != "127.0.0.1" {
				t.Errorf("%s is reached at %v", name, service.Ports)
			}
		}
		for variable := range gateway.Environment {
			if !strings.Contains(settings, "`"+variable+"`") {
				t.Errorf("Recado is given %s, which docs/config.md does not have", variable)
			}
		}
	}
}

// Without one of its secrets nothing is started, and Compose says what to do.
func TestClusterAsksForItsSecrets(t *testing.T) {
	t.Parallel()
	for i, secret := range secrets() {
		name, _, _ := strings.Cut(secret, "=")
		_, err := readWithCompose(t, clusterFile, slices.Delete(secrets(), i, i+1)...)
		if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "docs/deploy.md") {
			t.Errorf("without %s: %v", name, err)
		}
		if !strings.Contains(read(t, "docs/deploy.md"), name) {
			t.Errorf("docs/deploy.md does not say how to make %s", name)
		}
	}
}

// Nobody but the balancer is reached from outside, and it by this machine alone. No service
// may do more than it has to, and each that others wait for says when it is ready.
func TestClusterIsClosed(t *testing.T) {
	t.Parallel()
	services, err := readWithCompose(t, clusterFile, secrets()...)
	if err != nil {
		t.Fatal(err)
	}
	settings := read(t, "docs/config.md")
	for name, s := range services {
		for _, port := range s.Ports {
			if name != "balancer" || port.HostIP != "127.0.0.1" {
				t.Errorf("%s is reached at %s:%s", name, port.HostIP, port.Published)
			}
		}
		if !slices.Contains(s.SecurityOpt, "no-new-privileges:true") {
			t.Errorf("%s may get privileges", name)
		}
		// The image of PostgreSQL changes its user by itself, and the owner of its folder.
		if name != "postgres" && (!s.ReadOnly || !slices.Contains(s.CapDrop, "ALL")) {
			t.Errorf("%s may do more than it has to", name)
		}
		for other, how := range s.DependsOn {
			if how.Condition == "service_healthy" && len(services[other].Healthcheck.Test) == 0 {
				t.Errorf("%s waits for %s, which does not say when it is ready", name, other)
			}
		}
		for variable := range s.Environment {
			if strings.HasPrefix(variable, "RECADO_") && !strings.Contains(settings, "`"+variable+"`") {
				t.Errorf("%s sets %s, which docs/config.md does not have", name, variable)
			}
		}
	}
}
