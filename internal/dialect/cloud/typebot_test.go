package cloud_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"slices"
	"strings"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/media/mediatest"
)

// viewer is the part of Typebot that takes deliveries and runs flows. It does with them what these files of
// github.com/baptisteArno/typebot.io do (read in November 2026):
//
//   - packages/whatsapp/src/schemas.ts: what a delivery has to have; one that has anything else is answered with 400
//   - packages/whatsapp/src/verifyWhatsAppWebhookSignature.ts: the signature, over the raw body
//   - packages/whatsapp/src/resumeWhatsAppFlow.ts: the session is that of the phone number ID, and what is taken for an answer
//   - packages/whatsapp/src/getOrUploadMedia.ts, downloadMedia.ts, sendWhatsAppMessage.ts: files and messages
type viewer struct {
	t         *testing.T
	r         *rig
	appSecret string
	url       string
	answers   chan string // what the flow reads of messages
	refused   chan string // deliveries that were answered with 400
}

func newViewer(t *testing.T, r *rig, appSecret string) *viewer {
	t.Helper()
	v := &viewer{t: t, r: r, appSecret: appSecret, answers: make(chan string, 100), refused: make(chan string, 100)}
	server := httptest.NewServer(http.HandlerFunc(v.serve))
	t.Cleanup(server.Close)
	v.url = server.URL
	return v
}

// typebotToken is what Typebot shows as its verification token.
const typebotToken = "77bd"

func (v *viewer) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet { // the handshake
		if r.URL.Query().Get("hub.verify_token") == typebotToken {
			_, _ = io.WriteString(w, r.URL.Query().Get("hub.challenge"))
		}
		return
	}
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	mac := hmac.New(sha256.New, []byte(v.appSecret))
	_, _ = mac.Write(raw)
	if r.Header.Get("X-Hub-Signature-256") != "sha256="+hex.EncodeToString(mac.Sum(nil)) {
		v.t.Errorf("a delivery is signed with %q", r.Header.Get("X-Hub-Signature-256"))
	}
	var body any
	if json.Unmarshal(raw, &body) != nil || !fitsTypebot(body) {
		v.refused <- string(raw)
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	value := inside(body, "entry", 0, "changes", 0, "value")
	if inside(value, "messages", 0) == nil {
		return
	}
	if id := word(value, "metadata", "phone_number_id"); id != shopNumber {
		v.t.Errorf("the session is that of %q, not of the credentials", id)
	}
	v.answers <- v.read(inside(value, "messages", 0)) //nolint:contextcheck // a request of its own
}

// read is what the flow takes for the answer.
func (v *viewer) read(message any) string {
	switch kind := word(message, "type"); kind {
	case "text":
		return word(message, "text", "body")
	case "button":
		return word(message, "button", "text")
	case "interactive":
		return "clicked " + word(message, "interactive", "button_reply", "id") + word(message, "interactive", "list_reply", "id")
	case "image", "video", "audio", "document":
		got := v.r.ask(v.t, http.MethodGet, "v17.0/"+word(message, kind, "id"), "")
		request, err := http.NewRequestWithContext(v.t.Context(), http.MethodGet, got.Media.URL, http.NoBody)
		if err != nil {
			v.t.Error(err)
			return ""
		}
		request.Header.Set("Authorization", "Bearer "+v.r.key)
		request.Header.Set("User-Agent", "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			v.t.Error(err)
			return ""
		}
		defer response.Body.Close() //nolint:errcheck // it is read to its end
		content, _ := io.ReadAll(response.Body)
		return got.Media.MimeType + " " + string(content)
	case "location":
		return "a place"
	default:
		return ""
	}
}

// fitsTypebot reports whether a delivery has what Typebot's schema asks for.
func fitsTypebot(body any) bool {
	value := inside(body, "entry", 0, "changes", 0, "value")
	if value == nil {
		return false
	}
	contacts, _ := inside(value, "contacts").([]any)
	messages, _ := inside(value, "messages").([]any)
	statuses, _ := inside(value, "statuses").([]any)
	return !slices.ContainsFunc(contacts, func(c any) bool { return word(c, "profile", "name") == "" }) &&
		!slices.ContainsFunc(statuses, func(s any) bool { return word(s, "recipient_id") == "" }) &&
		!slices.ContainsFunc(messages, func(m any) bool { return !messageFits(m) })
}

// messageFits reports whether a message is of a type that Typebot knows, with the fields that it needs of that: texts all of
// them, the time too.
func messageFits(message any) bool {
	needed := map[string][]string{
		"text": {"body"}, "button": {"text", "payload"}, "image": {"id", "mime_type"}, "video": {"id", "mime_type"}, "audio": {"id", "mime_type"},
		"document": {"id", "mime_type"}, "sticker": {"id", "mime_type"}, "system": {"body"}, "interactive": nil, "location": nil, "contacts": nil, "reaction": nil,
		"unsupported": nil,
	}
	kind := word(message, "type")
	fields, known := needed[kind]
	if !known || word(message, "from") == "" || word(message, "timestamp") == "" {
		return false
	}
	if kind == "interactive" && !slices.Contains([]string{"button_reply", "list_reply"}, word(message, kind, "type")) {
		return false
	}
	return !slices.ContainsFunc(fields, func(field string) bool { return word(message, kind, field) == "" })
}

// upload uploads a file once, as Typebot does before it sends it many times.
func (v *viewer) upload(mimeType string, content []byte) string {
	v.t.Helper()
	var form bytes.Buffer
	writer := multipart.NewWriter(&form)
	part, err := writer.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {`form-data; name="file"; filename="blob"`}, "Content-Type": {mimeType},
	})
	if err != nil {
		v.t.Fatal(err)
	}
	_, _ = part.Write(content)
	_ = writer.WriteField("type", mimeType)
	_ = writer.WriteField("messaging_product", "whatsapp")
	_ = writer.Close()
	got := v.r.ask(v.t, http.MethodPost, "v21.0/"+shopNumber+"/media", form.String(), "Content-Type: "+writer.FormDataContentType())
	var answer struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal([]byte(got.body), &answer); err != nil || got.status != http.StatusOK || answer.ID == "" || strings.Contains(answer.ID, ".") {
		v.t.Fatalf("the upload is answered %d with %s", got.status, got.body)
	}
	return answer.ID
}

// A flow of Typebot runs from start to end: a text begins it, a picture that was uploaded once is sent twice, buttons are answered by a vote and a list by a
// text, and a file is asked for. What Typebot does not know is refused by it and holds nothing up.
func TestTypebotFlow(t *testing.T) {
	t.Parallel()
	r := start(t)
	const appSecret = "the app's secret of the account"
	if _, err := r.Partner.SetAppSecret(t.Context(), client.NewAppSecret{AppSecret: appSecret}); err != nil {
		t.Fatal(err)
	}
	v := newViewer(t, r, appSecret)
	r.subscribeByRecipe(t, "typebot.md", "https://typebot.example.org/CALLBACK", v.url, typebotToken)
	read := func(want string) {
		t.Helper()
		if got := <-v.answers; got != want {
			t.Fatalf("the flow reads %q, want %q", got, want)
		}
	}
	say := func(message string) string {
		t.Helper()
		id := r.send(t, `{"messaging_product":"whatsapp","to":"`+customerNumber+`",`+message+`}`)
		r.Phones.AwaitMessage(t, customerNumber, id)
		return id
	}
	r.Phones.SendText(t, customerNumber, shopNumber, "Quero comprar")
	read("Quero comprar")
	picture := v.upload("image/png", mediatest.PNG(t, 64, 64))
	for range 2 {
		say(`"type":"image","image":{"id":"` + picture + `"}`)
	}
	buttons := say(`"type":"interactive","interactive":{"type":"button","header":{"type":"image","image":{"id":"` + picture + `"}},"body":{"text":"Qual tamanho?"},
		"action":{"buttons":[{"type":"reply","reply":{"id":"c1","title":"Pequeno"}},{"type":"reply","reply":{"id":"c2","title":"Grande"}}]}}`)
	r.Phones.Vote(t, customerNumber, buttons, "Grande")
	read("clicked c2")
	say(`"type":"text","text":{"body":"*Grande*, então.","preview_url":false}`)
	say(`"type":"interactive","interactive":{"type":"button","body":{"text":"―"},"action":{"buttons":[
		{"type":"reply","reply":{"id":"d1","title":"Retirar"}},{"type":"reply","reply":{"id":"d2","title":"Receber em casa"}}]}}`)
	r.Phones.SendText(t, customerNumber, shopNumber, "receber em casa")
	read("clicked d2")
	r.Phones.Send(t, customerNumber, map[string]any{"to": shopNumber, "type": "poll", "text": "Cor?", "options": []string{"azul", "verde"}})
	read("") // of a type that it knows as unsupported
	r.Phones.Send(t, customerNumber, map[string]any{"to": shopNumber, "type": "document", "media": client.DataURI("text/plain", []byte("the address")), "fileName": "a.txt"})
	read("text/plain the address")
	select {
	case delivery := <-v.refused:
		t.Errorf("Typebot answers 400 to %s", delivery)
	default:
	}
}
