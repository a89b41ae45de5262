package dashboard_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/messaging/queue"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// leave leaves a text in the queue of an instance, and returns its identifier.
func (r *rig) leave(instanceID, number, text string, due time.Time) string {
	r.t.Helper()
	message := queue.Message{
		ID: uuid.Must(uuid.NewV7()).String(), InstanceID: instanceID, PlatformID: "3EB0" + number,
		To: gateway.Recipient{Number: number}, Type: gateway.TypeText, Text: text, DueAt: due, CreatedAt: time.Now(),
	}
	r.check(r.queue.Add(r.t.Context(), message, nil))
	return message.ID
}

// runQueue lets the queue try to send until the test ends.
func (r *rig) runQueue() {
	r.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = r.queue.Run(ctx) })
	r.t.Cleanup(func() { stop(); running.Wait(); r.queue.Wait() })
}

// What waits is on the page, whatever its text tries, and leaves it when it is cancelled.
// Who may only look finds nothing to cancel it with.
func TestQueueIsShownAndCancelled(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id, other := r.instance("Desk"), r.instance("Other")
	path := "/instances/" + id + "/queue"
	r.has(r.show(gateway.RoleViewer, path), "The queue is empty")
	tomorrow := time.Now().Add(24 * time.Hour)
	first := r.leave(id, "5511988887766", "<script>alert(1)</script>\n\u202eoi "+strings.Repeat("muito ", 200)+"fim", tomorrow)
	second := r.leave(id, "5511977776664", "Obrigada!", time.Now())
	foreign := r.leave(other, "5511966665552", "Segredo", tomorrow)

	page := r.show(gateway.RoleOperator, path)
	r.has(page, "2 messages are waiting", "5511988887766", "&lt;script&gt;alert(1)&lt;/script&gt; oi muito", "mui…", "Scheduled",
		tomorrow.UTC().Format("2006-01-02 15:04:05"), "5511977776664", "Obrigada!", "waiting its turn", "/queue/"+first+"/cancel", "cancel-all")
	r.hasNot(page, "<script>alert", "fim", "\u202e", "Segredo")
	if strings.Index(page, first) > strings.Index(page, second) {
		t.Error("the newest is first")
	}
	page = r.show(gateway.RoleViewer, path)
	r.has(page, "Obrigada!")
	r.hasNot(page, "/cancel", "cancel-all", "<button class=\"button small\"")

	live := r.follow(gateway.RoleViewer, path+"/live")
	live("Obrigada!")
	for name, request := range cases.Sorted(map[string]string{"another instance's": foreign, "none": uuid.NewString()}) {
		if got := r.post(gateway.RoleOperator, path+"/"+request+"/cancel", nil); got.status != http.StatusNotFound {
			t.Errorf("cancelling %s message is answered %d", name, got.status)
		}
	}
	if got := r.post(gateway.RoleViewer, path+"/"+first+"/cancel", nil); got.status != http.StatusForbidden {
		t.Errorf("a viewer is answered %d", got.status)
	}
	if entries := r.recorded(); entries != "" {
		t.Errorf("recorded %q", entries)
	}
	got := r.post(gateway.RoleOperator, path+"/"+first+"/cancel", nil)
	r.has(got.header.Get("Hx-Trigger"), "will not be sent")
	r.has(got.body, "One message is waiting", "Obrigada!")
	r.hasNot(got.body, first, "<html")
	live("One message is waiting")
	if entries, want := r.recorded(), "message_cancelled Desk "+first; entries != want {
		t.Errorf("recorded %q, want %q", entries, want)
	}
	if got := r.ask(gateway.RoleOperator, http.MethodPost, path+"/cancel", nil, false); got.status != http.StatusSeeOther || got.header.Get("Location") != path {
		t.Errorf("without the script: answered %+v", got)
	}
	if entries, want := r.recorded(), "queue_cancelled Desk 1"; entries != want {
		t.Errorf("recorded %q, want %q", entries, want)
	}
	live("The queue is empty")
	got = r.post(gateway.RoleOperator, path+"/cancel", nil)
	r.has(got.header.Get("Hx-Trigger"), "nothing to cancel")
	r.has(got.body, "The queue is empty")
	if entries := r.recorded(); entries != "" {
		t.Errorf("recorded %q", entries)
	}
	r.has(r.show(gateway.RoleViewer, "/instances/"+other+"/queue"), "Segredo")
}

// The page of the instance counts what waits, as it comes and goes.
func TestInstanceCountsItsQueue(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.instance("Desk")
	page := "/instances/" + id
	r.hasNot(r.show(gateway.RoleViewer, page), "in the queue")
	live := r.follow(gateway.RoleViewer, page+"/live")
	first := r.leave(id, "5511988887766", "Oi", time.Now().Add(time.Hour))
	live("One message is waiting in the queue")
	r.has(r.show(gateway.RoleViewer, page), "One message is waiting in the queue", page+"/queue")
	r.leave(id, "5511988887766", "Oi?", time.Now().Add(time.Hour))
	live("2 messages are waiting in the queue")
	r.post(gateway.RoleOperator, page+"/queue/"+first+"/cancel", nil)
	live("One message is waiting in the queue")
}

// A time to send at must be a moment that is still to come.
func TestTimesToSendAtAreChecked(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	path := "/instances/" + r.instance("Desk") + "/messages"
	for name, moment := range cases.Sorted(map[string]string{
		"no script": "", "no moment": "2026-11-24T09:00", "no time": "tomorrow", "the past": time.Now().Add(-2 * time.Minute).UTC().Format(time.RFC3339),
	}) {
		got := r.post(gateway.RoleOperator, path, url.Values{
			"to": {"5511988887766"}, "kind": {"text"}, "text": {"Oi"}, "at": {"2026-11-24T09:00"}, "moment": {moment},
		})
		if got.status != http.StatusBadRequest || got.header.Get("X-Problem") == "" {
			t.Errorf("%s: answered %d %v", name, got.status, got.header)
		}
	}
	if entries := r.recorded(); entries != "" {
		t.Errorf("recorded %q", entries)
	}
}

// Contact cards are lines with a name and a number, 1 to 30 of them.
func TestContactCardsAreChecked(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	path := "/instances/" + r.instance("Desk") + "/messages"
	for name, cards := range cases.Sorted(map[string]string{
		"none": " \n", "no number": "Ana Souza", "no name": ", 5511977776655", "a wrong number": "Ana Souza, 123",
		"one of two": "Ana Souza, 5511977776655\nBia", "too many": strings.Repeat("Ana Souza, 5511977776655\n", 31),
	}) {
		got := r.post(gateway.RoleOperator, path, url.Values{"to": {"5511988887766"}, "kind": {"contact"}, "cards": {cards}})
		if got.status != http.StatusBadRequest || got.header.Get("X-Problem") == "" {
			t.Errorf("%s: answered %d %v", name, got.status, got.header)
		}
	}
	if entries := r.recorded(); entries != "" {
		t.Errorf("recorded %q", entries)
	}
}

// A long queue has pages, and a cancelled message stays on the page that it was on.
func TestQueueHasPages(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := r.instance("Desk")
	path := "/instances/" + id + "/queue"
	ids := make([]string, 30)
	for n := range ids {
		ids[n] = r.leave(id, fmt.Sprintf("55119%08d", n), fmt.Sprintf("Texto %d.", n), time.Now().Add(time.Hour))
	}
	page := r.show(gateway.RoleOperator, path)
	r.has(page, "30 messages are waiting", "Texto 0.", "Texto 24.", path+"?page=2")
	r.hasNot(page, "Texto 25.")
	page = r.show(gateway.RoleOperator, path+"?page=2")
	r.has(page, "Texto 25.", "Texto 29.", "First page", ids[27]+"/cancel?page=2", path+"/live?page=2")
	r.hasNot(page, "Texto 24.")
	got := r.post(gateway.RoleOperator, path+"/"+ids[27]+"/cancel?page=2", nil)
	r.has(got.body, "29 messages are waiting", "Texto 29.")
	r.hasNot(got.body, "Texto 27.", "Texto 24.")
	r.has(r.show(gateway.RoleViewer, path+"?page=9"), "First page")
	got = r.post(gateway.RoleOperator, path+"/cancel", nil)
	r.has(got.header.Get("Hx-Trigger"), "29 messages")
}

// A message that is due and must not be sent yet says why and, where that is known, until
// when. One that is being sent can't be cancelled.
func TestQueueSaysWhyMessagesAreHeld(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	restricted := func(d time.Duration) error {
		refusal := gateway.Errorf(gateway.RateLimited, gateway.CodeRecipientRestricted, "restricted")
		refusal.RetryAfter = d
		return refusal
	}
	tests := []struct {
		number, has, until string
		refusal            error
	}{
		{
			number: "5511988880001", has: "once it is.", until: "Held",
			refusal: gateway.Errorf(gateway.Conflict, gateway.CodeNotConnected, "not connected"),
		},
		{
			number: "5511988880002", has: "is restricting new chats", until: `Held until <time data-moment="time">`,
			refusal: restricted(2 * time.Hour),
		},
		{
			number: "5511988880003", has: "is restricting new chats", until: `Held until <time data-moment="datetime">`,
			refusal: restricted(48 * time.Hour),
		},
		{
			number: "5511988880004", has: "retried automatically", until: `Held until <time data-moment="time">`,
			refusal: gateway.Errorf(gateway.PlatformTimeout, gateway.CodePlatformTimeout, "late"),
		},
		{number: "5511988880005", has: "longer be cancelled", until: "Sending"},
	}
	for _, one := range tests {
		r.refuse[one.number] = one.refusal
	}
	r.runQueue()
	moment := regexp.MustCompile(`datetime="[^"]*" (data-moment="[a-z]*">)[^<]*</time>`)
	for _, one := range tests {
		id := r.instance(one.number)
		waits := r.leave(id, one.number, "Oi", time.Now())
		path := "/instances/" + id + "/queue"
		shown := moment.ReplaceAllString(r.follow(gateway.RoleOperator, path+"/live")(one.has), "$1")
		r.has(shown, ">"+one.until+"</span>")
		if one.refusal != nil {
			continue
		}
		r.hasNot(r.show(gateway.RoleOperator, path), waits+"/cancel")
		if got := r.post(gateway.RoleOperator, path+"/"+waits+"/cancel", nil); got.status != http.StatusConflict {
			t.Errorf("cancelling what is being sent is answered %d", got.status)
		}
	}
}
