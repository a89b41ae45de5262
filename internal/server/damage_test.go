package server_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/sqlite"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/postgres"
)

// What can't be read any more in the database is shown as that, and takes nothing along: not its
// chat, not its list, not what is delivered after it.
func TestDamageTakesNothingAlong(t *testing.T) {
	t.Parallel()
	for name, url := range cases.Sorted(map[string]func(testing.TB) string{
		"SQLite":     func(testing.TB) string { return "" },
		"PostgreSQL": postgres.Start,
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testDamage(t, testkit.Options{DataDir: t.TempDir(), DatabaseURL: url(t)})
		})
	}
}

func testDamage(t *testing.T, options testkit.Options) {
	t.Helper()
	ctx := t.Context()
	g := testkit.Start(t, options)
	id := g.Link(t, shopNumber)
	text := func(words string) string {
		return awaitMessage(t, g, id, g.Phones.SendText(t, customerNumber, shopNumber, words)).ID
	}
	before, damaged, after := text("before the apple"), text("the apple"), text("after the apple")
	picture := awaitMessage(t, g, id, g.Phones.Send(t, customerNumber, map[string]any{
		"to": shopNumber, "type": "image", "media": "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "mimeType": "image/png", "caption": "a picture",
	})).ID
	poll := awaitMessage(t, g, id, g.Phones.Send(t, customerNumber, map[string]any{
		"to": shopNumber, "type": "poll", "text": "When?", "options": []string{"today", "tomorrow"}, "maxAnswers": 1,
	}))
	endpoint := testkit.NewSink(t)
	if _, err := g.Client.SaveWebhookConfig(ctx, id, client.NewWebhookConfig{WebhookURL: endpoint.URL}); err != nil {
		t.Fatal(err)
	}
	broken := testkit.NewSink(t)
	second, err := g.Client.CreateWebhook(ctx, id, client.NewWebhook{URL: broken.URL, Headers: map[string]string{"X-Token": "secret"}})
	if err != nil {
		t.Fatal(err)
	}
	restricted, err := g.Partner.CreateAPIKey(ctx, client.NewKey{Name: "restricted", InstanceIDs: []string{id}})
	if err != nil {
		t.Fatal(err)
	}
	g.Stop()

	half := []byte(`{"half":`)
	damage(t, options, map[string]string{
		"UPDATE webhooks SET headers = $1 WHERE id = $2":      second.ID,
		"UPDATE api_keys SET instance_ids = $1 WHERE id = $2": restricted.ID,
	}, string(half))
	damage(t, options, map[string]string{
		"UPDATE messages SET payload = $1 WHERE id = $2": damaged,
	}, []byte{0x0a, 0xff, 0xff})
	damage(t, options, map[string]string{
		"UPDATE messages SET payload = $1 WHERE id = $2": picture,
	}, []byte{0x1a, 0xff})
	damage(t, options, map[string]string{
		"UPDATE messages SET payload = $1 WHERE id = $2": poll.ID,
	}, []byte{0xff})
	damage(t, options, map[string]string{
		"UPDATE events SET data = $1 WHERE instance_id = $2 AND sequence = 3": id,
	}, half)

	g = testkit.Start(t, options)
	g.AwaitStatus(t, id, "connected")
	messages, err := g.Client.ListChatMessages(ctx, id, customerNumber+"@s.whatsapp.net", client.ListChatMessagesParams{}, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]client.StoredMessage{}
	for _, message := range messages.Data {
		found[message.ID] = message
	}
	for _, one := range []string{before, damaged, after, picture, poll.ID} {
		if _, ok := found[one]; !ok {
			t.Errorf("the list lacks %s", one)
		}
	}
	if is := found[damaged]; is.Unsupported == nil || *is.Unsupported != "damaged" || is.Type != "text" || is.Text == nil || *is.Text != "the apple" {
		t.Errorf("the damaged one is %+v", is)
	}
	if is := found[before]; is.Unsupported != nil {
		t.Errorf("its neighbour is %+v", is)
	}
	for what, ask := range cases.Sorted(map[string]func(context.Context) error{
		"list of chats": func(ctx context.Context) error {
			_, err := g.Client.ListChats(ctx, id, client.ListChatsParams{}, 0, 0)
			return err
		},
		"search": func(ctx context.Context) error {
			page, err := g.Client.ListChatMessages(ctx, id, customerNumber+"@s.whatsapp.net", client.ListChatMessagesParams{Search: "apple"}, 0, 0)
			if len(page.Data) != 3 {
				t.Errorf("the search finds %d", len(page.Data))
			}
			return err
		},
		"list of webhooks": func(ctx context.Context) error {
			page, err := g.Client.ListWebhooks(ctx, id, 0, 0)
			if len(page.Data) != 2 {
				t.Errorf("there are %d webhooks", len(page.Data))
			}
			return err
		},
		"list of keys": func(ctx context.Context) error { _, err := g.Partner.ListAPIKeys(ctx, 0, 0); return err },
		"a message":    func(ctx context.Context) error { _, err := g.Client.GetMessage(ctx, id, damaged); return err },
		"vote":         func(context.Context) error { g.Phones.Vote(t, customerNumber, poll.PlatformID, "today"); return nil },
		"a text after it": func(ctx context.Context) error {
			_, err := g.Client.SendText(ctx, id, client.Text{To: customerNumber, Message: "hello"})
			return err
		},
	}) {
		if err := ask(ctx); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	for what, ask := range cases.Sorted(map[string]func() error{
		"forward": func() error {
			_, err := g.Client.ForwardMessage(ctx, id, client.Forward{To: customerNumber, MessageID: damaged})
			return err
		},
		"download": func() error { _, err := g.Client.GetMediaDownloadLink(ctx, id, picture); return err },
	}) {
		if err := ask(); codeOf(err) != "MESSAGE_NOT_FOUND" {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := client.New(g.BaseURL, restricted.Key).GetInstance(ctx, id); codeOf(err) == "" {
		t.Errorf("a key whose instances can't be read any more: %v", err)
	}
	testkit.Await(t, "all events", func() bool {
		for _, delivered := range endpoint.Delivered() {
			if strings.Contains(string(delivered.Body), "hello") {
				return true
			}
		}
		return false
	})
	if taken := broken.Delivered(); len(taken) > 0 {
		for _, one := range taken {
			if strings.Contains(string(one.Body), "hello") {
				t.Error("a webhook whose headers can't be read was delivered to")
			}
		}
	}
}

// damage writes a value into rows of a gateway's database that is stopped: a statement for each, by
// the value of its second argument.
func damage(t *testing.T, options testkit.Options, statements map[string]string, value any) {
	t.Helper()
	var db interface {
		ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
		Close() error
	}
	var err error
	if options.DatabaseURL != "" {
		db, err = sql.Open("pgx", options.DatabaseURL)
	} else {
		db, err = sqlite.OpenPool(t.Context(), filepath.Join(options.DataDir, "recado.db"), 1)
	}
	if err != nil {
		t.Fatal(err)
	}
	for statement, id := range cases.Sorted(statements) {
		result, err := db.ExecContext(t.Context(), statement, value, id)
		if err != nil {
			t.Fatal(err)
		}
		if changed, err := result.RowsAffected(); err != nil || changed != 1 {
			t.Fatalf("%s: %d rows, %v", statement, changed, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}
