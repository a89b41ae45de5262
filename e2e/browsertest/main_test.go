// One browser serves all tests of this package.

package browsertest_test

import (
	"testing"

	"github.com/recado-project/recado/e2e/browsertest/browser"
)

func TestMain(m *testing.M) { browser.Main(m) }
