// Package whatsapp is the connector: it implements the gateway's Session with whatsmeow.
// Only it and its subpackages import whatsmeow's client.
//
// It knows an address and a root key, and not whether the messenger's platform or the
// sandbox is there. It keeps the keys of linked devices, as rows of the gateway's database,
// and nothing else. What a session receives is passed on before the platform gets the
// acknowledgement.
package whatsapp

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/required"
	"github.com/recado-project/recado/internal/whatsapp/files"
	"github.com/recado-project/recado/internal/whatsapp/keys"
	"github.com/recado-project/recado/internal/whatsapp/line"
	"github.com/recado-project/recado/internal/whatsapp/transport"
	"github.com/recado-project/recado/internal/whatsapp/version"
	"github.com/recado-project/recado/internal/whatsapp/wire"
)

// Connector opens sessions on one platform. It is safe for concurrent use.
type Connector struct {
	Encoder wire.Encoder // of the contents of messages

	config    Config
	keys      *keys.Keys
	direct    route // of all sessions without a proxy
	versions  *version.Chooser
	logins    chan struct{}
	histories chan struct{} // the place of the session that reads a history
	places    files.Places
	running   sync.WaitGroup
	clockOff  atomic.Pointer[time.Duration] // nil: not compared yet
}

var _ gateway.Connector = (*Connector)(nil)

// New makes a connector. A process can use platforms of one root key only: whatsmeow trusts
// one.
func New(config Config) (*Connector, error) {
	if err := required.Check("whatsapp", config, "ClientVersion", "MachineClock", "Now", "ProxyGuard", "RootKey"); err != nil {
		return nil, err
	}
	config = config.withDefaults()
	client, err := transport.NewClient(config.PlatformURL)
	if err != nil {
		return nil, err
	}
	if err := setProcess(config); err != nil {
		return nil, err
	}
	devices, err := keys.New(keys.Config{Store: config.Keys, Log: log{config.Logger}, Now: config.Now})
	if err != nil {
		return nil, fmt.Errorf("whatsapp: %w", err)
	}
	versions, err := version.New(version.Config{
		Store: config.Keys, Logger: config.Logger, Now: config.Now, Set: config.ClientVersion,
		Every: config.LookUpEvery, Patience: config.LookUpTimeout, PauseMin: config.LookUpPauseMin, PauseMax: config.LookUpPauseMax,
	})
	if err != nil {
		return nil, fmt.Errorf("whatsapp: %w", err)
	}
	other := func(ctx context.Context, jid types.JID) types.JID {
		return line.OtherAddress(ctx, devices.People(), jid)
	}
	return &Connector{
		Encoder:   wire.NewEncoder(other),
		config:    config,
		keys:      devices,
		direct:    *newRoute(client, config.SilenceTimeout),
		versions:  versions,
		logins:    make(chan struct{}, config.ConnectAtOnce),
		histories: make(chan struct{}, 1),
		places:    files.NewPlaces(),
	}, nil
}

// Run looks up which version of the web client sessions should claim to be, and compares the
// clock with the platform's, until ctx ends.
// Sessions need it: one whose version is refused waits for its answer.
func (c *Connector) Run(ctx context.Context) error {
	var comparing sync.WaitGroup
	defer comparing.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	comparing.Go(func() { c.compareClocks(ctx) })
	if err := c.versions.Run(ctx); err != nil {
		return fmt.Errorf("whatsapp: %w", err)
	}
	return nil
}

// Ready is closed when Run knows the version that sessions should start with.
func (c *Connector) Ready() <-chan struct{} { return c.versions.Ready() }

// ClientVersion says which version of the web client sessions claim to be.
func (c *Connector) ClientVersion() gateway.ClientVersion { return c.versions.Report() }

// ParseVersion reads a version of the web client, such as 2.3000.1234567.
func ParseVersion(text string) (version.Version, error) { return version.Parse(text) }

// Close waits until all sessions have ended; they must have been closed, or be
// over by themselves.
func (c *Connector) Close() {
	c.running.Wait()
	c.direct.close()
}

// Open prepares a session (gateway.Connector).
func (c *Connector) Open(
	ctx context.Context, instance gateway.Instance, lifecycle gateway.Lifecycle, receiver gateway.Receiver,
) (gateway.SupervisedSession, error) {
	route, err := c.routeOf(instance.Proxy)
	if err != nil {
		return nil, err
	}
	own, err := c.keys.Load(ctx, instance.ID, instance.Device)
	if err != nil {
		return nil, fmt.Errorf("whatsapp: %w", err)
	}
	return newSession(c, gateway.TenureOf(ctx), instance, route, own, lifecycle, receiver), nil //nolint:contextcheck // a session outlives the request that opens it
}

// routeOf returns the way to the platform that all instances without a proxy share, or
// makes the one through a proxy.
func (c *Connector) routeOf(proxy gateway.Proxy) (*route, error) {
	if proxy == "" {
		return &c.direct, nil
	}
	client, err := transport.NewProxyClient(c.config.PlatformURL, proxy, c.config.ProxyGuard)
	if err != nil {
		return nil, fmt.Errorf("whatsapp: %w", err)
	}
	return newRoute(client, c.config.SilenceTimeout), nil
}

// CheckProxy reaches the platform through a proxy (gateway.Connector).
func (c *Connector) CheckProxy(ctx context.Context, proxy gateway.Proxy) error {
	route, err := c.routeOf(proxy)
	if err != nil {
		return err
	}
	defer route.close()
	return transport.Check(ctx, route.client)
}

// route is a way to the platform.
type route struct {
	client *http.Client // for websockets
	media  *http.Client // for files
}

func newRoute(client *http.Client, silence time.Duration) *route {
	return &route{client: client, media: transport.GuardSilence(client, silence)}
}

// close ends the connections that nobody uses.
func (r *route) close() { r.client.CloseIdleConnections() }

// Forget removes keys (gateway.Connector).
func (c *Connector) Forget(ctx context.Context, device string) error {
	if err := c.keys.Forget(ctx, device); err != nil {
		return fmt.Errorf("whatsapp: %w", err)
	}
	return nil
}

// ImportKeys copies the keys of all devices from a database with whatsmeow's own tables
// to a store, and returns how many devices it has copied. dialect is whatsmeow's name of
// the kind of database: sqlite3 or postgres. A device that the store has already is left
// out, so that the import can be repeated.
func ImportKeys(ctx context.Context, db keys.Querier, dialect string, to keys.Store) (int, error) {
	devices, err := keys.Import(ctx, db, dialect, to)
	if err != nil {
		return devices, fmt.Errorf("whatsapp: %w", err)
	}
	return devices, nil
}
