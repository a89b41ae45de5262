// The app state of an account: its collections and their patches.

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
	// ErrFull says that a collection can't have more patches.
	ErrFull = errors.New("appstate: the collection is full")
)

// State is the app state of one account: its five collections. It is not safe for
// concurrent use. The zero value is the state of a new account.
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

// Version returns the version of a collection, for server_sync notifications. It is
// 0 before the first patch.
func (s *State) Version(collection string) uint64 {
	if c := s.collections[wmstate.WAPatchName(collection)]; c != nil {
		return c.version()
	}
	return 0
}

// SetPushName appends the patch that sets the account's own name. It returns the
// name of the collection that has changed. The error is ErrFull after some thousand
// changes.
func (s *State) SetPushName(key Key, name string, now time.Time) (collection string, err error) {
	change, err := s.Append(key, wmstate.BuildSettingPushName(name), now)
	return change.Collection, err
}

// Append adds a patch of the phone's own, which whatsmeow's package appstate builds. It
// sets the times of the patch. The error is ErrFull after some thousand changes.
func (s *State) Append(key Key, info wmstate.PatchInfo, now time.Time) (Change, error) {
	info.Timestamp = now
	c := s.collection(info.Type)
	raw, err := c.encode(key, info)
	if err != nil {
		return Change{}, err
	}
	change := Change{Collection: string(info.Type)}
	if change.Mutations, err = c.decode(key, info.Type, raw); err != nil {
		return Change{}, err
	}
	return change, c.append(raw)
}

// collection returns a collection to change. It creates the collection if
// necessary. name is one of the five.
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
