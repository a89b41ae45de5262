package server_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"html"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/sandbox/content"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/await"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// visitor is a browser at the dashboard of a gateway.
type visitor struct {
	t    *testing.T
	base string
	web  *http.Client
}

func newVisitor(t *testing.T, base string) *visitor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &visitor{t: t, base: base, web: &http.Client{Jar: jar}}
}

// newOwner is a visitor who has signed in as the owner.
func newOwner(t *testing.T, g *testkit.Gateway) *visitor {
	t.Helper()
	account, err := g.Server.Access().EnsureAccount(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	link, err := g.Server.Users().DevLink(t.Context(), account.ID)
	if err != nil {
		t.Fatal(err)
	}
	v := newVisitor(t, g.BaseURL)
	if _, at, _ := v.get(link); at != "/instances" {
		t.Fatalf("the link leads to %s", at)
	}
	return v
}

// get opens a page and returns its status, its path after redirects, and its content.
func (v *visitor) get(path string) (status int, at, content string) {
	v.t.Helper()
	return v.do(http.MethodGet, path, nil, nil)
}

func (v *visitor) post(path string, form url.Values) (status int, at, content string) {
	v.t.Helper()
	return v.do(http.MethodPost, path, form, nil)
}

func (v *visitor) do(method, path string, form url.Values, header http.Header) (status int, at, content string) {
	v.t.Helper()
	request, err := http.NewRequestWithContext(v.t.Context(), method, v.base+path, strings.NewReader(form.Encode()))
	if err != nil {
		v.t.Fatal(err)
	}
	maps.Copy(request.Header, header)
	if method == http.MethodPost {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	response, err := v.web.Do(request)
	if err != nil {
		v.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return response.StatusCode, response.Request.URL.Path, string(body)
}

// The first owner sets a password by a link that works once, signs in with it, and signs
// out again.
func TestOwnerSetsThePasswordAndSignsIn(t *testing.T) {
	t.Parallel()
	g := testkit.Start(t, testkit.Options{})
	account, err := g.Server.Access().EnsureAccount(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	link, made, err := g.Server.Users().FirstLink(t.Context(), account.ID)
	if err != nil || !made {
		t.Fatalf("there is no link for the first owner (%v)", err)
	}
	owner, stranger := newVisitor(t, g.BaseURL), newVisitor(t, g.BaseURL)
	if status, at, page := stranger.get("/instances"); at != "/signin" || status != http.StatusOK || !strings.Contains(page, `name="password"`) {
		t.Errorf("a stranger gets %d at %s", status, at)
	}
	if _, at, page := owner.get(link.Path()); at != "/welcome" || !strings.Contains(page, `name="again"`) {
		t.Fatalf("the link leads to %s", at)
	}
	password := "a good password, 7 words long"
	if status, _, page := owner.post("/welcome", url.Values{"password": {password}, "again": {"another"}}); status != http.StatusBadRequest ||
		!strings.Contains(page, "The passwords don&#39;t match.") {
		t.Errorf("two passwords: answered %d", status)
	}
	if status, at, page := owner.post("/welcome", url.Values{"password": {password}, "again": {password}}); at != "/instances" || status != http.StatusOK ||
		!strings.Contains(page, "No instances yet") {
		t.Fatalf("the password leads to %s with %d", at, status)
	}
	if _, _, page := stranger.get(link.Path()); !strings.Contains(page, "This link has expired") {
		t.Error("the link works twice")
	}
	if status, _, _ := stranger.post("/signin", url.Values{"name": {"owner"}, "password": {"wrong, but long enough"}}); status != http.StatusUnauthorized {
		t.Errorf("a wrong password: answered %d", status)
	}
	if _, at, _ := stranger.post("/signin", url.Values{"name": {"owner"}, "password": {password}, "next": {"/keys"}}); at != "/keys" {
		t.Errorf("signing in leads to %s", at)
	}
	if _, at, _ := owner.post("/signout", nil); at != "/signin" {
		t.Errorf("signing out leads to %s", at)
	}
	if _, at, _ := owner.get("/instances"); at != "/signin" {
		t.Errorf("who has signed out is let in at %s", at)
	}
}

// Every page of an instance answers, with what the instance is and does.
func TestDashboardShowsAnInstance(t *testing.T) {
	t.Parallel()
	var log lockedLog
	g := testkit.Start(t, testkit.Options{Log: &log})
	v := newOwner(t, g)
	_, at, page := v.post("/instances", url.Values{"name": {`<script>alert("shop")</script>`}})
	if strings.Contains(page, "<script>alert") || !strings.Contains(page, "&lt;script&gt;alert") {
		t.Error("the name of an instance is not escaped")
	}
	id := strings.TrimPrefix(at, "/instances/")
	g.Scan(t, id, "5511999990100")
	if status, _, page := v.post("/instances/"+id+"/messages", url.Values{"to": {"5511988887766"}, "kind": {"text"}, "text": {"Oi <b>Ana</b>"}}); status != http.StatusOK {
		t.Fatalf("the test message: answered %d: %s", status, page)
	}
	log.one(t, "message accepted on the dashboard", "instance_id="+id, "message_id=", "platform_id=")
	for path, want := range cases.Sorted(map[string]string{
		"":         "Ready to send and receive.",
		"/chats":   "Oi &lt;b&gt;Ana&lt;/b&gt;",
		"/webhook": "webhook",
		"/events":  "message.sent",
		"/code":    "curl &#39;" + g.BaseURL + "/api/message/" + id + "/text&#39; \\\n  -H &#39;x-api-key: YOUR_API_KEY&#39;",
	}) {
		if status, _, page := v.get("/instances/" + id + path); status != http.StatusOK || !strings.Contains(page, want) {
			t.Errorf("%s answered %d without %q", path, status, want)
		}
	}
	for _, path := range []string{"/keys", "/health", "/instances?search=shop"} {
		if status, _, page := v.get(path); status != http.StatusOK {
			t.Errorf("%s answered %d: %s", path, status, page)
		}
	}
	if status, _, _ := v.get("/instances/01a1fa84-de19-7bc8-9e51-c104e24cd85b"); status != http.StatusNotFound {
		t.Errorf("an unknown instance answered %d", status)
	}
	if status, _, _ := v.do(http.MethodPost, "/instances", url.Values{"name": {"evil"}}, http.Header{"Sec-Fetch-Site": {"cross-site"}}); status != http.StatusForbidden {
		t.Errorf("a post from another site answered %d", status)
	}
}

// A viewer whom the owner has invited sees the instances and changes nothing, and is out
// when the owner says so.
func TestOwnerInvitesAViewer(t *testing.T) {
	t.Parallel()
	var log lockedLog
	g := testkit.Start(t, testkit.Options{Log: &log})
	owner, viewer := newOwner(t, g), newVisitor(t, g.BaseURL)
	_, at, _ := owner.post("/instances", url.Values{"name": {"shop"}})
	one := at
	status, _, page := owner.post("/users", url.Values{"name": {"bia"}, "role": {"viewer"}})
	found := regexp.MustCompile(`id="link"[^>]*>` + regexp.QuoteMeta(g.BaseURL) + `([^<]+)<`).FindStringSubmatch(page)
	if status != http.StatusOK || found == nil {
		t.Fatalf("the invitation answered %d: %s", status, page)
	}
	password := "a good password, 7 words long"
	viewer.get(found[1])
	if _, at, page := viewer.post("/welcome", url.Values{"password": {password}, "again": {password}}); at != "/instances" || !strings.Contains(page, "shop") {
		t.Fatalf("the viewer is led to %s", at)
	}
	for path, want := range cases.Sorted(map[string]int{one: http.StatusOK, "/profile": http.StatusOK, "/users": http.StatusForbidden, "/audit": http.StatusForbidden, "/keys": http.StatusForbidden}) {
		if status, _, _ := viewer.get(path); status != want {
			t.Errorf("%s answered %d", path, status)
		}
	}
	for _, path := range []string{"/instances", one + "/delete", one + "/messages", one + "/webhook", "/keys", "/users"} {
		if status, _, _ := viewer.post(path, url.Values{"name": {"shop"}}); status != http.StatusForbidden {
			t.Errorf("posted to %s: answered %d", path, status)
		}
	}
	if line := log.one(t, "page refused", "/messages", "status=403", "client=127.0.0.1", "user_id="); !strings.Contains(line, "instance_id="+strings.TrimPrefix(one, "/instances/")) {
		t.Errorf("the refusal is logged as %s", line)
	}
	if _, _, page := owner.get("/audit"); !strings.Contains(page, "Set the password with a link") || !strings.Contains(page, "127.0.0.1") {
		t.Error("the audit list lacks what the viewer did")
	}
	_, _, page = owner.get("/users")
	path := regexp.MustCompile(`>bia</h2>\s*<form method="post" action="(/users/[^"/]+)/role"`).FindStringSubmatch(page)
	if path == nil {
		t.Fatalf("the viewer is not listed: %s", page)
	}
	if status, _, _ := owner.post(path[1]+"/signout", nil); status != http.StatusOK {
		t.Errorf("the sign-out answered %d", status)
	}
	if _, at, _ := viewer.get("/instances"); at != "/signin" {
		t.Errorf("the viewer is still in, at %s", at)
	}
}

// A file of a usual size goes out by the field for test messages, and has its name there.
func TestDashboardSendsAFile(t *testing.T) {
	t.Parallel()
	g := testkit.Start(t, testkit.Options{})
	id := g.Link(t, "5511999990101")
	v := newOwner(t, g)
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", "prices <2026>.txt")
	if err == nil {
		_, err = part.Write(bytes.Repeat([]byte("a line of prices\n"), 100_000))
	}
	for name, value := range cases.Sorted(map[string]string{"to": "5511988887766", "kind": "document", "caption": "Prices"}) {
		err = errors.Join(err, form.WriteField(name, value))
	}
	if err := errors.Join(err, form.Close()); err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.BaseURL+"/instances/"+id+"/messages", &body)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", form.FormDataContentType())
	response, err := v.web.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("answered %d", response.StatusCode)
	}
	if _, _, page := v.get("/instances/" + id + "/chats?chat=5511988887766@s.whatsapp.net"); !strings.Contains(page, "prices &lt;2026&gt;.txt") || !strings.Contains(page, "Prices") {
		t.Errorf("the chat does not show the file")
	}
}

// A text with a link shows the page behind it, whichever form it was written in: people are used to that
// from their phones.
func TestDashboardSendsLinkPreviews(t *testing.T) {
	t.Parallel()
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, `<title>Loja</title><meta name="description" content="Tudo">`)
	}))
	t.Cleanup(shop.Close)
	g, id := testkit.StartLinked(t, testkit.Options{})
	v := newOwner(t, g)
	for name, form := range cases.Sorted(map[string]url.Values{
		"a new message":         {"to": {customerNumber}, "kind": {"text"}},
		"one for the queue":     {"to": {customerNumber}, "kind": {"text"}, "queue": {"on"}},
		"an answer in the chat": {"to": {customerNumber + "@s.whatsapp.net"}, "answer": {"on"}, "quote": {""}},
	}) {
		text := name + ": " + shop.URL + "/"
		form.Set("text", text)
		if status, _, page := v.post("/instances/"+id+"/messages", form); status != http.StatusOK {
			t.Fatalf("%s: answered %d: %s", name, status, page)
		}
		await.Until(t, name+" on the phone", func() bool {
			for _, got := range g.Phones.Messages(t, customerNumber, "") {
				if got.Text != text {
					continue
				}
				if got.Preview == nil || *got.Preview != (content.Preview{URL: shop.URL + "/", Title: "Loja", Description: "Tudo"}) {
					t.Errorf("%s: the phone shows %+v with %+v", name, got, got.Preview)
				}
				return true
			}
			return false
		})
	}
}

// onPage is generous beside the 100 ms that a message takes on an idle machine.
const onPage = 30 * time.Second

// streamOf opens the stream of a page and returns what it brings, line by line, and what
// ends it.
func (v *visitor) streamOf(page string) (lines <-chan string, closing func()) {
	v.t.Helper()
	found := regexp.MustCompile(`sse-connect="([^"]+)"`).FindStringSubmatch(page)
	if found == nil {
		v.t.Fatal("the page has no stream")
	}
	ctx, cancel := context.WithCancel(context.Background())
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, v.base+html.UnescapeString(found[1]), http.NoBody)
	if err != nil {
		v.t.Fatal(err)
	}
	response, err := v.web.Do(request) //nolint:bodyclose // the reader closes it
	if err != nil {
		v.t.Fatal(err)
	}
	read := make(chan string)
	go func() {
		defer close(read)
		defer func() { _ = response.Body.Close() }()
		scanner := bufio.NewScanner(response.Body)
		scanner.Buffer(nil, 1<<20)
		for scanner.Scan() {
			select {
			case read <- scanner.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	return read, cancel
}

// A message that a program sends by the API is on the open page of the phone that gets
// it, and what the phone answers is on the page of the other one.
func TestMessagesOfTheGatewayAppearOnThePhonePage(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	g.Phones.Get(t, customerNumber)
	v := newVisitor(t, g.BaseURL)
	status, _, page := v.get("/sandbox?left=" + customerNumber + "&right=" + shopNumber)
	if status != http.StatusOK {
		t.Fatalf("the page answers %d", status)
	}
	lines, closing := v.streamOf(page)
	defer closing()
	await := func(text string) {
		t.Helper()
		timer := time.NewTimer(onPage)
		defer timer.Stop()
		for {
			select {
			case line, open := <-lines:
				if !open {
					t.Fatalf("the stream ended before %q", text)
				}
				if strings.Contains(line, text) {
					return
				}
			case <-timer.C:
				t.Fatalf("the page does not show %q", text)
			}
		}
	}
	if _, err := g.Client.SendText(t.Context(), id, client.Text{To: customerNumber, Message: "by the API"}); err != nil {
		t.Fatal(err)
	}
	await("by the API")
	form := url.Values{"text": {"by hand"}}
	if status, _, body := v.do(http.MethodPost, "/sandbox/ui/phones/"+customerNumber+"/chats/"+shopNumber+"@s.whatsapp.net/messages", form, http.Header{"Hx-Request": {"true"}}); status != http.StatusNoContent {
		t.Fatalf("writing on the page: %d %s", status, body)
	}
	await("by hand")
}

// The page lists the codes that instances show, and links by one click.
func TestCodesAreLinkedByAClickOnThePhonePage(t *testing.T) {
	t.Parallel()
	g := testkit.Start(t, testkit.Options{})
	v := newVisitor(t, g.BaseURL)
	g.Phones.Get(t, shopNumber)
	path := "/sandbox/ui/phones/" + shopNumber
	instances := map[string]string{}
	for _, name := range []string{"by QR code", "by pairing code"} {
		created, err := g.Partner.CreateInstance(t.Context(), client.NewInstance{Name: name})
		if err != nil {
			t.Fatal(err)
		}
		instances[name] = created.InstanceID
	}
	if _, err := g.Client.GetQRCode(t.Context(), instances["by QR code"], client.GetQRCodeParams{}); err != nil {
		t.Fatal(err)
	}
	code, err := g.Client.GetPairingCode(t.Context(), instances["by pairing code"], client.NewPairingCode{Phone: shopNumber})
	if err != nil {
		t.Fatal(err)
	}
	_, _, list := v.get(path + "/codes")
	if !strings.Contains(list, "by QR code") || !strings.Contains(list, code.PairingCode) {
		t.Errorf("the list is %s", list)
	}
	for name, form := range cases.Sorted(map[string]url.Values{"by QR code": {}, "by pairing code": {"typed": {"yes"}}}) {
		form.Set("id", instances[name])
		if status, _, body := v.do(http.MethodPost, path+"/scan", form, http.Header{"Hx-Request": {"true"}}); status != http.StatusNoContent {
			t.Fatalf("%s: %d %s", name, status, body)
		}
		g.AwaitStatus(t, instances[name], gateway.StatusConnected)
	}
	if _, _, list := v.get(path + "/codes"); strings.Contains(list, "by QR code") {
		t.Error("a code that was used is still listed")
	}
}

// A page that somebody left open does not hold up the end of the program.
func TestOpenPhonePagesEndWithTheProgram(t *testing.T) {
	t.Parallel()
	g := testkit.Start(t, testkit.Options{})
	v := newVisitor(t, g.BaseURL)
	_, _, page := v.get("/sandbox")
	lines, closing := v.streamOf(page)
	defer closing()
	<-lines
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for range lines { // until it ends
		}
	}()
	g.Stop()
	<-ended
}
