package account_test

import (
	"testing"

	"github.com/recado-project/recado/internal/web/webtest"
)

func TestEveryWordIsTranslated(t *testing.T) {
	t.Parallel()
	webtest.Words(t)
}
