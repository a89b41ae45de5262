// Package signallog keeps libsignal's own logger quiet. That one prints to the
// standard output, addresses of keys included, and is set up in a package
// variable that all users of the library share: the connector and the sandbox
// both call Quiet before they use it.
package signallog

import (
	"sync"

	"go.mau.fi/libsignal/logger"
)

//nolint:gochecknoglobals // it guards another package's global
var once sync.Once

// Quiet drops what libsignal logs, from the first call on. Every failure of the
// library is an error that its caller reports.
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
