package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"github.com/google/renameio/v2/maybe"

	"github.com/recado-project/recado/internal/access"
	"github.com/recado-project/recado/internal/cli/demo"
	"github.com/recado-project/recado/internal/cli/shortlog"
	"github.com/recado-project/recado/internal/media"
	"github.com/recado-project/recado/internal/sandbox"
	"github.com/recado-project/recado/internal/server"
)

// devCommand runs the gateway and a sandbox in one process.
type devCommand struct {
	Listen    string   `help:"Address of the API and the sandbox; port 0 takes a free one." default:"127.0.0.1:8080"`
	AllowHost []string `help:"Other host names to accept in requests, besides this machine's own." name:"allow-host" placeholder:"NAME,..."`
	Data      string   `help:"Folder that keeps the state between starts." default:"recado-dev" type:"path"`
	ReadyFile string   `help:"File to write when everything is ready: addresses and keys as JSON, for tests and scripts." type:"path"`
	Empty     bool     `help:"Do not create a demo instance."`
	APIKey    string   `help:"Use this API key (16 to 255 characters) instead of a random one, for containers and CI." name:"api-key" env:"RECADO_DEV_API_KEY"`
}

// Run runs both until ctx ends, and prints the banner when they are ready.
func (c devCommand) Run(ctx context.Context, t terminal) error {
	if c.APIKey != "" {
		if why := access.Unfit(c.APIKey); why != "" {
			return wrongUsage("--api-key %s", why) // before anything is created
		}
	}
	logger, ready := c.logger(t)
	warned := t
	warned.logger = logger
	warnBeyondLoopback(ctx, warned, c.Listen)
	s, err := server.New(ctx, server.Config{
		Listen: c.Listen, AllowHosts: c.AllowHost, DataDir: c.Data, Version: version(), Logger: logger,
		Sandbox: &sandbox.Config{Logger: logger},
		// People try files and endpoints on this machine first.
		Media: media.Config{AllowPrivate: true}, AllowPrivateURLs: true,
	})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() {
		ended <- s.Run(ctx)
		stop() // ends the preparations if the server fails meanwhile
	}()
	if err := c.prepare(ctx, s, t); err != nil {
		stop()
		return errors.Join(err, <-ended)
	}
	ready()
	return <-ended
}

// prepare makes the demo, and prints the banner.
func (c devCommand) prepare(ctx context.Context, s *server.Server, t terminal) error {
	made, err := demo.Prepare(ctx, s, c.Data, c.APIKey, c.Empty)
	if err != nil {
		return err
	}
	account, err := s.Access().EnsureAccount(ctx, demo.Account)
	if err != nil {
		return err
	}
	link, err := s.Users().DevLink(ctx, account.ID)
	if err != nil {
		return err
	}
	base := clickable(c.Listen, s.BaseURL())
	ready := newReadyFile(base, made, base+link)
	if c.ReadyFile != "" {
		if err := c.writeReadyFile(ready); err != nil {
			return err
		}
	}
	if t.json {
		return t.print(ready, "")
	}
	c.banner(t, ready.DashboardURL, base, made)
	return nil
}

// logger is the terminal's logger. For a person at a terminal it writes short lines,
// and only warnings until ready is called after the banner.
func (devCommand) logger(t terminal) (logger *slog.Logger, ready func()) {
	if t.log.Format != "auto" || !t.errIsTTY {
		return t.logger, func() {}
	}
	level := new(slog.LevelVar)
	level.Set(max(slog.LevelWarn, t.log.level()))
	return slog.New(shortlog.New(t.err, level, t.errIsTTY)), func() { level.Set(t.log.level()) }
}

// readyFile is the JSON for programs that start this one.
type readyFile struct {
	BaseURL        string `json:"baseUrl"`
	APIKey         string `json:"apiKey"`
	PartnerKey     string `json:"partnerKey"`
	InstanceID     string `json:"instanceId"`
	InstanceNumber string `json:"instanceNumber"`
	// DashboardURL is signed in already, as long as the program runs. There is no
	// password: it is empty.
	DashboardURL      string `json:"dashboardUrl"`
	DashboardPassword string `json:"dashboardPassword"`
}

func newReadyFile(base string, made demo.Demo, dashboard string) readyFile {
	ready := readyFile{
		BaseURL: base, APIKey: made.APIKey, PartnerKey: made.PartnerKey, InstanceID: made.InstanceID,
		DashboardURL: dashboard,
	}
	if made.InstanceID != "" {
		ready.InstanceNumber = demo.Number
	}
	return ready
}

func (c devCommand) writeReadyFile(ready readyFile) error {
	content, err := json.MarshalIndent(ready, "", "  ") //nolint:gosec // the keys are what the file is for; it is 0600
	if err == nil {
		// Where the system can do it, written aside and renamed, so that nobody reads half a file.
		err = maybe.WriteFile(c.ReadyFile, append(content, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("write ready file: %w", err)
	}
	return nil
}

// banner prints the addresses and keys, and three things to try, in lines of at most
// 80 columns.
func (c devCommand) banner(t terminal, dashboard, base string, made demo.Demo) {
	t.printf("\nRecado is ready. Everything runs on this machine; no message leaves it.\n\n")
	t.printf("The dashboard, signed in already (keep the link to yourself):\n\n")
	t.printf("%s\n\n", dashboard)
	t.printf("  API           %s/api   (reference: /docs)\n", base)
	t.printf("  Phones        %s/sandbox   (control API: /sandbox/api)\n", base)
	t.printf("  API key       %s\n", made.APIKey)
	t.printf("  Partner key   %s\n", made.PartnerKey)
	if made.InstanceID != "" {
		t.printf("  Instance      %s\n", made.InstanceID)
		t.printf("                (demo, linked to the phone %s)\n", demo.Number)
	}
	t.printf("  Data          %s\n", c.Data)
	t.printf("                (kept between starts; delete it to start anew)\n\n")
	if made.InstanceID == "" {
		t.printf("No instance was created. Create one, in another terminal:\n\n")
		t.exports(base, made.PartnerKey)
		t.printf("recado instances create shop\n\n")
		return
	}
	t.printf("Send a message, from another terminal:\n\n")
	t.printf("curl -s -H 'content-type: application/json' \\\n")
	t.printf("  -H 'x-api-key: %s' \\\n", made.APIKey)
	t.printf("  -d '{\"to\":\"%s\",\"message\":\"Oi!\"}' \\\n", demo.Recipient)
	t.printf("  %s/api/message/%s/text\n\n", base, made.InstanceID)
	t.printf("See it on the phone that got it, and answer:\n\n")
	t.printf("%s/sandbox?left=%s\n\n", base, demo.Recipient)
	t.printf("Watch the messages, from the first one on (Ctrl-C ends it):\n\n")
	t.printf("curl -sNG -H 'Last-Event-ID: 0' \\\n")
	t.printf("  -H 'x-api-key: %s' \\\n", made.APIKey)
	t.printf("  -d types=message.received,message.sent,message.status \\\n")
	t.printf("%s/api/instances/%s/events\n\n", base, made.InstanceID)
	t.printf("The same without curl:\n\n")
	t.exports(base, made.APIKey)
	t.printf("recado send text --instance demo --to %s 'Oi!'\n", demo.Recipient)
	t.printf("recado events --instance demo --after 0\n\n")
	t.printf("Ctrl-C stops.\n")
}

// exports prints the variables that the other commands read.
func (t terminal) exports(base, key string) {
	t.printf("export RECADO_URL=%s\n", base)
	t.printf("export RECADO_API_KEY=%s\n", key)
}
