package webhook_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/webhook"
	"github.com/recado-project/recado/internal/webhook/backlog"
)

func wantCode(t *testing.T, err error, kind gateway.Kind, code string) gateway.Error {
	t.Helper()
	failure, ok := errors.AsType[*gateway.Error](err)
	if !ok || failure.Kind != kind || failure.Code != code {
		t.Fatalf("the error is %v, want %s", err, code)
	}
	return *failure
}

func TestSettings(t *testing.T) {
	t.Parallel()
	guarded := newRig(t, webhook.Config{})
	id := guarded.instance()
	for name, test := range cases.Sorted(map[string]struct {
		url    string
		secret *string
		field  string // that is refused; none where it is saved
	}{
		"a URL":                {url: "https://example.com/hook?x=1"},
		"with a port":          {url: "http://example.com:8080"},
		"a public address":     {url: "http://93.184.216.34/"},
		"a public v6 address":  {url: "http://[2606:2800:220:1:248:1893:25c8:1946]/"},
		"a secret":             {url: "https://example.com", secret: new("s")},
		"empty":                {url: "", field: "webhookUrl"},
		"relative":             {url: "/hook", field: "webhookUrl"},
		"without a scheme":     {url: "example.com/hook", field: "webhookUrl"},
		"another scheme":       {url: "ftp://example.com", field: "webhookUrl"},
		"a scheme of our own":  {url: "javascript:alert(1)", field: "webhookUrl"},
		"without a host":       {url: "https:///hook", field: "webhookUrl"},
		"a port too high":      {url: "http://example.com:65536/", field: "webhookUrl"},
		"only a port":          {url: "http://:80/", field: "webhookUrl"},
		"a control character":  {url: "https://example.com/\n/a", field: "webhookUrl"},
		"a password":           {url: "https://user:secret@example.com", field: "webhookUrl"},
		"a user":               {url: "https://user@example.com", field: "webhookUrl"},
		"long":                 {url: "https://example.com/" + strings.Repeat("x", 2_048), field: "webhookUrl"},
		"loopback":             {url: "http://127.0.0.1/", field: "webhookUrl"},
		"loopback v6":          {url: "http://[::1]/", field: "webhookUrl"},
		"mapped":               {url: "http://[::ffff:10.0.0.1]/", field: "webhookUrl"},
		"private":              {url: "http://192.168.1.1/", field: "webhookUrl"},
		"metadata":             {url: "http://169.254.169.254/", field: "webhookUrl"},
		"localhost":            {url: "http://localhost:8080/", field: "webhookUrl"},
		"localhost with a dot": {url: "http://LocalHost./", field: "webhookUrl"},
		"below localhost":      {url: "http://a.localhost/", field: "webhookUrl"},
		"an empty secret":      {url: "https://example.com", secret: new(""), field: "secret"},
		"a blank secret":       {url: "https://example.com", secret: new(" \n"), field: "secret"},
		"no base64":            {url: "https://example.com", secret: new("whsec_@@@"), field: "secret"},
		"nothing encoded":      {url: "https://example.com", secret: new("whsec_"), field: "secret"},
		"padding left out":     {url: "https://example.com", secret: new("whsec_YQ"), field: "secret"},
		"an encoded secret":    {url: "https://example.com", secret: new("whsec_YQ==")},
		"a text":               {url: "https://example.com", secret: new("whsec")},
		"a long secret":        {url: "https://example.com", secret: new(strings.Repeat("x", 600)), field: "secret"},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hook, err := guarded.service.Save(t.Context(), id, webhook.Settings{URL: test.url, Secret: test.secret})
			if test.field == "" {
				if err != nil || hook.URL != test.url {
					t.Errorf("saved %+v, %v", hook, err)
				}
				return
			}
			failure := wantCode(t, err, gateway.Invalid, gateway.CodeValidation)
			if len(failure.Fields) != 1 || failure.Fields[0].Field != test.field {
				t.Errorf("refused are %v", failure.Fields)
			}
		})
	}
}

func TestConfiguration(t *testing.T) {
	t.Parallel()
	r := newRig(t, webhook.Config{AllowPrivateURLs: true})
	ctx := t.Context()
	_, err := r.service.Save(ctx, uuid.NewString(), webhook.Settings{URL: "https://example.com"})
	wantCode(t, err, gateway.NotFound, gateway.CodeInstanceNotFound)
	id := r.instance()
	for name, call := range cases.Sorted(map[string]func() error{ //nolint:paralleltest // before there is one
		"get":    func() error { _, err := r.service.Get(ctx, webhook.First(id)); return err },
		"delete": func() error { return r.service.Delete(ctx, webhook.First(id)) },
		"resume": func() error { return r.service.Resume(ctx, webhook.First(id)) },
		"health": func() error { _, err := r.service.Health(id); return err },
		"test":   func() error { _, err := r.service.Test(ctx, webhook.First(id)); return err },
		"replay": func() error {
			_, err := r.service.Replay(ctx, webhook.First(id), webhook.From{Sequence: 1})
			return err
		},
		"deliveries": func() error {
			_, err := r.service.Deliveries(ctx, webhook.First(id), gateway.PageRequest{Page: 1, Limit: 1})
			return err
		},
	}) {
		t.Run("nothing to "+name, func(t *testing.T) {
			wantCode(t, call(), gateway.NotFound, gateway.CodeWebhookNotFound)
		})
	}
	first := r.save(id, webhook.Settings{URL: "https://example.com/1", Secret: new("one")})
	if first.ID == "" || first.InstanceID != id || !first.Active || first.Secret != "one" || first.CreatedAt.IsZero() {
		t.Errorf("saved %+v", first)
	}
	second := r.save(id, webhook.Settings{URL: "https://example.com/2", Active: new(false)})
	if second.ID != first.ID || !second.CreatedAt.Equal(first.CreatedAt) || second.Secret != "one" || second.Active ||
		second.URL != "https://example.com/2" || second.PreviousSecret != "" {
		t.Errorf("saved %+v", second)
	}
	got, err := r.service.Get(ctx, webhook.First(id))
	if err != nil || got.ID != first.ID || got.URL != second.URL || got.Secret != "one" {
		t.Errorf("got %+v, %v", got, err)
	}
	r.check(r.service.Delete(ctx, webhook.First(id)))
	wantCode(t, r.service.Delete(ctx, webhook.First(id)), gateway.NotFound, gateway.CodeWebhookNotFound)
	if third := r.save(id, webhook.Settings{URL: "https://example.com/3"}); third.ID == first.ID || third.Secret != "" {
		t.Errorf("a new one is %+v", third)
	}
}

// A webhook begins with the next event, and so does one that is active again;
// one that stays active goes on where it is.
func TestWhereDeliveryBegins(t *testing.T) {
	t.Parallel()
	endpoint := receive(t, nil)
	r := newRig(t, webhook.Config{AllowPrivateURLs: true})
	id := r.instance()
	r.append(id, "before", 1, 2, 3)
	r.save(id, webhook.Settings{URL: endpoint.server.URL})
	r.append(id, "chat", 1)
	endpoint.waitFor(1)
	r.save(id, webhook.Settings{URL: endpoint.server.URL, Active: new(false)})
	r.append(id, "inactive", 1, 2, 3)
	if _, err := r.service.Replay(t.Context(), webhook.First(id), webhook.From{Sequence: 1}); err == nil {
		t.Error("one that is not active replays")
	} else {
		wantCode(t, err, gateway.Conflict, "WEBHOOK_INACTIVE")
	}
	if _, waiting := r.service.Delivered(id); waiting {
		t.Error("events wait for one that is not active")
	}
	r.save(id, webhook.Settings{URL: endpoint.server.URL})
	r.append(id, "chat", 2)
	endpoint.waitFor(2)
	r.save(id, webhook.Settings{URL: "http://127.0.0.1:1/"}) // nobody is there
	r.append(id, "chat", 3)
	eventually(t, "it fails", func() bool { return r.health(id).Status == backlog.StatusBackoff })
	eventually(t, "all but the last are delivered", func() bool {
		cursor, waiting := r.service.Delivered(id)
		return cursor == r.health(id).Newest-1 && waiting
	})
	r.save(id, webhook.Settings{URL: endpoint.server.URL})
	endpoint.waitFor(3)
	endpoint.wantOrder(1, 3)
	// Deleted, it is told nothing more.
	r.check(r.service.Delete(t.Context(), webhook.First(id)))
	r.append(id, "chat", 4)
	r.save(id, webhook.Settings{URL: endpoint.server.URL})
	r.append(id, "chat", 5)
	endpoint.waitFor(4)
	if last := endpoint.got()[3]; last.n != 5 {
		t.Errorf("%d came after the webhook was deleted", last.n)
	}
}

func TestForgottenInstance(t *testing.T) {
	t.Parallel()
	endpoint := receive(t, nil)
	r := newRig(t, webhook.Config{AllowPrivateURLs: true})
	id, other := r.hooked(endpoint.server.URL), r.hooked(endpoint.server.URL)
	r.append(id, "chat", 1)
	endpoint.waitFor(1)
	r.check(r.store.DeleteInstance(t.Context(), id))
	r.check(r.service.Resume(t.Context(), webhook.First(id))) // somebody was late
	r.service.Forget(id)
	r.append(id, "chat", 2)
	r.append(other, "other", 1)
	endpoint.waitFor(2)
	if last := endpoint.got()[1]; last.chat != "other" {
		t.Errorf("%+v came after the instance was forgotten", last)
	}
	_, err := r.service.Get(t.Context(), webhook.First(id))
	wantCode(t, err, gateway.NotFound, gateway.CodeWebhookNotFound)
}

// A test says what the endpoint says, whatever the state of the webhook, and
// leaves no trace.
func TestTestEvent(t *testing.T) {
	t.Parallel()
	endpoint := receive(t, func(w http.ResponseWriter, _ *http.Request, event received) int {
		if event.Kind != string(eventlog.KindWebhookTest) || event.Sequence != 0 {
			t.Errorf("a test looks like %s", event.body)
		}
		w.WriteHeader(http.StatusTeapot)
		_, _ = w.Write([]byte("short and stout\x00" + strings.Repeat("é", 4_096)))
		return 0
	})
	r := newRig(t, webhook.Config{AllowPrivateURLs: true})
	id := r.instance()
	r.save(id, webhook.Settings{URL: endpoint.server.URL, Active: new(false), Secret: new("shh")})
	result, err := r.service.Test(t.Context(), webhook.First(id))
	if err != nil || result.Status != http.StatusTeapot || result.Error != "it answered the status 418" || result.Duration <= 0 ||
		!strings.HasPrefix(result.Answer, "short and stout\uFFFDé") || len(result.Answer) > 4_200 {
		t.Errorf("it answers %+v, %v", result, err)
	}
	endpoint.wait("the test event", func(came []received) bool { return len(came) > 0 })
	if came := endpoint.came(); len(came) != 1 || came[0].header.Get("Webhook-Signature") == "" {
		t.Errorf("%d requests came", len(came))
	}
	if health := r.health(id); health.Attempts != 0 || health.Newest != 0 {
		t.Errorf("it leaves %+v", health)
	}
	r.save(id, webhook.Settings{URL: "http://127.0.0.1:1/"})
	result, err = r.service.Test(t.Context(), webhook.First(id))
	if err != nil || result.Status != 0 || result.Error != "its host refused the connection (is it listening on that port?)" || strings.Contains(result.Error, "127.0.0.1") {
		t.Errorf("it answers %+v, %v", result, err)
	}
}

func TestDeliveries(t *testing.T) {
	t.Parallel()
	endpoint := receive(t, func(w http.ResponseWriter, _ *http.Request, event received) int {
		if event.n == 2 {
			w.WriteHeader(http.StatusAccepted)
			_, _ = w.Write([]byte("thank you"))
		}
		return map[bool]int{true: 0, false: 204}[event.n == 2]
	})
	schedule := quick()
	schedule.FlushPause = time.Hour // what is asked for is there all the same
	r := newRig(t, webhook.Config{AllowPrivateURLs: true, Schedule: schedule})
	id := r.hooked(endpoint.server.URL)
	r.append(id, "chat", 1, 2)
	eventually(t, "both are delivered", func() bool { return r.health(id).Cursor == 2 })
	done := r.deliveries(id, webhook.DeliveryDone)
	if len(done) != 2 {
		t.Fatalf("there are %+v", done)
	}
	if d := done[0]; d.Sequence != 2 || d.Status != 202 || d.Answer != "thank you" || d.Kind != eventlog.KindWebhookTest ||
		d.Chat != "chat" || d.EventID != endpoint.came()[1].ID || d.At.IsZero() {
		t.Errorf("the newest is %+v", d)
	}
	page, err := r.service.Deliveries(t.Context(), webhook.First(id), gateway.PageRequest{Page: 2, Limit: 1})
	if err != nil || page.Total != 2 || len(page.Items) != 1 || page.Items[0].Sequence != 1 {
		t.Errorf("the second page is %+v, %v", page, err)
	}
}
