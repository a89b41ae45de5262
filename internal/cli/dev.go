package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/renameio/v2"

	"github.com/recado-project/recado/internal/media"
	"github.com/recado-project/recado/internal/sandbox"
	"github.com/recado-project/recado/internal/server"
)

// devCommand runs the gateway and a sandbox in one process.
type devCommand struct {
	Listen    string   `help:"Address of the API and the sandbox; port 0 takes a free one." default:"127.0.0.1:8080"`
	AllowHost []string `help:"Further names under which it is reached; requests for other hosts than this machine are refused." name:"allow-host" placeholder:"NAME,..."`
	Data      string   `help:"Folder that keeps the state between starts." default:"recado-dev" type:"path"`
	ReadyFile string   `help:"File to write, as JSON, once everything answers: addresses and keys, for tests and scripts." type:"path"`
	Empty     bool     `help:"Create no demo instance."`
	APIKey    string   `help:"Use this API key instead of a random one, for containers and CI." name:"api-key"`
}

// Run runs both until ctx ends, and tells once they are ready.
func (c devCommand) Run(ctx context.Context, t terminal) error {
	warnBeyondLoopback(ctx, t, c.Listen)
	s, err := server.New(ctx, server.Config{
		Listen: c.Listen, AllowHosts: c.AllowHost, DataDir: c.Data, Version: version(), Logger: t.logger,
		Sandbox: &sandbox.Config{Logger: t.logger},
		// Files and endpoints on this machine are what one tries first.
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
		stop() // ends the preparations, should the server fail under them
	}()
	if err := c.prepare(ctx, s, t); err != nil {
		stop()
		return errors.Join(err, <-ended)
	}
	return <-ended
}

// prepare makes what the user needs, and tells.
func (c devCommand) prepare(ctx context.Context, s *server.Server, t terminal) error {
	demo, err := s.PrepareDemo(ctx, c.APIKey, c.Empty)
	if err != nil {
		return err
	}
	if c.ReadyFile != "" {
		if err := c.writeReadyFile(s, demo); err != nil {
			return err
		}
	}
	c.banner(t, s.BaseURL(), demo)
	return nil
}

// readyFile is what programs that start this one read.
type readyFile struct {
	BaseURL        string `json:"baseUrl"`
	APIKey         string `json:"apiKey"`
	PartnerKey     string `json:"partnerKey"`
	InstanceID     string `json:"instanceId"`
	InstanceNumber string `json:"instanceNumber"`
	// The dashboard comes later; until then both are empty.
	DashboardURL      string `json:"dashboardUrl"`
	DashboardPassword string `json:"dashboardPassword"`
}

func (c devCommand) writeReadyFile(s *server.Server, demo server.Demo) error {
	ready := readyFile{
		BaseURL: s.BaseURL(), APIKey: demo.APIKey, PartnerKey: demo.PartnerKey, InstanceID: demo.InstanceID,
	}
	if demo.InstanceID != "" {
		ready.InstanceNumber = server.DemoNumber
	}
	content, err := json.MarshalIndent(ready, "", "  ") //nolint:gosec // the keys are what the file is for; it is 0600
	if err == nil {
		// Aside and renamed: whoever waits for the file never reads half of it.
		err = renameio.WriteFile(c.ReadyFile, append(content, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("write ready file: %w", err)
	}
	return nil
}

func (c devCommand) banner(t terminal, base string, demo server.Demo) {
	t.printf("\nRecado is ready. Everything runs on this machine; no message leaves it.\n\n")
	t.printf("  API           %s/api   (reference: %s/docs)\n", base, base)
	t.printf("  Sandbox       %s/sandbox/api\n", base)
	t.printf("  API key       %s\n", demo.APIKey)
	t.printf("  Partner key   %s\n", demo.PartnerKey)
	if demo.InstanceID != "" {
		t.printf("  Instance      %s   (linked to the phone %s)\n", demo.InstanceID, server.DemoNumber)
	}
	t.printf("  Data          %s   (kept between starts; delete it to start anew)\n\n", c.Data)
	if demo.InstanceID == "" {
		t.printf("No instance was created. Create one:\n\n")
		t.printf("  recado instances create --url %s --api-key %s shop\n\n", base, demo.PartnerKey)
		return
	}
	t.printf("Send a message:\n\n")
	t.printf("  curl -s %s/api/message/%s/text -H 'x-api-key: %s' -d '{\"to\":\"%s\",\"message\":\"Oi!\"}'\n\n",
		base, demo.InstanceID, demo.APIKey, server.DemoRecipient)
	t.printf("See it on the phone that got it:\n\n")
	t.printf("  curl -s %s/sandbox/api/phones/%s/messages\n\n", base, server.DemoRecipient)
	t.printf("Watch everything that happens, from the beginning (Ctrl-C ends it):\n\n")
	t.printf("  curl -sN %s/api/instances/%s/events -H 'x-api-key: %s' -H 'Last-Event-ID: 0'\n\n", base, demo.InstanceID, demo.APIKey)
	t.printf("Ctrl-C stops.\n")
}
