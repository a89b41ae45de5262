package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// healthCommand asks a running gateway whether it can serve requests, for health checks
// of containers that have no other program.
type healthCommand struct {
	URL     string        `help:"Address of the gateway, or the whole address to ask." default:"http://127.0.0.1:8080"`
	Timeout time.Duration `help:"How long to wait for the answer." default:"3s"`
}

// Run fails unless the gateway answers that it is ready.
func (c healthCommand) Run(ctx context.Context, t terminal) error {
	if !isWebAddress(c.URL) {
		return wrongUsage("--url %q needs http:// or https:// and a host, for example http://127.0.0.1:8080", c.URL)
	}
	address := c.URL
	if rest := strings.TrimPrefix(strings.TrimPrefix(address, "http://"), "https://"); !strings.Contains(strings.TrimRight(rest, "/"), "/") {
		address = strings.TrimRight(address, "/") + "/readyz"
	}
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return fmt.Errorf("ask for health: %w", err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("the gateway at %s did not answer within %s", c.URL, c.Timeout)
		}
		return fmt.Errorf("the gateway can't be reached: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the gateway at %s is not ready: it answered %s", c.URL, response.Status)
	}
	return t.print(map[string]string{"status": "ok"}, "ok")
}
