package server_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/postgres"
)

// needle stands in everything that people have written, and needleName in what they are called.
const (
	needle     = "vermilion"
	needleName = "Marina Oliveira"
)

// with returns the lines that have all of the words.
func (l *lockedLog) with(words ...string) (found []string) {
	for line := range strings.Lines(l.String()) {
		missing := false
		for _, word := range words {
			missing = missing || !strings.Contains(line, word)
		}
		if !missing {
			found = append(found, line)
		}
	}
	return found
}

// one returns the only line that has all of the words.
func (l *lockedLog) one(t *testing.T, words ...string) string {
	t.Helper()
	found := l.with(words...)
	if len(found) != 1 {
		t.Fatalf("%d lines have %q, want one: %q", len(found), words, found)
	}
	return found[0]
}

// wantNoNeedle fails if the log has what people have written, or are called, or their numbers.
func (l *lockedLog) wantNoNeedle(t *testing.T, more ...string) {
	t.Helper()
	for _, secret := range append([]string{needle, needleName, shopNumber, customerNumber}, more...) {
		for _, line := range l.with(secret) {
			t.Errorf("the log has %q: %s", secret, line)
		}
	}
}

// What comes in and goes out in many ways, losses of the connection and refusals: the log names the
// instance, the message and the code, and nobody. That also lines of the finest level do is held by
// the logger of testkit.
func TestLogOfARunNamesNobody(t *testing.T) {
	t.Parallel()
	var log lockedLog
	g, id := testkit.StartLinked(t, testkit.Options{Log: &log})
	g.Phones.Update(t, customerNumber, map[string]any{"name": needleName})
	g.Phones.NameContact(t, shopNumber, customerNumber, needleName)
	lids := []string{strings.SplitN(g.Phones.Get(t, shopNumber).LID, "@", 2)[0], strings.SplitN(g.Phones.Get(t, customerNumber).LID, "@", 2)[0]}
	group := g.Phones.CreateGroup(t, needle+" group", customerNumber, shopNumber).ID
	endpoint := testkit.NewSink(t)
	endpoint.Answer(func(testkit.Delivered) int { return http.StatusInternalServerError })
	if _, err := g.Client.SaveWebhookConfig(t.Context(), id, client.NewWebhookConfig{WebhookURL: endpoint.URL + "/" + needle + "?token=" + needle}); err != nil {
		t.Fatal(err)
	}

	asked := g.Phones.SendText(t, customerNumber, shopNumber, "about "+needle)
	awaitMessage(t, g, id, asked)
	awaitMessage(t, g, id, g.Phones.SendText(t, customerNumber, group, needle))
	g.Phones.Edit(t, customerNumber, asked, needle+" again")
	sent := sendText(t, g, id, needle)
	g.Phones.React(t, customerNumber, sent.MessageID, "👍")
	later := leave(t, g, id, client.Text{To: customerNumber, Message: needle})
	awaitLeft(t, g, id, later)
	if _, err := g.Client.SendPoll(t.Context(), id, client.Poll{To: customerNumber, Question: needle, Options: []string{needle + " 1", needle + " 2"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Client.EditMessage(t.Context(), id, client.EditMessage{MessageID: sent.MessageID, Message: needle + " edited"}); err != nil {
		t.Fatal(err)
	}
	g.Phones.EndCall(t, customerNumber, g.Phones.Call(t, customerNumber, shopNumber, false), "hangup")
	_, err := g.Client.SendText(t.Context(), id, client.Text{To: "5511000000000", Message: needle})
	testkit.Refused(t, err, http.StatusBadRequest, gateway.CodeNotRegistered)
	_, err = client.New(g.BaseURL, "not a key").GetInstance(t.Context(), id)
	testkit.Refused(t, err, http.StatusUnauthorized, gateway.CodeUnauthorized)
	cut(t, g, id)
	g.Phones.Faults(t, map[string]any{"sendError": 463})
	_, err = g.Client.SendText(t.Context(), id, client.Text{To: customerNumber, Message: needle})
	testkit.Refused(t, err, http.StatusTooManyRequests, gateway.CodeRecipientRestricted)
	g.Phones.Faults(t, map[string]any{})
	g.Phones.Do(t, shopNumber, "unlink")
	g.AwaitStatus(t, id, gateway.StatusStopped)
	_, err = g.Client.SendText(t.Context(), id, client.Text{To: customerNumber, Message: needle})
	testkit.Refused(t, err, http.StatusConflict, gateway.CodeNotConnected)
	testkit.Await(t, "the line about the endpoint", func() bool { return len(log.with("the endpoint of a webhook fails")) > 0 })
	g.Stop()

	log.wantNoNeedle(t, lids...)
	about := []string{"msg=request", "instance_id=" + id, "/text"}
	for _, accepted := range []client.Sent{sent, later} {
		log.one(t, append(about, "message_id="+accepted.ID, "platform_id="+accepted.MessageID)...)
	}
	log.one(t, "msg=request", "status=401", "code="+gateway.CodeUnauthorized, "client=127.0.0.1")
	log.one(t, append(about, "status=429", "code="+gateway.CodeRecipientRestricted, "client=127.0.0.1")...)
	log.one(t, append(about, "status=409", "code="+gateway.CodeNotConnected)...)
	if line := log.one(t, append(about, "code="+gateway.CodeNotRegistered)...); strings.Contains(line, "client=") {
		t.Errorf("the address is in a line about a mistake: %s", line)
	}
	for _, line := range log.with("level=ERROR") {
		t.Errorf("nothing is wrong, and the log says %s", line)
	}
}

// The library writes whole nodes when one takes long to handle, which happens with every message while
// the database is slow. It has no setting for how long that is.
func TestSlowDatabaseShowsNobodyInTheLog(t *testing.T) {
	t.Parallel()
	ctx, url := t.Context(), postgres.Start(t)
	var log lockedLog
	g, id := testkit.StartLinked(t, testkit.Options{Log: &log, DatabaseURL: url})
	g.Phones.Update(t, customerNumber, map[string]any{"name": needleName})
	other, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close(context.WithoutCancel(ctx)) }()
	if _, err := other.Exec(ctx, "BEGIN; LOCK TABLE messages IN EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	message := g.Phones.SendText(t, customerNumber, shopNumber, needle)
	if _, err := other.Exec(ctx, "SELECT pg_sleep(5.2)"); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Exec(ctx, "COMMIT"); err != nil {
		t.Fatal(err)
	}
	awaitMessage(t, g, id, message)
	testkit.Await(t, "the library's line", func() bool { return len(log.with("Node handling took")) > 0 })
	g.Stop()
	log.one(t, "level=WARN", "Node handling took 5.", "message "+message, "instance_id="+id)
	log.wantNoNeedle(t)
}
