package dashboard_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/web/webtest"
)

func TestEveryWordIsTranslated(t *testing.T) {
	t.Parallel()
	webtest.Words(t)
}

// What changes something is refused to viewers, and what is the owner's to operators, also
// if the request is made by hand. Nothing is written to the audit list.
func TestRolesAreKept(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	fill := strings.NewReplacer("{$}", "", "{instanceId}", r.instance("Desk"), "{sequence}", "1", "{keyId}", "key", "{phone}", "5511988887766", "{webhookId}", "01a1fa84-de19-7bc8-9e51-c104e24cd85b", "{messageId}", "message", "{groupId}", "120363025246125486@g.us", "{channelId}", "120363025246125487@newsletter")
	for _, route := range r.routes {
		if route.Method != http.MethodGet && !route.Role.Covers(gateway.RoleOperator) {
			t.Errorf("%s %s is open to viewers", route.Method, route.Path)
		}
		for _, role := range []gateway.Role{"", gateway.RoleViewer, gateway.RoleOperator} {
			if role.Covers(route.Role) {
				continue
			}
			if got := r.ask(role, route.Method, fill.Replace(route.Path), nil, false); got.status != http.StatusForbidden {
				t.Errorf("%q gets %d for %s %s", role, got.status, route.Method, route.Path)
			}
		}
	}
	if entries := r.recorded(); entries != "" {
		t.Errorf("recorded %q", entries)
	}
}

func TestHealthSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	page := r.show(gateway.RoleViewer, "/health")
	r.has(page, "1.2.3", "SQLite", "ffmpeg is not installed", "of 1.0 GB")
	r.version = gateway.ClientVersion{
		Version: "2.3000.17", Source: gateway.VersionLookedUp, LookedUpAt: time.Now(), RefusedSince: time.Now(), NextLookUp: time.Now(),
		Trouble: "the page can't be reached",
	}
	r.has(r.show(gateway.RoleViewer, "/health"), "2.3000.17 (latest found)", "The platform refuses the version", "refused by the platform", "be reached")
	r.follow(gateway.RoleViewer, "/health/live")("SQLite")
}
