// Package version decides which version of the messenger's web client sessions claim to be.
// The platform refuses a version some months after it appeared. So the newest one is looked
// up, once a day and when the platform refuses, and kept.
package version

import (
	"errors"
	"strconv"
	"strings"

	"go.mau.fi/whatsmeow/proto/waWa6"
	"go.mau.fi/whatsmeow/store"
)

// Version is a version of the web client.
type Version = store.WAVersionContainer

// errForm says how a version is written.
var errForm = errors.New("must have three numbers: 2.3000.1234567")

// Parse reads a version: three numbers with dots between them.
func Parse(text string) (version Version, err error) {
	parts := strings.Split(text, ".")
	if len(parts) != len(version) {
		return Version{}, errForm
	}
	for i, part := range parts {
		number, err := strconv.ParseUint(part, 10, 32)
		if err != nil {
			return Version{}, errForm
		}
		version[i] = uint32(number)
	}
	return version, nil
}

// BuiltIn is the version of the client library.
func BuiltIn() Version { return store.GetWAVersion() }

// Claim writes a version into what a client sends when it links or logs in.
func Claim(payload *waWa6.ClientPayload, version Version) {
	payload.UserAgent.AppVersion = version.ProtoAppVersion()
	if registration := payload.DevicePairingData; registration != nil {
		hash := version.Hash()
		registration.BuildHash = hash[:]
	}
}
