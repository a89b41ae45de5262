package evolution_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/dialect/evolution"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// A webhook is set, found and changed, and told of what happens in that API's words.
func TestWebhooks(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	o := newTool(t, g, id)
	if none := o.does(http.StatusOK, http.MethodGet, "/webhook/find", nil); none != nil {
		t.Errorf("before there is one: %v", none)
	}
	sink := testkit.NewSink(t)
	set := o.does(http.StatusCreated, http.MethodPost, "/webhook/set", object{"webhook": object{
		"enabled": true, "url": sink.URL, "headers": object{"X-Flow": "7"}, "webhookByEvents": true, "webhookBase64": false, "events": []string{"MESSAGES_UPSERT", "TYPEBOT_START"},
	}})
	if text(set, "url") != sink.URL || at(set, "enabled") != true || at(set, "webhookByEvents") != true || text(set, "instanceId") != id || text(set, "headers", "X-Flow") != "7" {
		t.Errorf("set: %v", set)
	}
	o.does(http.StatusCreated, http.MethodPost, "/message/sendText", object{"number": customerNumber, "text": "Oi"})
	wrote(t, g, id, "Tem?")
	got := sink.Await("the event", func(taken []testkit.Delivered) bool { return len(taken) > 0 })
	var body any
	if err := json.Unmarshal(got[0].Body, &body); err != nil || text(body, "event") != "messages.upsert" || text(body, "data", "message", "conversation") != "Tem?" ||
		text(body, "sender") != shopNumber+"@s.whatsapp.net" || got[0].Header.Get("X-Flow") != "7" {
		t.Errorf("posted %v, %s, %v", got[0].Header, got[0].Body, err)
	}
	found := o.does(http.StatusOK, http.MethodGet, "/webhook/find", nil)
	if events, _ := at(found, "events").([]any); !slices.Equal(events, []any{"MESSAGES_UPSERT"}) || text(found, "headers", "X-Flow") != "***" {
		t.Errorf("found: %v", found)
	}
	o.does(http.StatusCreated, http.MethodPost, "/webhook/set", object{"webhook": object{"enabled": false, "url": sink.URL, "events": []string{}}})
	found = o.does(http.StatusOK, http.MethodGet, "/webhook/find", nil)
	if events, _ := at(found, "events").([]any); at(found, "enabled") != false || at(found, "webhookByEvents") != false || len(events) < 20 || text(found, "id") != text(set, "id") {
		t.Errorf("after the change: %v", found)
	}
	o.refused(http.StatusBadRequest, http.MethodPost, "/webhook/set/shop", object{"webhook": object{"enabled": true, "url": "nowhere"}})
}

// With base64 the file of a message is in its event, whoever has sent it. Without, and where there is none any more, there is
// the link alone.
func TestFilesInEvents(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	o := newTool(t, g, id)
	sink := testkit.NewSink(t)
	set := o.does(http.StatusCreated, http.MethodPost, "/webhook/set", object{"webhook": object{"url": sink.URL, "base64": true, "events": []string{"MESSAGES_UPSERT", "SEND_MESSAGE"}}})
	if at(set, "webhookBase64") != true || at(set, "webhookByEvents") != false {
		t.Errorf("set: %v", set)
	}
	file := bytes.Repeat([]byte(`um "base64":"" `), 10_000)
	encoded := base64.StdEncoding.EncodeToString(file)
	// next returns the event that comes next.
	came := 0
	next := func() (body any) {
		came++
		got := sink.Await("the event", func(taken []testkit.Delivered) bool { return len(taken) >= came })
		if err := json.Unmarshal(got[came-1].Body, &body); err != nil {
			t.Fatal(err)
		}
		return body
	}
	received := func() {
		g.Phones.Send(t, customerNumber, object{"to": shopNumber, "type": "document", "media": client.DataURI("text/plain", file), "fileName": "contrato.txt", "caption": "Segue: \"base64\":\"\""})
	}
	received()
	body := next()
	if text(body, "event") != "messages.upsert" || text(body, "data", "message", "base64") != encoded || text(body, "data", "message", "documentMessage", "caption") != `Segue: "base64":""` ||
		text(body, "data", "message", "mediaUrl") == "" {
		t.Errorf("received: %.2000s", fmt.Sprint(body))
	}
	o.does(http.StatusCreated, http.MethodPost, "/message/sendMedia", object{"number": customerNumber, "mediatype": "document", "media": encoded, "fileName": "contrato.txt"})
	if body = next(); text(body, "event") != "send.message" || text(body, "data", "message", "base64") != encoded {
		t.Errorf("sent: %.2000s", fmt.Sprint(body))
	}
	wrote(t, g, id, "Oi")
	if body = next(); text(body, "data", "message", "conversation") != "Oi" || at(body, "data", "message", "base64") != nil {
		t.Errorf("without a file: %v", body)
	}
	o.does(http.StatusCreated, http.MethodPost, "/webhook/set", object{"webhook": object{"url": sink.URL, "byEvents": true, "base64": false, "events": []string{"MESSAGES_UPSERT", "SEND_MESSAGE"}}})
	received()
	if body = next(); at(body, "data", "message", "base64") != nil || text(body, "data", "message", "mediaUrl") == "" {
		t.Errorf("not asked for: %.2000s", fmt.Sprint(body))
	}
	if found := o.does(http.StatusOK, http.MethodGet, "/webhook/find", nil); at(found, "webhookBase64") != false || at(found, "webhookByEvents") != true {
		t.Errorf("found: %v", found)
	}
}

// Each name chooses its own part: MESSAGES_UPSERT what the phone sends and the answers to buttons, SEND_MESSAGE what is sent
// through the API, MESSAGES_UPDATE the votes in other polls.
func TestNamesChooseTheirPart(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	o := newTool(t, g, id)
	all := []string{"MESSAGES_UPSERT", "SEND_MESSAGE", "MESSAGES_UPDATE"}
	sinks := map[string]*testkit.Sink{"": testkit.NewSink(t)}
	_, err := g.Client.CreateWebhook(t.Context(), id, client.NewWebhook{URL: sinks[""].URL, Format: "evolution", Events: []string{
		client.TypeMessageReceived, client.TypeMessageReaction, client.TypeMessageSent, client.TypeMessagePollVote, client.TypeMessageStatus,
	}})
	if err != nil {
		t.Fatal(err)
	}
	if found := o.does(http.StatusOK, http.MethodGet, "/webhook/find", nil); fmt.Sprint(at(found, "events")) != "[MESSAGES_UPSERT MESSAGES_UPDATE SEND_MESSAGE]" {
		t.Errorf("types of Recado are the names %v", at(found, "events"))
	}
	for _, name := range all {
		sinks[name] = testkit.NewSink(t)
		if _, err := g.Client.CreateWebhook(t.Context(), id, client.NewWebhook{URL: sinks[name].URL, Format: "evolution", Events: evolution.Chosen(name)}); err != nil {
			t.Fatal(err)
		}
	}
	g.Phones.SendText(t, shopNumber, customerNumber, "Da loja")
	poll := text(o.does(http.StatusCreated, http.MethodPost, "/message/sendPoll", object{"number": customerNumber, "name": "Cor?", "selectableCount": 1, "values": []string{"azul", "rosa"}}), "key", "id")
	buttons := text(o.does(http.StatusCreated, http.MethodPost, "/message/sendButtons", object{"number": customerNumber, "title": "Quer?", "buttons": []object{
		{"type": "reply", "id": "1", "displayText": "Sim"}, {"type": "reply", "id": "2", "displayText": "Não"},
	}}), "key", "id")
	g.Phones.Vote(t, customerNumber, poll, "azul")
	g.Phones.Vote(t, customerNumber, buttons, "Sim")
	wrote(t, g, id, "Fim")
	for name, want := range cases.Sorted(map[string][]string{
		"MESSAGES_UPSERT": {"conversation true", "buttonsResponseMessage false", "conversation false"},
		"SEND_MESSAGE":    {"pollCreationMessageV3 true", "pollCreationMessageV3 true"},
		"MESSAGES_UPDATE": {"azul"},
		"":                {"conversation true", "pollCreationMessageV3 true", "pollCreationMessageV3 true", "azul", "buttonsResponseMessage false", "conversation false"},
	}) {
		// tell returns what was told, without the receipts, which come when they come.
		tell := func(taken []testkit.Delivered) (told []string) {
			for _, one := range taken {
				var body any
				if err := json.Unmarshal(one.Body, &body); err != nil {
					t.Fatal(err)
				}
				data := at(body, "data")
				switch {
				case at(data, "messageType") != nil:
					told = append(told, fmt.Sprint(text(data, "messageType"), " ", at(data, "key", "fromMe")))
				case at(data, "pollUpdates") != nil:
					told = append(told, text(data, "pollUpdates", 0, "name"))
				}
			}
			return told
		}
		taken := sinks[name].Await("what "+name+" chooses", func(taken []testkit.Delivered) bool { return len(tell(taken)) >= len(want) })
		if told := tell(taken); !slices.Equal(told, want) {
			t.Errorf("%s: told of %v, want %v", name, told, want)
		}
	}
}

// A single button is a text, and its label as a text is the click.
func TestOneButtonIsAnswered(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	o := newTool(t, g, id)
	sink := testkit.NewSink(t)
	o.does(http.StatusCreated, http.MethodPost, "/webhook/set", object{"webhook": object{"url": sink.URL, "events": []string{"MESSAGES_UPSERT"}}})
	asked := text(o.does(http.StatusCreated, http.MethodPost, "/message/sendButtons", object{"number": customerNumber, "title": "Pronto?", "buttons": []object{{"type": "reply", "displayText": "Sim", "id": "s"}}}), "key", "id")
	wrote(t, g, id, "sim")
	var body any
	got := sink.Await("the answer", func(taken []testkit.Delivered) bool { return len(taken) > 0 })[0]
	if err := json.Unmarshal(got.Body, &body); err != nil || text(body, "data", "message", "buttonsResponseMessage", "selectedButtonId") != "s" ||
		text(body, "data", "message", "buttonsResponseMessage", "selectedDisplayText") != "Sim" || text(body, "data", "contextInfo", "stanzaId") != asked {
		t.Errorf("the answer is %s (%v)", got.Body, err)
	}
}

// With a jwt_key among the headers each delivery has a token of it, as that API makes one. The key itself is sent to nobody, and
// shown to nobody.
func TestTokens(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	o := newTool(t, g, id)
	sink := testkit.NewSink(t)
	const key = "a key of the flow's own"
	headers := object{"jwt_key": key, "authorization": "Bearer other", "X-Flow": "7"}
	set := o.does(http.StatusCreated, http.MethodPost, "/webhook/set", object{"webhook": object{"url": sink.URL, "headers": headers, "events": []string{"MESSAGES_UPSERT"}}})
	if text(set, "headers", "jwt_key") != "***" || text(set, "headers", "X-Flow") != "7" {
		t.Errorf("set: %v", set)
	}
	if found := o.does(http.StatusOK, http.MethodGet, "/webhook/find", nil); text(found, "headers", "jwt_key") != "***" || strings.Contains(fmt.Sprint(found), key) {
		t.Errorf("found: %v", found)
	}
	before := time.Now().Truncate(time.Second)
	wrote(t, g, id, "Oi")
	got := sink.Await("the event", func(taken []testkit.Delivered) bool { return len(taken) > 0 })[0]
	var claims struct {
		jwt.RegisteredClaims

		App    string `json:"app"`
		Action string `json:"action"`
	}
	token, bears := strings.CutPrefix(got.Header.Get("Authorization"), "Bearer ")
	if _, err := jwt.ParseWithClaims(token, &claims, func(*jwt.Token) (any, error) { return []byte(key), nil }, jwt.WithValidMethods([]string{"HS256"}), jwt.WithExpirationRequired(), jwt.WithIssuedAt()); err != nil || !bears {
		t.Fatalf("the token %q: %v", token, err)
	}
	if claims.App != "evolution" || claims.Action != "webhook" || claims.IssuedAt.Before(before) || claims.ExpiresAt.Sub(claims.IssuedAt.Time) != 10*time.Minute ||
		strings.Contains(fmt.Sprint(got.Header), key) || got.Header.Get("X-Flow") != "7" {
		t.Errorf("delivered with %v, %+v", got.Header, claims)
	}
}

// A webhook of what never happens here is told of nothing, rather than of everything.
func TestWebhooksOfNothing(t *testing.T) {
	t.Parallel()
	g := testkit.Start(t, testkit.Options{})
	o := newPartner(t, g)
	sink := testkit.NewSink(t)
	status, made := o.ask(http.MethodPost, "/instance/create", object{"instanceName": "shop", "webhook": object{"url": sink.URL, "byEvents": false, "events": []string{"TYPEBOT_START"}}})
	if events, _ := at(made, "webhook", "events").([]any); status != http.StatusCreated || text(made, "webhook", "url") != sink.URL || len(events) != 0 {
		t.Errorf("made: %d %v", status, made)
	}
}
