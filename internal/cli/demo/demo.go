// Package demo is what `recado dev` prepares for who tries the gateway: keys, an instance,
// and the phone that it is linked to.
package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2/maybe"

	"github.com/recado-project/recado/internal/access"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/instance"
	"github.com/recado-project/recado/internal/server"
)

const (
	instanceName = "demo"

	// File is in every data folder that dev has prepared.
	File = "demo.json"
	// Account is the name of the account of the demo's keys and instance.
	Account = "demo"

	// Number is the phone that the demo instance is linked to.
	Number = "5511999990100"
	// Recipient is a phone of the sandbox to write to.
	Recipient = "5511988887766"
)

// Demo is what somebody needs to try the gateway with its sandbox.
type Demo struct {
	APIKey     string `json:"apiKey"`
	PartnerKey string `json:"partnerKey"`
	InstanceID string `json:"instanceId"` // empty if no instance was asked for
}

// maker prepares a demo.
type maker struct {
	server *server.Server
	path   string // of the file that keeps the demo between starts
	demo   Demo
}

// Prepare makes the keys and, unless empty is set, the linked instance for trying
// the sandbox; those of an earlier start in the same data folder are used again. It
// returns when the instance is connected. The server must be running and have a
// sandbox. ownKey, if not empty, is the API key instead of a random one.
func Prepare(ctx context.Context, s *server.Server, folder, ownKey string, empty bool) (Demo, error) {
	m := &maker{server: s, path: filepath.Join(folder, File)}
	if err := m.load(); err != nil {
		return Demo{}, err
	}
	if err := m.prepareKeys(ctx, ownKey); err != nil {
		return Demo{}, fmt.Errorf("prepare demo keys: %w", err)
	}
	if !empty {
		if err := m.prepareInstance(ctx); err != nil {
			return Demo{}, fmt.Errorf("prepare demo instance: %w", err)
		}
	}
	return m.demo, nil
}

func (m *maker) prepareKeys(ctx context.Context, ownKey string) error {
	account, err := m.server.Access().EnsureAccount(ctx, Account)
	if err != nil {
		return err
	}
	if ownKey != "" {
		m.demo.APIKey = ownKey
	}
	for _, key := range []struct {
		secret  *string
		name    string
		partner bool
	}{{&m.demo.APIKey, "demo", false}, {&m.demo.PartnerKey, "demo partner", true}} {
		if *key.secret != "" {
			_, err := m.server.Access().Authenticate(ctx, *key.secret)
			if err == nil {
				continue
			}
			if gateway.KindOf(err) != gateway.Unauthorized {
				return err
			}
		}
		_, secret, err := m.server.Access().CreateKey(ctx, access.KeyParams{
			AccountID: account.ID, Name: key.name, Partner: key.partner, Secret: *key.secret,
		})
		if err != nil {
			return err
		}
		*key.secret = secret
	}
	return m.save()
}

func (m *maker) prepareInstance(ctx context.Context) error {
	found, err := m.ensureInstance(ctx)
	if err != nil {
		return err
	}
	switch {
	case found.Status == gateway.StatusPaymentPending:
		if _, err := m.server.Instances().SetPayment(ctx, found.ID, false); err != nil {
			return err
		}
		fallthrough
	case !found.Linked():
		if err := m.link(ctx, found.ID); err != nil {
			return err
		}
	case found.Status == gateway.StatusManuallyStopped:
		if err := m.server.Instances().Restart(ctx, found.ID); err != nil {
			return err
		}
	}
	return m.server.Instances().AwaitConnected(ctx, found.ID)
}

// ensureInstance finds the instance of an earlier start, or creates one.
func (m *maker) ensureInstance(ctx context.Context) (gateway.Instance, error) {
	if m.demo.InstanceID != "" {
		found, err := m.server.Instances().Get(ctx, m.demo.InstanceID)
		if err == nil || gateway.KindOf(err) != gateway.NotFound {
			return found, err
		}
	}
	account, err := m.server.Access().EnsureAccount(ctx, Account)
	if err != nil {
		return gateway.Instance{}, err
	}
	made, err := m.server.Instances().Create(ctx, account.ID, instance.Draft{Name: instanceName})
	if err != nil {
		return gateway.Instance{}, err
	}
	m.demo.InstanceID = made.ID
	return made, m.save()
}

// link does what a person would do: it asks for the code and scans it with the demo
// phone.
func (m *maker) link(ctx context.Context, instanceID string) error {
	code, err := m.server.Instances().QR(ctx, instanceID)
	if gateway.KindOf(err) == gateway.Conflict {
		return nil // it is linked already
	}
	if err != nil {
		return err
	}
	return m.server.Sandbox().Linking.Scan(ctx, Number, code.Code)
}

func (m *maker) load() error {
	content, err := os.ReadFile(m.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read demo keys: %w", err)
	}
	if err := json.Unmarshal(content, &m.demo); err != nil {
		return fmt.Errorf("read demo keys in %s: %w", m.path, err)
	}
	return nil
}

func (m *maker) save() error {
	if err := WriteFile(m.path, m.demo); err != nil {
		return fmt.Errorf("save demo keys: %w", err)
	}
	return nil
}

// WriteFile writes a value with keys as JSON, for this user alone. Where the system can do it, it writes another
// file and renames that, so that nobody reads half of it.
func WriteFile(path string, value any) error {
	content, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return maybe.WriteFile(path, append(content, '\n'), 0o600)
}
