// Package appstate is the phone's app state: the settings that an account's
// devices share in five encrypted, versioned collections, and the history a
// phone hands to a newly linked companion.
//
// It does not route: the platform, its only caller, keeps the bytes, answers
// the requests with what Sync returns, and tells the other devices.
package appstate

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	wmstate "go.mau.fi/whatsmeow/appstate"
)

// Errors of State.
var (
	// ErrRequest says that a client's request is malformed.
	ErrRequest = errors.New("appstate: malformed request")
	// ErrFull says that a collection has as many patches as are kept.
	ErrFull = errors.New("appstate: the collection is full")
)

// State is the app state of one account: its five collections. It is not safe
// for concurrent use. The zero value is an account's state before the first
// change.
type State struct {
	collections map[wmstate.WAPatchName]*collection
}

// MarshalBinary returns the state as bytes to keep.
func (s *State) MarshalBinary() ([]byte, error) {
	raw, err := json.Marshal(s.collections)
	if err != nil {
		return nil, fmt.Errorf("appstate: encode state: %w", err)
	}
	return raw, nil
}

// UnmarshalBinary reads what MarshalBinary returned.
func (s *State) UnmarshalBinary(data []byte) error {
	var collections map[wmstate.WAPatchName]*collection
	if err := json.Unmarshal(data, &collections); err != nil {
		return fmt.Errorf("appstate: decode state: %w", err)
	}
	for name, c := range collections {
		if c == nil || c.MACs == nil {
			return fmt.Errorf("appstate: decode state: incomplete collection %q", name)
		}
	}
	s.collections = collections
	return nil
}

// Version returns the version of a collection, 0 before its first patch. The
// server_sync notification names it.
func (s *State) Version(collection string) uint64 {
	if c := s.collections[wmstate.WAPatchName(collection)]; c != nil {
		return c.version()
	}
	return 0
}

// SetPushName appends the patch that sets the account's own name; it replaces
// the name set before. It returns the name of the collection that has changed.
// ErrFull after some thousand changes.
func (s *State) SetPushName(key Key, name string, now time.Time) (collection string, err error) {
	info := wmstate.BuildSettingPushName(name)
	info.Timestamp = now
	if err := s.append(key, info); err != nil {
		return "", err
	}
	return string(info.Type), nil
}

// append adds a patch of the phone's own.
func (s *State) append(key Key, info wmstate.PatchInfo) error {
	c := s.collection(info.Type)
	raw, err := c.encode(key, info)
	if err != nil {
		return err
	}
	return c.append(raw)
}

// collection returns a collection to change, made if need be. name is one of
// the five.
func (s *State) collection(name wmstate.WAPatchName) *collection {
	if s.collections == nil {
		s.collections = map[wmstate.WAPatchName]*collection{}
	}
	c := s.collections[name]
	if c == nil {
		c = &collection{MACs: map[mac][]byte{}}
		s.collections[name] = c
	}
	return c
}
