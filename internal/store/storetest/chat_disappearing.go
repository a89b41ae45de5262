// When the messages of a chat disappear.

package storetest

import (
	"time"

	"github.com/recado-project/recado/internal/gateway"
)

// disappearAfter fails the test unless a message to a chat disappears after that time, whichever
// of its addresses it is sent to.
func (f *fixture) disappearAfter(instance gateway.Instance, party gateway.Party, want time.Duration) {
	f.t.Helper()
	for _, one := range []gateway.Party{party, {JID: party.JID}, {LID: party.LID}} {
		if one == (gateway.Party{}) && party != one {
			continue // the address that is not known
		}
		after, err := f.DisappearsAfter(f.ctx(), instance.ID, one)
		f.check(err)
		if after != want {
			f.t.Errorf("messages to %+v disappear after %s, not %s", one, after, want)
		}
	}
}
