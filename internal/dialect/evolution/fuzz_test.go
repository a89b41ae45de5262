package evolution_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/body"
	"github.com/recado-project/recado/internal/dialect"
	"github.com/recado-project/recado/internal/dialect/evolution"
	"github.com/recado-project/recado/internal/gateway"
)

// whatever answers everything that it is asked with the same.
const whatever = `{"data":[{"instanceId":"0192","name":"shop","messengerJid":"1@s.whatsapp.net","chat":"1@g.us"}],"isLastPage":true,"instanceId":"0192","name":"shop","url":"http://gateway/media/x","results":[{}],"media":{"mimeType":"a/b"},"type":"image"}`

// Whatever a request has in it, it is answered with JSON.
func FuzzRequests(f *testing.F) {
	for _, body := range []string{
		`{"number":"55","text":"a","mentioned":["1@lid"],"quoted":{"key":{"id":"X"}}}`, `{"number":120363000000000000,"mediatype":"image","media":"aGVsbG8="}`, `{"where":{"key":{"remoteJid":"1"},"messageTimestamp":{"gte":1e300}},"page":-1,"offset":1e99}`,
		`{"numbers":["1@g.us",{},null],"presence":"available"}`, `{"key":"{\"id\":\"X\"}","reaction":"","contact":[{}],"values":["a"],"name":"q","latitude":"x"}`, `{"readMessages":[{"id":"X"}],"action":"add","participants":"1","expiration":"9999999999999999999"}`,
		`{"number":"55","title":"q","buttons":[{"type":"reply","id":"1"},{"displayText":"a"},{"type":"pix","key":1}],"sections":"[{\"rows\":[{},{\"rowId\":\"1\"}]}]"}`,
		`{"number":"55","name":"x","language":"pt_BR","components":"[{\"type\":\"body\",\"parameters\":[{\"text\":1}]},{\"type\":\"header\",\"parameters\":[{\"type\":\"image\"}]}]"}`,
		`{"message":{"key":{"id":"X"}},"chat":"1","instanceName":"x","proxyHost":"%zz","enabled":"true","host":"[","webhook":{"url":"x","events":["CALL"]}}`,
	} {
		for _, path := range []string{
			"message/sendText", "message/sendMedia", "message/sendContact", "message/sendReaction", "message/sendPoll", "message/sendTemplate", "message/sendButtons", "message/sendList", "message/sendStatus", "chat/findMessages", "chat/findChats", "chat/whatsappNumbers", "chat/markMessageAsRead", "chat/getBase64FromMediaMessage",
			"group/create", "group/updateParticipant", "group/toggleEphemeral", "instance/create", "proxy/set", "settings/set", "webhook/set", "chatwoot/set",
		} {
			f.Add(http.MethodPost, path+"/shop", body)
		}
	}
	f.Add(http.MethodGet, "group/inviteInfo/shop?inviteCode=x", "")
	f.Add(http.MethodDelete, "%2F/%zz//", "{}")
	bodies := body.NewReader(body.Config{TempDir: f.TempDir()})
	logger := slog.New(slog.DiscardHandler)
	api := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, whatever)
	})
	handler, err := evolution.New(evolution.Config{Gateway: dialect.NewGateway(api, func(context.Context, string, string, gateway.RefusedOperation) {}), Bodies: bodies, Logger: logger})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, method, path, content string) {
		target, err := url.Parse("http://gateway/evolution/" + path)
		if err != nil || strings.Contains(content, "delay") {
			return // time is not what is tried
		}
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(content))
		request.Method, request.URL = method, target
		request.Header.Set("Apikey", "K")
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, request)
		if !json.Valid(answer.Body.Bytes()) {
			t.Errorf("%s %s %q is answered %d %q", method, path, content, answer.Code, answer.Body)
		}
	})
}
