// Package whatsapp is the connector: it implements the gateway's Session with whatsmeow.
// Only it and its subpackages import whatsmeow's client.
//
// It knows an address and a root key, and not whether the messenger's platform or the
// sandbox is there. It stores the sessions' keys, in a database of whatsmeow's own layout,
// and nothing else. What a session receives is passed on before the platform gets the
// acknowledgement.
package whatsapp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/store/sqlstore"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/whatsapp/keys"
	"github.com/recado-project/recado/internal/whatsapp/transport"
	"github.com/recado-project/recado/internal/whatsapp/wire"
)

// Dialect names the database of the sessions' keys.
type Dialect string

// The dialects that the keys can be kept in.
const (
	SQLite     Dialect = "sqlite3"
	PostgreSQL Dialect = "postgres"
)

// Connector opens sessions on one platform. It is safe for concurrent use.
type Connector struct {
	wire.Encoder

	config    Config
	container *sqlstore.Container
	client    *http.Client // of all sessions, for websockets
	media     *http.Client // of all sessions, for files
	logins    chan struct{}
	histories chan struct{} // the place of the session that reads a history
	running   sync.WaitGroup
}

var (
	_ gateway.Connector = (*Connector)(nil)
	_ gateway.Encoder   = (*Connector)(nil)
)

// New makes a connector and brings the tables of its database up to date. A process can use
// platforms of one root key only: whatsmeow trusts one.
func New(ctx context.Context, config Config) (*Connector, error) {
	if config.DB == nil || config.Dialect == "" || config.Logger == nil {
		return nil, errors.New("whatsapp: a part is missing")
	}
	config = config.withDefaults()
	client, err := transport.NewClient(config.PlatformURL)
	if err != nil {
		return nil, err
	}
	if err := setProcess(config); err != nil {
		return nil, err
	}
	container := sqlstore.NewWithDB(config.DB, string(config.Dialect), newLog(config.Logger))
	if err := container.Upgrade(ctx); err != nil {
		return nil, fmt.Errorf("whatsapp: bring the sessions' tables up to date: %w", err)
	}
	other := func(ctx context.Context, jid types.JID) types.JID { return otherAddress(ctx, container.LIDMap, jid) }
	return &Connector{
		Encoder:   wire.NewEncoder(other),
		config:    config,
		container: container,
		client:    client,
		media:     transport.GuardSilence(client, config.SilenceTimeout),
		logins:    make(chan struct{}, config.ConnectAtOnce),
		histories: make(chan struct{}, 1),
	}, nil
}

// Close waits until all sessions have ended; they must have been closed, or be
// over by themselves.
func (c *Connector) Close() {
	c.running.Wait()
	c.client.CloseIdleConnections()
}

// Open prepares a session (gateway.Connector).
func (c *Connector) Open(
	ctx context.Context, device string, lifecycle gateway.Lifecycle, receiver gateway.Receiver,
) (gateway.Session, error) {
	own, err := c.load(ctx, device)
	if err != nil {
		return nil, err
	}
	return newSession(c, own, lifecycle, receiver), nil
}

// Forget removes keys (gateway.Connector).
func (c *Connector) Forget(ctx context.Context, device string) error {
	jid, err := types.ParseJID(device)
	if err != nil {
		return fmt.Errorf("whatsapp: forget keys: %w", err)
	}
	if err := c.container.DeleteDevice(ctx, &store.Device{ID: &jid}); err != nil {
		return fmt.Errorf("whatsapp: forget keys: %w", err)
	}
	return nil
}

// load loads the keys that device names, or makes new ones.
func (c *Connector) load(ctx context.Context, device string) (*store.Device, error) {
	return keys.Load(ctx, c.container, device, c.config.SyncKeys)
}
