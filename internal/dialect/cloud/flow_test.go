package cloud_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit"
)

// reply is what a flow reads of a message.
type reply struct {
	Type string `json:"type"`
	Text struct {
		Body string `json:"body"`
	} `json:"text"`
	Context struct {
		ID string `json:"id"`
	} `json:"context"`
	Interactive struct {
		Type   string `json:"type"`
		Button struct {
			ID string `json:"id"`
		} `json:"button_reply"`
		List struct {
			ID    string `json:"id"`
			Title string `json:"title"`
		} `json:"list_reply"`
	} `json:"interactive"`
}

// A flow asks with buttons and with a list, and goes on with each answer once, although the gateway is restarted
// between the question and the answer.
func TestAFlowWithChoices(t *testing.T) {
	t.Parallel()
	replies := make(chan reply, 100)
	flow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var posted struct {
			Entry []struct {
				Changes []struct {
					Value struct {
						Messages []reply `json:"messages"`
					} `json:"value"`
				} `json:"changes"`
			} `json:"entry"`
		}
		if err := json.NewDecoder(r.Body).Decode(&posted); err != nil {
			t.Error(err)
			return
		}
		for _, message := range posted.Entry[0].Changes[0].Value.Messages {
			replies <- message
		}
	}))
	t.Cleanup(flow.Close)
	options := testkit.Options{DataDir: t.TempDir()}
	g, id := testkit.StartLinked(t, options)
	r := &rig{Gateway: g, id: id, key: newKey(t, g)}
	if _, err := g.Client.CreateWebhook(t.Context(), id, client.NewWebhook{URL: flow.URL, Format: "cloud"}); err != nil {
		t.Fatal(err)
	}
	asks := func(kind, action string) (poll string) {
		t.Helper()
		poll = r.send(t, `{"to":"`+customerNumber+`","type":"interactive","interactive":{"type":"`+kind+`","body":{"text":"Which?"},"action":`+action+`}}`)
		r.Phones.AwaitMessage(t, customerNumber, poll)
		return poll
	}
	restart := func() {
		t.Helper()
		r.Stop()
		r.Gateway = testkit.Start(t, options)
		r.AwaitStatus(t, id, gateway.StatusConnected)
	}

	r.Phones.SendText(t, customerNumber, shopNumber, "Oi")
	if got := <-replies; got.Type != "text" || got.Text.Body != "Oi" {
		t.Fatalf("the flow begins with %+v", got)
	}
	buttons := asks("button", `{"buttons":[{"type":"reply","reply":{"id":"sales","title":"Sales"}},{"type":"reply","reply":{"id":"help","title":"Help"}}]}`)
	restart()
	r.Phones.Vote(t, customerNumber, buttons, "Help")
	if got := <-replies; got.Interactive.Type != "button_reply" || got.Interactive.Button.ID != "help" || got.Context.ID != buttons {
		t.Fatalf("the vote is %+v", got)
	}
	r.Phones.Vote(t, customerNumber, buttons, "Sales") // it is answered already
	list := asks("list", `"{\"button\":\"Open\",\"sections\":[{\"rows\":[{\"id\":\"r1\",\"title\":\"Return\"},{\"id\":\"r2\",\"title\":\"Não chegou\"}]}]}"`)
	restart()
	r.Phones.SendText(t, customerNumber, shopNumber, "nao chegou")
	if got := <-replies; got.Interactive.Type != "list_reply" || got.Interactive.List.ID != "r2" || got.Interactive.List.Title != "Não chegou" || got.Context.ID != list {
		t.Fatalf("the text is %+v", got)
	}
	r.send(t, `{"to":"`+customerNumber+`","text":{"body":"Thank you"}}`)
	r.Phones.SendText(t, customerNumber, shopNumber, "1")
	if got := <-replies; got.Type != "text" || got.Text.Body != "1" {
		t.Errorf("after the end, a number is %+v", got)
	}
}
