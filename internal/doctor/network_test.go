package doctor

import (
	"crypto/tls"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/server"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/postgres"
	"github.com/recado-project/recado/internal/webhook"
	"github.com/recado-project/recado/internal/webhook/backlog"
)

// A public address has to lead here, and its certificate has to last.
func TestPublicAddress(t *testing.T) {
	t.Parallel()
	data := folder(t)
	g, other := testkit.Start(t, testkit.Options{DataDir: data}), testkit.Start(t, testkit.Options{})
	look := func(address string) []Finding {
		t.Helper()
		return openedFor(t, with(t, server.Config{DataDir: data, PublicURL: address})).public(t.Context())
	}
	fine(t, look(""))
	says(t, look(g.BaseURL), OK, "leads to this gateway")
	says(t, look(other.BaseURL), Wrong, "a gateway with other data")
	says(t, look(page(t, "<html>").URL), Wrong, "something else than a gateway: it answers 200")
	says(t, look(page(t, `{"status":"busy"}`).URL), Wrong, "something else than a gateway")
	says(t, look("http://ana:secret@"+closedPort(t)), Warning, "http://ana:xxxxx@127.0.0.1")
	says(t, look("https://"+closedPort(t)), Warning, "certificate: ")

	target, err := url.Parse(g.BaseURL)
	if err != nil {
		t.Fatal(err)
	}
	for until, test := range cases.Sorted(map[time.Duration]struct {
		state State
		text  string
	}{
		90*day + time.Hour: {OK, "90 days"}, 10*day + time.Hour: {Warning, "10 days"}, 2*day + time.Hour: {Wrong, "2 days"}, -time.Hour: {Wrong, "expired"},
	}) {
		front := httptest.NewUnstartedServer(httputil.NewSingleHostReverseProxy(target))
		front.TLS = &tls.Config{Certificates: []tls.Certificate{authority.issue(t, time.Now().Add(until))}}
		front.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
		front.StartTLS()
		found := look(front.URL)
		says(t, found, test.state, test.text)
		if test.state != Wrong {
			says(t, found, OK, "leads to this gateway")
		}
		front.Close()
	}
	unknown := httptest.NewTLSServer(http.NotFoundHandler())
	defer unknown.Close()
	says(t, look(unknown.URL), Wrong, "certificate: ")
}

// Nodes that live have to answer at their addresses.
func TestNodes(t *testing.T) {
	t.Parallel()
	fine(t, with(t, server.Config{}).otherNodes(t.Context()))
	address := postgres.Start(t)
	g, other := testkit.Start(t, testkit.Options{DatabaseURL: address}), testkit.Start(t, testkit.Options{})
	settings := server.Config{DatabaseURL: address}
	look := func() []Finding {
		t.Helper()
		return openedFor(t, with(t, settings)).otherNodes(t.Context())
	}
	fine(t, look())
	var ids []string
	fill(t, settings, func(s *store.Store) error {
		var err error
		for _, at := range []string{g.BaseURL, other.BaseURL, page(t, "hello").URL, "http://" + closedPort(t), "http://dead"} {
			node := gateway.Node{ID: uuid.NewString(), Name: "machine", Address: at, Version: "test", Lease: time.Hour}
			if at == "http://dead" {
				node.Lease = -time.Hour
			}
			ids = append(ids, node.ID)
			err = errors.Join(err, s.Nodes.AddNode(t.Context(), node))
		}
		return err
	})
	found := look()
	says(t, found, OK, "("+g.BaseURL+") answers")
	says(t, found, Wrong, "a gateway with other data answers there")
	says(t, found, Wrong, "something else answers there, with 200")
	says(t, found, Wrong, "can't be reached from here")
	says(t, found, Warning, "is dead")
	fill(t, settings, func(s *store.Store) error {
		_, err := s.Nodes.DrainNode(t.Context(), ids[0], true)
		return err
	})
	says(t, look(), Warning, "is drained")
}

// Endpoints that fail are named, without what may be secret in their addresses.
func TestWebhooks(t *testing.T) {
	t.Parallel()
	settings := server.Config{DataDir: folder(t)}
	look := func() []Finding {
		t.Helper()
		return openedFor(t, with(t, settings)).webhooks(t.Context())
	}
	fine(t, look())
	ids := withInstances(t, settings, "", "", "", "")
	set := func(id string, state backlog.State, active bool) {
		t.Helper()
		fill(t, settings, func(s *store.Store) error {
			return s.Webhooks.SaveWebhook(t.Context(), webhook.Webhook{
				ID: uuid.NewString(), InstanceID: id, First: id != ids[3], URL: "https://ana:secret@example.org/hook?key=secret", Active: active,
				CreatedAt: time.Now(), UpdatedAt: time.Now(),
			}, &state)
		})
	}
	set(ids[0], backlog.State{Status: backlog.StatusOK}, true)
	set(ids[1], backlog.State{Status: backlog.StatusSuspended, Reason: backlog.ReasonGone}, false)
	found := look()
	fine(t, found)
	says(t, found, OK, "1 webhooks, none fails")

	set(ids[2], backlog.State{Status: backlog.StatusBackoff, Failures: 3, FailingSince: time.Now().Add(-time.Hour)}, true)
	set(ids[3], backlog.State{Status: backlog.StatusSuspended, Reason: backlog.ReasonGone}, true)
	change(t, settings.DataDir, `INSERT INTO webhook_dead_letters (webhook_id, sequence, event_id, kind, chat, answer_status, error, died_at)
		SELECT id, 1, 'e', 'k', '', 500, '', 0 FROM webhooks WHERE instance_id = '`+ids[0]+`'`)
	change(t, settings.DataDir, `INSERT INTO webhook_blocked_chats (webhook_id, chat, sequence, through, event_id, kind, failures, since, next_try_at, answer_status, error)
		SELECT id, 'c', 1, 1, 'e', 'k', 1, 0, 0, 500, '' FROM webhooks WHERE instance_id = '`+ids[0]+`'`)
	change(t, settings.DataDir, `INSERT INTO events (instance_id, sequence, id, kind, chat, source_key, happened_at, created_at, data)
		VALUES ('`+ids[0]+`', 1, 'e', 'k', '', '', 1000, 1000, '{}')`)
	found = look()
	says(t, found, Warning, "that of the instance "+ids[2]+", at example.org, has failed since")
	says(t, found, Wrong, ids[3]+", at example.org, is suspended (gone)")
	if !slices.ContainsFunc(found, func(one Finding) bool {
		return strings.Contains(one.Do, "recado webhooks resume --instance "+ids[3]+" --webhook ")
	}) {
		t.Errorf("it is not said which webhook is to be resumed: %+v", found)
	}
	says(t, found, Warning, "1 events were given up")
	says(t, found, Warning, "1 chats wait")
	says(t, found, Warning, "1 events wait, the oldest for")
	if strings.Contains(list(found), "secret") {
		t.Errorf("a secret is shown: %s", list(found))
	}
}

// Who speaks the language of another tool is counted, and what was refused lately is said, with what to do instead.
func TestDialects(t *testing.T) {
	t.Parallel()
	settings := server.Config{DataDir: folder(t)}
	look := func() []Finding {
		t.Helper()
		return openedFor(t, with(t, settings)).dialects(t.Context())
	}
	withInstances(t, settings, "")
	says(t, look(), OK, "no program has spoken one")
	fill(t, settings, func(s *store.Store) error {
		account := gateway.Account{ID: uuid.NewString(), Name: "another", CreatedAt: time.Now()}
		flows := gateway.Key{ID: uuid.NewString(), AccountID: account.ID, Name: "flows", Hash: []byte("1"), CreatedAt: time.Now()}
		refused := func(name string) gateway.RefusedOperation {
			return gateway.RefusedOperation{Operation: name, Reason: "use a webhook"}
		}
		flows.Spoken = flows.Spoke("evolution", time.Now().Add(-8*24*time.Hour), refused("sqs/set"))
		flows.Spoken = flows.Spoke("evolution", time.Now(), refused("rabbitmq/set"))
		desk := gateway.Key{ID: uuid.NewString(), AccountID: account.ID, Name: "desk", Hash: []byte("2"), CreatedAt: time.Now()}
		desk.Spoken = desk.Spoke("cloud", time.Now(), gateway.RefusedOperation{})
		return errors.Join(s.CreateAccount(t.Context(), account), s.CreateKey(t.Context(), flows), s.CreateKey(t.Context(), desk))
	})
	found := look()
	says(t, found, Warning, "rabbitmq/set of the key \"flows\"")
	says(t, found, OK, "cloud with 1, evolution with 1")
	if len(found) != 2 || found[0].Do != "use a webhook" {
		t.Errorf("found %+v", found)
	}
}
