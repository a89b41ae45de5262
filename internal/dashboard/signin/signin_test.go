package signin_test

import (
	"bufio"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/dashboard/signin"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/user"
)

func TestSignIn(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	b := r.browser()
	b.get("/signin").wants(t, http.StatusOK, "Nobody has a password yet", "recado users link owner")
	ana := r.add("ana", gateway.RoleOperator)
	page := b.get("/instances/7/events?kind=a&page=2")
	page.wants(t, http.StatusSeeOther)
	if want := "/signin?next=%2Finstances%2F7%2Fevents%3Fkind%3Da%26page%3D2"; page.location() != want {
		t.Errorf("a stranger is sent to %s, want %s", page.location(), want)
	}
	page = b.get(page.location())
	page.wants(t, http.StatusOK, `<input type="hidden" name="next" value="/instances/7/events?kind=a&amp;page=2">`, `autocomplete="current-password"`)
	if b.cookie() != "" || strings.Contains(page.body, "Nobody has a password") {
		t.Errorf("a stranger gets the cookie %q, or a page for the first start", b.cookie())
	}
	b.post("/signin", url.Values{"name": {`ana"><script>`}, "password": {"wrong"}, "next": {"/x"}}).
		wants(t, http.StatusUnauthorized, "The name or the password is wrong.", `value="ana&#34;&gt;&lt;script&gt;"`, `name="next" value="/x"`)
	b.head.Set("Accept-Language", "pt-BR")
	b.post("/signin", url.Values{"name": {"ana"}, "password": {"wrong"}}).wants(t, http.StatusUnauthorized, "O nome ou a senha está errado.")
	b.head.Set("X-Forwarded-For", "198.51.100.7, 192.0.2.9")
	done := b.post("/signin", url.Values{"name": {"ana"}, "password": {goodWord}, "next": {"/instances/7"}})
	if done.status != http.StatusSeeOther || done.location() != "/instances/7" {
		t.Errorf("answered %d, to %s", done.status, done.location())
	}
	if got := b.get("/instances").body; got != "ana operator "+ana.AccountID+" 192.0.2.9" {
		t.Errorf("inside is %q", got)
	}
	if got := b.get("/signin?next=/health"); got.status != http.StatusSeeOther || got.location() != "/health" {
		t.Errorf("who is signed in is answered %d, to %s", got.status, got.location())
	}
}

// The command that makes a link can be pasted; only who sits at the machine is told where the data are. A sandbox makes
// a link with each start.
func TestHowALinkIsMade(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	b := r.browser()
	b.get("/signin").wants(t, http.StatusOK, "recado users link owner --whole=true --public-url "+r.server.URL)
	b.get("/welcome?token=ended").wants(t, http.StatusGone, "recado users link NAME --whole=false --public-url "+r.server.URL)
	r.mu.Lock()
	r.origin = "https://recado.example.org"
	r.mu.Unlock()
	b.get("/signin").wants(t, http.StatusOK, "recado users link owner --whole=false --public-url https://recado.example.org")
	r.mu.Lock()
	r.origin = ""
	r.mu.Unlock()
	b.head.Set("X-Forwarded-For", "198.51.100.7")
	b.get("/signin").wants(t, http.StatusOK, "recado users link owner --whole=false")
	r.add("ana", gateway.RoleOwner)
	b.post("/signin", url.Values{"name": {"ana"}, "password": {"wrong"}}).wants(t, http.StatusUnauthorized, "recado users link ana --whole=false")
	r.door.Sandbox = true
	ended := b.get("/welcome?token=ended")
	ended.wants(t, http.StatusGone, "<code>recado dev</code> prints a new link each time it starts.")
	if strings.Contains(ended.body, "users link") {
		t.Error("the page of a sandbox speaks of users link")
	}
}

// The cookie can't be read by scripts or sent by other sites, and its secret is new after
// the sign-in: one that somebody has planted or seen before is worth nothing.
func TestCookie(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.add("ana", gateway.RoleOwner)
	link, err := r.users.NewLink(t.Context(), r.machine(), ana.ID)
	r.check(err)
	b := r.browser()
	b.get(link.Path()) // it leaves a cookie before the sign-in
	before := b.cookie()
	done := b.post("/signin", url.Values{"name": {"ana"}, "password": {goodWord}})
	after := b.cookie()
	if before == "" || after == "" || before == after {
		t.Errorf("the secret was %q, and is %q", before, after)
	}
	cookie := done.header.Get("Set-Cookie")
	for _, part := range []string{"recado=", "Path=/;", "HttpOnly", "SameSite=Lax", "Max-Age=259"} { // 30 days, less what has passed
		if !strings.Contains(cookie, part) {
			t.Errorf("the cookie %s lacks %s", cookie, part)
		}
	}
	if strings.Contains(cookie, "Secure") {
		t.Errorf("without TLS the cookie is %s", cookie)
	}
	thief := r.browser()
	for _, stolen := range []string{before, "", "x", strings.Repeat("x", 4000), after + "x"} {
		thief.head.Set("Cookie", "recado="+stolen)
		if thief.isInside() {
			t.Errorf("%.20q lets in", stolen)
		}
	}
	signIn, found, err := r.store.Users.FindSignIn(t.Context(), after)
	if found || err != nil {
		t.Errorf("the database has the secret itself: %+v (%v)", signIn, err)
	}
	r.at("https://recado.example.org")
	secure := b.post("/signin", url.Values{"name": {"ana"}, "password": {goodWord}}).header.Get("Set-Cookie")
	if !strings.HasPrefix(secure, "__Host-recado=") || !strings.Contains(secure, "; Secure") {
		t.Errorf("with TLS the cookie is %s", secure)
	}
}

// A browser stays signed in for 30 days, and for 7 without a request.
func TestSignInEndsByItself(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.add("ana", gateway.RoleOwner)
	b := r.signedIn("ana")
	for range 4 {
		r.wait(7*24*time.Hour - time.Minute)
		if !b.isInside() {
			t.Fatal("it ended too early")
		}
	}
	r.wait(2*24*time.Hour + 5*time.Minute)
	if b.isInside() {
		t.Error("it lasts for ever")
	}
	b = r.signedIn("ana")
	r.wait(7*24*time.Hour + time.Second)
	if b.isInside() {
		t.Error("it lasts without a request")
	}
}

func TestTooManyTries(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.add("ana", gateway.RoleOwner)
	b := r.browser()
	try := func(password string) answer {
		t.Helper()
		return b.post("/signin", url.Values{"name": {"ana"}, "password": {password}})
	}
	for range 5 {
		try("wrong").wants(t, http.StatusUnauthorized)
	}
	blocked := try(goodWord)
	blocked.wants(t, http.StatusTooManyRequests, "Too many attempts. Try again in 30 seconds.")
	if got := blocked.header.Get("Retry-After"); got != "31" {
		t.Errorf("Retry-After is %q", got)
	}
	r.wait(31 * time.Second)
	try(goodWord).wants(t, http.StatusSeeOther)
}

// All that ends a sign-in does so at the next request, and ends the streams.
func TestSignInIsEnded(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.add("root", gateway.RoleOwner)
	root := r.signedIn("root")
	for what, end := range cases.Sorted(map[string]func(ana gateway.User, b, other *browser) answer{
		"sign out": func(_ gateway.User, b, _ *browser) answer { return b.post("/signout", nil) },
		"sign out everywhere": func(_ gateway.User, _, other *browser) answer {
			return other.post("/profile/signout", nil)
		},
		"sign out by an owner": func(ana gateway.User, _, _ *browser) answer {
			return root.post("/users/"+ana.ID+"/signout", nil)
		},
		"another password": func(_ gateway.User, _, other *browser) answer {
			return other.post("/profile/password", url.Values{"present": {goodWord}, "password": {newWord}, "again": {newWord}})
		},
		"deletion": func(ana gateway.User, _, _ *browser) answer { return root.post("/users/"+ana.ID+"/delete", nil) },
	}) {
		ana := r.add("ana-"+strings.ReplaceAll(what, " ", "-"), gateway.RoleOperator)
		b, other := r.signedIn(ana.Name), r.signedIn(ana.Name)
		stolen := r.browser()
		stolen.head.Set("Cookie", "recado="+b.cookie())
		if !b.isInside() || !other.isInside() || !stolen.isInside() {
			t.Fatalf("%s: not signed in", what)
		}
		stream := b.stream("/watch")
		if got := end(ana, b, other); got.status >= http.StatusBadRequest {
			t.Fatalf("%s: answered %d: %s", what, got.status, got.body)
		}
		if got := <-stream; got != "ended" {
			t.Errorf("%s: the stream ended with %q", what, got)
		}
		if b.isInside() || stolen.isInside() {
			t.Errorf("%s: still signed in", what)
		}
		stays := map[string]bool{"sign out": true, "another password": true}[what]
		if other.isInside() != stays {
			t.Errorf("%s: the other browser is signed in: %t", what, !stays)
		}
	}
	if !root.isInside() {
		t.Error("another user was signed out")
	}
}

// stream reads a page that answers when the sign-in ends.
func (b *browser) stream(path string) <-chan string {
	b.r.t.Helper()
	request, err := http.NewRequestWithContext(b.r.t.Context(), http.MethodGet, b.r.server.URL+path, http.NoBody)
	b.r.check(err)
	for _, cookie := range b.jar.Cookies(request.URL) {
		request.AddCookie(cookie)
	}
	said := make(chan string, 1)
	begun := make(chan struct{})
	go func() {
		response, err := b.r.server.Client().Do(request)
		close(begun)
		if err != nil {
			said <- err.Error()
			return
		}
		defer func() { _ = response.Body.Close() }()
		line, _ := bufio.NewReader(response.Body).ReadString('\n')
		said <- line
	}()
	if path != "/slow" {
		<-begun
	}
	return said
}

// A request that began before its browser was signed out does not bring the sign-in back.
func TestSignedOutStaysOut(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.add("ana", gateway.RoleOwner)
	b := r.signedIn("ana")
	old := b.cookie()
	r.wait(time.Hour) // the next request notes that the browser was seen
	late := b.stream("/slow")
	<-r.slow
	b.post("/signout", nil).wants(t, http.StatusSeeOther)
	r.slow <- struct{}{}
	if got := <-late; !strings.HasPrefix(got, "ana ") {
		t.Errorf("the late request was answered %q", got)
	}
	stolen := r.browser()
	stolen.head.Set("Cookie", "recado="+old)
	if stolen.isInside() {
		t.Error("the secret still lets in")
	}
}

// Another site can't make a browser do anything.
func TestOtherSitesCantPost(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.add("ana", gateway.RoleOwner)
	b := r.signedIn("ana")
	b.head.Set("Sec-Fetch-Site", "cross-site")
	for _, route := range r.door.Routes() {
		if route.Method == http.MethodPost {
			path := strings.NewReplacer("{userId}", ana.ID, "{passkeyId}", "AAAA").Replace(route.Path)
			if got := b.post(path, url.Values{"name": {"bia"}, "role": {"owner"}}); got.status != http.StatusForbidden {
				t.Errorf("%s: answered %d", path, got.status)
			}
		}
	}
	if !b.isInside() {
		t.Error("the browser was signed out")
	}
}

// Only owners get to users and the audit list, whatever request they make by hand; strangers
// to nothing.
func TestRolesOfPages(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	root := r.add("root", gateway.RoleOwner)
	r.add("bia", gateway.RoleViewer)
	r.add("caio", gateway.RoleOperator)
	viewer, operator, stranger := r.signedIn("bia"), r.signedIn("caio"), r.browser()
	for _, route := range r.door.Routes() {
		path := strings.NewReplacer("{userId}", root.ID, "{passkeyId}", "AAAA").Replace(route.Path)
		if route.Role == gateway.RoleOwner {
			for _, b := range []*browser{viewer, operator} {
				if got := b.ask(route.Method, path, "application/x-www-form-urlencoded", "name=eva&role=owner"); got.status != http.StatusForbidden {
					t.Errorf("%s %s: answered %d", route.Method, path, got.status)
				}
			}
		}
		if route.Role != "" {
			if got := stranger.ask(route.Method, path, "", ""); got.status != http.StatusSeeOther || !strings.HasPrefix(got.location(), "/signin") {
				t.Errorf("%s %s: a stranger is answered %d", route.Method, path, got.status)
			}
			if !signin.Owns(path) {
				t.Errorf("%s is not the door's own", path)
			}
		}
	}
	page, err := r.users.List(t.Context(), user.As(root, ""), gateway.PageRequest{Page: 1, Limit: 10})
	if err != nil || page.Total != 3 || page.Items[0].Role != gateway.RoleOwner {
		t.Errorf("the users are %+v (%v)", page, err)
	}
	viewer.get("/users").wants(t, http.StatusForbidden, "You don&#39;t have permission to do this.")
	stranger.head.Set("HX-Request", "true")
	stranger.get("/instances").wants(t, http.StatusUnauthorized)
	if got := stranger.get("/nothing"); got.status != http.StatusUnauthorized {
		t.Errorf("a stranger learns that there is no such page: %d", got.status)
	}
}

// A page to go on with is one of ours.
func TestNextPage(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.add("ana", gateway.RoleOwner)
	b := r.signedIn("ana")
	for next, want := range cases.Sorted(map[string]string{
		"/instances/7?a=b": "/instances/7?a=b", "": "/instances", "https://evil.example": "/instances", "//evil.example": "/instances",
		`/\evil.example`: "/instances", "javascript:alert(1)": "/instances", "/signin": "/instances", "/signout": "/instances",
		"/a\nb": "/instances", "evil": "/instances", "/%0d%0aSet-Cookie:a": "/%0d%0aSet-Cookie:a",
	}) {
		if got := b.get("/signin?" + url.Values{"next": {next}}.Encode()).location(); got != want {
			t.Errorf("%q: goes on with %q", next, got)
		}
	}
}
