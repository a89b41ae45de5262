// Settings that whatsmeow and libsignal have once for the whole process.

package whatsapp

import (
	"errors"
	"sync"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waCompanionReg"
	"go.mau.fi/whatsmeow/store"

	"github.com/recado-project/recado/internal/signallog"
	"github.com/recado-project/recado/internal/whatsapp/sessionrecord"
)

// process guards the globals of whatsmeow and libsignal.
//
//nolint:gochecknoglobals // it guards other packages' globals
var process struct {
	sync.Mutex
	set     bool
	rootKey [32]byte
}

// Sessions keep themselves alive (keepalive.go), and not the library, which would do it
// for each at a moment of its own. Sessions read this without a lock.
func init() { //nolint:gochecknoinits // before there is any session in the process
	const never = 100 * 365 * 24 * time.Hour
	whatsmeow.KeepAliveIntervalMin, whatsmeow.KeepAliveIntervalMax = never, never+time.Second
}

// setProcess sets the globals of whatsmeow and libsignal, once: sessions read
// them without a lock, so they never change afterwards.
func setProcess(config Config) error {
	process.Lock()
	defer process.Unlock()
	rootKey := TrustedRoot(config)
	if process.set {
		if process.rootKey != rootKey {
			return errors.New("whatsapp: this process already talks to a platform with another root key")
		}
		return nil
	}
	process.set, process.rootKey = true, rootKey
	useRoot(rootKey)
	// What the phone lists under "linked devices".
	store.SetOSInfo("Recado", [3]uint32{1, 0, 0})
	store.DeviceProps.PlatformType = waCompanionReg.DeviceProps_DESKTOP.Enum()
	store.SignalProtobufSerializer.Session = sessionrecord.Format{}
	signallog.Quiet()
	return nil
}

// TrustedRoot is the key that the certificates of the platform have to be signed with.
func TrustedRoot(config Config) [32]byte {
	if config.RootKey != nil {
		return *config.RootKey
	}
	return whatsmeow.WACertPubKey
}

func useRoot(key [32]byte) {
	if whatsmeow.WACertPubKey != key {
		whatsmeow.WACertPubKey = key
	}
}
