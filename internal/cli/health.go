package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/cli/terminal"
)

// healthCommand asks a running gateway whether it can serve requests, for health checks
// of containers that have no other program.
type healthCommand struct {
	URL     string        `help:"Address of the gateway, or the whole address to ask." default:"http://127.0.0.1:8080"`
	Timeout time.Duration `help:"How long to wait for the answer." default:"3s"`
}

// readiness is what the gateway says of the messenger's web client.
type readiness struct {
	ClientVersion map[string]string `json:"clientVersion"`
}

// String says how the version is doing, in up to three lines.
func (r readiness) String() string {
	var text strings.Builder
	parts := []string{
		"web client ", "version", ", ", "source", ", newest looked up at ", "lookedUpAt",
		"\nthe platform refuses it since ", "refusedSince", "\nthe last look-up was of no use: ", "trouble",
	}
	for part := range slices.Chunk(parts, 2) {
		if value := r.ClientVersion[part[1]]; value != "" {
			text.WriteString(part[0] + strings.ReplaceAll(value, "_", " "))
		}
	}
	return text.String()
}

// Run fails unless the gateway answers that it is ready.
func (c healthCommand) Run(ctx context.Context, t terminal.Terminal) error {
	if !terminal.IsWebAddress(c.URL) {
		return terminal.WrongUsage("--url %q needs http:// or https:// and a host, for example http://127.0.0.1:8080", c.URL)
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
	var whole json.RawMessage
	var state readiness
	if json.NewDecoder(response.Body).Decode(&whole) != nil || json.Unmarshal(whole, &state) != nil || state.ClientVersion["version"] == "" {
		return t.Print(map[string]string{"status": "ok"}, "ok") // an address that says less
	}
	return t.Print(whole, "ok\n"+state.String())
}
