package webhook_test

import (
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/webhook"
	"github.com/recado-project/recado/internal/webhook/accountwide"
)

// create makes one more webhook of an instance.
func (r *rig) create(instanceID string, settings webhook.Settings) webhook.Webhook {
	r.t.Helper()
	hook, err := r.service.Create(r.t.Context(), instanceID, settings)
	r.check(err)
	return hook
}

func ref(hook webhook.Webhook) webhook.Ref {
	return webhook.Ref{InstanceID: hook.InstanceID, ID: hook.ID}
}

// condition returns how a webhook is doing.
func (r *rig) condition(ref webhook.Ref) webhook.Condition {
	r.t.Helper()
	condition, err := r.service.Condition(r.t.Context(), ref)
	r.check(err)
	return condition
}

// Every destination gets every event in the order of its chat, though others are dead, are
// made in the middle, or have a request that hangs. Nothing is lost by a new start.
func TestSeveralDestinations(t *testing.T) {
	t.Parallel()
	const chats, each = 5, 20
	r := newRig(t, webhook.Config{AllowPrivateURLs: true})
	id := r.instance()
	good, late := receive(t, nil), receive(t, nil)
	var healed atomic.Bool
	ill := receive(t, func(http.ResponseWriter, *http.Request, received) int {
		if healed.Load() {
			return http.StatusOK
		}
		return http.StatusInternalServerError
	})
	stuck := make(chan struct{})
	hanging := receive(t, func(_ http.ResponseWriter, request *http.Request, _ received) int {
		select {
		case <-stuck:
		case <-request.Context().Done():
		}
		return http.StatusOK
	})
	r.create(id, webhook.Settings{URL: ill.server.URL})
	r.create(id, webhook.Settings{URL: hanging.server.URL})
	r.save(id, webhook.Settings{URL: good.server.URL})
	r.spread(id, chats, each)
	good.waitFor(chats * each)
	good.wantOrder(chats, each)
	if cursor, waiting := r.service.Delivered(id); cursor != 0 || !waiting {
		t.Errorf("%d are delivered to all (%v), though one got nothing yet", cursor, waiting)
	}

	last := r.create(id, webhook.Settings{URL: late.server.URL})
	healed.Store(true)
	close(stuck)
	ill.waitFor(chats * each)
	hanging.waitFor(chats * each)
	ill.wantOrder(chats, each)
	r.append(id, "chat0", each+1)
	late.waitFor(1)
	good.waitFor(chats*each + 1)
	hanging.waitFor(chats*each + 1)
	ill.waitFor(chats*each + 1)
	if late.got()[0].n != each+1 {
		t.Errorf("one that is new begins with %d", late.got()[0].n)
	}
	eventually(t, "all are at the end", func() bool {
		cursor, waiting := r.service.Delivered(id)
		return cursor == chats*each+1 && waiting
	})

	// After a new start each goes on where it was.
	r.stop()
	before := len(good.came())
	r.start(webhook.Config{AllowPrivateURLs: true})
	r.append(id, "chat1", each+1)
	for _, endpoint := range []*receiver{good, ill, hanging} {
		endpoint.waitFor(chats*each + 2)
	}
	late.waitFor(2)
	if again := len(good.came()) - before; again != 1 {
		t.Errorf("%d events came after the new start", again)
	}
	r.check(r.service.Delete(t.Context(), ref(last)))
	r.append(id, "chat2", each+1)
	good.waitFor(chats*each + 3)
	if n := len(late.got()); n != 2 {
		t.Errorf("one that was deleted got %d events", n)
	}
}

// Each of several has its own state: one is suspended and resumed, replayed or looked at
// without the others.
func TestSeveralAreApart(t *testing.T) {
	t.Parallel()
	r := newRig(t, webhook.Config{AllowPrivateURLs: true})
	id := r.instance()
	good := receive(t, nil)
	var status atomic.Int64
	status.Store(http.StatusGone)
	gone := receive(t, func(http.ResponseWriter, *http.Request, received) int { return int(status.Load()) })
	first, other := r.save(id, webhook.Settings{URL: good.server.URL}), r.create(id, webhook.Settings{URL: gone.server.URL})
	r.append(id, "a", 1)
	eventually(t, "one is suspended", func() bool { return r.condition(ref(other)).Flow == webhook.FlowSuspended })
	good.waitFor(2) // its suspension is an event for the others
	isSuspension := func(event received) bool { return event.Kind == string(eventlog.KindWebhookSuspended) }
	if got := good.got(); !slices.ContainsFunc(got, isSuspension) { // those of different chats have no order
		t.Errorf("the events are %+v", got)
	}
	if flow := r.condition(ref(first)).Flow; flow != webhook.FlowFlowing {
		t.Errorf("the other is %s", flow)
	}
	status.Store(http.StatusOK)
	r.check(r.service.Resume(t.Context(), ref(other)))
	gone.waitFor(2)
	eventually(t, "it has caught up", func() bool { return r.condition(ref(other)).Pending == 0 })
	before := len(good.came())
	replayed, err := r.service.Replay(t.Context(), ref(other), webhook.From{Sequence: 1})
	r.check(err)
	if replayed.Events != 2 {
		t.Errorf("%d events are delivered again", replayed.Events)
	}
	gone.wait("the replay", func(came []received) bool { return len(came) >= 5 })
	if n := len(good.came()); n != before {
		t.Errorf("the other got %d events of the replay", n-before)
	}
	page, err := r.service.Deliveries(t.Context(), ref(first), gateway.PageRequest{Page: 1, Limit: 100})
	r.check(err)
	if page.Total != 2 {
		t.Errorf("the other has %d deliveries", page.Total)
	}
	conditions, err := r.service.Conditions(t.Context(), []string{id})
	r.check(err)
	if len(conditions[id]) != 2 {
		t.Errorf("there are %d conditions", len(conditions[id]))
	}
}

// Which webhook is that of webhook-config is remembered, and others don't take its place.
func TestTheFirstStaysTheFirst(t *testing.T) {
	t.Parallel()
	r := newRig(t, webhook.Config{AllowPrivateURLs: true})
	id := r.instance()
	other := r.create(id, webhook.Settings{URL: "http://127.0.0.1:1/other"})
	if _, err := r.service.Get(t.Context(), webhook.First(id)); gateway.KindOf(err) != gateway.NotFound {
		t.Errorf("before it was saved: %v", err)
	}
	first := r.save(id, webhook.Settings{URL: "http://127.0.0.1:1/first"})
	kinds, chats := []eventlog.Kind{eventlog.KindPresence, eventlog.KindMessageSent, eventlog.KindPresence}, []webhook.ChatKind{webhook.ChatGroup}
	_, err := r.service.Change(t.Context(), webhook.First(id), webhook.Settings{Events: &kinds, Chats: &chats, Headers: map[string]string{"x-own": "1"}})
	r.check(err)
	saved := r.save(id, webhook.Settings{URL: "http://127.0.0.1:1/again"})
	if !saved.First || saved.ID != first.ID || other.First || len(saved.Filter.Kinds) != 2 || len(saved.Filter.Chats) != 1 ||
		len(saved.Headers) != 1 || saved.Headers[0] != (webhook.Header{Name: "X-Own", Value: "1"}) {
		t.Errorf("saved again it is %+v", saved)
	}
	listed, err := r.service.List(t.Context(), id, gateway.PageRequest{Page: 1, Limit: 10})
	r.check(err)
	if listed.Total != 2 || listed.Items[0].ID != other.ID || listed.Items[1].ID != first.ID {
		t.Errorf("listed are %+v", listed.Items)
	}
	for range webhook.MaxWebhooks - 1 {
		r.create(id, webhook.Settings{URL: "http://127.0.0.1:1/"})
	}
	_, err = r.service.Create(t.Context(), id, webhook.Settings{URL: "http://127.0.0.1:1/"})
	wantCode(t, err, gateway.Conflict, gateway.CodeWebhookLimit)
	r.check(r.service.Delete(t.Context(), webhook.First(id)))
	r.save(id, webhook.Settings{URL: "http://127.0.0.1:1/"}) // it does not count
	_, err = r.service.Change(t.Context(), webhook.Ref{InstanceID: r.instance(), ID: other.ID}, webhook.Settings{})
	wantCode(t, err, gateway.NotFound, gateway.CodeWebhookNotFound)
}

// kindly appends an event of a kind to a chat.
func (r *rig) kindly(instanceID, chat string, data eventlog.Data) {
	r.t.Helper()
	event, err := eventlog.NewEvent(instanceID, gateway.JID(chat), "", time.Now(), data)
	r.check(err)
	r.check(r.log.Append(r.t.Context(), event))
}

// What a filter leaves out is passed without a delivery; what is let through comes in order,
// also from the log, and also after the filter was changed.
func TestFilter(t *testing.T) {
	t.Parallel()
	r := newRig(t, webhook.Config{AllowPrivateURLs: true})
	id := r.instance()
	var down atomic.Bool
	const unwanted = 608
	endpoint := receive(t, func(_ http.ResponseWriter, _ *http.Request, event received) int {
		if down.Load() || event.Sequence == unwanted {
			return http.StatusInternalServerError
		}
		return http.StatusOK
	})
	tries := func() (count int) {
		for _, event := range endpoint.came() {
			if event.Sequence == unwanted {
				count++
			}
		}
		return count
	}
	groups, kinds := []webhook.ChatKind{webhook.ChatGroup}, []eventlog.Kind{eventlog.KindWebhookSuspended, eventlog.KindEventsExpired}
	hook := r.create(id, webhook.Settings{URL: endpoint.server.URL, Chats: &groups, Events: &kinds})
	expired := func(n int) eventlog.Data { return eventlog.EventsExpired{FromSequence: int64(n)} }
	taken := func() (sequences []int64) {
		for _, event := range endpoint.got() {
			sequences = append(sequences, event.Sequence)
		}
		slices.Sort(sequences) // those of different chats have no order
		return slices.Compact(sequences)
	}
	r.kindly(id, "1@g.us", expired(1))
	r.kindly(id, "1@lid", expired(2))                           // no group
	r.kindly(id, "1@g.us", eventlog.WebhookTest{Message: "/3"}) // another kind
	r.kindly(id, "", eventlog.WebhookSuspended{Reason: "gone"}) // of no chat
	r.kindly(id, "1@g.us", expired(5))
	endpoint.waitFor(3)
	if got := taken(); !slices.Equal(got, []int64{1, 4, 5}) {
		t.Errorf("it got %v", got)
	}
	eventually(t, "the cursor has passed the others", func() bool { cursor, _ := r.service.Delivered(id); return cursor == 5 })

	// While the endpoint is down they stay in the log, of which most is left out.
	down.Store(true)
	r.kindly(id, "1@g.us", expired(6))
	eventually(t, "it waits", func() bool { return r.condition(ref(hook)).Flow == webhook.FlowWaiting })
	for n := range 600 {
		r.kindly(id, fmt.Sprint(n, "@lid"), expired(n))
	}
	r.kindly(id, "1@g.us", expired(7))
	down.Store(false)
	endpoint.waitFor(5)
	eventually(t, "nothing waits", func() bool { return r.condition(ref(hook)).Pending == 0 })
	if got := taken(); !slices.Equal(got, []int64{1, 4, 5, 6, 607}) {
		t.Errorf("it got %v", got)
	}

	// The next filter counts for what was not delivered yet.
	down.Store(true)
	r.kindly(id, "2@g.us", expired(unwanted))
	r.kindly(id, "2@lid", expired(609))
	eventually(t, "it waits again", func() bool { return r.condition(ref(hook)).Flow == webhook.FlowWaiting })
	direct := []webhook.ChatKind{webhook.ChatDirect}
	_, err := r.service.Change(t.Context(), ref(hook), webhook.Settings{Chats: &direct})
	r.check(err)
	before := tries()
	down.Store(false)
	r.check(r.service.Resume(t.Context(), ref(hook)))
	endpoint.waitFor(6)
	eventually(t, "nothing waits", func() bool { return r.condition(ref(hook)).Pending == 0 })
	if got := taken(); got[len(got)-1] != 609 {
		t.Errorf("it got %v", got)
	}
	if again := tries() - before; again > 1 { // one may have been on its way
		t.Errorf("what the filter leaves out was tried %d times more", again)
	}
}

// What is left out is saved later than what is delivered, but not never: after a crash only
// what is not saved is looked at again.
func TestWhatIsLeftOutIsSaved(t *testing.T) {
	t.Parallel()
	schedule := quick()
	schedule.SkipPause = 20 * time.Millisecond
	r := newRig(t, webhook.Config{AllowPrivateURLs: true, Schedule: schedule})
	id := r.instance()
	kinds := []eventlog.Kind{eventlog.KindPresence}
	r.create(id, webhook.Settings{URL: "http://127.0.0.1:1/", Events: &kinds})
	for n := range int64(3) { // the first may ride with what is new of the webhook
		r.append(id, "a", int(n))
		eventually(t, "the cursor is saved", func() bool {
			saved, err := r.store.Webhooks.Webhooks(t.Context(), []string{id})
			r.check(err)
			return saved[0].State.Cursor == n+1
		})
	}
}

// A webhook's own headers are in every request, and none of them takes the place of ours.
func TestOwnHeaders(t *testing.T) {
	t.Parallel()
	r := newRig(t, webhook.Config{AllowPrivateURLs: true})
	id := r.instance()
	endpoint := receive(t, nil)
	hook := r.create(id, webhook.Settings{URL: endpoint.server.URL, Headers: map[string]string{"authorization": "Bearer 7", "X-Empty": ""}})
	r.append(id, "a", 1)
	endpoint.waitFor(1)
	header := endpoint.got()[0].header
	if header.Get("Authorization") != "Bearer 7" || len(header["X-Empty"]) != 1 || header.Get("Webhook-Id") == "" || header.Get("User-Agent") != "Recado/dev" {
		t.Errorf("the headers are %v", header)
	}
	_, err := r.service.Change(t.Context(), ref(hook), webhook.Settings{Headers: map[string]string{}})
	r.check(err)
	r.append(id, "a", 2)
	endpoint.waitFor(2)
	if header := endpoint.got()[1].header; header.Get("Authorization") != "" {
		t.Errorf("after they were removed the headers are %v", header)
	}
}

func TestNewHeaders(t *testing.T) {
	t.Parallel()
	many := map[string]string{}
	for n := range 21 {
		many[fmt.Sprint("X-", n)] = "1"
	}
	for name, given := range cases.Sorted(map[string]map[string]string{
		"too many":            many,
		"a line break":        {"X-A": "1\r\nX-B: 2"},
		"a line feed":         {"X-A": "1\n2"},
		"a zero":              {"X-A": "1\x002"},
		"not ASCII":           {"X-A": "ã"},
		"a blank at the end":  {"X-A": "1 "},
		"a long value":        {"X-A": string(make([]byte, 1_025))},
		"no name":             {"": "1"},
		"a name with a break": {"X-A\r\nX-B": "1"},
		"a name with a colon": {"X-A:": "1"},
		"a name with a blank": {"X A": "1"},
		"a long name":         {string(slices.Repeat([]byte("a"), 65)): "1"},
		"twice":               {"X-A": "1", "x-a": "2"},
		"host":                {"Host": "example.org"},
		"length":              {"content-length": "0"},
		"type":                {"CONTENT-TYPE": "text/html"},
		"signature":           {"webhook-signature": "v1,"},
		"agent":               {"user-agent": "x"},
		"connection":          {"connection": "close"},
		"transfer":            {"transfer-encoding": "chunked"},
		"proxy":               {"proxy-authorization": "x"},
		"upgrade":             {"upgrade": "h2c"},
		"expect":              {"expect": "100-continue"},
		"encoding":            {"accept-encoding": "gzip"},
		"repeat":              {"idempotency-key": "1"},
		"trace":               {"traceparent": "00"},
	}) {
		if headers, err := webhook.NewHeaders(given); gateway.KindOf(err) != gateway.Invalid {
			t.Errorf("%s: %v, %v", name, headers, err)
		}
	}
	headers, err := webhook.NewHeaders(map[string]string{"x-b": "a b", "Cookie": "c=1", "X-A": ""})
	if err != nil || len(headers) != 3 || headers[0].Name != "Cookie" || headers[2] != (webhook.Header{Name: "X-B", Value: "a b"}) {
		t.Errorf("made are %v, %v", headers, err)
	}
	if shown := headers[0].LogValue().String(); shown != "Cookie: ***" {
		t.Errorf("logged is %q", shown)
	}
}

func TestFilterTakes(t *testing.T) {
	t.Parallel()
	all := webhook.ChatKinds()
	for chat, kind := range cases.Sorted(map[gateway.JID]webhook.ChatKind{
		"1@s.whatsapp.net": webhook.ChatDirect, "1@lid": webhook.ChatDirect, "1-2@g.us": webhook.ChatGroup,
		"1@newsletter": webhook.ChatChannel, "status@broadcast": webhook.ChatStatus,
	}) {
		for _, wanted := range all {
			filter := webhook.Filter{Chats: []webhook.ChatKind{wanted}}
			if got := filter.Takes(eventlog.Event{Chat: chat, Kind: eventlog.KindPresence}); got != (wanted == kind) {
				t.Errorf("%s: a filter for %s says %v", chat, wanted, got)
			}
		}
	}
	for name, test := range cases.Sorted(map[string]struct {
		kind  eventlog.Kind
		data  string
		taken []eventlog.Kind // of the choices that name the kind
	}{
		"sent by a phone":     {eventlog.KindMessageSent, `{"source":"device"}`, []eventlog.Kind{"message.sent", "message.sent:device"}},
		"sent by the gateway": {eventlog.KindMessageSent, `{"source":"api"}`, []eventlog.Kind{"message.sent", "message.sent:api"}},
		"an answer":           {eventlog.KindMessagePollVote, `{"selection":{"id":"a"}}`, []eventlog.Kind{"message.poll_vote", "message.poll_vote:selection"}},
		"another vote":        {eventlog.KindMessagePollVote, `{"selection":null}`, []eventlog.Kind{"message.poll_vote", "message.poll_vote:other"}},
		"no vote":             {eventlog.KindMessageReceived, `{"source":"device","selection":{}}`, []eventlog.Kind{"message.received"}},
	}) {
		var taken []eventlog.Kind
		for _, choice := range webhook.Choices() {
			if (webhook.Filter{Kinds: []eventlog.Kind{choice}}).Takes(eventlog.Event{Kind: test.kind, Data: []byte(test.data)}) {
				taken = append(taken, choice)
			}
		}
		if !slices.Equal(taken, test.taken) {
			t.Errorf("%s: taken by %v", name, taken)
		}
	}
	r := newRig(t, webhook.Config{AllowPrivateURLs: true})
	id := r.instance()
	for name, settings := range cases.Sorted(map[string]webhook.Settings{
		"an unknown part":  {Events: &[]eventlog.Kind{"message.sent:phone"}},
		"an unknown kind":  {Events: &[]eventlog.Kind{"message.invented"}},
		"the test":         {Events: &[]eventlog.Kind{eventlog.KindWebhookTest}},
		"an unknown chat":  {Chats: &[]webhook.ChatKind{"broadcast"}},
		"a bad header":     {Headers: map[string]string{"host": "x"}},
		"a private secret": {Secret: new(" ")},
	}) {
		settings.URL = "http://127.0.0.1:1/"
		if _, err := r.service.Create(t.Context(), id, settings); gateway.KindOf(err) != gateway.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A webhook of an account is followed from the moment when it was made, however late an
// instance begins, and what was gone in between is not delivered.
func TestFollowFromTheBeginning(t *testing.T) {
	t.Parallel()
	r := newRig(t, webhook.Config{AllowPrivateURLs: true})
	id := r.instance()
	endpoint := receive(t, nil)
	r.append(id, "a", 1)
	account := webhook.Webhook{ID: uuid.NewString(), Active: true, CreatedAt: time.Now().UTC().Truncate(time.Millisecond)}
	r.check(r.service.Apply(&account, webhook.Settings{URL: endpoint.server.URL}))
	r.check(r.store.AccountWebhooks.SaveAccountWebhook(t.Context(), accountwide.Webhook{AccountID: r.account, Webhook: account}))
	r.append(id, "a", 2, 3)
	for range 2 { // the second time there is nothing to do
		r.check(r.service.Follow(t.Context(), id, []webhook.Webhook{account}))
	}
	r.append(id, "a", 4)
	var numbers []int
	for n := 3; !slices.Contains(numbers, 4); n++ {
		endpoint.waitFor(n)
		numbers = nil
		for _, got := range endpoint.got() {
			numbers = append(numbers, got.n)
		}
	}
	// The first may have come within the same millisecond.
	if numbers = slices.DeleteFunc(numbers, func(n int) bool { return n == 1 }); !slices.Equal(numbers, []int{2, 3, 4}) {
		t.Errorf("events %v came", numbers)
	}
	page, err := r.service.List(t.Context(), id, gateway.PageRequest{Page: 1, Limit: 10})
	r.check(err)
	if page.Total != 1 || page.Items[0].Account != account.ID || page.Items[0].First {
		t.Fatalf("it has %+v", page.Items)
	}
	_, err = r.service.Change(t.Context(), webhook.Ref{InstanceID: id, ID: page.Items[0].ID}, webhook.Settings{Active: new(false)})
	wantCode(t, err, gateway.Conflict, gateway.CodeWebhookOfAccount)

	found, err := r.store.AccountWebhooks.DeleteAccountWebhook(t.Context(), r.account, account.ID)
	r.check(err)
	r.check(r.service.Follow(t.Context(), id, nil))
	r.append(id, "a", 5)
	if page, err = r.service.List(t.Context(), id, gateway.PageRequest{Page: 1, Limit: 10}); err != nil || page.Total != 0 || !found {
		t.Errorf("it still has %+v (%v)", page.Items, err)
	}
	if cursor, waiting := r.service.Delivered(id); waiting {
		t.Errorf("a webhook that is gone waits at %d", cursor)
	}
}
