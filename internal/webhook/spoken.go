// What the log says of how an endpoint is doing.

package webhook

import (
	"time"

	"github.com/recado-project/recado/internal/webhook/backlog"
)

// speakEvery is how often the log says of one endpoint that it fails: one that refuses some events
// and takes others changes with every answer.
const speakEvery = time.Minute

// word is what there is to say.
type word int

const (
	nothing word = iota
	fails
	worksAgain
)

// spoken is what the log has said of an endpoint.
type spoken struct {
	failing bool
	at      time.Time // when it said the last time that the endpoint fails
}

// next returns what there is to say after an attempt. Of an endpoint that fails again soon it is
// said when it still does after speakEvery.
func (s *spoken) next(state backlog.State, now time.Time) word {
	switch {
	case state.Status == backlog.StatusOK && s.failing:
		s.failing = false
		return worksAgain
	case state.Status == backlog.StatusBackoff && !s.failing && now.Sub(s.at) >= speakEvery:
		s.failing, s.at = true, now
		return fails
	default:
		return nothing
	}
}
