//go:build linux

package imagetest_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/testkit/process"
	"github.com/recado-project/recado/internal/testkit/s3"
)

// ourImage is what the files call the image of the Dockerfile.
const ourImage = "recado"

// cluster is what a file of a deployment describes, as processes of this machine. Each
// service has a loopback address of its own, so the ports are those of the file.
type cluster struct {
	services map[string]composed
	hosts    map[string]string // services by the names that they reach each other by
	network  string            // the first three numbers of the addresses; all that begins with 127 is loopback
	database string
	platform []string // variables
	folder   string
}

// newCluster returns a cluster of these services. Its database is another one than they name,
// and its platform is a sandbox.
func newCluster(t *testing.T, services map[string]composed, database string, platform []string) *cluster {
	t.Helper()
	c := &cluster{services: services, hosts: map[string]string{}, database: database, platform: platform, folder: t.TempDir()}
	c.network = fmt.Sprintf("127.%d.%d", 1+rand.IntN(250), rand.IntN(250))
	for service := range services {
		c.hosts[service] = service
	}
	return c
}

// address is where a service is reached.
func (c *cluster) address(service string) string {
	return fmt.Sprintf("%s.%d", c.network, 1+slices.Index(slices.Sorted(maps.Keys(c.services)), service))
}

var (
	// addressed is a service with its port, and ownAddress a port of the service itself.
	addressed  = regexp.MustCompile(`\b([a-z][-a-z0-9.]*):(\d+)`)
	ownAddress = regexp.MustCompile(`(^|\s)(?:0\.0\.0\.0)?:(\d+)`)
)

// here returns a text of a service with the addresses and folders of this machine instead of
// those in its network and container.
func (c *cluster) here(t *testing.T, service, text string) string {
	t.Helper()
	if strings.HasPrefix(text, "postgres://") {
		return c.database
	}
	text = ownAddress.ReplaceAllString(text, "${1}"+c.address(service)+":$2")
	text = addressed.ReplaceAllStringFunc(text, func(found string) string {
		name, port, _ := strings.Cut(found, ":")
		if service, ok := c.hosts[name]; ok {
			return c.address(service) + ":" + port
		}
		return found
	})
	for _, volume := range c.services[service].Volumes {
		path := filepath.Join(c.folder, filepath.Base(volume.Source))
		text = regexp.MustCompile(`(^|\s)`+regexp.QuoteMeta(volume.Target)).ReplaceAllString(text, "${1}"+path)
	}
	return text
}

// environment is what the program of a service finds: the variables of its image and of the
// file, and nothing of this machine's.
func (c *cluster) environment(t *testing.T, service string) (all []string) {
	t.Helper()
	if c.services[service].Image == ourImage {
		for _, i := range stages(t)["slim"] {
			if i.word == "ENV" {
				for setting := range strings.FieldsSeq(i.arguments) {
					name, value, _ := strings.Cut(setting, "=")
					all = append(all, name+"="+c.here(t, service, value))
				}
			}
		}
		all = append(all, c.platform...)
	} else {
		all = append(all, "PATH="+filepath.Dir(s3.Program(t))+":"+os.Getenv("PATH"))
	}
	for name, value := range c.services[service].Environment {
		all = append(all, name+"="+c.here(t, service, value))
	}
	return all
}

// command is a command in the container of a service.
func (c *cluster) command(t *testing.T, service string, arguments ...string) *exec.Cmd {
	t.Helper()
	for i, argument := range arguments {
		arguments[i] = c.here(t, service, argument)
	}
	if arguments[0] == "/recado" {
		arguments[0] = process.Program(t)
	}
	command := exec.CommandContext(context.WithoutCancel(t.Context()), arguments[0], arguments[1:]...)
	command.Env = c.environment(t, service)
	return command
}

// begin starts a service.
func (c *cluster) begin(t *testing.T, service string) *running {
	t.Helper()
	s := c.services[service]
	for _, volume := range s.Volumes {
		path := filepath.Join(c.folder, filepath.Base(volume.Source))
		if volume.Type != "bind" {
			if err := os.MkdirAll(path, 0o700); err != nil {
				t.Fatal(err)
			}
			continue
		}
		content, err := os.ReadFile(volume.Source)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(c.here(t, service, string(content))), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	arguments := append(slices.Clone(s.Entrypoint), s.Command...)
	switch { // what their images begin with
	case s.Image == ourImage:
		arguments = []string{"/recado", "serve"}
	case service == "balancer":
		arguments = []string{"haproxy", "-db", "-f", s.Volumes[0].Target}
	}
	return start(t, c.command(t, service, arguments...))
}

// line returns the next line that a process prints with a prefix, and has what it prints
// afterwards read, so that it never waits for a reader.
func (p *running) line(t *testing.T, prefix string) string {
	t.Helper()
	lines := bufio.NewReader(p.output)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("the output ended before a line with %q: %v", prefix, err)
		}
		if strings.HasPrefix(line, prefix) {
			go func() { _, _ = io.Copy(io.Discard, lines) }() // it ends with the process
			return strings.TrimSpace(line)
		}
	}
}
