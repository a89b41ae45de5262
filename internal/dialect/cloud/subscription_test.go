package cloud_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/dialect/cloud"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// endpoint is one as Typebot has it: it answers a challenge as a number, once, and takes deliveries.
type endpoint struct {
	url    string
	lock   sync.Mutex
	shaken int
	bodies []string
	header http.Header
}

const verifyToken = "token of the inbox"

func newEndpoint(t *testing.T) *endpoint {
	t.Helper()
	e := &endpoint{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		e.lock.Lock()
		defer e.lock.Unlock()
		if r.Method == http.MethodPost {
			e.bodies, e.header = append(e.bodies, string(body)), r.Header
			return
		}
		query := r.URL.Query()
		challenge, err := strconv.ParseFloat(query.Get("hub.challenge"), 64)
		if err != nil || query.Get("hub.mode") != "subscribe" || query.Get("hub.verify_token") != verifyToken || query.Get("inbox") != "1" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		e.shaken++
		_ = json.NewEncoder(w).Encode(int64(challenge))
	}))
	t.Cleanup(server.Close)
	e.url = server.URL + "/webhooks/whatsapp/+" + shopNumber + "?inbox=1"
	return e
}

// await waits for a delivery that has all of the words.
func (e *endpoint) await(t *testing.T, what string, words ...string) (body string) {
	t.Helper()
	testkit.Await(t, what, func() bool {
		e.lock.Lock()
		defer e.lock.Unlock()
		for _, each := range e.bodies {
			has := true
			for _, word := range words {
				has = has && strings.Contains(each, word)
			}
			if has {
				body = each
				return true
			}
		}
		return false
	})
	return body
}

// An endpoint that knows its token gets the events, in Meta's words and with its signature; nothing comes twice,
// and nothing more once it is unsubscribed.
func TestSubscription(t *testing.T) {
	t.Parallel()
	r, e := start(t), newEndpoint(t)
	subscribe := `{"override_callback_uri":"` + e.url + `","verify_token":"` + verifyToken + `"}`
	for range 2 {
		if got := r.ask(t, "POST", "v22.0/"+shopNumber+"/subscribed_apps", subscribe); got.status != http.StatusOK || got.body != `{"success":true}` {
			t.Fatalf("subscribed: %d %s", got.status, got.body)
		}
	}
	hooks, err := r.Client.ListWebhooks(t.Context(), r.id, 1, 10)
	if err != nil || e.shaken != 2 || len(hooks.Data) != 1 || hooks.Data[0].Format != cloud.FormatName || hooks.Data[0].URL != e.url {
		t.Fatalf("after %d handshakes the webhooks are %+v, %v", e.shaken, hooks.Data, err)
	}
	if _, err := r.Client.ChangeWebhook(t.Context(), r.id, hooks.Data[0].ID, client.WebhookChange{Secret: new("the app's secret")}); err != nil {
		t.Fatal(err)
	}

	group := r.Phones.CreateGroup(t, "Customers", customerNumber, shopNumber).ID
	r.Phones.SendText(t, customerNumber, group, "in the group")
	asked := r.Phones.SendText(t, customerNumber, shopNumber, "Are you open?")
	e.await(t, "the question", `"field":"messages"`, `"phone_number_id":"`+shopNumber+`"`, `"wa_id":"`+customerNumber+`"`, `"id":"`+asked+`"`, `"body":"Are you open?"`)
	answer := r.send(t, `{"to":"`+customerNumber+`","context":{"message_id":"`+asked+`"},"text":{"body":"Yes"},"biz_opaque_callback_data":"order 17"}`)
	for _, status := range []string{"sent", "delivered", "read"} {
		e.await(t, "that it was "+status, `"statuses":[{"id":"`+answer+`","status":"`+status+`"`, `"recipient_id":"`+customerNumber+`"`, `"biz_opaque_callback_data":"order 17"`)
	}
	r.Phones.React(t, customerNumber, answer, "👍")
	e.await(t, "the reaction", `"reaction":{"message_id":"`+answer+`","emoji":"👍"}`)
	echo := r.Phones.SendText(t, shopNumber, customerNumber, "from the phone")
	e.await(t, "the echo", `"field":"smb_message_echoes"`, `"to":"`+customerNumber+`"`, `"id":"`+echo+`"`)
	edit := r.Phones.SendText(t, customerNumber, shopNumber, "A question")
	e.await(t, "the message", `"id":"`+edit+`"`)
	r.Phones.Edit(t, customerNumber, edit, "The question")
	e.await(t, "the edit", `"context":{"from":"`+customerNumber+`","id":"`+edit+`"}`, "✏️ The question")
	file := r.Phones.Send(t, customerNumber, map[string]any{"to": shopNumber, "type": "document", "media": client.DataURI("text/plain", []byte("Oi!")), "fileName": "a.txt"})
	var posted struct {
		Entry []struct {
			Changes []struct {
				Value struct {
					Messages []struct {
						Document struct {
							ID string `json:"id"`
						} `json:"document"`
					} `json:"messages"`
				} `json:"value"`
			} `json:"changes"`
		} `json:"entry"`
	}
	if err := json.Unmarshal([]byte(e.await(t, "the file", `"id":"`+file+`"`)), &posted); err != nil {
		t.Fatal(err)
	}
	if got := r.ask(t, "GET", "v22.0/"+posted.Entry[0].Changes[0].Value.Messages[0].Document.ID, ""); got.Media.Size != 3 {
		t.Errorf("the file is %d %s", got.status, got.body)
	}

	e.lock.Lock()
	defer e.lock.Unlock()
	last := e.bodies[len(e.bodies)-1]
	mac := hmac.New(sha256.New, []byte("the app's secret"))
	_, _ = mac.Write([]byte(last))
	if signature := e.header.Get("X-Hub-Signature-256"); signature != "sha256="+hex.EncodeToString(mac.Sum(nil)) || e.header.Get("Content-Type") != "application/json" {
		t.Errorf("the headers are %v", e.header)
	}
	seen := map[string]bool{}
	for _, body := range e.bodies {
		if seen[body] || strings.Contains(body, "in the group") || strings.Contains(body, "message_echoes") && strings.Contains(body, answer) {
			t.Errorf("it should not come, or not twice: %s", body)
		}
		seen[body] = true
	}
	if got := r.ask(t, "DELETE", "v22.0/"+shopNumber+"/subscribed_apps", ""); got.status != http.StatusOK {
		t.Errorf("unsubscribed: %d %s", got.status, got.body)
	}
	if hooks, err = r.Client.ListWebhooks(t.Context(), r.id, 1, 10); err != nil || len(hooks.Data) != 0 {
		t.Errorf("the webhooks are %+v, %v", hooks.Data, err)
	}
}

// What is posted names the account as whoever subscribed did, in the last request: by its instance, or by its number.
func TestSubscriptionsKeepTheFormOfTheID(t *testing.T) {
	t.Parallel()
	r, e := start(t), newEndpoint(t)
	for n, id := range []string{r.id, r.id, shopNumber, "+" + shopNumber, r.id} {
		if got := r.ask(t, "POST", "v22.0/"+id+"/subscribed_apps", `{"override_callback_uri":"`+e.url+`","verify_token":"`+verifyToken+`"}`); got.status != http.StatusOK {
			t.Fatalf("subscribed: %d %s", got.status, got.body)
		}
		want := shopNumber
		if id == r.id {
			want = r.id
		}
		text := "message " + strconv.Itoa(n)
		r.Phones.SendText(t, customerNumber, shopNumber, text)
		e.await(t, text, `"body":"`+text+`"`, `"entry":[{"id":"`+want+`"`, `"metadata":{"display_phone_number":"`+shopNumber+`","phone_number_id":"`+want+`"}`)
		if got := r.ask(t, "GET", "v22.0/"+id+"/phone_numbers", ""); !strings.Contains(got.body, `"data":[{"id":"`+want+`"`) {
			t.Errorf("the numbers of %s are %s", id, got.body)
		}
		if hooks, err := r.Client.ListWebhooks(t.Context(), r.id, 1, 10); err != nil || len(hooks.Data) != 1 {
			t.Errorf("the webhooks are %+v, %v", hooks.Data, err)
		}
	}
	if got := r.ask(t, "DELETE", "v22.0/"+shopNumber+"/subscribed_apps", ""); got.status != http.StatusOK {
		t.Errorf("unsubscribed: %d %s", got.status, got.body)
	}
	if hooks, err := r.Client.ListWebhooks(t.Context(), r.id, 1, 10); err != nil || len(hooks.Data) != 0 {
		t.Errorf("the webhooks are %+v, %v", hooks.Data, err)
	}
}

// Deliveries are signed with the app secret of the account as it is at the moment, unless the webhook has its own.
func TestAppSecret(t *testing.T) {
	t.Parallel()
	r, e := start(t), newEndpoint(t)
	if got := r.ask(t, "POST", "v22.0/"+shopNumber+"/subscribed_apps", `{"override_callback_uri":"`+e.url+`","verify_token":"`+verifyToken+`"}`); got.status != http.StatusOK {
		t.Fatalf("subscribed: %d %s", got.status, got.body)
	}
	hooks, err := r.Client.ListWebhooks(t.Context(), r.id, 1, 10)
	if err != nil || len(hooks.Data) != 1 {
		t.Fatalf("the webhooks are %+v, %v", hooks.Data, err)
	}
	signed := func(text, with string) {
		t.Helper()
		r.Phones.SendText(t, customerNumber, shopNumber, text)
		body := e.await(t, text, `"body":"`+text+`"`)
		want := ""
		if with != "" {
			mac := hmac.New(sha256.New, []byte(with))
			_, _ = mac.Write([]byte(body))
			want = "sha256=" + hex.EncodeToString(mac.Sum(nil))
		}
		e.lock.Lock()
		defer e.lock.Unlock()
		if got := e.header.Get("X-Hub-Signature-256"); got != want {
			t.Errorf("%s is signed with %q, want %q", text, got, want)
		}
	}
	signed("without", "")
	for _, secret := range []string{"the app's secret", "the next one"} {
		set, err := r.Partner.SetAppSecret(t.Context(), client.NewAppSecret{AppSecret: secret})
		if err != nil || !set.Set || set.Since == nil {
			t.Fatalf("set: %+v, %v", set, err)
		}
		signed("with "+secret, secret)
	}
	if _, err := r.Client.ChangeWebhook(t.Context(), r.id, hooks.Data[0].ID, client.WebhookChange{Secret: new("its own")}); err != nil {
		t.Fatal(err)
	}
	signed("with its own", "its own")

	if _, err := r.Client.SetAppSecret(t.Context(), client.NewAppSecret{AppSecret: "x"}); !client.IsCode(err, client.CodeForbidden) {
		t.Errorf("a key that is no partner's is answered %v", err)
	}
	if _, err := r.Partner.SetAppSecret(t.Context(), client.NewAppSecret{AppSecret: "  "}); !client.IsCode(err, client.CodeValidationError) {
		t.Errorf("a blank one is answered %v", err)
	}
	if got, err := r.Partner.GetAppSecret(t.Context()); err != nil || !got.Set {
		t.Errorf("it is %+v, %v", got, err)
	}
	if err := r.Partner.DeleteAppSecret(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := r.Partner.GetAppSecret(t.Context()); err != nil || got.Set || got.Since != nil {
		t.Errorf("after its removal it is %+v, %v", got, err)
	}
}

// An endpoint that does not prove that it wants events gets none.
func TestHandshakes(t *testing.T) {
	t.Parallel()
	r, e := start(t), newEndpoint(t)
	liar := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "7") }))
	t.Cleanup(liar.Close)
	away := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(away.Close)
	for name, body := range cases.Sorted(map[string]string{
		"a wrong token":    `{"override_callback_uri":"` + e.url + `","verify_token":"x"}`,
		"no token":         `{"override_callback_uri":"` + e.url + `"}`,
		"another number":   `{"override_callback_uri":"` + liar.URL + `","verify_token":"x"}`,
		"nobody is there":  `{"override_callback_uri":"http://127.0.0.1:1/","verify_token":"x"}`,
		"another path":     `{"override_callback_uri":"` + away.URL + `","verify_token":"x"}`,
		"no address":       `{"override_callback_uri":"inbox","verify_token":"x"}`,
		"another protocol": `{"override_callback_uri":"file:///etc/passwd","verify_token":"x"}`,
	}) {
		if got := r.ask(t, "POST", "v22.0/"+r.id+"/subscribed_apps", body); got.status != http.StatusBadRequest || got.Error.Code != 2200 && got.Error.Code != 131009 {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
	if hooks, err := r.Client.ListWebhooks(t.Context(), r.id, 1, 10); err != nil || len(hooks.Data) != 0 {
		t.Errorf("the webhooks are %+v, %v", hooks.Data, err)
	}

	closed := testkit.Start(t, testkit.Options{RefusePrivateURLs: true})
	made, err := closed.Partner.CreateInstance(t.Context(), client.NewInstance{Name: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	guarded := &rig{Gateway: closed, id: made.InstanceID, key: newKey(t, closed)}
	if got := guarded.ask(t, "POST", "v22.0/"+guarded.id+"/subscribed_apps", `{"override_callback_uri":"`+e.url+`","verify_token":"`+verifyToken+`"}`); !strings.Contains(got.body, "private") {
		t.Errorf("a private address: %d %s", got.status, got.body)
	}
	if e.shaken != 0 {
		t.Errorf("there were %d handshakes", e.shaken)
	}
}
