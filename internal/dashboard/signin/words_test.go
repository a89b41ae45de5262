package signin

import (
	"testing"

	"github.com/recado-project/recado/internal/user"
	"github.com/recado-project/recado/internal/web/webtest"
)

func TestEveryWordIsTranslated(t *testing.T) {
	t.Parallel()
	webtest.Words(t)
}

// The audit list has words for all that is done.
func TestEveryActionHasWords(t *testing.T) {
	t.Parallel()
	for _, action := range user.Actions() {
		if whats()[action] == "" {
			t.Errorf("there are no words for %s", action)
		}
	}
}
