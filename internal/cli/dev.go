package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/recado-project/recado/internal/access"
	"github.com/recado-project/recado/internal/cli/demo"
	"github.com/recado-project/recado/internal/cli/terminal"
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
func (c devCommand) Run(ctx context.Context, t terminal.Terminal) error {
	if c.APIKey != "" {
		if why := access.Unfit(c.APIKey); why != "" {
			return terminal.WrongUsage("--api-key %s", why) // before anything is created
		}
	}
	logger, ready := c.logger(t)
	warned := t
	warned.Logger = logger
	warnBeyondLoopback(ctx, warned, c.Listen)
	s, err := server.New(ctx, server.Config{
		Listen: c.Listen, AllowHosts: c.AllowHost, DataDir: c.Data, Version: t.Version, Logger: logger,
		Sandbox: &sandbox.Config{Logger: logger}, Dialects: server.Dialects(),
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
func (c devCommand) prepare(ctx context.Context, s *server.Server, t terminal.Terminal) error {
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
		if err := demo.WriteFile(c.ReadyFile, ready); err != nil {
			return fmt.Errorf("write ready file: %w", err)
		}
	}
	if t.JSON {
		return t.Print(ready, "")
	}
	c.banner(t, ready.DashboardURL, base, made)
	return nil
}

// logger is the terminal's logger. For a person at a terminal it writes short lines,
// and only warnings until ready is called after the banner.
func (devCommand) logger(t terminal.Terminal) (logger *slog.Logger, ready func()) {
	if t.Log.Format != "auto" || !t.ErrIsTTY {
		return t.Logger, func() {}
	}
	t.Level.Set(max(slog.LevelWarn, t.Log.Least()))
	return terminal.ShortLog(t.Err, t.Level, t.ErrIsTTY), func() { t.Level.Set(t.Log.Least()) }
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

// banner prints the addresses and keys, and three things to try, in lines of at most
// 80 columns.
func (c devCommand) banner(t terminal.Terminal, dashboard, base string, made demo.Demo) {
	t.Printf("\nRecado is ready. Everything runs on this machine; no message leaves it.\n\n")
	t.Printf("The dashboard, signed in already (keep the link to yourself):\n\n")
	t.Printf("%s\n\n", dashboard)
	t.Printf("  API           %s/api   (reference: /docs/api)\n", base)
	t.Printf("  Phones        %s/sandbox   (control API: /sandbox/api)\n", base)
	t.Printf("  API key       %s\n", made.APIKey)
	t.Printf("  Partner key   %s\n", made.PartnerKey)
	if made.InstanceID != "" {
		t.Printf("  Instance      %s\n", made.InstanceID)
		t.Printf("                (demo, linked to the phone %s)\n", demo.Number)
	}
	t.Printf("  Data          %s\n", c.Data)
	t.Printf("                (kept between starts; delete it to start anew)\n\n")
	if made.InstanceID == "" {
		t.Printf("No instance was created. Create one, in another terminal:\n\n")
		exports(t, base, made.PartnerKey)
		t.Printf("%s instances create shop\n\n", terminal.Program())
		return
	}
	t.Printf("Send a message, from another terminal:\n\n")
	t.Printf("curl -s -H 'content-type: application/json' \\\n")
	t.Printf("  -H 'x-api-key: %s' \\\n", made.APIKey)
	t.Printf("  -d '{\"to\":\"%s\",\"message\":\"Oi!\"}' \\\n", demo.Recipient)
	t.Printf("  %s/api/message/%s/text\n\n", base, made.InstanceID)
	t.Printf("See it on the phone that got it, and answer:\n\n")
	t.Printf("%s/sandbox?left=%s\n\n", base, demo.Recipient)
	t.Printf("Watch the messages, from the first one on (Ctrl-C ends it):\n\n")
	t.Printf("curl -sNG -H 'Last-Event-ID: 0' \\\n")
	t.Printf("  -H 'x-api-key: %s' \\\n", made.APIKey)
	t.Printf("  -d types=message.received,message.sent,message.status \\\n")
	t.Printf("%s/api/instances/%s/events\n\n", base, made.InstanceID)
	t.Printf("The same without curl:\n\n")
	exports(t, base, made.APIKey)
	t.Printf("%s send text --instance demo --to %s 'Oi!'\n", terminal.Program(), demo.Recipient)
	t.Printf("%s logs demo --after 0\n\n", terminal.Program())
	t.Printf("Ctrl-C stops.\n")
}

// exports prints the variables that the other commands read.
func exports(t terminal.Terminal, base, key string) {
	t.Printf("export RECADO_URL=%s\n", base)
	t.Printf("export RECADO_API_KEY=%s\n", key)
}
