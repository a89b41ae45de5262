package signin

import (
	"os"
	"regexp"
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
	code, err := os.ReadFile("../../user/audit.go")
	if err != nil {
		t.Fatal(err)
	}
	actions := regexp.MustCompile(`\bAction\w+ +Action = "(\w+)"`).FindAllSubmatch(code, -1)
	if len(actions) != len(whats()) {
		t.Errorf("%d actions have words, of %d", len(whats()), len(actions))
	}
	for _, action := range actions {
		if whats()[user.Action(action[1])] == "" {
			t.Errorf("there are no words for %s", action[1])
		}
	}
}
