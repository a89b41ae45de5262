// One browser serves all tests of this package.

package browsertest_test

import (
	"testing"

	"github.com/recado-project/recado/internal/testkit/browser"
)

func TestMain(m *testing.M) { browser.Main(m) }
