// The repair of a record after a decryption.

package sessionrecord

import (
	"bytes"
	"slices"

	"go.mau.fi/libsignal/state/record"
)

// Mend repairs a record after a decryption: it gets the record from before and after, and
// returns the one to keep. A message may belong to an archived
// session, if both sides have started one at the same moment. Then libsignal first tries
// the current session, which leaves that one advanced and useless; and it archives it in
// that state, so that every later message of it would be unreadable. Mend puts the
// sessions that were tried in vain back as they were before.
func Mend(before, after []byte) ([]byte, error) {
	if len(before) == 0 || !hasArchive(before) {
		return after, nil // nothing is archived, so nothing was searched
	}
	old, err := Format{}.Deserialize(before)
	if err != nil {
		return nil, err
	}
	now, err := Format{}.Deserialize(after)
	if err != nil {
		return nil, err
	}
	sessions := append([]*record.StateStructure{old.SessionState}, old.PreviousStates...)
	place := slices.IndexFunc(sessions, func(s *record.StateStructure) bool {
		return bytes.Equal(s.SenderBaseKey, now.SessionState.SenderBaseKey)
	})
	if place <= 0 {
		return after, nil // the current one, or a new one: nothing was tried in vain
	}
	return Format{}.Serialize(&record.SessionStructure{
		SessionState: now.SessionState, PreviousStates: slices.Delete(sessions, place, place+1),
	}), nil
}
