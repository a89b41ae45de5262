package cloud_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// inbox is a WhatsApp inbox of Chatwoot that was set up by hand: it asks for, and makes of deliveries, what these files of
// github.com/chatwoot/chatwoot do (read in November 2026):
//
//   - app/services/whatsapp/providers/whatsapp_cloud_service.rb: requests and what is read of their answers
//   - app/controllers/webhooks/whatsapp_controller.rb, app/controllers/concerns/meta_token_verify_concern.rb: the handshake
//   - app/jobs/webhooks/whatsapp_events_job.rb: which inbox a delivery belongs to
//   - app/services/whatsapp/incoming_message_base_service.rb, …_service_helpers.rb: messages and statuses
//   - app/services/whatsapp/incoming_message_whatsapp_cloud_service.rb: files
//   - app/services/whatsapp/incoming_message_identifier_helper.rb: who has written
type inbox struct {
	t             *testing.T
	base, apiKey  string // WHATSAPP_CLOUD_BASE_URL, and what was typed in
	phoneNumberID string
	verifyToken   string
	url           string // of its webhook

	lock     sync.Mutex
	contacts map[string]int // the contact's place by each of its source IDs
	names    []string       // of the contacts
	messages []ticket
}

// ticket is a message as an agent sees it.
type ticket struct {
	sourceID, inReplyTo, content, status, file, by string
	contact                                        int
	incoming                                       bool
}

func newInbox(t *testing.T, r *rig) *inbox {
	t.Helper()
	in := &inbox{t: t, base: r.BaseURL + "/cloud", apiKey: r.key, phoneNumberID: shopNumber, verifyToken: "3a1f", contacts: map[string]int{}}
	server := httptest.NewServer(http.HandlerFunc(in.serve))
	t.Cleanup(server.Close)
	in.url = server.URL + "/webhooks/whatsapp/+" + shopNumber
	// An inbox can't be made where this fails.
	if status, _ := in.ask(http.MethodGet, "/v14.0/"+in.phoneNumberID+"/message_templates?access_token="+in.apiKey, nil); status != http.StatusOK {
		t.Fatalf("the templates are answered with %d", status)
	}
	return in
}

// ask makes a request with the headers of all of Chatwoot's, GET too.
func (in *inbox) ask(method, path string, body any) (status int, answer map[string]any) {
	in.t.Helper()
	encoded, err := json.Marshal(body)
	if err != nil {
		in.t.Fatal(err)
	}
	if !strings.HasPrefix(path, "http") {
		path = in.base + path
	}
	request, err := http.NewRequestWithContext(in.t.Context(), method, path, strings.NewReader(string(encoded)))
	if err != nil {
		in.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+in.apiKey)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		in.t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // it is read to its end
	content, err := io.ReadAll(response.Body)
	if err != nil {
		in.t.Fatal(err)
	}
	if json.Unmarshal(content, &answer) != nil {
		answer = map[string]any{"content": string(content)} // a file
	}
	return response.StatusCode, answer
}

func (in *inbox) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		if r.URL.Query().Get("hub.verify_token") != in.verifyToken {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = io.WriteString(w, r.URL.Query().Get("hub.challenge"))
		return
	}
	var body map[string]any
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		in.t.Error(err)
	}
	in.perform(inside(body, "entry", 0, "changes", 0)) //nolint:contextcheck // a request of its own
}

// inside follows a path; nil where there is nothing.
func inside(value any, path ...any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			object, _ := value.(map[string]any)
			value = object[step]
		case int:
			list, _ := value.([]any)
			if len(list) <= step {
				return nil
			}
			value = list[step]
		}
	}
	return value
}

// word is the text at a path; empty where there is none.
func word(value any, path ...any) string {
	text, _ := inside(value, path...).(string)
	return text
}

// perform takes a delivery: the first status, or else the first message.
func (in *inbox) perform(change any) {
	value := inside(change, "value")
	// The inbox is found by the number with a plus, and has to have the same ID of a phone number.
	if "+"+word(value, "metadata", "display_phone_number") != "+"+shopNumber || word(value, "metadata", "phone_number_id") != in.phoneNumberID {
		return
	}
	in.lock.Lock()
	defer in.lock.Unlock()
	if status := inside(value, "statuses", 0); status != nil {
		for n := range in.messages {
			if in.messages[n].sourceID == word(status, "id") {
				in.messages[n].status = word(status, "status")
			}
		}
		return
	}
	echo := word(change, "field") == "smb_message_echoes"
	message, sources := inside(value, "messages", 0), []string{word(value, "contacts", 0, "user_id"), word(value, "contacts", 0, "wa_id")}
	if echo {
		message = inside(value, "message_echoes", 0)
		sources = []string{word(message, "to_user_id"), word(message, "to")}
	} else if inside(value, "contacts", 0) == nil {
		return // without a contact a message is dropped
	}
	kind := word(message, "type")
	switch kind {
	case "", "reaction", "ephemeral", "unsupported", "request_welcome":
		return
	}
	shown := ticket{sourceID: word(message, "id"), inReplyTo: word(message, "context", "id"), incoming: !echo}
	for _, known := range in.messages {
		if known.sourceID == shown.sourceID {
			in.t.Errorf("message %s comes twice", shown.sourceID) // Chatwoot passes over it
			return
		}
	}
	shown.contact = in.contact(sources, word(value, "contacts", 0, "profile", "name"))
	shown.by = in.names[shown.contact]
	switch kind {
	case "text":
		shown.content = word(message, "text", "body")
	case "interactive":
		shown.content = word(message, "interactive", "button_reply", "title") + word(message, "interactive", "list_reply", "title")
	case "image", "audio", "video", "document", "sticker", "voice":
		shown.content = word(message, kind, "caption")
		status, about := in.ask(http.MethodGet, "/v13.0/"+word(message, kind, "id")+"?phone_number_id="+in.phoneNumberID, nil)
		if status != http.StatusOK {
			in.t.Errorf("a file is answered with %d", status)
			return
		}
		_, file := in.ask(http.MethodGet, word(about, "url"), nil)
		shown.file = word(file, "content")
	}
	in.messages = append(in.messages, shown)
}

// contact returns the place of a contact: the one that has any of the source IDs, which has all of them from now on.
func (in *inbox) contact(sources []string, name string) int {
	place := len(in.names)
	for _, source := range sources {
		if known, ok := in.contacts[source]; ok && source != "" {
			place = known
			break
		}
	}
	if place == len(in.names) {
		in.names = append(in.names, name)
	}
	for _, source := range sources {
		if source != "" {
			in.contacts[source] = place
		}
	}
	return place
}

// sourceOf returns a source ID of a contact.
func (in *inbox) sourceOf(contact int) string {
	in.lock.Lock()
	defer in.lock.Unlock()
	for source, of := range in.contacts {
		if of == contact {
			return source
		}
	}
	return ""
}

// userID is what Chatwoot takes for an ID of a person without a number (WHATSAPP_BSUID_REGEX).
var userID = regexp.MustCompile(`^[A-Z]{2}\.(?:ENT\.)?[a-zA-Z0-9]+$`)

// reply sends what an agent writes to the contact of a message, and returns its source ID.
func (in *inbox) reply(to, kind string, content any, inReplyTo string) string {
	in.t.Helper()
	body := map[string]any{"messaging_product": "whatsapp", "context": nil, "type": kind, kind: content}
	if inReplyTo != "" {
		body["context"] = map[string]any{"message_id": inReplyTo}
	}
	if userID.MatchString(to) {
		body["recipient"] = to
	} else {
		body["to"] = to
	}
	status, answer := in.ask(http.MethodPost, "/v13.0/"+in.phoneNumberID+"/messages", body)
	id := word(answer, "messages", 0, "id")
	if status != http.StatusOK || answer["error"] != nil || id == "" {
		in.t.Fatalf("%s is answered %d with %v", kind, status, answer)
	}
	in.lock.Lock()
	defer in.lock.Unlock()
	in.messages = append(in.messages, ticket{sourceID: id, content: word(content, "body"), contact: in.contacts[to], status: "sent"})
	return id
}

// await waits until a message is as wanted.
func (in *inbox) await(what, sourceID string, wanted func(ticket) bool) (found ticket) {
	in.t.Helper()
	testkit.Await(in.t, what, func() bool {
		in.lock.Lock()
		defer in.lock.Unlock()
		for _, each := range in.messages {
			if each.sourceID == sourceID && (wanted == nil || wanted(each)) {
				found = each
				return true
			}
		}
		return false
	})
	return found
}

// An inbox of Chatwoot is made, and used both ways: texts, files, replies, ticks, what the owner writes on the phone, and people whose
// number is hidden at one time and shown at another, who stay one contact each.
func TestChatwootInbox(t *testing.T) {
	t.Parallel()
	r := start(t)
	in := newInbox(t, r)
	r.subscribeByRecipe(t, "chatwoot.md", "https://chatwoot.example.org/webhooks/whatsapp/+5511999990100", in.url, in.verifyToken)
	r.Phones.Update(t, customerNumber, map[string]any{"name": "Ana"})
	asked := r.Phones.SendText(t, customerNumber, shopNumber, "Vocês abrem hoje?")
	question := in.await("the question", asked, nil)
	if question.content != "Vocês abrem hoje?" || !question.incoming || question.by != "Ana" {
		t.Fatalf("the question is shown as %+v", question)
	}
	answer := in.reply(customerNumber, "text", map[string]any{"body": "Sim, até as 18h"}, asked)
	if got := r.Phones.AwaitMessage(t, customerNumber, answer); got.Text != "Sim, até as 18h" || got.QuotedMessageID != asked {
		t.Errorf("the phone shows %+v", got)
	}
	in.await("the ticks", answer, func(m ticket) bool { return m.status == "read" })

	files := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "%PDF-1.4 the bill") }))
	t.Cleanup(files.Close)
	bill := in.reply(customerNumber, "document", map[string]any{"link": files.URL + "/bill.pdf", "caption": "A conta", "filename": "bill.pdf"}, "")
	if got := r.Phones.AwaitMessage(t, customerNumber, bill); got.FileName != "bill.pdf" || got.Caption != "A conta" {
		t.Errorf("the phone shows %+v", got)
	}
	paid := r.Phones.Send(t, customerNumber, map[string]any{
		"to": shopNumber, "type": "document", "media": client.DataURI("text/plain", []byte("paid")), "fileName": "receipt.txt", "caption": "Pago", "quoteMessageId": bill,
	})
	if got := in.await("the receipt", paid, nil); got.file != "paid" || got.content != "Pago" || got.inReplyTo != bill {
		t.Errorf("the receipt is shown as %+v", got)
	}
	echo := r.Phones.SendText(t, shopNumber, customerNumber, "Obrigado!")
	if got := in.await("what the owner writes", echo, nil); got.incoming || got.contact != question.contact {
		t.Errorf("the echo is shown as %+v", got)
	}

	// Bia begins without a number, Ana loses hers.
	r.Phones.Update(t, otherNumber, map[string]any{"name": "Bia", "hideNumber": true})
	hidden := in.await("a person without a number", r.Phones.SendText(t, otherNumber, shopNumber, "Oi"), nil)
	without := in.sourceOf(hidden.contact)
	r.Phones.AwaitMessage(t, otherNumber, in.reply(without, "text", map[string]any{"body": "Olá, Bia"}, ""))
	r.Phones.Update(t, otherNumber, map[string]any{"hideNumber": false})
	r.Phones.Update(t, customerNumber, map[string]any{"hideNumber": true})
	for number, contact := range cases.Sorted(map[string]int{otherNumber: hidden.contact, customerNumber: question.contact}) {
		if got := in.await("the next message", r.Phones.SendText(t, number, shopNumber, "De novo"), nil); got.contact != contact {
			t.Errorf("%s became another contact", number)
		}
	}
	in.lock.Lock()
	defer in.lock.Unlock()
	if len(in.names) != 2 {
		t.Errorf("two people are the contacts %q", in.names)
	}
}
