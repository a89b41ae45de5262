package sandbox_test

import (
	"context"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"
)

func TestTrustSaysHowToConnect(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var trust struct{ WebsocketURL, RootKey, MediaHost string }
	w.do(http.MethodGet, "/trust", nil, &trust)
	key := w.server.RootKey()
	if trust.WebsocketURL != "ws://sandbox/ws/chat" || trust.MediaHost != "sandbox" || trust.RootKey != hex.EncodeToString(key[:]) {
		t.Errorf("got %+v", trust)
	}
}

func TestControlCallsAreRefusedWithTheUsualBody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	number := "/phones/" + friend
	for _, c := range []struct {
		method, path string
		body         any
		status       int
		code         string
		says         string
	}{
		{http.MethodGet, "/nothing", nil, 404, "NOT_FOUND", ""},
		{http.MethodGet, "/phones/", nil, 404, "NOT_FOUND", ""},
		{http.MethodGet, "//phones", nil, 404, "NOT_FOUND", ""},
		{http.MethodDelete, "/phones", nil, 405, "METHOD_NOT_ALLOWED", ""},
		{http.MethodGet, number + "/scan", nil, 405, "METHOD_NOT_ALLOWED", ""},
		{http.MethodOptions, "/trust", nil, 405, "METHOD_NOT_ALLOWED", ""},
		{http.MethodGet, "/phones/12ab", nil, 400, "VALIDATION_ERROR", "digits"},
		{http.MethodPost, number + "/scan", map[string]any{}, 400, "VALIDATION_ERROR", "qrCode"},
		{http.MethodPost, number + "/scan", []int{}, 400, "VALIDATION_ERROR", "object"},
		{http.MethodPost, number + "/scan", map[string]any{"qrCode": 1}, 400, "VALIDATION_ERROR", "qrCode"},
		{http.MethodPut, number, map[string]any{"online": "yes"}, 400, "VALIDATION_ERROR", "online"},
		{http.MethodPut, number, map[string]any{"name": " "}, 400, "VALIDATION_ERROR", "name"},
		{http.MethodPost, number + "/messages", map[string]any{"to": other, "type": "hologram"}, 400, "VALIDATION_ERROR", "text"},
		{http.MethodPost, number + "/messages", map[string]any{"type": "text"}, 400, "VALIDATION_ERROR", "to: is required; text"},
		{http.MethodPost, number + "/messages", map[string]any{"to": "1@lid", "type": "text", "text": "x"}, 400, "VALIDATION_ERROR", "LID"},
		{http.MethodPost, number + "/messages", map[string]any{"to": "4915100000000", "type": "text", "text": "x"}, 400, "VALIDATION_ERROR", "registered"},
		{
			http.MethodPost, number + "/messages",
			map[string]any{"to": other, "type": "text", "text": "x", "quoteMessageId": "none"},
			400, "VALIDATION_ERROR", "quoteMessageId",
		},
		{http.MethodPost, number + "/messages/none/read", nil, 404, "MESSAGE_NOT_FOUND", ""},
		{http.MethodPost, number + "/pairing-code", map[string]any{"code": "AAAAAAAA"}, 400, "VALIDATION_ERROR", "code"},
		{http.MethodPost, number + "/ban", map[string]any{"seconds": -1}, 400, "VALIDATION_ERROR", "seconds"},
		{http.MethodPut, "/faults", map[string]any{"dropAcks": 2}, 400, "VALIDATION_ERROR", "dropAcks"},
		{http.MethodPut, "/faults", map[string]any{"ackDelayMs": -1}, 400, "VALIDATION_ERROR", "ackDelayMs"},
		{http.MethodPut, "/faults", map[string]any{"ackDelay": 2000}, 400, "VALIDATION_ERROR", "ackDelay: is no field"},
		{http.MethodPut, "/faults", map[string]any{"silent": "lunch"}, 400, "VALIDATION_ERROR", "handshake"},
		{http.MethodPut, "/faults", map[string]any{"stallMediaAfterBytes": -1}, 400, "VALIDATION_ERROR", "stallMediaAfterBytes"},
		{http.MethodPost, "/groups", map[string]any{"subject": "x", "owner": friend, "participants": []any{map[string]any{"nummer": other}}}, 400, "VALIDATION_ERROR", "nummer"},
		{http.MethodGet, "/phones/011988887766", nil, 400, "VALIDATION_ERROR", "country code"},
		{http.MethodPost, number + "/messages", map[string]any{"to": "1188887766", "type": "text", "text": "x"}, 400, "VALIDATION_ERROR", "to"},
		{http.MethodPut, "/faults", map[string]any{"sendError": 463.5}, 400, "VALIDATION_ERROR", "sendError"},
	} {
		var answer struct {
			StatusCode                      int
			Message, Error, Timestamp, Path string
		}
		status := w.call(c.method, c.path, c.body, &answer)
		if status != c.status || answer.StatusCode != c.status || answer.Error != c.code || answer.Message == "" ||
			answer.Timestamp == "" || answer.Path != "/sandbox/api"+c.path || !strings.Contains(answer.Message, c.says) {
			t.Errorf("%s %s: %d %+v", c.method, c.path, status, answer)
		}
	}
}

func TestWrongMethodNamesTheRightOnes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	request, err := http.NewRequestWithContext(context.Background(), http.MethodPatch, "http://sandbox/sandbox/api/phones/"+friend, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := w.dial.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if allow := response.Header.Get("Allow"); allow != "GET, HEAD, PUT" {
		t.Errorf("Allow is %q", allow)
	}
}

func TestNumbersAreReadAsPeopleWriteThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, written := range []string{"+49 151 0000-0014", "(49)15100000014", friend + "@s.whatsapp.net", friend + "@c.us"} {
		var phone struct{ Number string }
		w.do(http.MethodGet, "/phones/"+strings.ReplaceAll(written, " ", "%20"), nil, &phone)
		if phone.Number != friend {
			t.Errorf("%s is %s", written, phone.Number)
		}
	}
}
