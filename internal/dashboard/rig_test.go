package dashboard_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/gob"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/recado-project/recado/internal/access"
	"github.com/recado-project/recado/internal/channel"
	"github.com/recado-project/recado/internal/chat"
	"github.com/recado-project/recado/internal/dashboard"
	"github.com/recado-project/recado/internal/dashboard/conversation"
	"github.com/recado-project/recado/internal/dashboard/frame"
	"github.com/recado-project/recado/internal/dashboard/live"
	"github.com/recado-project/recado/internal/dashboard/sentence"
	"github.com/recado-project/recado/internal/directory"
	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/group"
	"github.com/recado-project/recado/internal/health"
	"github.com/recado-project/recado/internal/instance"
	"github.com/recado-project/recado/internal/label"
	"github.com/recado-project/recado/internal/media"
	"github.com/recado-project/recado/internal/media/folder"
	"github.com/recado-project/recado/internal/messaging"
	"github.com/recado-project/recado/internal/messaging/queue"
	"github.com/recado-project/recado/internal/messaging/traffic"
	"github.com/recado-project/recado/internal/profile"
	"github.com/recado-project/recado/internal/reference"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/testkit/database"
	"github.com/recado-project/recado/internal/user"
	"github.com/recado-project/recado/internal/web"
	"github.com/recado-project/recado/internal/web/bubbles"
	"github.com/recado-project/recado/internal/webhook"
	"github.com/recado-project/recado/internal/webhook/accountwide"
)

// rig is the pages on a real store, for visitors who are signed in already.
type rig struct {
	t        testing.TB
	store    *store.Store
	log      *eventlog.Log
	access   *access.Service
	webhooks *webhook.Service
	queue    *queue.Queue
	refuse   map[string]error // why the platform refuses messages to a number, once the queue runs
	pages    *frame.Pages
	routes   []frame.Route
	server   *httptest.Server
	account  gateway.Account
	version  gateway.ClientVersion

	mu      sync.Mutex
	entries []string // of the audit list
}

// offline are the parts of instances that never connect.
type offline struct {
	gateway.Connector
	instance.Receivers
	media.Pictures
}

// plain finds in payloads the details that wroteMore has written.
type plain struct{}

// Describe reads them.
func (plain) Describe(_ context.Context, payload []byte) (details gateway.Details, err error) {
	if len(payload) > 0 {
		err = gob.NewDecoder(bytes.NewReader(payload)).Decode(&details)
	}
	return details, err
}

// CheckProxy finds every proxy good.
func (offline) CheckProxy(context.Context, gateway.Proxy) error { return nil }

// unsent sends none of the messages that wait: the platform refuses them, as a test says by
// the number, or never answers.
type unsent struct {
	queue.Sender

	store  *store.Store
	refuse map[string]error
}

// Address finds every chat that is not refused.
func (u unsent) Address(_ context.Context, message queue.Message) (gateway.Party, error) {
	return gateway.Party{}, u.refuse[message.To.Number]
}

// Send waits for the end of the test.
func (u unsent) Send(ctx context.Context, _ queue.Message, _ gateway.Party, _ func()) error {
	<-ctx.Done()
	return ctx.Err()
}

// Remove removes messages that were cancelled.
func (u unsent) Remove(ctx context.Context, instanceID string, ids ...string) error {
	return u.store.RemoveQueued(ctx, instanceID, ids...)
}

func newRig(tb testing.TB) *rig {
	tb.Helper()
	logger, bell := slog.New(slog.DiscardHandler), new(eventlog.Bell)
	r := &rig{t: tb, account: gateway.Account{ID: uuid.NewString(), Name: "shop"}, refuse: map[string]error{}}
	var err error
	r.store, err = store.Open(tb.Context(), store.Config{Path: database.File(tb), Bell: bell, Logger: logger})
	r.check(err)
	tb.Cleanup(func() { _ = r.store.Close() })
	r.check(r.store.CreateAccount(tb.Context(), r.account))
	r.log, err = eventlog.New(eventlog.Config{Store: r.store, Bell: bell})
	r.check(err)
	r.access, err = access.New(access.Config{Store: r.store})
	r.check(err)
	r.webhooks, err = webhook.New(webhook.Config{
		Store: struct {
			webhook.ConfigurationStore
			webhook.ProgressStore
			webhook.EventFinder
		}{r.store.Webhooks, r.store.Webhooks, r.store},
		Log: r.log, Bell: bell, Logger: logger, AllowPrivateURLs: true, Formats: map[string]webhook.Format{"cloud": nil},
		Schedule: webhook.Schedule{FlushPause: time.Millisecond, StopWait: time.Second},
	})
	r.check(err)
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = r.webhooks.Run(ctx) })
	tb.Cleanup(func() { stop(); running.Wait() })
	<-r.webhooks.Ready()
	r.serve(r.build(bell, logger))
	return r
}

// pagesOf are the pages with their words. They are read once for all tests: they know nothing
// of a rig.
//
//nolint:gochecknoglobals // see above
var pagesOf = sync.OnceValues(func() (*web.Site, error) {
	rooms := []web.Files{frame.Files, bubbles.Files, conversation.Files, sentence.Files, dashboard.Files}
	words, err := web.ReadWords(rooms...)
	if err != nil {
		return nil, err
	}
	assets, err := web.NewAssets(rooms...)
	if err != nil {
		return nil, err
	}
	site, err := web.NewSite(web.SiteConfig{Rooms: rooms, Words: words, Assets: assets, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	return site, site.Check()
})

// build makes the pages on the rig's services.
func (r *rig) build(bell *eventlog.Bell, logger *slog.Logger) dashboard.Config {
	files, err := folder.Open(folder.Config{Path: r.t.TempDir()})
	r.check(err)
	blobs, err := media.OpenBlobs(r.t.Context(), media.BlobsConfig{Store: files, Total: 1 << 30})
	r.check(err)
	r.t.Cleanup(func() { _ = blobs.Close() })
	looked, err := health.New(health.Config{
		Database: r.store, Files: blobs, Webhooks: r.webhooks, DataDir: r.t.TempDir(), Logger: logger, Version: "1.2.3",
		ClientVersion: func() gateway.ClientVersion { return r.version },
	})
	r.check(err)
	sessions, err := instance.NewSessions(instance.SessionsConfig{Store: r.store, Connector: offline{}})
	r.check(err)
	instances, err := instance.New(instance.Config{Sessions: sessions, Receivers: offline{}, Log: r.log, Logger: logger})
	r.check(err)
	hourly, err := traffic.New(traffic.Config{Store: r.store, Bell: bell, Logger: logger})
	r.check(err)
	stopping := make(chan struct{})
	r.t.Cleanup(func() { close(stopping) })
	pulse, err := live.New(live.Config{Bell: bell, Stopping: stopping, Logger: logger, Pause: time.Millisecond})
	r.check(err)
	site, err := pagesOf()
	r.check(err)
	r.queue, err = queue.New(queue.Config{Store: r.store, Sender: unsent{store: r.store, refuse: r.refuse}, Bell: bell, Logger: logger})
	r.check(err)
	people, err := directory.New(directory.Config{Store: r.store, Sessions: sessions})
	r.check(err)
	recorder, err := chat.NewRecorder(chat.RecorderConfig{
		Store: struct {
			chat.ArrangementStore
			chat.RemovalFinder
		}{r.store, r.store.Chats},
		Logger: logger, RemoveFile: func(context.Context, string, string) error { return nil },
	})
	r.check(err)
	chats, err := chat.New(chat.Config{
		Store: struct {
			chat.Finder
			chat.MessageFinder
			chat.LabelFinder
		}{r.store.Chats, r.store, r.store.Labels},
		Directory: people, Describer: plain{}, Sessions: sessions, Recorder: recorder, Now: time.Now,
	})
	r.check(err)
	labelRecorder, err := label.NewRecorder(r.store)
	r.check(err)
	labels, err := label.New(label.Config{Store: r.store.Labels, Chats: chats, Sessions: sessions, Recorder: labelRecorder, Now: time.Now})
	r.check(err)
	profiles, err := profile.New(profile.Config{Sessions: sessions, Pictures: offline{}})
	r.check(err)
	groups, err := group.New(group.Config{
		Sessions: sessions, Directory: people, Pictures: offline{},
		Invite: func(context.Context, string, gateway.JID, gateway.GroupInvite) (string, error) { return "", nil },
	})
	r.check(err)
	everywhere, err := accountwide.New(accountwide.Config{Store: r.store.AccountWebhooks, Webhooks: r.webhooks, Tenures: gateway.Alone{}, Logger: logger})
	r.check(err)
	followed, err := channel.New(channel.Config{Sessions: sessions, Pictures: offline{}})
	r.check(err)
	return dashboard.Config{
		MaxAge: 20 * time.Millisecond,
		Site:   site, Logger: logger, Pulse: pulse, Users: r, Instances: instances, Messages: new(messaging.Service), Chats: chats, Labels: labels, Groups: groups, People: people, Channels: followed, Profiles: profiles, Queue: r.queue, Budgets: r, Answers: r, Traffic: hourly,
		Webhooks: r.webhooks, AccountWebhooks: everywhere, Events: r.log, Access: r.access, Health: looked, Reference: described, Origin: func(*http.Request) string { return "http://gateway" },
	}
}

// described is as much of the API's reference as the pages show.
func described() (*reference.Reference, error) {
	return &reference.Reference{Groups: []reference.Group{{Operations: []reference.Operation{{
		ID: "sendText", Method: http.MethodPost, Path: "/api/message/{instanceId}/text",
		Parameters: []reference.Field{{Name: "instanceId", Where: "path", Required: true, Example: "an-example"}, {Name: "Idempotency-Key", Where: "header", Example: "order-1"}},
		Body:       []reference.Field{{Name: "to"}, {Name: "message"}},
		Request:    `{"to": "5511988887766", "message": "Your order is on its way."}`,
	}}}}}, nil
}

// serve serves the pages to visitors whose role stands in a header.
func (r *rig) serve(config dashboard.Config) {
	var err error
	r.pages, err = dashboard.New(config)
	r.routes = dashboard.Routes(config)
	r.check(err)
	r.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		visitor := frame.Visitor{
			Actor: user.Actor{AccountID: r.account.ID, UserID: "user", Name: "Ana", Role: gateway.Role(request.Header.Get("Role"))},
			Key:   gateway.Key{AccountID: r.account.ID, Partner: true},
			Watch: func() (<-chan struct{}, func()) { return nil, func() {} },
		}
		r.pages.ServeHTTP(w, request.WithContext(frame.WithVisitor(request.Context(), visitor)))
	}))
	r.t.Cleanup(r.server.Close)
}

// NumberChecks are those of every instance.
func (r *rig) NumberChecks(context.Context, string) (gateway.Spent, error) {
	return gateway.Spent{LastHour: 12, LastDay: 340}, nil
}

// Unanswered is what every instance waits for.
func (r *rig) Unanswered(context.Context, string) (gateway.Unanswered, error) {
	return gateway.Unanswered{Days: 7, Messages: 31, Chats: 24, OfChats: 180}, nil
}

// Record is the audit list.
func (r *rig) Record(_ context.Context, _ user.Actor, action user.Action, subject, detail string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.entries = append(r.entries, strings.TrimSpace(fmt.Sprint(action, " ", subject, " ", detail)))
}

// recorded returns what was written to the audit list since it was last called.
func (r *rig) recorded() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	entries := r.entries
	r.entries = nil
	return strings.Join(entries, ", ")
}

func (r *rig) check(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// instance adds an instance of the account.
func (r *rig) instance(name string) string {
	r.t.Helper()
	id := uuid.Must(uuid.NewV7()).String()
	r.check(r.store.CreateInstance(r.t.Context(), gateway.Instance{
		ID: id, AccountID: r.account.ID, Name: name, Status: gateway.StatusCreated, CreatedAt: time.Now(), UpdatedAt: time.Now(),
	}))
	return id
}

// append appends an event of a chat.
func (r *rig) append(instanceID, with, text string) {
	r.t.Helper()
	event, err := eventlog.NewEvent(instanceID, gateway.JID(with), "", time.Now(), eventlog.WebhookTest{Message: text})
	r.check(err)
	r.check(r.log.Append(r.t.Context(), event))
}

// answer is what a page answered.
type answer struct {
	status int
	header http.Header
	body   string
}

// get asks for a page as somebody with a role.
func (r *rig) get(role gateway.Role, path string) answer {
	r.t.Helper()
	return r.ask(role, http.MethodGet, path, nil, false)
}

// show asks for a page that is there.
func (r *rig) show(role gateway.Role, path string) string {
	r.t.Helper()
	got := r.get(role, path)
	if got.status != http.StatusOK {
		r.t.Fatalf("%s answered %d: %s", path, got.status, got.body)
	}
	return got.body
}

// post sends a form as the page's script does.
func (r *rig) post(role gateway.Role, path string, form url.Values) answer {
	r.t.Helper()
	return r.ask(role, http.MethodPost, path, form, true)
}

func (r *rig) ask(role gateway.Role, method, path string, form url.Values, script bool) answer {
	r.t.Helper()
	request, err := http.NewRequestWithContext(r.t.Context(), method, r.server.URL+path, strings.NewReader(form.Encode()))
	r.check(err)
	request.Header.Set("Role", string(role))
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if script {
		request.Header.Set("HX-Request", "true")
	}
	response, err := r.server.Client().Transport.RoundTrip(request)
	r.check(err)
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	r.check(err)
	return answer{status: response.StatusCode, header: response.Header, body: string(body)}
}

// follow reads the views of a live page, until one has the text, and returns the line with it.
func (r *rig) follow(role gateway.Role, path string) (await func(text string) (line string)) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), time.Minute)
	r.t.Cleanup(cancel)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.server.URL+path, http.NoBody)
	r.check(err)
	request.Header.Set("Role", string(role))
	response, err := r.server.Client().Do(request)
	r.check(err)
	r.t.Cleanup(func() { _ = response.Body.Close() })
	if response.StatusCode != http.StatusOK {
		r.t.Fatalf("%s answered %d", path, response.StatusCode)
	}
	lines := bufio.NewScanner(response.Body)
	return func(text string) string {
		r.t.Helper()
		for lines.Scan() {
			if strings.Contains(lines.Text(), text) {
				return lines.Text()
			}
		}
		r.t.Fatalf("%s never showed %q (%v)", path, text, lines.Err())
		return ""
	}
}

// has reports what of some texts a page lacks.
func (r *rig) has(page string, texts ...string) {
	r.t.Helper()
	for _, text := range texts {
		if !strings.Contains(page, text) {
			r.t.Errorf("the page lacks %q:\n%s", text, contentOf(page))
		}
	}
}

// hasNot reports what of some texts a page has.
func (r *rig) hasNot(page string, texts ...string) {
	r.t.Helper()
	for _, text := range texts {
		if strings.Contains(page, text) {
			r.t.Errorf("the page has %q:\n%s", text, contentOf(page))
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
