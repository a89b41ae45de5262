package dashboard_test

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/recado-project/recado/internal/gateway"
)

// A form that is sent several times, at the same time or one after another, acts once, and all
// get the same answer. With other fields, and drawn anew, it acts again.
func TestFormActsOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	draw := func() string {
		t.Helper()
		found := regexp.MustCompile(`name="once" value="([A-Z2-7]+)"`).FindStringSubmatch(r.show(gateway.RoleOperator, "/instances"))
		if found == nil {
			t.Fatal("the form has no key")
		}
		return found[1]
	}
	create := func(once, name string) answer {
		return r.post(gateway.RoleOperator, "/instances", url.Values{"once": {once}, "name": {name}})
	}
	count := func() int {
		t.Helper()
		return strings.Count(r.recorded(), "instance_created")
	}
	first := draw()
	answers := make([]answer, 8)
	var sending sync.WaitGroup
	for i := range answers {
		sending.Go(func() { answers[i] = create(first, "shop") })
	}
	sending.Wait()
	for _, got := range slices.Concat(answers, []answer{create(first, "shop")}) {
		if to := got.header.Get("HX-Redirect"); got.status != http.StatusNoContent || to == "" || to != answers[0].header.Get("HX-Redirect") {
			t.Errorf("it answered %d and leads to %q", got.status, to)
		}
	}
	if got := count(); got != 1 {
		t.Errorf("nine times the same made %d instances", got)
	}
	create(first, "clinic")
	create(draw(), "shop")
	if got := count(); got != 2 {
		t.Errorf("another name and another form made %d instances", got)
	}
	// What was refused was not done: it is tried again.
	if got := create(draw(), " "); got.status != http.StatusBadRequest {
		t.Errorf("a blank name is answered with %d", got.status)
	}
	blank := draw()
	if one, two := create(blank, " "), create(blank, " "); one.status != http.StatusBadRequest || two.status != http.StatusBadRequest {
		t.Errorf("a blank name is answered with %d and %d", one.status, two.status)
	}
}
