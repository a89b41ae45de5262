package webhook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.uber.org/goleak"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/database"
	"github.com/recado-project/recado/internal/webhook"
)

func TestMain(m *testing.M) {
	if os.Getenv(receiverVariable) != "" {
		serveAlone() // this is the receiver of a benchmark, in a process of its own
		return
	}
	goleak.VerifyTestMain(m)
}

// patience is how long a test waits for what must happen.
const patience = 60 * time.Second

// quick is a schedule on which hours are milliseconds.
func quick() webhook.Schedule {
	return webhook.Schedule{
		Endpoint:   []time.Duration{5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond},
		Event:      []time.Duration{5 * time.Millisecond, 5 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 10 * time.Millisecond, 10 * time.Millisecond},
		FlushPause: 10 * time.Millisecond,
		StopWait:   50 * time.Millisecond,

		ReplayEvery: time.Nanosecond,
	}
}

// rig is a webhook service on a real store and a real log.
type rig struct {
	t        testing.TB
	database store.Config
	store    *store.Store
	log      *eventlog.Log
	service  *webhook.Service
	account  string
	stop     func()                        // ends the service
	wrapLog  func(webhook.Log) webhook.Log // lies between the next service and the log
}

// newRig starts a service on an empty database. What config lacks is filled in.
func newRig(tb testing.TB, config webhook.Config) *rig {
	tb.Helper()
	return newRigOn(tb, store.Config{Path: database.File(tb)}, config)
}

// newRigOn is newRig on another database.
func newRigOn(tb testing.TB, on store.Config, config webhook.Config) *rig {
	tb.Helper()
	r := &rig{t: tb, database: on, account: uuid.NewString()}
	r.start(config)
	r.check(r.store.CreateAccount(tb.Context(), gateway.Account{ID: r.account, Name: r.account, CreatedAt: time.Now()}))
	return r
}

// start starts a service on the rig's database; stop ends it and closes the
// database. wrap, where given, lies between the service and the store.
func (r *rig) start(config webhook.Config, wrap ...func(webhook.Store) webhook.Store) {
	r.t.Helper()
	logger := slog.New(slog.DiscardHandler)
	bell := new(eventlog.Bell)
	opened, err := store.Open(context.Background(), store.Config{Path: r.database.Path, URL: r.database.URL, Bell: bell, Logger: logger})
	r.check(err)
	r.store = opened
	r.log, err = eventlog.New(eventlog.Config{Store: opened, Bell: bell})
	r.check(err)
	config.Store = struct {
		webhook.ConfigurationStore
		webhook.ProgressStore
		webhook.EventFinder
	}{opened.Webhooks, opened.Webhooks, opened}
	config.Log, config.Bell = r.log, bell
	if config.Logger == nil {
		config.Logger = logger
	}
	if r.wrapLog != nil {
		config.Log = r.wrapLog(config.Log)
	}
	for _, w := range wrap {
		config.Store = w(config.Store)
	}
	if len(config.Schedule.Endpoint) == 0 && config.Schedule.StopWait == 0 {
		config.Schedule = quick()
	}
	r.service, err = webhook.New(config)
	r.check(err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	service := r.service
	go func() { ended <- service.Run(ctx) }()
	r.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			r.t.Errorf("the service ended with %v", err)
		}
		if err := opened.Close(); err != nil {
			r.t.Error(err)
		}
	})
	r.t.Cleanup(r.stop)
	<-service.Ready()
	instances, err := opened.AllInstances(ctx)
	r.check(err)
	tenures := make([]gateway.Tenure, len(instances))
	for n, instance := range instances {
		tenures[n].InstanceID = instance.ID
	}
	r.check(service.TakeUp(ctx, tenures))
}

func (r *rig) check(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// instance adds an instance without a webhook.
func (r *rig) instance() string {
	r.t.Helper()
	id := uuid.Must(uuid.NewV7()).String()
	r.check(r.store.CreateInstance(r.t.Context(), gateway.Instance{
		ID: id, AccountID: r.account, Name: "phone", Status: gateway.StatusCreated, CreatedAt: time.Now(), UpdatedAt: time.Now(),
	}))
	r.check(r.service.TakeUp(r.t.Context(), []gateway.Tenure{{InstanceID: id}}))
	return id
}

// hooked adds an instance whose webhook is the URL.
func (r *rig) hooked(url string) string {
	r.t.Helper()
	id := r.instance()
	r.save(id, webhook.Settings{URL: url})
	return id
}

func (r *rig) save(instanceID string, settings webhook.Settings) webhook.Webhook {
	r.t.Helper()
	hook, err := r.service.Save(r.t.Context(), instanceID, settings)
	r.check(err)
	return hook
}

// note is an event of a chat that carries a number.
func note(tb testing.TB, instanceID, chat string, n int) eventlog.Event {
	tb.Helper()
	event, err := eventlog.NewEvent(instanceID, gateway.JID(chat), "", time.Now(),
		eventlog.WebhookTest{Message: fmt.Sprintf("%s/%d", chat, n)})
	if err != nil {
		tb.Fatal(err)
	}
	return event
}

// append appends one event to a chat for each number.
func (r *rig) append(instanceID, chat string, numbers ...int) {
	r.t.Helper()
	var events []eventlog.Event
	for _, n := range numbers {
		events = append(events, note(r.t, instanceID, chat, n))
	}
	r.check(r.log.Append(r.t.Context(), events...))
}

// spread appends events numbered from 1 to many chats by turns.
func (r *rig) spread(instanceID string, chats, each int) {
	r.t.Helper()
	var events []eventlog.Event
	for n := 1; n <= each; n++ {
		for chat := range chats {
			events = append(events, note(r.t, instanceID, fmt.Sprint("chat", chat), n))
		}
	}
	for part := range slices.Chunk(events, 500) {
		r.check(r.log.Append(r.t.Context(), part...))
	}
}

func (r *rig) health(instanceID string) webhook.Health {
	r.t.Helper()
	health, err := r.service.Health(instanceID)
	r.check(err)
	return health
}

// deliveries returns all that is known of the deliveries, in one state.
func (r *rig) deliveries(instanceID string, state webhook.DeliveryState) []webhook.Delivery {
	r.t.Helper()
	page, err := r.service.Deliveries(r.t.Context(), webhook.First(instanceID), gateway.PageRequest{Page: 1, Limit: 2_000})
	r.check(err)
	return slices.DeleteFunc(page.Items, func(d webhook.Delivery) bool { return d.State != state })
}

// received is an event that came to a receiver.
type received struct {
	ID         string `json:"id"`
	Kind       string `json:"type"`
	InstanceID string `json:"instanceId"`
	Sequence   int64  `json:"sequence"`
	File       string `json:"file"` // in base64, in a format that has it
	Data       struct {
		Message string `json:"message"`
	} `json:"data"`

	chat   string
	n      int
	at     time.Time
	header http.Header
	body   []byte
	status int // that it was answered
}

// receiver is an endpoint that notes what comes.
type receiver struct {
	t      testing.TB
	server *httptest.Server

	mu       sync.Mutex
	requests []received
	busy     map[string]int // requests in flight, by chat
	all      int
	widest   int
	overlap  bool          // two of one chat at the same time
	news     chan struct{} // closed and replaced at every change
}

// receive starts a receiver. answer, which may be nil, answers a request that
// was read and returns its status; 0 means that it has answered itself.
func receive(tb testing.TB, answer func(w http.ResponseWriter, r *http.Request, event received) int) *receiver {
	tb.Helper()
	e := &receiver{t: tb, busy: map[string]int{}, news: make(chan struct{})}
	e.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		event := e.begin(r)
		event.status = http.StatusOK
		if answer != nil {
			event.status = answer(w, r, event)
		}
		e.end(event) // before the answer is out, or the next one may overtake this note
		if event.status != 0 {
			w.WriteHeader(event.status)
		}
	}))
	tb.Cleanup(e.server.Close)
	return e
}

func (e *receiver) begin(r *http.Request) received {
	event := received{at: time.Now(), header: r.Header}
	var err error
	if event.body, err = io.ReadAll(r.Body); err == nil {
		err = json.Unmarshal(event.body, &event)
	}
	if err != nil {
		e.t.Errorf("the body can't be read: %v", err)
	}
	_, _ = fmt.Sscanf(event.Data.Message[max(0, lastSlash(event.Data.Message)):], "/%d", &event.n)
	event.chat = event.Data.Message[:max(0, lastSlash(event.Data.Message))]
	e.mu.Lock()
	defer e.mu.Unlock()
	e.busy[event.chat]++
	e.all++
	e.widest = max(e.widest, e.all)
	e.overlap = e.overlap || e.busy[event.chat] > 1
	return event
}

func lastSlash(text string) int {
	for i := len(text) - 1; i >= 0; i-- {
		if text[i] == '/' {
			return i
		}
	}
	return -1
}

func (e *receiver) end(event received) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.busy[event.chat]--
	e.all--
	e.requests = append(e.requests, event)
	close(e.news)
	e.news = make(chan struct{})
}

// got returns what came and was answered 2xx, in order.
func (e *receiver) got() []received {
	return slices.DeleteFunc(e.came(), func(event received) bool { return event.status < 200 || event.status > 299 })
}

// came returns all that came.
func (e *receiver) came() []received {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.requests)
}

// wait waits until a condition holds, which is looked at whenever something came.
func (e *receiver) wait(what string, holds func(came []received) bool) {
	e.t.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		e.mu.Lock()
		came, news := slices.Clip(e.requests), e.news
		e.mu.Unlock()
		if holds(came) {
			return
		}
		select {
		case <-news:
		case <-late.C:
			e.t.Fatalf("waited in vain for %s; %d requests came", what, len(came))
		}
	}
}

// waitFor waits until that many different events have been delivered.
func (e *receiver) waitFor(n int) {
	e.t.Helper()
	seen, looked := map[string]bool{}, 0
	e.wait(fmt.Sprint(n, " events"), func(came []received) bool {
		for _, event := range came[looked:] {
			if event.status >= 200 && event.status <= 299 {
				seen[event.ID] = true
			}
		}
		looked = len(came)
		return len(seen) >= n
	})
}

// wantOrder checks that the first deliveries of each chat are its numbers from 1,
// each chat up to each.
func (e *receiver) wantOrder(chats, each int) {
	e.t.Helper()
	last := map[string]int{}
	seen := map[string]bool{}
	for _, event := range e.got() {
		if seen[event.ID] {
			continue
		}
		seen[event.ID] = true
		if event.n != last[event.chat]+1 {
			e.t.Errorf("in %s %d comes after %d", event.chat, event.n, last[event.chat])
		}
		last[event.chat] = event.n
	}
	if len(last) != chats {
		e.t.Errorf("%d chats came, want %d", len(last), chats)
	}
	for chat, n := range cases.Sorted(last) {
		if n != each {
			e.t.Errorf("%s came as far as %d, want %d", chat, n, each)
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.overlap {
		e.t.Error("two events of one chat were in flight at the same time")
	}
}

// eventually waits for a condition that nothing tells of.
func eventually(tb testing.TB, what string, holds func() bool) {
	tb.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-late.C:
			tb.Fatalf("waited in vain until %s", what)
		}
	}
}
