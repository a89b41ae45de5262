// The settings that change while the program runs.

package server

import (
	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/messaging"
)

// Change takes over the settings that can change while the program runs: Limits but for Bodies and Requests,
// EditWindow, DeleteWindow, LinkLifetime, KeepMessages, MaxMessages, KeepDelivered and
// KeepUndelivered. It leaves everything else as it is. If something is wrong with them it
// changes nothing. It is safe for concurrent use.
func (s *Server) Change(config Config) error {
	if err := config.messages().Check(); err != nil {
		return err
	}
	s.changed.Store(&config)
	return nil
}

// RefusedSettings says whether the last reload of the settings has changed nothing, because
// something was wrong with them. It shows in the metrics. It is safe for concurrent use.
func (s *Server) RefusedSettings(refused bool) { s.refused.Store(refused) }

// settings are those of now. Only what Change names may be read from them.
func (s *Server) settings() *Config { return s.changed.Load() }

// messages are the limits of messages.
func (c *Config) messages() messaging.Limits {
	return messaging.Limits{
		EditWindow: c.EditWindow, DeleteWindow: c.DeleteWindow, LinkLifetime: c.LinkLifetime,
		KeepMessages: c.KeepMessages, MaxMessages: c.MaxMessages,
	}
}

// keep is how long events are kept.
func (c *Config) keep() eventlog.Keep {
	return eventlog.Keep{Delivered: c.KeepDelivered, Undelivered: c.KeepUndelivered}
}
