package signin_test

import (
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.uber.org/goleak"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/dashboard/frame"
	"github.com/recado-project/recado/internal/dashboard/signin"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/testkit/database"
	"github.com/recado-project/recado/internal/user"
	"github.com/recado-project/recado/internal/web"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	goodWord = "correct horse battery"
	newWord  = "another good password"
)

// rig is the door on a real database, before a page that shows who is there.
type rig struct {
	t       *testing.T
	store   *store.Store
	users   *user.Service
	account gateway.Account
	door    *signin.Door
	server  *httptest.Server

	slow chan struct{} // /slow asks for one value before it waits for another

	mu     sync.Mutex
	now    time.Time
	origin string // empty: that of the request
}

func newRig(t *testing.T) *rig {
	t.Helper()
	logger := slog.New(slog.DiscardHandler)
	// The cookie's time is on the wall clock: the library reads it.
	r := &rig{t: t, account: gateway.Account{ID: uuid.NewString(), Name: "shop"}, now: time.Now().Truncate(time.Millisecond), slow: make(chan struct{})}
	var err error
	r.store, err = store.Open(t.Context(), store.Config{Path: database.File(t), Logger: logger})
	r.check(err)
	t.Cleanup(func() { _ = r.store.Close() })
	r.check(r.store.CreateAccount(t.Context(), r.account))
	r.users, err = user.New(user.Config{
		Store: r.store.Users, Now: r.clock, Dev: true, Password: user.PasswordCost{MemoryKiB: 64, Passes: 1},
	})
	r.check(err)
	words, err := web.ReadWords(frame.Files, signin.Files)
	r.check(err)
	assets, err := web.NewAssets(frame.Files, signin.Files)
	r.check(err)
	site, err := web.NewSite(web.SiteConfig{Rooms: []web.Files{frame.Files, signin.Files}, Words: words, Assets: assets, Logger: logger})
	r.check(err)
	r.check(site.Check())
	r.door, err = signin.New(signin.Config{
		Site: site, Logger: logger, Users: r.users, SignIns: r.store.Users, Now: r.clock, Address: contract.Origin{BehindProxy: true}.Client,
		Origin: func(request *http.Request) string {
			r.mu.Lock()
			defer r.mu.Unlock()
			if r.origin != "" {
				return r.origin
			}
			return "http://" + request.Host
		},
		LinkCommand: func(name, address string, whole bool) string {
			return fmt.Sprintf("recado users link %s --whole=%t --public-url %s", name, whole, address)
		},
	})
	r.check(err)
	r.server = httptest.NewServer(web.Secure(r.door.Handler(http.HandlerFunc(r.inside))))
	t.Cleanup(r.server.Close)
	return r
}

// inside is a page for users who are signed in; /watch answers when the sign-in ends.
func (r *rig) inside(w http.ResponseWriter, request *http.Request) {
	visitor, ok := frame.VisitorOf(request.Context())
	if !ok {
		r.t.Error("a stranger is inside")
		return
	}
	if request.URL.Path == "/watch" {
		ended, stop := visitor.Watch()
		defer stop()
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		select {
		case <-ended:
			_, _ = fmt.Fprint(w, "ended")
		case <-request.Context().Done():
		}
		return
	}
	if request.URL.Path == "/slow" {
		r.slow <- struct{}{}
		<-r.slow
	}
	_, _ = fmt.Fprintf(w, "%s %s %s %s", visitor.Actor.Name, visitor.Actor.Role, visitor.Key.AccountID, visitor.Actor.Address)
}

func (r *rig) clock() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now
}

func (r *rig) wait(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now = r.now.Add(d)
}

func (r *rig) at(origin string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.origin = origin
}

func (r *rig) check(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// machine is a command on the machine itself.
func (r *rig) machine() user.Actor {
	return user.Actor{AccountID: r.account.ID, Name: "command line", Role: gateway.RoleOwner}
}

// add makes a user with goodWord as the password.
func (r *rig) add(name string, role gateway.Role) gateway.User {
	r.t.Helper()
	link, err := r.users.Invite(r.t.Context(), r.machine(), name, role)
	r.check(err)
	made, err := r.users.SetPassword(r.t.Context(), user.HashOf(link.Token), goodWord, "")
	r.check(err)
	return made
}

// browser is a browser with cookies of its own. It follows no redirect.
type browser struct {
	r    *rig
	jar  *cookiejar.Jar
	head http.Header
}

func (r *rig) browser() *browser {
	r.t.Helper()
	jar, err := cookiejar.New(nil)
	r.check(err)
	return &browser{r: r, jar: jar, head: http.Header{}}
}

// signedIn is a browser that a user has signed in on.
func (r *rig) signedIn(name string) *browser {
	r.t.Helper()
	b := r.browser()
	if got := b.post("/signin", url.Values{"name": {name}, "password": {goodWord}}); got.status != http.StatusSeeOther {
		r.t.Fatalf("%s is answered %d: %s", name, got.status, got.body)
	}
	return b
}

// answer is what a page answered.
type answer struct {
	status int
	header http.Header
	body   string
}

func (a answer) location() string { return a.header.Get("Location") }

func (b *browser) ask(method, path, kind, body string) answer {
	b.r.t.Helper()
	request, err := http.NewRequestWithContext(b.r.t.Context(), method, b.r.server.URL+path, strings.NewReader(body))
	b.r.check(err)
	maps.Copy(request.Header, b.head)
	if kind != "" {
		request.Header.Set("Content-Type", kind)
	}
	for _, cookie := range b.jar.Cookies(request.URL) {
		request.AddCookie(cookie)
	}
	response, err := b.r.server.Client().Transport.RoundTrip(request)
	b.r.check(err)
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	b.r.check(err)
	b.jar.SetCookies(request.URL, response.Cookies())
	return answer{status: response.StatusCode, header: response.Header, body: string(content)}
}

func (b *browser) get(path string) answer {
	b.r.t.Helper()
	return b.ask(http.MethodGet, path, "", "")
}

func (b *browser) post(path string, form url.Values) answer {
	b.r.t.Helper()
	return b.ask(http.MethodPost, path, "application/x-www-form-urlencoded", form.Encode())
}

// cookie is the browser's secret.
func (b *browser) cookie() string {
	b.r.t.Helper()
	address, err := url.Parse(b.r.server.URL)
	b.r.check(err)
	for _, cookie := range b.jar.Cookies(address) {
		return cookie.Value
	}
	return ""
}

// isInside reports whether the browser gets to the pages inside.
func (b *browser) isInside() bool {
	b.r.t.Helper()
	got := b.get("/instances")
	if got.status == http.StatusSeeOther && got.location() == "/signin" {
		return false
	}
	if got.status != http.StatusOK {
		b.r.t.Fatalf("answered %d: %s", got.status, got.body)
	}
	return true
}

// wants fails the test unless the answer has the status and the texts.
func (a answer) wants(t *testing.T, status int, texts ...string) {
	t.Helper()
	if a.status != status {
		t.Errorf("answered %d, want %d", a.status, status)
	}
	for _, text := range texts {
		if !strings.Contains(a.body, text) {
			t.Errorf("the page lacks %q:\n%s", text, contentOf(a.body))
		}
	}
}

// contentOf is a page without what all have.
func contentOf(page string) string {
	if _, content, found := strings.Cut(page, "<main"); found {
		return content
	}
	return page
}

// linkIn is the link that a page shows.
func (a answer) linkIn(t *testing.T) *url.URL {
	t.Helper()
	found := regexp.MustCompile(`<code id="link"[^>]*>([^<]+)</code>`).FindStringSubmatch(a.body)
	if found == nil {
		t.Fatalf("the page shows no link:\n%s", contentOf(a.body))
	}
	link, err := url.Parse(found[1])
	if err != nil {
		t.Fatal(err)
	}
	return link
}
