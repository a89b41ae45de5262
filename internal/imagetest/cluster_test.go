//go:build linux

package imagetest_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/recado-project/recado/internal/cli"
	"github.com/recado-project/recado/internal/testkit/process"
	"github.com/recado-project/recado/internal/testkit/s3"
)

func TestMain(m *testing.M) {
	process.BeProgram(func() int {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		return cli.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	})
	os.Exit(m.Run())
}

// cluster is what deploy/cluster/compose.yaml describes, as processes of this machine. Each
// service has a loopback address of its own, so the ports are those of the file.
type cluster struct {
	services map[string]composed
	network  string // the first three numbers of the addresses; all that begins with 127 is loopback
	database string
	platform []string // variables
	folder   string
}

// newCluster reads the file. Its database is another one, and its platform a sandbox.
func newCluster(t *testing.T, database string, platform []string) *cluster {
	t.Helper()
	c := &cluster{database: database, platform: platform, folder: t.TempDir()}
	c.network = fmt.Sprintf("127.%d.%d", 1+rand.IntN(250), rand.IntN(250))
	var err error
	if c.services, err = readWithCompose(t, clusterFile, append(secrets(), "RECADO_PUBLIC_URL=http://balancer:8080")...); err != nil {
		t.Fatal(err)
	}
	return c
}

// address is where a service is reached; "" if none has that name.
func (c *cluster) address(service string) string {
	for i, name := range []string{"balancer", "node1", "node2", "node3", "files"} {
		if name == service {
			return fmt.Sprintf("%s.%d", c.network, i+1)
		}
	}
	return ""
}

var (
	// addressed is a service with its port, and ownAddress a port of the service itself.
	addressed  = regexp.MustCompile(`\b([a-z]+\d?):(\d+)`)
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
		if address := c.address(name); address != "" {
			return address + ":" + port
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
	for name, value := range c.services[service].Environment {
		all = append(all, name+"="+c.here(t, service, value))
	}
	if c.services[service].Image != "recado" {
		return append(all, "PATH="+filepath.Dir(s3.Program(t))+":"+os.Getenv("PATH"))
	}
	for _, i := range stages(t)["recado"] {
		if i.word == "ENV" {
			for setting := range strings.FieldsSeq(i.arguments) {
				name, value, _ := strings.Cut(setting, "=")
				all = append(all, name+"="+c.here(t, service, value))
			}
		}
	}
	return append(append(all, c.platform...), "RECADO_TEST_AS_PROGRAM=1")
}

// command is a command in the container of a service.
func (c *cluster) command(t *testing.T, service string, arguments ...string) *exec.Cmd {
	t.Helper()
	for i, argument := range arguments {
		arguments[i] = c.here(t, service, argument)
	}
	if arguments[0] == "/recado" {
		arguments[0] = process.Self(t)
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
	case s.Image == "recado":
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
