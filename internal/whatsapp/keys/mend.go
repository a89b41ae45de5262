package keys

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// sessionRecord is the sessions with one device as libsignal writes them down.
// What the sessions hold is libsignal's matter.
type sessionRecord struct {
	SessionState   json.RawMessage   `json:"SessionState"`   //nolint:tagliatelle // libsignal's name
	PreviousStates []json.RawMessage `json:"PreviousStates"` //nolint:tagliatelle // libsignal's name
}

// mendSession returns the record after a decryption as it should be. Where a
// message belongs to an archived session, which happens when both sides start one
// in the same moment, libsignal tries the current one first, and its attempt
// leaves that one advanced and useless; then it writes the current one down as
// archived, and every later message of it is unreadable. The sessions that were
// tried in vain are put back as they were before.
func mendSession(before, after []byte) ([]byte, error) {
	if len(before) == 0 || bytes.HasSuffix(before, []byte(`"PreviousStates":[]}`)) {
		return after, nil // nothing is archived, so nothing was searched
	}
	old, err := readRecord(before)
	if err != nil {
		return nil, err
	}
	now, err := readRecord(after)
	if err != nil {
		return nil, err
	}
	used, err := baseKey(now.SessionState)
	if err != nil {
		return nil, err
	}
	sessions := append([]json.RawMessage{old.SessionState}, old.PreviousStates...)
	place := -1
	for i, session := range sessions {
		key, err := baseKey(session)
		if err != nil {
			return nil, err
		}
		if bytes.Equal(key, used) {
			place = i
			break
		}
	}
	if place <= 0 {
		return after, nil // the current one, or a new one: nothing was tried in vain
	}
	mended, err := json.Marshal(sessionRecord{
		SessionState: now.SessionState, PreviousStates: slices.Delete(sessions, place, place+1),
	})
	if err != nil {
		return nil, fmt.Errorf("keys: write session: %w", err)
	}
	return mended, nil
}

func readRecord(encoded []byte) (sessionRecord, error) {
	var record sessionRecord
	if err := json.Unmarshal(encoded, &record); err != nil {
		return record, fmt.Errorf("keys: read session: %w", err)
	}
	return record, nil
}

// baseKey returns what tells a session from all others.
func baseKey(session json.RawMessage) ([]byte, error) {
	var state struct {
		SenderBaseKey []byte `json:"SenderBaseKey"` //nolint:tagliatelle // libsignal's name
	}
	if err := json.Unmarshal(session, &state); err != nil {
		return nil, fmt.Errorf("keys: read session: %w", err)
	}
	return state.SenderBaseKey, nil
}
