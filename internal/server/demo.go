package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"

	"github.com/recado-project/recado/internal/access"
	"github.com/recado-project/recado/internal/gateway"
)

const (
	demoName = "demo"

	// DemoFile is kept in the data folder of a server that has prepared the demo.
	DemoFile = "demo.json"
	// DemoAccount is the account that the demo's keys and instance belong to.
	DemoAccount = "demo"

	// DemoNumber is the phone that the demo instance is linked to.
	DemoNumber = "5511999990100"
	// DemoRecipient is a phone of the sandbox to write to.
	DemoRecipient = "5511988887766"
)

// Demo is what somebody who tries the gateway needs.
type Demo struct {
	APIKey     string `json:"apiKey"`
	PartnerKey string `json:"partnerKey"`
	InstanceID string `json:"instanceId"` // empty where no instance was asked for
}

// PrepareDemo makes the keys, and unless empty is set the linked instance, that
// the sandbox is tried with; those of an earlier start are found again. It
// returns once the instance is connected. The server must be running and have a
// sandbox. ownKey, where not empty, is the API key instead of a random one.
func (s *Server) PrepareDemo(ctx context.Context, ownKey string, empty bool) (Demo, error) {
	demo, err := s.loadDemo()
	if err != nil {
		return Demo{}, err
	}
	if err := s.prepareKeys(ctx, &demo, ownKey); err != nil {
		return Demo{}, fmt.Errorf("server: prepare demo keys: %w", err)
	}
	if !empty {
		if err := s.prepareInstance(ctx, &demo); err != nil {
			return Demo{}, fmt.Errorf("server: prepare demo instance: %w", err)
		}
	}
	return demo, nil
}

func (s *Server) prepareKeys(ctx context.Context, demo *Demo, ownKey string) error {
	account, err := s.access.EnsureAccount(ctx, DemoAccount)
	if err != nil {
		return err
	}
	if ownKey != "" {
		demo.APIKey = ownKey
	}
	for _, key := range []struct {
		secret  *string
		name    string
		partner bool
	}{{&demo.APIKey, "demo", false}, {&demo.PartnerKey, "demo partner", true}} {
		if *key.secret != "" {
			_, err := s.access.Authenticate(ctx, *key.secret)
			if err == nil {
				continue
			}
			if gateway.KindOf(err) != gateway.Unauthorized {
				return err
			}
		}
		_, secret, err := s.access.CreateKey(ctx, access.KeyParams{
			AccountID: account.ID, Name: key.name, Partner: key.partner, Secret: *key.secret,
		})
		if err != nil {
			return err
		}
		*key.secret = secret
	}
	return s.saveDemo(*demo)
}

func (s *Server) prepareInstance(ctx context.Context, demo *Demo) error {
	instance, err := s.demoInstance(ctx, demo)
	if err != nil {
		return err
	}
	switch {
	case instance.Status == gateway.StatusPaymentPending:
		if _, err := s.instances.SetPayment(ctx, instance.ID, false); err != nil {
			return err
		}
		fallthrough
	case !instance.Linked():
		if err := s.linkDemo(ctx, instance.ID); err != nil {
			return err
		}
	case instance.Status == gateway.StatusManuallyStopped:
		if err := s.instances.Restart(ctx, instance.ID); err != nil {
			return err
		}
	}
	return s.instances.AwaitConnected(ctx, instance.ID)
}

// demoInstance finds the instance of an earlier start, or makes one.
func (s *Server) demoInstance(ctx context.Context, demo *Demo) (gateway.Instance, error) {
	if demo.InstanceID != "" {
		instance, err := s.instances.Get(ctx, demo.InstanceID)
		if err == nil || gateway.KindOf(err) != gateway.NotFound {
			return instance, err
		}
	}
	account, err := s.access.EnsureAccount(ctx, DemoAccount)
	if err != nil {
		return gateway.Instance{}, err
	}
	instance, err := s.instances.Create(ctx, account.ID, demoName)
	if err != nil {
		return gateway.Instance{}, err
	}
	demo.InstanceID = instance.ID
	return instance, s.saveDemo(*demo)
}

// linkDemo does what a person does: it asks for the code, and scans it with the
// demo phone.
func (s *Server) linkDemo(ctx context.Context, instanceID string) error {
	code, err := s.instances.QR(ctx, instanceID)
	if gateway.KindOf(err) == gateway.Conflict {
		return nil // it is linked by now
	}
	if err != nil {
		return err
	}
	return s.sandbox.Linking.Scan(ctx, DemoNumber, code.Code)
}

func (s *Server) demoPath() string { return filepath.Join(s.config.DataDir, DemoFile) }

func (s *Server) loadDemo() (Demo, error) {
	content, err := os.ReadFile(s.demoPath())
	if errors.Is(err, fs.ErrNotExist) {
		return Demo{}, nil
	}
	if err != nil {
		return Demo{}, fmt.Errorf("server: read demo keys: %w", err)
	}
	var demo Demo
	if err := json.Unmarshal(content, &demo); err != nil {
		return Demo{}, fmt.Errorf("server: read demo keys in %s: %w", s.demoPath(), err)
	}
	return demo, nil
}

func (s *Server) saveDemo(demo Demo) error {
	content, err := json.MarshalIndent(demo, "", "  ") //nolint:gosec // the keys are what the file is for; it is 0600
	if err != nil {
		return fmt.Errorf("server: keep demo keys: %w", err)
	}
	if err := renameio.WriteFile(s.demoPath(), append(content, '\n'), 0o600); err != nil {
		return fmt.Errorf("server: keep demo keys: %w", err)
	}
	return nil
}
