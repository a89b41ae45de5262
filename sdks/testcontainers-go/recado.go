// Package recado is a gateway with simulated phones as a container of Testcontainers, to test bots
// without an account:
//
//	container, err := recado.Run(ctx, "recado")
//	testcontainers.CleanupContainer(t, container)
//	if err != nil {
//		t.Fatal(err)
//	}
//	phone := container.Gateway.Phone("5511988887766")
//	phone.Send(t, "Oi!")
//	answer := phone.WaitForMessage(t, nil)
package recado

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/moby/moby/api/types/container"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"

	"github.com/recado-project/recado/client/recadotest"
)

const port = "8080/tcp"

// Container is a container that is started, and its gateway.
type Container struct {
	testcontainers.Container
	Gateway *recadotest.Gateway
}

// Run starts a container of an image, and returns when everything answers. The gateway reaches
// programs of the machine as host.docker.internal, if they do not listen on 127.0.0.1 alone. With an
// error, there is a container if there is something to remove.
func Run(ctx context.Context, image string, options ...testcontainers.ContainerCustomizer) (*Container, error) {
	ours := []testcontainers.ContainerCustomizer{
		testcontainers.WithCmd("dev", "--json"),
		testcontainers.WithExposedPorts(port),
		testcontainers.WithHostConfigModifier(func(config *container.HostConfig) {
			config.ExtraHosts = append(config.ExtraHosts, "host.docker.internal:host-gateway")
		}),
		testcontainers.WithWaitStrategy(wait.ForLog(`"baseUrl":`)),
	}
	started, err := testcontainers.Run(ctx, image, append(ours, options...)...)
	if started == nil {
		return nil, err
	}
	run := &Container{Container: started}
	if err == nil {
		err = run.read(ctx)
	}
	if err != nil {
		return run, fmt.Errorf("start a gateway of the image %s: %w", image, err)
	}
	return run, nil
}

// read reads what the gateway says of itself.
func (c *Container) read(ctx context.Context) error {
	logs, err := c.Logs(ctx)
	if err != nil {
		return err
	}
	defer logs.Close() //nolint:errcheck // it is read
	lines := bufio.NewReader(logs)
	for {
		line, err := lines.ReadBytes('\n')
		if bytes.Contains(line, []byte(`"baseUrl":`)) {
			gateway := &recadotest.Gateway{}
			if err := json.Unmarshal(bytes.TrimSpace(line), gateway); err != nil {
				return err
			}
			c.Gateway = gateway
			gateway.BaseURL, err = c.PortEndpoint(ctx, port, "http")
			return err
		}
		if errors.Is(err, io.EOF) {
			return errors.New("it does not say where it is")
		}
		if err != nil {
			return err
		}
	}
}
