// Package signallog keeps libsignal's own logger quiet. That logger prints to the
// standard output, including the addresses of keys. It is a package variable of the
// library, so the connector and the sandbox both call Quiet before they use libsignal.
package signallog

import (
	"sync"

	"go.mau.fi/libsignal/logger"
)

//nolint:gochecknoglobals // it guards another package's global
var once sync.Once

// Quiet drops everything that libsignal logs, from the first call on. Nothing is lost:
// every failure of the library is also an error, which its caller reports.
func Quiet() {
	once.Do(func() {
		var quiet logger.Loggable = silence{}
		logger.Setup(&quiet)
	})
}

type silence struct{}

func (silence) Debug(string, string)   {}
func (silence) Info(string, string)    {}
func (silence) Warning(string, string) {}
func (silence) Error(string, string)   {}
func (silence) Configure(string)       {}
