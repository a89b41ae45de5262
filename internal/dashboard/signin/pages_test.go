package signin_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/user"
)

// A link sets the password once, signs in, and is not in the address any more.
func TestWelcome(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	link, found, err := r.users.FirstLink(t.Context(), r.account.ID)
	if err != nil || !found {
		t.Fatal(err)
	}
	b := r.browser()
	got := b.get(link.Path())
	got.wants(t, http.StatusSeeOther)
	if got.location() != "/welcome" {
		t.Errorf("the link leads to %s", got.location())
	}
	page := b.get("/welcome")
	page.wants(t, http.StatusOK, "Welcome, owner", "Your role: Owner", `autocomplete="new-password"`)
	if strings.Contains(page.body, link.Token) {
		t.Error("the page has the secret of the link")
	}
	kept := sha256.Sum256([]byte(b.cookie()))
	remembered, found, err := r.store.Users.FindSignIn(t.Context(), base64.RawURLEncoding.EncodeToString(kept[:]))
	if err != nil || !found || bytes.Contains(remembered.Data, []byte(link.Token)) {
		t.Errorf("the database remembers %s (%v), which is to be there without the secret of the link", remembered.Data, err)
	}
	b.post("/welcome", url.Values{"password": {"owner-owner"}, "again": {"owner-owner"}}).wants(t, http.StatusBadRequest, "This password is too easy to guess.", "Welcome, owner")
	b.post("/welcome", url.Values{"password": {goodWord}, "again": {newWord}}).wants(t, http.StatusBadRequest, "The passwords don&#39;t match.")
	// A second browser has the same link, until one of them has used it.
	late := r.browser()
	late.get(link.Path()).wants(t, http.StatusSeeOther)
	done := b.post("/welcome", url.Values{"password": {goodWord}, "again": {goodWord}})
	if done.status != http.StatusSeeOther || done.location() != "/instances" || !b.isInside() {
		t.Errorf("answered %d, to %s", done.status, done.location())
	}
	late.get("/welcome").wants(t, http.StatusGone, "This link has expired")
	late.post("/welcome", url.Values{"password": {goodWord}, "again": {goodWord}}).wants(t, http.StatusGone, "This link has expired")
	for _, path := range []string{link.Path(), "/welcome?token=x", "/welcome", "/welcome?dev=x"} {
		stranger := r.browser()
		stranger.get(path).wants(t, http.StatusGone, "This link has expired")
		if stranger.cookie() != "" {
			t.Errorf("%s left a cookie", path)
		}
	}
	b.get("/welcome").wants(t, http.StatusGone)
}

// The link of dev is signed in at once, as often as one likes.
func TestDevLink(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	path, err := r.users.DevLink(t.Context(), r.account.ID)
	r.check(err)
	for range 2 {
		b := r.browser()
		if got := b.get(path + "&next=/health"); got.status != http.StatusSeeOther || got.location() != "/health" || !b.isInside() {
			t.Errorf("answered %d, to %s", got.status, got.location())
		}
		b.get("/users").wants(t, http.StatusOK, "Signed in with a link")
	}
}

// An owner invites somebody, changes the role, makes another link, and removes the user.
func TestUsersPage(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	root := r.add("root", gateway.RoleOwner)
	b := r.signedIn("root")
	b.get("/users/new").wants(t, http.StatusOK, `value="viewer" checked`)
	b.post("/users", url.Values{"name": {"<b>"}, "role": {"owner"}}).
		wants(t, http.StatusBadRequest, "A name has up to 64 letters", `value="&lt;b&gt;"`, `value="owner" checked`)
	b.post("/users", url.Values{"name": {"ROOT"}, "role": {"viewer"}}).wants(t, http.StatusConflict, "There is already a user with this name.")
	b.post("/users", url.Values{"name": {"eva"}, "role": {"admin"}}).wants(t, http.StatusBadRequest)
	made := b.post("/users", url.Values{"name": {"bia"}, "role": {"viewer"}})
	made.wants(t, http.StatusOK, "A link for bia", "shown again")
	link := made.linkIn(t)
	if link.Scheme+"://"+link.Host != r.server.URL {
		t.Errorf("the link is %s", link)
	}
	page := b.get("/users")
	page.wants(t, http.StatusOK, "Invited", "Can sign in", `<span class="tag">you</span>`)
	if strings.Contains(page.body, link.Query().Get("token")) {
		t.Error("the link is shown again")
	}
	id := regexp.MustCompile(`data-dialog="user-([^"]+)">Change<span class="unseen"> bia`).FindStringSubmatch(page.body)
	if id == nil {
		t.Fatalf("bia is not listed:\n%s", contentOf(page.body))
	}
	bia := r.browser()
	bia.get(link.RequestURI())
	bia.post("/welcome", url.Values{"password": {goodWord}, "again": {goodWord}}).wants(t, http.StatusSeeOther)
	if got := bia.get("/x").body; !strings.HasPrefix(got, "bia viewer ") {
		t.Errorf("inside is %q", got)
	}
	b.post("/users/"+id[1]+"/role", url.Values{"role": {"operator"}}).wants(t, http.StatusSeeOther)
	if got := bia.get("/x").body; !strings.HasPrefix(got, "bia operator ") {
		t.Errorf("at the next request the role is %q", got)
	}
	again := b.post("/users/"+id[1]+"/link", nil).linkIn(t)
	if again.Query().Get("token") == link.Query().Get("token") {
		t.Error("it is the same link")
	}
	bia.get(again.RequestURI())
	bia.get("/welcome").wants(t, http.StatusOK, "A new password for bia", "will be signed out")
	b.head.Set("HX-Request", "true")
	for _, path := range []string{"/role", "/delete"} {
		got := b.post("/users/"+root.ID+path, url.Values{"role": {"viewer"}})
		got.wants(t, http.StatusConflict)
		if said, _ := url.PathUnescape(got.header.Get("X-Problem")); !strings.Contains(said, "This is the last owner") {
			t.Errorf("%s: the problem is %q", path, said)
		}
	}
	if got := b.post("/users/"+id[1]+"/delete", nil); got.status != http.StatusNoContent || got.header.Get("HX-Redirect") != "/users" {
		t.Errorf("answered %d, to %s", got.status, got.header.Get("HX-Redirect"))
	}
	b.post("/users/"+id[1]+"/delete", nil).wants(t, http.StatusNotFound)
}

// The lists of users and of the audit have pages.
func TestPagesOfLists(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.add("root", gateway.RoleOwner)
	b := r.signedIn("root")
	for i := range 60 {
		r.check(r.store.Users.CreateUser(t.Context(), gateway.User{
			ID: fmt.Sprint(i), AccountID: r.account.ID, Name: fmt.Sprintf("user%d", i), Role: gateway.RoleViewer, CreatedAt: r.clock().Add(time.Second),
		}))
		r.users.Record(t.Context(), r.machine(), user.ActionInstanceDeleted, fmt.Sprintf("<i>shop%d", i), "")
	}
	for path, rows := range cases.Sorted(map[string]int{"/users": 25, "/audit": 50}) {
		pages := 60/rows + 1
		first := b.get(path)
		first.wants(t, http.StatusOK, `href="`+path+`?page=2"`)
		last := b.get(fmt.Sprintf("%s?page=%d", path, pages))
		last.wants(t, http.StatusOK, `href="`+path+`"`)
		if n, m := strings.Count(first.body, "<tr>"), strings.Count(last.body, "<tr>"); n != rows+1 || m < 12 || m > 20 {
			t.Errorf("%s has %d rows and %d", path, n, m)
		}
		next := fmt.Sprintf("%s?page=%d", path, pages+1)
		if strings.Contains(last.body, next) {
			t.Errorf("%s has a page after the last one", path)
		}
		b.get(next).wants(t, http.StatusOK, "First page")
		b.get(path+"?page=x").wants(t, http.StatusOK)
	}
	b.get("/audit").wants(t, http.StatusOK, "Deleted an instance", "&lt;i&gt;shop59", "command line")
	b.get("/audit?page=2").wants(t, http.StatusOK, "Signed in", "with the password", "Created a user", "Owner")
}

func TestChangePassword(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.add("ana", gateway.RoleViewer)
	b := r.signedIn("ana")
	b.get("/profile").wants(t, http.StatusOK, "Sees everything except API keys and users", "Change password", "Passkeys need HTTPS")
	b.post("/profile/password", url.Values{"present": {"wrong"}, "password": {newWord}, "again": {newWord}}).
		wants(t, http.StatusUnauthorized, "The current password is wrong.")
	b.post("/profile/password", url.Values{"present": {goodWord}, "password": {"short"}, "again": {"short"}}).
		wants(t, http.StatusBadRequest, "This password is too easy to guess.")
	b.post("/profile/password", url.Values{"present": {goodWord}, "password": {newWord}, "again": {goodWord}}).
		wants(t, http.StatusBadRequest, "The passwords don&#39;t match.")
	before := b.cookie()
	b.post("/profile/password", url.Values{"present": {goodWord}, "password": {newWord}, "again": {newWord}}).
		wants(t, http.StatusOK, "Password changed. All other browsers were signed out.")
	if b.cookie() == before || !b.isInside() {
		t.Error("this browser has no new sign-in")
	}
}

// A device's answer goes to the use case with the question that was asked, once.
func TestPasskeyRoutes(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.add("ana", gateway.RoleOwner)
	b := r.signedIn("ana")
	b.head.Set("HX-Request", "true")
	problemOf := func(got answer) string {
		t.Helper()
		said, err := url.PathUnescape(got.header.Get("X-Problem"))
		r.check(err)
		return said
	}
	if got := b.post("/profile/passkeys/question", nil); got.status != http.StatusBadRequest || !strings.Contains(problemOf(got), "This passkey was not accepted.") {
		t.Errorf("at an IP address answered %d: %s", got.status, problemOf(got))
	}
	r.at("http://localhost:8080")
	b.get("/profile").wants(t, http.StatusOK, "Add a passkey", `src="/assets/passkey-`)
	var question struct {
		PublicKey struct {
			Challenge string            `json:"challenge"`
			RP        map[string]string `json:"rp"`
		} `json:"publicKey"`
	}
	got := b.post("/profile/passkeys/question", nil)
	r.check(json.Unmarshal([]byte(got.body), &question))
	if got.header.Get("Content-Type") != "application/json" || question.PublicKey.RP["id"] != "localhost" || question.PublicKey.Challenge == "" {
		t.Errorf("asked %s", got.body)
	}
	for _, body := range []string{"", "[]", "{", `{"name":"x"}`, `{"name":"x","answer":{"id":"AAAA"}}`, strings.Repeat("x", 1<<20)} {
		if got := b.ask(http.MethodPost, "/profile/passkeys", "application/json", body); got.status != http.StatusBadRequest {
			t.Errorf("%.40q: answered %d", body, got.status)
		}
	}
	ana, found, err := r.store.Users.FindUserByName(t.Context(), "ana")
	if err != nil || !found {
		t.Fatal(err)
	}
	r.check(r.store.Users.CreatePasskey(t.Context(), gateway.Passkey{
		ID: []byte{0xff, 0xfe, 0xfd}, UserID: ana.ID, Name: "lap<i>top", Credential: []byte("{}"), CreatedAt: r.clock(),
	}))
	b.get("/profile").wants(t, http.StatusOK, "lap&lt;i&gt;top", `action="/profile/passkeys/__79/remove"`)
	stranger := r.browser()
	stranger.head.Set("HX-Request", "true")
	stranger.get("/signin").wants(t, http.StatusOK, "Sign in with a passkey", `<link rel="manifest" href="/assets/recado-`)
	if got := stranger.post("/signin/passkey/question", nil); got.status != http.StatusOK || stranger.cookie() == "" {
		t.Errorf("a stranger is answered %d: %s", got.status, got.body)
	}
	if got := stranger.ask(http.MethodPost, "/signin/passkey", "application/json", `{"answer":{"id":"//79"}}`); got.status != http.StatusBadRequest || stranger.isIn() {
		t.Errorf("a wrong answer is answered %d: %s", got.status, got.body)
	}
	if got := b.post("/profile/passkeys/__79/remove", nil); got.status != http.StatusNoContent {
		t.Errorf("the removal is answered %d", got.status)
	}
	b.post("/profile/passkeys/__79/remove", nil).wants(t, http.StatusNotFound)
	b.post("/profile/passkeys/!/remove", nil).wants(t, http.StatusNotFound)
}

// isIn is isInside for a page's script.
func (b *browser) isIn() bool { return b.get("/instances").status == http.StatusOK }
