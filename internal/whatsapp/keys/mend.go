package keys

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// sessionRecord is the record of the sessions with one device, as libsignal writes it. The
// contents of the sessions are not read here.
type sessionRecord struct {
	SessionState   json.RawMessage   `json:"SessionState"`   //nolint:tagliatelle // libsignal's name
	PreviousStates []json.RawMessage `json:"PreviousStates"` //nolint:tagliatelle // libsignal's name
}

// mendSession repairs a record after a decryption. A message may belong to an archived
// session, if both sides have started one at the same moment. Then libsignal first tries
// the current session, which leaves that one advanced and useless; and it archives it in
// that state, so that every later message of it would be unreadable. mendSession puts the
// sessions that were tried in vain back as they were before.
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

// baseKey returns the key that identifies a session.
func baseKey(session json.RawMessage) ([]byte, error) {
	var state struct {
		SenderBaseKey []byte `json:"SenderBaseKey"` //nolint:tagliatelle // libsignal's name
	}
	if err := json.Unmarshal(session, &state); err != nil {
		return nil, fmt.Errorf("keys: read session: %w", err)
	}
	return state.SenderBaseKey, nil
}
