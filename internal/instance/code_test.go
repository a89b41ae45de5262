package instance

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// A request for a code says why there is none, at once if waiting would not help.
func TestNoCodeSaysWhy(t *testing.T) {
	t.Parallel()
	for name, c := range cases.Sorted(map[string]struct {
		trouble error
		says    string
		atOnce  bool
	}{
		"nothing is known":    {nil, "ask again", false},
		"no such host":        {fmt.Errorf("dial: %w", &net.DNSError{Name: "web.example", IsNotFound: true}), "its host web.example does not exist", true},
		"the proxy":           {&gateway.ProxyError{Reason: gateway.ReasonProxyAuth, Err: errors.New("407")}, "the proxy does not take the user name", false},
		"refused":             {fmt.Errorf("dial: %w", syscall.ECONNREFUSED), "it refuses connections", false},
		"no answer":           {errors.New("timed out"), "it did not answer in time", false},
		"names can't be read": {&net.DNSError{Name: "web.example", IsTimeout: true}, "it did not answer in time", false},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service, _ := newSlowService(t, gateway.StatusConnecting, "")
			sup := service.supervisor("phone")
			sup.session = struct{ gateway.SupervisedSession }{} // nothing is asked of it
			sup.trouble = c.trouble
			limit := 10 * time.Millisecond
			if c.atOnce {
				limit = time.Hour // which the test does not last
			}
			_, _, err := sup.waitForCode(t.Context(), limit)
			if gateway.KindOf(err) != gateway.PlatformTimeout || !strings.Contains(err.Error(), c.says) {
				t.Errorf("the error is %v, want %q", err, c.says)
			}
		})
	}
}
