package cli_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/url"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/cli"
	"github.com/recado-project/recado/internal/server"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/user"
)

// firstLine ends a program when it has printed its first line.
type firstLine struct {
	text strings.Builder
	stop func()
}

func (l *firstLine) Write(text []byte) (int, error) {
	defer l.stop()
	return l.text.Write(text)
}

// serve prints a link for the first owner at each start, until the owner has a password.
func TestServePrintsTheFirstLink(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	// A process talks to one platform: that of the other tests.
	g := testkit.Start(t, testkit.Options{})
	key := g.Server.Sandbox().RootKey()
	start := func() *url.URL {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		out := &firstLine{stop: cancel}
		args := []string{
			"serve", "--listen", "127.0.0.1:0", "--data", folder, "--public-url", "https://recado.example.org/", "--json", "--log-level", "error",
			"--platform-url", "ws" + strings.TrimPrefix(g.BaseURL, "http"), "--platform-key", hex.EncodeToString(key[:]),
		}
		if code := cli.Run(ctx, args, strings.NewReader(""), out, io.Discard); code != 0 {
			t.Fatalf("exit code %d", code)
		}
		var said struct {
			DashboardURL string `json:"dashboardUrl"`
		}
		if err := json.Unmarshal([]byte(out.text.String()), &said); err != nil {
			t.Fatalf("printed %q: %v", out.text.String(), err)
		}
		link, err := url.Parse(said.DashboardURL)
		if err != nil || link.Host != "recado.example.org" {
			t.Fatalf("the dashboard is at %q (%v)", said.DashboardURL, err)
		}
		return link
	}
	first, second := start(), start()
	if first.Path != "/welcome" || second.Path != "/welcome" || first.RawQuery == second.RawQuery {
		t.Errorf("the links are %s and %s", first, second)
	}
	opened, err := store.Open(t.Context(), server.StoreConfig(folder, "", slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	users, err := user.New(user.Config{Store: opened})
	if err == nil {
		_, err = users.SetPassword(t.Context(), second.Query().Get("token"), "correct horse battery", "")
	}
	if err := errors.Join(err, opened.Close()); err != nil {
		t.Fatal(err)
	}
	if third := start(); third.Path != "" || third.RawQuery != "" {
		t.Errorf("with a password the dashboard is at %s", third)
	}
}
