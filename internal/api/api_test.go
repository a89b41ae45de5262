package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/recado-project/recado/internal/access"
	"github.com/recado-project/recado/internal/api"
	"github.com/recado-project/recado/internal/call"
	"github.com/recado-project/recado/internal/channel"
	"github.com/recado-project/recado/internal/chat"
	"github.com/recado-project/recado/internal/directory"
	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/group"
	"github.com/recado-project/recado/internal/instance"
	"github.com/recado-project/recado/internal/media"
	"github.com/recado-project/recado/internal/messaging"
	"github.com/recado-project/recado/internal/presence"
	"github.com/recado-project/recado/internal/profile"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/template"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/contract"
	"github.com/recado-project/recado/internal/testkit/database"
	"github.com/recado-project/recado/internal/webhook"
	"github.com/recado-project/recado/internal/webhook/accountwide"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fixture is the API on a real store, with the real use cases that work without a
// platform.
type fixture struct {
	handler   http.Handler
	access    *access.Service
	instances *instance.Service
	account   gateway.Account
	log       *logBuffer
	events    *eventlog.Log
	webhooks  *webhook.Service
	stop      context.CancelFunc // ends the streams, as a stop of the program does
	loose     bool               // its answers are not held to the document: they are made up

	key     string // reaches everything of the account
	partner string
}

// noPresence is the receiver of presences, which come from a platform alone.
func noPresence(context.Context, string, gateway.ContactPresence) error { return nil }

func now() time.Time { return time.Date(2026, 11, 20, 14, 22, 10, 123e6, time.UTC) }

// newFixture builds the API. change, if not nil, changes its Config.
func newFixture(tb testing.TB, change func(*api.Config)) *fixture {
	tb.Helper()
	f := &fixture{log: &logBuffer{}}
	stopping, stop := context.WithCancel(tb.Context())
	f.stop = stop
	logger := slog.New(slog.NewJSONHandler(f.log, nil))
	bell := new(eventlog.Bell)
	data, err := store.Open(tb.Context(), store.Config{Path: database.File(tb), Bell: bell, Logger: logger})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := data.Close(); err != nil {
			tb.Error(err)
		}
	})
	if f.access, err = access.New(access.Config{Store: data, Now: now}); err != nil {
		tb.Fatal(err)
	}
	if f.events, err = eventlog.New(eventlog.Config{Store: data, Bell: bell}); err != nil {
		tb.Fatal(err)
	}
	recorder, err := chat.NewRecorder(chat.RecorderConfig{
		Store: struct {
			chat.ArrangementStore
			chat.RemovalFinder
		}{data, data.Chats},
		Logger: logger, RemoveFile: func(context.Context, string, string) error { return nil },
	})
	if err != nil {
		tb.Fatal(err)
	}
	receiver, err := messaging.NewReceiver(messaging.ReceiverConfig{Store: data, Log: f.events, Encoder: noPlatform{}, Chats: recorder, Labels: newLabelRecorder(tb, data), Logger: logger, Shown: noPresence})
	if err != nil {
		tb.Fatal(err)
	}
	sessions, err := instance.NewSessions(instance.SessionsConfig{Store: data, Connector: noPlatform{}, Now: now})
	if err != nil {
		tb.Fatal(err)
	}
	if f.instances, err = instance.New(instance.Config{Sessions: sessions, Receivers: receiver, Log: f.events, Logger: logger}); err != nil {
		tb.Fatal(err)
	}
	people, err := directory.New(directory.Config{Store: data, Sessions: sessions, Now: now})
	if err != nil {
		tb.Fatal(err)
	}
	if f.webhooks, err = webhook.New(webhook.Config{
		Store: struct {
			webhook.ConfigurationStore
			webhook.ProgressStore
			webhook.EventFinder
		}{data.Webhooks, data.Webhooks, data},
		Log: f.events, Bell: bell, Logger: logger, Now: now,
	}); err != nil {
		tb.Fatal(err)
	}
	accountWebhooks, err := accountwide.New(accountwide.Config{Store: data.AccountWebhooks, Webhooks: f.webhooks, Tenures: gateway.Alone{}, Logger: logger, Now: now})
	if err != nil {
		tb.Fatal(err)
	}
	messages := newMessages(tb, messaging.Config{Store: data, Sessions: sessions, Directory: people, Chats: recorder, Bell: bell, Logger: logger, Now: now})
	reading, err := chat.New(chat.Config{
		Store: struct {
			chat.Finder
			chat.MessageFinder
			chat.LabelFinder
		}{data.Chats, data, data.Labels},
		Directory: people, Describer: noPlatform{}, Sessions: sessions, Recorder: recorder, Now: now,
	})
	if err != nil {
		tb.Fatal(err)
	}
	presences, err := presence.New(presence.Config{Store: data.Presences, Instances: data, Sessions: sessions, Directory: people, Tenures: gateway.Alone{}, Logger: logger, Now: now})
	if err != nil {
		tb.Fatal(err)
	}
	prepared, err := template.New(template.Config{Store: data.Templates, Now: now})
	if err != nil {
		tb.Fatal(err)
	}
	config := api.Config{
		Templates: prepared,
		Contacts:  people,
		Presences: presences,
		Labels:    newLabels(tb, data, reading, sessions),
		Instances: f.instances,
		Messages:  messages,
		Uploads:   newUploads(tb, data, logger),
		Queue:     messages.Queue(),
		Chats:     reading,
		Directory: people,
		Groups:    newGroups(tb, sessions, people),
		Channels:  newChannels(tb, sessions),
		Profiles:  newProfiles(tb, sessions),
		Calls:     newCalls(tb, sessions, data, logger),
		Access:    f.access,
		Events:    f.events,
		Webhooks:  f.webhooks, AccountWebhooks: accountWebhooks,
		Stopping: stopping,
		Ready:    data.Ping, ClientVersion: func() gateway.ClientVersion { return gateway.ClientVersion{Version: "2.3000.1"} },
		Version: "1.2.3",
		Now:     now,
		Logger:  logger,
	}
	if change != nil {
		change(&config)
	}
	if f.handler, err = api.New(config); err != nil {
		tb.Fatal(err)
	}
	if f.account, err = f.access.EnsureAccount(tb.Context(), "default"); err != nil {
		tb.Fatal(err)
	}
	f.key = f.newKey(tb, access.KeyParams{AccountID: f.account.ID, Name: "all"})
	f.partner = f.newKey(tb, access.KeyParams{AccountID: f.account.ID, Name: "partner", Partner: true})
	return f
}

// noPlatform is the connector of tests that never call it.
type noPlatform struct {
	gateway.Connector
	gateway.Encoder
}

// CheckProxy fails as the host's name says.
func (noPlatform) CheckProxy(_ context.Context, proxy gateway.Proxy) error {
	host := proxy.URL().Hostname()
	reason, failing := map[string]gateway.Reason{
		"gone.example": gateway.ReasonProxyUnreachable, "locked.example": gateway.ReasonProxyAuth, "lonely.example": gateway.ReasonProxyPlatform,
		"private.example": gateway.ReasonProxyUnreachable,
	}[host]
	switch {
	case host == "private.example":
		return &gateway.ProxyError{Reason: reason, Err: gateway.ErrProxyForbidden}
	case failing:
		return &gateway.ProxyError{Reason: reason, Err: errors.New("on purpose")}
	default:
		return nil
	}
}

// newChannels makes the use cases of channels.
func newChannels(tb testing.TB, sessions *instance.Sessions) *channel.Service {
	tb.Helper()
	pictures, err := media.New(media.Config{TempDir: tb.TempDir(), FFmpeg: media.NoFFmpeg})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = pictures.Close() })
	made, err := channel.New(channel.Config{Sessions: sessions, Pictures: pictures})
	if err != nil {
		tb.Fatal(err)
	}
	return made
}

// newGroups makes the use cases of groups.
func newGroups(tb testing.TB, sessions *instance.Sessions, people *directory.Service) *group.Service {
	tb.Helper()
	pictures, err := media.New(media.Config{TempDir: tb.TempDir(), FFmpeg: media.NoFFmpeg})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = pictures.Close() })
	made, err := group.New(group.Config{
		Sessions: sessions, Directory: people, Pictures: pictures,
		Invite: func(context.Context, string, gateway.JID, gateway.GroupInvite) (string, error) { return "", nil },
	})
	if err != nil {
		tb.Fatal(err)
	}
	return made
}

func newCalls(tb testing.TB, sessions *instance.Sessions, data *store.Store, logger *slog.Logger) *call.Service {
	tb.Helper()
	made, err := call.New(call.Config{
		Sessions: sessions, Store: data, Logger: logger,
		SendText: func(context.Context, string, gateway.JID, string) error { return nil },
	})
	if err != nil {
		tb.Fatal(err)
	}
	return made
}

func newProfiles(tb testing.TB, sessions *instance.Sessions) *profile.Service {
	tb.Helper()
	pictures, err := media.New(media.Config{TempDir: tb.TempDir(), FFmpeg: media.NoFFmpeg})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = pictures.Close() })
	made, err := profile.New(profile.Config{Sessions: sessions, Pictures: pictures})
	if err != nil {
		tb.Fatal(err)
	}
	return made
}

// newMessages makes the use cases of messages without the parts that need a platform.
func newMessages(tb testing.TB, config messaging.Config) *messaging.Service {
	tb.Helper()
	var err error
	if config.Media, err = media.New(media.Config{TempDir: tb.TempDir(), FFmpeg: media.NoFFmpeg}); err != nil {
		tb.Fatal(err)
	}
	if config.Blobs, err = openBlobs(tb); err != nil {
		tb.Fatal(err)
	}
	if config.QueuedFiles, err = openBlobs(tb); err != nil {
		tb.Fatal(err)
	}
	if config.Links, err = media.NewLinks(media.LinksConfig{Blobs: config.Blobs, Secret: make([]byte, media.MinLinkSecret), Now: now}); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := errors.Join(config.Media.Close(), config.Blobs.Close(), config.QueuedFiles.Close()); err != nil {
			tb.Error(err)
		}
	})
	config.Encoder = noPlatform{}
	messages, err := messaging.New(config)
	if err != nil {
		tb.Fatal(err)
	}
	return messages
}

func (f *fixture) newKey(tb testing.TB, params access.KeyParams) string {
	tb.Helper()
	_, secret, err := f.access.CreateKey(tb.Context(), params)
	if err != nil {
		tb.Fatal(err)
	}
	return secret
}

func (f *fixture) newInstance(tb testing.TB) string {
	tb.Helper()
	created, err := f.instances.Create(tb.Context(), f.account.ID, instance.Draft{Name: "phone"})
	if err != nil {
		tb.Fatal(err)
	}
	return created.ID
}

// request is one request of a test; its zero values mean GET, no key, no body.
type request struct {
	method, path, key, body string
	header                  http.Header
}

// isAbout reports whether a segment of the path is this instance's identifier.
func (r request) isAbout(id string) bool {
	path, _, _ := strings.Cut(r.path, "?")
	return slices.Contains(strings.Split(path, "/"), id)
}

func (f *fixture) do(tb testing.TB, r request) *httptest.ResponseRecorder {
	tb.Helper()
	if r.method == "" {
		r.method = http.MethodGet
	}
	made := httptest.NewRequestWithContext(tb.Context(), r.method, "http://gateway", strings.NewReader(r.body))
	// Set by hand: NewRequest refuses unusual ones.
	made.RequestURI = r.path
	target, query, _ := strings.Cut(r.path, "?")
	made.URL.RawQuery = query
	made.URL.Path, made.URL.RawPath = unescape(tb, target), target
	maps.Copy(made.Header, r.header)
	if r.key != "" {
		made.Header.Set("X-Api-Key", r.key)
	}
	recorder := httptest.NewRecorder()
	f.handler.ServeHTTP(recorder, made)
	if !f.loose {
		checkContract(tb, made, r.body, recorder)
	}
	return recorder
}

// contractOf is the document in the repository, which is the one that is served.
//
//nolint:gochecknoglobals // read once for all tests
var contractOf = sync.OnceValues(func() (*contract.Document, error) {
	document, err := os.ReadFile(documentPath)
	if err != nil {
		return nil, err
	}
	return contract.Load(context.Background(), document)
})

// checkContract checks an answer against the document.
func checkContract(tb testing.TB, made *http.Request, sent string, got *httptest.ResponseRecorder) {
	tb.Helper()
	document, err := contractOf()
	if err != nil {
		tb.Fatal(err)
	}
	if strings.HasPrefix(got.Header().Get("Content-Type"), "text/event-stream") {
		return
	}
	if err := document.Check(made, []byte(sent), got.Result(), got.Body.Bytes()); err != nil {
		tb.Error(err)
	}
}

func unescape(tb testing.TB, path string) string {
	tb.Helper()
	plain, err := url.PathUnescape(path)
	if err != nil {
		tb.Fatal(err)
	}
	return plain
}

// refusal is the contract's error body.
type refusal struct {
	StatusCode int                  `json:"statusCode"`
	Message    string               `json:"message"`
	Error      string               `json:"error"`
	Timestamp  string               `json:"timestamp"`
	Path       string               `json:"path"`
	Details    []gateway.FieldError `json:"details"`
}

// wantRefusal checks an error answer as a whole and returns it.
func wantRefusal(t *testing.T, r request, got *httptest.ResponseRecorder, status int, code string) refusal {
	t.Helper()
	var body refusal
	decoder := json.NewDecoder(got.Body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&body); err != nil {
		t.Fatalf("%s %s: status %d, no error body: %v", r.method, r.path, got.Code, err)
	}
	path, _, _ := strings.Cut(r.path, "?")
	if got.Code != status || body.StatusCode != status || body.Error != code {
		t.Errorf("%s %s: status %d, body %+v; want %d %s", r.method, r.path, got.Code, body, status, code)
	}
	if body.Message == "" || body.Timestamp != "2026-11-20T14:22:10.123Z" || body.Path != path {
		t.Errorf("%s %s: body %+v", r.method, r.path, body)
	}
	if (body.Error == gateway.CodeValidation) != (len(body.Details) > 0) {
		t.Errorf("%s %s: details are %v", r.method, r.path, body.Details)
	}
	if contentType := got.Header().Get("Content-Type"); contentType != "application/json" {
		t.Errorf("%s %s: content type %q", r.method, r.path, contentType)
	}
	if got.Header().Get("X-Request-Id") == "" {
		t.Errorf("%s %s: no request id", r.method, r.path)
	}
	return body
}

// wantJSON checks an answer to the letter, except for blanks.
func wantJSON(t *testing.T, got *httptest.ResponseRecorder, status int, want string) {
	t.Helper()
	if got.Code != status {
		t.Errorf("status %d: %s; want %d", got.Code, got.Body, status)
	}
	if contentType := got.Header().Get("Content-Type"); contentType != "application/json" {
		t.Errorf("content type %q", contentType)
	}
	if link := got.Header().Get("Link"); link != "" {
		t.Errorf("it links to %q", link)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, []byte(want)); err != nil {
		t.Fatal(err)
	}
	if body := strings.TrimSpace(got.Body.String()); body != compact.String() {
		t.Errorf("body\n%s\nwant\n%s", body, compact.String())
	}
}

// logBuffer keeps the log.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write adds to the log.
func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func readAll(t *testing.T, r io.Reader) string {
	t.Helper()
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func closeBody(t *testing.T, response *http.Response) {
	t.Helper()
	if err := response.Body.Close(); err != nil {
		t.Error(err)
	}
}

func newDiscardLogger() *slog.Logger { return slog.New(slog.DiscardHandler) }

// sends accepts every text.
type sends struct{ api.Messages }

// Send answers at once.
func (sends) Send(context.Context, messaging.Request, gateway.Content) (messaging.Result, error) {
	return messaging.Result{ID: "019aa1f4-8d52-7c1e-b3a0-0f4de1c9a7b2", MessageID: "3EB0C431C26A1916E07A"}, nil
}

// BenchmarkRequest is a request without the network: finding its key and instance in
// SQLite, validation, the answer, and the log line, which is kept.
func BenchmarkRequest(b *testing.B) {
	f := newFixture(b, func(c *api.Config) {
		c.Messages = sends{}
	})
	id := f.newInstance(b)
	for name, r := range cases.Sorted(map[string]request{
		"list": {path: "/api/instances", method: http.MethodGet},
		"send": {path: "/api/message/" + id + "/text", method: http.MethodPost, body: `{"to":"5511988887766","message":"Your order is on its way."}`},
		"key":  {path: "/api/partner/api-keys/x", method: http.MethodDelete},
	}) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				made := httptest.NewRequestWithContext(b.Context(), r.method, r.path, strings.NewReader(r.body))
				made.Header.Set("X-Api-Key", f.key)
				f.handler.ServeHTTP(httptest.NewRecorder(), made)
			}
		})
	}
}
