package whatsapp

import (
	"log/slog"
	"time"

	"github.com/recado-project/recado/internal/whatsapp/keys"
	"github.com/recado-project/recado/internal/whatsapp/transport"
	"github.com/recado-project/recado/internal/whatsapp/version"
)

// Config is what a connector stands on. Keys and Logger are required; the zero value of
// every other field means the default.
type Config struct {
	// Keys keeps the keys of linked devices.
	Keys   keys.Store
	Logger *slog.Logger

	// PlatformURL is the websocket of a platform other than the messenger's own:
	// ws://host:port or wss://host:port, with or without the path /ws/chat.
	PlatformURL string
	// RootKey signs the certificates of that platform.
	RootKey *[32]byte
	// ProxyGuard allows the address of an instance's proxy; nil allows all.
	ProxyGuard transport.Guard
	// ClientVersion is the version of the messenger's web client that the connector
	// claims to be, and then no newer one is looked up; the default is the newest that
	// was looked up, or whatsmeow's.
	ClientVersion *version.Version
	// LookUpEvery is how often the newest version is looked up (24 h), LookUpTimeout how
	// long that may take (20 s). LookUpPauseMin and LookUpPauseMax bound the pauses between
	// look-ups while the platform refuses the version (1 min, 1 h).
	LookUpEvery, LookUpTimeout, LookUpPauseMin, LookUpPauseMax time.Duration

	// ClockEvery is how often the clock of this machine, MachineClock, is compared with the platform's
	// (15 min; the wall clock).
	ClockEvery   time.Duration
	MachineClock func() time.Time

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
	// ComparePasskeys lets somebody confirm the code of a link by passkey also where the
	// platform does not need it.
	ComparePasskeys bool
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
	// OlderTimeout is how long the phone may take to answer a request for older messages
	// (two minutes).
	OlderTimeout time.Duration

	Now func() time.Time // nil: the wall clock
}

func (c Config) withDefaults() Config {
	if c.MachineClock == nil {
		c.MachineClock = time.Now
	}
	for _, d := range []struct {
		value    *time.Duration
		standard time.Duration
	}{
		{&c.ConnectTimeout, 20 * time.Second},
		{&c.SilenceTimeout, 30 * time.Second},
		{&c.SendTimeout, 30 * time.Second},
		{&c.OlderTimeout, 2 * time.Minute},
		{&c.FirstCode, time.Minute},
		{&c.NextCodes, 20 * time.Second},
		{&c.ReconnectMin, time.Second},
		{&c.ReconnectMax, time.Minute},
		{&c.LookUpEvery, 24 * time.Hour},
		{&c.LookUpTimeout, 20 * time.Second},
		{&c.LookUpPauseMin, time.Minute},
		{&c.LookUpPauseMax, time.Hour},
		{&c.ClockEvery, 15 * time.Minute},
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
	return c
}
