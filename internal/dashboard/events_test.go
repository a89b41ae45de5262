package dashboard_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
)

func TestEventsAppearByThemselves(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.instance("Desk")
	path := "/instances/" + id + "/events"
	r.has(r.show(gateway.RoleViewer, path), "No events yet")
	all, calls := r.follow(gateway.RoleViewer, path+"/live"), r.follow(gateway.RoleViewer, path+"/live?kind=call.received")
	r.append(id, "5511999990000@s.whatsapp.net", "<b>one</b>")
	all(`title="A test of the webhook"`)
	event, err := eventlog.NewEvent(id, "", "", time.Now(), eventlog.CallReceived{})
	r.check(err)
	r.check(r.log.Append(t.Context(), event))
	all(`id="e-2"`)
	calls(`id="e-2"`)

	name := "Marina <1>"
	event, err = eventlog.NewEvent(id, "", "", time.Now(), eventlog.MessageDeleted{
		Chat: eventlog.Chat{Chat: "5511988887766@s.whatsapp.net"}, From: &eventlog.Person{Name: &name},
	})
	r.check(err)
	r.check(r.log.Append(t.Context(), event))
	all(`>Marina &lt;1&gt; deleted a message for everyone<`)

	page := r.show(gateway.RoleViewer, path+"?kind=call.received")
	r.has(page, `id="e-2"`, `value="call.received" selected`)
	r.hasNot(page, `id="e-1"`)
	r.has(r.show(gateway.RoleViewer, path+"?kind=presence&at=1"), "No matching events")
	r.has(r.show(gateway.RoleViewer, path+"?kind=nonsense"), `id="e-1"`, `id="e-2"`)

	one := r.show(gateway.RoleOperator, path+"/1")
	r.has(one, "&#34;sequence&#34;: 1", `\u003cb\u003eone`, "Resend")
	r.hasNot(one, "<b>one", "<!doctype")
	r.hasNot(r.show(gateway.RoleViewer, path+"/1"), "Resend")
	for _, sequence := range []string{"0", "4", "x"} {
		if got := r.get(gateway.RoleViewer, path+"/"+sequence); got.status != http.StatusNotFound {
			t.Errorf("event %s: answered %d", sequence, got.status)
		}
	}
}

// A pause keeps what is shown, and older events are reached from page to page.
func TestEventsStandStillAndHavePages(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.instance("Desk")
	path := "/instances/" + id + "/events"
	for n := range 120 {
		r.append(id, "chat", fmt.Sprint(n))
	}
	page := r.show(gateway.RoleViewer, path)
	r.has(page, `sse-connect="`+path+`/live"`, `href="`+path+`?at=120"`)
	link := regexp.MustCompile(`href="(` + path + `\?at=\d+)">Older`)
	seen := map[string]bool{}
	for pages := 1; ; pages++ {
		for _, found := range regexp.MustCompile(`id="e-(\d+)"`).FindAllStringSubmatch(page, -1) {
			seen[found[1]] = true
		}
		next := link.FindStringSubmatch(page)
		if next == nil {
			if pages != 3 {
				t.Errorf("there are %d pages", pages)
			}
			break
		}
		page = r.show(gateway.RoleViewer, next[1])
		r.has(page, "Show new events", "Paused")
		if strings.Contains(page, "sse-connect") {
			t.Error("a page that stands still has a live stream")
		}
	}
	if len(seen) != 120 {
		t.Errorf("the pages show %d events", len(seen))
	}
}
