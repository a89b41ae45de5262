// Package whatsapp is the connector: it puts whatsmeow behind the gateway's
// Session port. It is the only room that imports whatsmeow's client.
//
// It knows an address and a root key, and not what lies there: the messenger's
// platform or the sandbox. It keeps the sessions' keys in a database of
// whatsmeow's own layout and nothing else; what a session receives is handed on
// before the platform is told so.
package whatsapp

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"go.mau.fi/whatsmeow/proto/waCompanionReg"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/store/sqlstore"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/signallog"
	"github.com/recado-project/recado/internal/whatsapp/keys"
)

// Config is what a connector can be told. The zero value of every field but
// Logger means the default.
type Config struct {
	// PlatformURL is the websocket of a platform other than the messenger's own:
	// ws://host:port or wss://host:port, with or without the path /ws/chat.
	PlatformURL string
	// RootKey signs the certificates of that platform.
	RootKey *[32]byte
	// ClientVersion is the version of the messenger's web client that we say we
	// are; the default is whatsmeow's.
	ClientVersion *[3]uint32

	// ConnectTimeout is how long it may take to reach the platform: the name, TCP,
	// TLS and the websocket together (20 s). The handshake that follows has as much.
	ConnectTimeout time.Duration
	// SilenceTimeout is how long the media host may send nothing in the middle of a
	// file (30 s).
	SilenceTimeout time.Duration
	// SendTimeout is how long the platform may take to acknowledge a message
	// (30 s).
	SendTimeout time.Duration
	// FirstCode and NextCodes are how long the first code to scan and each of
	// those after it are shown (60 s, 20 s; the platform's own habit).
	FirstCode, NextCodes time.Duration
	// ReconnectMin and ReconnectMax bound the pause before a connection is made
	// anew (1 s, 1 min). The first try comes at once.
	ReconnectMin, ReconnectMax time.Duration
	// ConnectAtOnce is how many sessions may log in at the same time (64).
	ConnectAtOnce int

	// MaxMediaBytes bounds the file of a message that is fetched (100 MiB).
	MaxMediaBytes int64
	// TempDir is the folder of files in work; empty means the machine's own.
	TempDir string

	// HistoryMaxBytes bounds the packed size of a history that a phone hands over
	// when it is linked; bigger ones are left (64 MiB).
	HistoryMaxBytes int64
	// HistoryPerChat is how many messages of each chat are taken from it, the
	// newest (50); none where it is negative.
	HistoryPerChat int

	// SyncKeys makes what was written to the keys' database safe from a loss of
	// power; nil where every commit is. It is called where going back would do
	// harm: a key that was used for sending and is used again makes the recipient
	// drop the message. What is received may go back: it is read once more.
	SyncKeys func(ctx context.Context) error

	Now    func() time.Time
	Logger *slog.Logger
}

// Dialect names the database of the sessions' keys.
type Dialect string

// The dialects that the keys can be kept in.
const (
	SQLite     Dialect = "sqlite3"
	PostgreSQL Dialect = "postgres"
)

// Connector opens sessions on one platform. It is safe for concurrent use.
type Connector struct {
	config    Config
	container *sqlstore.Container
	client    *http.Client // of all sessions, for websockets
	media     *http.Client // of all sessions, for files
	logins    chan struct{}
	histories chan struct{} // held by who reads a history
	running   sync.WaitGroup
}

var (
	_ gateway.Connector = (*Connector)(nil)
	_ gateway.Encoder   = (*Connector)(nil)
)

// New makes a connector whose keys lie in db, bringing that database's tables up
// to date. A process can talk to platforms of one root key only: whatsmeow
// trusts one.
func New(ctx context.Context, db *sql.DB, dialect Dialect, config Config) (*Connector, error) {
	config = config.withDefaults()
	client, err := newHTTPClient(config.PlatformURL)
	if err != nil {
		return nil, err
	}
	if err := setProcess(config); err != nil {
		return nil, err
	}
	container := sqlstore.NewWithDB(db, string(dialect), newLog(config.Logger))
	if err := container.Upgrade(ctx); err != nil {
		return nil, fmt.Errorf("whatsapp: bring the sessions' tables up to date: %w", err)
	}
	return &Connector{
		config:    config,
		container: container,
		client:    client,
		media:     &http.Client{Transport: silenceGuard{next: client.Transport, limit: config.SilenceTimeout}},
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

func (c Config) withDefaults() Config {
	for _, d := range []struct {
		value    *time.Duration
		standard time.Duration
	}{
		{&c.ConnectTimeout, 20 * time.Second},
		{&c.SilenceTimeout, 30 * time.Second},
		{&c.SendTimeout, 30 * time.Second},
		{&c.FirstCode, time.Minute},
		{&c.NextCodes, 20 * time.Second},
		{&c.ReconnectMin, time.Second},
		{&c.ReconnectMax, time.Minute},
	} {
		if *d.value == 0 {
			*d.value = d.standard
		}
	}
	if c.ConnectAtOnce == 0 {
		c.ConnectAtOnce = 64
	}
	if c.MaxMediaBytes == 0 {
		c.MaxMediaBytes = 100 << 20
	}
	if c.HistoryMaxBytes == 0 {
		c.HistoryMaxBytes = 64 << 20
	}
	if c.HistoryPerChat == 0 {
		c.HistoryPerChat = 50
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.SyncKeys == nil {
		c.SyncKeys = func(context.Context) error { return nil }
	}
	return c
}

// process guards what whatsmeow and libsignal keep once per process.
//
//nolint:gochecknoglobals // it guards other packages' globals
var process struct {
	sync.Mutex
	set     bool
	rootKey [32]byte
	version [3]uint32
}

// setProcess sets the globals of whatsmeow and libsignal, once: sessions read
// them without a lock, so they never change afterwards.
func setProcess(config Config) error {
	process.Lock()
	defer process.Unlock()
	rootKey, version := trustedRoot(config), clientVersion(config)
	if process.set {
		if process.rootKey != rootKey || process.version != version {
			return errors.New("whatsapp: this process already talks to a platform with another root key or client version")
		}
		return nil
	}
	process.set, process.rootKey, process.version = true, rootKey, version
	useRoot(rootKey)
	store.SetWAVersion(version)
	// What the phone lists under "linked devices".
	store.SetOSInfo("Recado", [3]uint32{1, 0, 0})
	store.DeviceProps.PlatformType = waCompanionReg.DeviceProps_DESKTOP.Enum()
	signallog.Quiet()
	return nil
}

func clientVersion(config Config) [3]uint32 {
	if config.ClientVersion != nil {
		return *config.ClientVersion
	}
	return store.GetWAVersion()
}
