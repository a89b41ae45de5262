// What another site, or a script, could do with somebody's sign-in.

package browsertest_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"

	"github.com/recado-project/recado/internal/testkit"
)

// The cookie of a sign-in is for the browser alone, and is worth nothing after signing out.
func TestCookieIsWorthNothingToOthers(t *testing.T) {
	t.Parallel()
	w := start(t, testkit.Options{})
	p, thief := w.owner(), w.stranger()
	cookies := p.Cookies()
	if len(cookies) != 1 {
		t.Fatalf("there are %d cookies, want 1", len(cookies))
	}
	cookie := cookies[0]
	if !cookie.HTTPOnly || cookie.SameSite != network.CookieSameSiteLax && cookie.SameSite != network.CookieSameSiteStrict {
		t.Errorf("the cookie is for scripts (%v) or for other sites (%q)", !cookie.HTTPOnly, cookie.SameSite)
	}
	var readable string
	p.Eval(`document.cookie`, &readable)
	if readable != "" {
		t.Errorf("scripts read %q", readable)
	}

	use := func() (at string) {
		t.Helper()
		thief.Open("/signin")
		thief.Eval(`void (document.cookie = "`+cookie.Name+`=`+cookie.Value+`; path=/")`, nil)
		thief.Open("/profile")
		at, _, _ = strings.Cut(thief.Path(), "?")
		return at
	}
	if at := use(); at != "/profile" {
		t.Fatalf("the copy of the cookie leads to %s: the test shows nothing", at)
	}
	p.Open("/profile") // has no stream, whose end would be told on the console
	p.ClickText("button", "Sign out")
	p.AwaitPath("/signin")
	if at := use(); at != "/signin" {
		t.Errorf("after signing out, the copy of the cookie leads to %s", at)
	}
}

// What a page of another site sends with the browser of somebody who is signed in changes
// nothing, whether the site has another name or only another port.
func TestOtherSitesChangeNothing(t *testing.T) {
	t.Parallel()
	w := start(t, testkit.Options{})
	p := w.owner()
	for _, refusal := range []string{"403", "frame-ancestors", "ERR_BLOCKED_BY_RESPONSE", "/favicon.ico"} { // a refusal has no icon
		p.Forgive(refusal)
	}
	evil := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(rw, `<!doctype html><title>prizes</title><link rel="icon" href="data:,"><form method="post" action="`+w.BaseURL+`/instances"><input name="name" value="evil"><button>Win</button></form>`)
	}))
	t.Cleanup(evil.Close)
	for _, site := range []string{evil.URL, strings.Replace(evil.URL, "127.0.0.1", "localhost", 1)} {
		p.Allow(site)
		p.Visit(site)
		p.Eval(`Promise.allSettled([
			fetch("`+w.BaseURL+`/instances", { method: "POST", mode: "no-cors", credentials: "include", body: new URLSearchParams({ name: "evil" }) }),
			fetch("`+w.BaseURL+`/signout", { method: "POST", mode: "no-cors", credentials: "include" }),
		])`, nil)
		p.Eval(`new Promise((done) => {
			const frame = Object.assign(document.createElement("iframe"), { src: "`+w.BaseURL+`/instances", onload: done });
			document.body.append(frame);
		})`, nil)
		var framed bool
		p.Eval(`(() => { try { return document.querySelector("iframe").contentDocument !== null; } catch { return false; } })()`, &framed)
		if framed {
			t.Error("another site reads a page in a frame")
		}
		p.ClickText("button", "Win")
		p.AwaitPath("/instances")
		p.Open("/instances")
		p.AwaitText("h1", "Instances") // still signed in
		p.AwaitText("h2", "No instances yet")
	}
}
