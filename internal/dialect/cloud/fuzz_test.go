package cloud_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/body"
	"github.com/recado-project/recado/internal/dialect"
	"github.com/recado-project/recado/internal/dialect/cloud"
	"github.com/recado-project/recado/internal/gateway"
)

// Whatever the body of a request is, the answer is one in JSON: Meta's, or a refusal with a number.
func FuzzRequest(f *testing.F) {
	api := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, `{"instanceId":"019aa1f4-5b0c-7e43-9d1f-6a1f2f6f3b11","id":"1","messageId":"3EB0","chat":"5511988887766@s.whatsapp.net","data":[]}`)
	})
	spoken, err := cloud.New(cloud.Config{Gateway: dialect.NewGateway(api, func(context.Context, string, string, gateway.RefusedOperation) {}), Bodies: body.NewReader(body.Config{}), BaseURL: func(*http.Request) (string, bool) { return "http://gateway", true }, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		f.Fatal(err)
	}
	for _, edge := range []string{"messages", "block_users", "whatsapp_business_profile", "subscribed_apps", "message_templates"} {
		for _, seed := range []string{
			"", "{}", "[]", "null", `{"to":5511988887766,"text":{"body":"x"}}`, `{"to":{},"text":null}`, `{"status":"read","message_id":"x","typing_indicator":{}}`,
			`{"to":"1","type":"contacts","contacts":[{"phones":[{"phone":1}]}]}`, `{"to":"1","type":"interactive","interactive":{"type":"cta_url","action":"{\"parameters\":null}"}}`,
			`{"to":"1","type":"interactive","interactive":{"type":"button","header":{"type":"image","image":{"link":"http://u"}},"action":{"buttons":[{"reply":{"id":1,"title":"A"}},{}]}}}`,
			`{"to":"1","type":"interactive","interactive":{"type":"list","body":{"text":"?"},"action":"{\"sections\":[{\"rows\":[{\"id\":\"1\"},{\"title\":\"B\"}]}]}"}}`,
			`{"to":"1","type":"audio","audio":{"link":"%zz.ogg"}}`, `{"recipient":"LI.","type":"text","text":{"body":"x"}}`, `{"block_users":[{"user":"1"},{}]}`,
			`{"to":"1","type":"template","template":{"name":"x","language":{"code":"pt_BR"},"components":[{"type":"body","parameters":[{"text":1}]},{"type":"header","parameters":[{"type":"image","image":{"id":1}}]},{"type":"button","index":"x","parameters":[{}]}]}}`,
			`{"name":"x","language":"en","components":[null,{"type":"BUTTONS","buttons":[{"type":"copy_code","example":"A"},{"example":[1]}]}]}`, `a=%zz`,
		} {
			f.Add(edge, "application/json", seed)
		}
	}
	f.Add("messages", "application/x-www-form-urlencoded", "a=%zz&to=1")
	f.Fuzz(func(t *testing.T, edge, kind, content string) {
		r := httptest.NewRequest(http.MethodPost, "/cloud/v21.0/019aa1f4-5b0c-7e43-9d1f-6a1f2f6f3b11/messages", strings.NewReader(content))
		r.URL.Path = strings.TrimSuffix(r.URL.Path, "messages") + edge
		r.Header.Set("Authorization", "Bearer K")
		r.Header["Content-Type"] = []string{kind}
		w := httptest.NewRecorder()
		spoken.ServeHTTP(w, r)
		var answer struct {
			Error struct {
				Code int `json:"code"`
			} `json:"error"`
		}
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || (w.Code == http.StatusOK) != (answer.Error.Code == 0) || w.Code == http.StatusInternalServerError {
			t.Errorf("%q of the type %q to %q answers %d %s", content, kind, edge, w.Code, w.Body)
		}
	})
}
