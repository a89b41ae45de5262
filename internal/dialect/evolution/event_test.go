package evolution_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/dialect/evolution"
	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// shop is the instance of the events.
func shop() gateway.Instance {
	return gateway.Instance{ID: "0192", Name: "loja", Profile: gateway.Profile{JID: shopNumber + "@s.whatsapp.net", LID: "100@lid", Name: "Loja"}}
}

// posted is what is posted for an event of a kind; nil for nothing.
func posted(t *testing.T, format evolution.Format, kind, data string) (path string, body any) {
	t.Helper()
	path, encoded, ok := format.Body(shop(), eventlog.Event{ID: "e1", Kind: eventlog.Kind(kind), At: time.Unix(1795184530, 0), Data: []byte(data)}, "https://host/media/x", nil)
	if !ok {
		return "", nil
	}
	if err := json.Unmarshal(encoded, &body); err != nil {
		t.Fatalf("%s: %q, %v", kind, encoded, err)
	}
	return path, body
}

// Every kind of event is told as that API tells it.
func TestEventsAreTranslated(t *testing.T) {
	t.Parallel()
	const (
		chat   = `"chat":"5511988887766@s.whatsapp.net","chatLid":"200@lid"`
		inside = `"chat":"1203@g.us","chatLid":null,"isGroup":true`
		ana    = `{"jid":"5511988887766@s.whatsapp.net","lid":"200@lid","name":"Ana"}`
		us     = `{"jid":"5511999990100@s.whatsapp.net","lid":"100@lid","name":null}`
	)
	for name, test := range cases.Sorted(map[string]struct {
		kind, data, event string
		want              map[string]any // by the path in data, with dots
	}{
		"text": {"message.received", `{` + chat + `,"messageId":"3A0123456789ABCDEFGH","from":` + ana + `,"timestamp":"2026-11-26T11:00:00Z","type":"text","text":"Olá"}`, "messages.upsert", map[string]any{
			"key/remoteJid": "5511988887766@s.whatsapp.net", "key/remoteJidAlt": "200@lid", "key/fromMe": false, "key/addressingMode": "pn", "pushName": "Ana", "status": "DELIVERY_ACK",
			"message/conversation": "Olá", "messageType": "conversation", "messageTimestamp": 1795690800.0, "source": "ios",
		}},
		"in a group": {"message.received", `{` + inside + `,"messageId":"X","from":` + ana + `,"timestamp":"2026-11-26T11:00:00Z","type":"image","caption":"Veja","media":{"mimeType":"image/png","size":12,"width":3},"mentions":[` + us + `]}`, "messages.upsert", map[string]any{
			"key/participant": "5511988887766@s.whatsapp.net", "key/participantAlt": "200@lid", "message/imageMessage/caption": "Veja", "message/imageMessage/fileLength": "12", "message/imageMessage/width": 3.0, "message/mediaUrl": "https://host/media/x",
			"contextInfo/mentionedJid/0": "5511999990100@s.whatsapp.net",
		}},
		"without a number": {"message.received", `{"chat":"200@lid","chatLid":"200@lid","messageId":"X","from":{"jid":null,"lid":"200@lid","name":null},"timestamp":"2026-11-26T11:00:00Z","type":"voice","media":{"mimeType":"audio/ogg","size":1,"seconds":4,"voice":true}}`, "messages.upsert", map[string]any{
			"key/remoteJid": "200@lid", "key/remoteJidAlt": nil, "key/addressingMode": "lid", "pushName": "200", "message/audioMessage/ptt": true, "message/audioMessage/seconds": 4.0,
		}},
		"vote in buttons": {"message.poll_vote", `{` + chat + `,"messageId":"P","id":"i","from":` + ana + `,"question":"Quer?","options":["Sim"],"tallies":[{"option":"Sim","votes":1}],"selection":{"id":"b1","text":"Sim","reference":"buttons"}}`, "messages.upsert", map[string]any{
			"key/remoteJid": "5511988887766@s.whatsapp.net", "key/fromMe": false, "key/id": "e1", "messageType": "buttonsResponseMessage", "contextInfo/stanzaId": "P", "pushName": "Ana",
			"message/buttonsResponseMessage/selectedButtonId": "b1", "message/buttonsResponseMessage/selectedDisplayText": "Sim", "messageTimestamp": 1795184530.0,
		}},
		"vote in a list": {"message.poll_vote", `{` + inside + `,"messageId":"P","id":"i","from":` + ana + `,"options":["Sim"],"selection":{"id":"b1","text":"Sim","reference":"list"}}`, "messages.upsert", map[string]any{
			"key/participant": "5511988887766@s.whatsapp.net", "messageType": "listResponseMessage", "message/listResponseMessage/title": "Sim", "message/listResponseMessage/singleSelectReply/selectedRowId": "b1",
		}},
		"text for a list": {"message.received", `{` + chat + `,"messageId":"X","from":` + ana + `,"timestamp":"2026-11-26T11:00:00Z","type":"text","text":"1","selection":{"id":"b1","text":"Sim","reference":"list"},"quotedMessageId":"P"}`, "messages.upsert", map[string]any{
			"key/id": "X", "contextInfo/stanzaId": "P", "message/listResponseMessage/title": "Sim", "message/conversation": nil,
		}},
		"answer": {"message.received", `{` + chat + `,"messageId":"X","from":` + ana + `,"timestamp":"2026-11-26T11:00:00Z","type":"text","text":"Sim","selection":{"id":"b1"},"quotedMessageId":"Q","quoted":{"type":"text","text":"Quer?","sender":` + us + `}}`, "messages.upsert", map[string]any{
			"message/buttonsResponseMessage/selectedButtonId": "b1", "contextInfo/stanzaId": "Q", "contextInfo/participant": "5511999990100@s.whatsapp.net", "contextInfo/quotedMessage/conversation": "Quer?",
		}},
		"cards": {"message.received", `{` + chat + `,"messageId":"X","from":` + ana + `,"timestamp":"2026-11-26T11:00:00Z","type":"contact","contacts":[{"fullName":"B\r\nEND:VCARD","numbers":[{"number":"551","writable":true}]}]}`, "messages.upsert", map[string]any{
			"message/contactMessage/vcard": "BEGIN:VCARD\nVERSION:3.0\nN:;B\\nEND:VCARD;;;\nFN:B\\nEND:VCARD\nitem1.TEL;waid=551:+551\nEND:VCARD",
		}},
		"unknown kind":  {"message.received", `{` + chat + `,"messageId":"X","from":` + ana + `,"timestamp":"2026-11-26T11:00:00Z","type":"unsupported","unsupported":"newThingMessage"}`, "messages.upsert", map[string]any{"messageType": "newThingMessage"}},
		"by the API":    {"message.sent", `{` + chat + `,"messageId":"3EB0123456789ABCDEF012","from":` + us + `,"fromMe":true,"source":"api","timestamp":"2026-11-26T11:00:00Z","type":"text","text":"Olá"}`, "send.message", map[string]any{"key/fromMe": true, "pushName": "Você", "status": "PENDING", "source": "web"}},
		"by the phone":  {"message.sent", `{` + chat + `,"messageId":"X","from":` + us + `,"fromMe":true,"source":"device","timestamp":"2026-11-26T11:00:00Z","type":"text","text":"Olá"}`, "messages.upsert", map[string]any{"key/fromMe": true, "pushName": "Você"}},
		"reaction":      {"message.reaction", `{` + chat + `,"messageId":"X","from":` + ana + `,"reaction":"👍"}`, "messages.upsert", map[string]any{"message/reactionMessage/text": "👍", "message/reactionMessage/key/id": "X", "key/id": "e1", "messageType": "reactionMessage"}},
		"status":        {"message.status", `{` + chat + `,"messageId":"X","id":"0193","status":"read","participant":null,"timestamp":"2026-11-26T11:00:00Z"}`, "messages.update", map[string]any{"keyId": "X", "status": "READ", "messageId": "0193", "fromMe": true}},
		"vote":          {"message.poll_vote", `{` + chat + `,"messageId":"X","id":"0193","from":` + ana + `,"options":["um"],"tallies":[{"option":"um","votes":2},{"option":"dois","votes":0}]}`, "messages.update", map[string]any{"pollUpdates/0/name": "um", "pollUpdates/0/voters/0": "5511988887766@s.whatsapp.net", "pollUpdates/1/voters/0": nil}},
		"edited":        {"message.edited", `{` + chat + `,"messageId":"X","from":` + ana + `,"text":"novo"}`, "messages.edited", map[string]any{"key/id": "X", "type": "MESSAGE_EDIT", "editedMessage/conversation": "novo"}},
		"edited by us":  {"message.edited", `{` + chat + `,"messageId":"X","from":` + us + `,"text":"novo"}`, "send.message.update", map[string]any{"key/fromMe": true}},
		"deleted":       {"message.deleted", `{` + chat + `,"messageId":"X","from":` + ana + `}`, "messages.delete", map[string]any{"id": "X", "status": "DELETED", "remoteJid": "5511988887766@s.whatsapp.net"}},
		"code":          {"instance.qr", `{"qrCode":"data:image/png;base64,x","code":"2@x"}`, "qrcode.updated", map[string]any{"qrcode/base64": "data:image/png;base64,x", "qrcode/instance": "loja", "qrcode/code": "2@x"}},
		"connected":     {"instance.status", `{"status":"connected","messengerJid":"5511999990100@s.whatsapp.net"}`, "connection.update", map[string]any{"state": "open", "statusReason": 200.0, "wuid": "5511999990100@s.whatsapp.net", "profileName": "Loja"}},
		"unlinked":      {"instance.status", `{"status":"stopped","reason":"unlinked_on_phone"}`, "connection.update", map[string]any{"state": "close", "statusReason": 401.0}},
		"contact":       {"contact.updated", ana, "contacts.update", map[string]any{"0/remoteJid": "5511988887766@s.whatsapp.net", "0/pushName": "Ana"}},
		"chat":          {"chat.updated", `{` + chat + `,"changed":["read"],"unreadCount":2}`, "chats.update", map[string]any{"0/unreadMessages": 2.0}},
		"chat deleted":  {"chat.updated", `{` + chat + `,"changed":["deleted"],"deleted":true}`, "chats.delete", map[string]any{"0": "5511988887766@s.whatsapp.net"}},
		"presence":      {"presence", `{` + chat + `,"from":` + ana + `,"presence":"composing"}`, "presence.update", map[string]any{"presences/5511988887766@s.whatsapp.net/lastKnownPresence": "composing"}},
		"group":         {"group.updated", `{"groupId":"1203@g.us","change":"subject","actor":` + ana + `}`, "groups.update", map[string]any{"0/id": "1203@g.us", "0/author": "5511988887766@s.whatsapp.net"}},
		"group made":    {"group.updated", `{"groupId":"1203@g.us","change":"created"}`, "groups.upsert", map[string]any{"0/id": "1203@g.us"}},
		"group joined":  {"group.updated", `{"groupId":"1203@g.us","change":"participants_added","participants":[` + ana + `]}`, "group-participants.update", map[string]any{"action": "add", "participants/0": "5511988887766@s.whatsapp.net"}},
		"label":         {"label.updated", `{"labelId":"3","name":"Novo","color":4}`, "labels.edit", map[string]any{"id": "3", "name": "Novo", "deleted": false}},
		"label put":     {"label.assigned", `{` + chat + `,"labelId":"3","assigned":true}`, "labels.association", map[string]any{"type": "add", "labelId": "3"}},
		"call":          {"call.received", `{` + chat + `,"from":` + ana + `,"callId":"C","video":true}`, "call", map[string]any{"status": "offer", "isVideo": true, "from": "5511988887766@s.whatsapp.net"}},
		"call rejected": {"call.ended", `{` + chat + `,"from":` + ana + `,"callId":"C","reason":"rejected"}`, "call", map[string]any{"status": "reject"}},
	}) {
		path, body := posted(t, evolution.Format{ByEvent: true}, test.kind, test.data)
		if text(body, "event") != test.event || text(body, "instance") != "loja" || text(body, "sender") != shopNumber+"@s.whatsapp.net" || path != "/"+strings.ReplaceAll(test.event, ".", "-") {
			t.Errorf("%s: %s %v", name, path, body)
		}
		for place, want := range cases.Sorted(test.want) {
			if got := find(at(body, "data"), place); got != want {
				t.Errorf("%s: %s is %v, want %v", name, place, got, want)
			}
		}
	}
	for kind, data := range cases.Sorted(map[string]string{
		"webhook.test": `{}`, "message.starred": `{}`, "nothing": `{}`, "message.received": `{"text":5}`, "message.sent": ``,
		"label.assigned": `{` + chat + `,"messageId":"X"}`, "contact.updated": `{}`,
	}) {
		if _, body := posted(t, evolution.Format{}, kind, data); body != nil {
			t.Errorf("%s is posted as %v", kind, body)
		}
	}
}

// find is at for a path in one text, with numbers of lists.
func find(value any, path string) any {
	for step := range strings.SplitSeq(path, "/") {
		if list, ok := value.([]any); ok && len(step) == 1 {
			value = at(list, int(step[0]-'0'))
		} else {
			value = at(value, step)
		}
	}
	return value
}

// What a flow reads in an event is what it read in the answer to the send, but for the time: the event has that at which the
// gateway took the message, the answer that at which the platform did.
func TestEventsAreAsAnswers(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	o := newTool(t, g, id)
	answer, _ := o.does(201, "POST", "/message/sendText", object{"number": customerNumber, "text": "Olá"}).(map[string]any)
	for event, err := range g.Client.Follow(t.Context(), id, client.FollowOptions{After: new(int64), Types: []string{client.TypeMessageSent}}) {
		if err != nil {
			t.Fatal(err)
		}
		_, encoded, ok := evolution.Format{}.Body(gateway.Instance{ID: id}, eventlog.Event{Kind: eventlog.Kind(event.Type), Data: event.Data}, "", nil)
		var body any
		if err := json.Unmarshal(encoded, &body); err != nil || !ok {
			t.Fatal(err, ok)
		}
		sent, _ := at(body, "data").(map[string]any)
		for _, timed := range []map[string]any{sent, answer} {
			if seconds, _ := timed["messageTimestamp"].(float64); seconds < 1e9 {
				t.Errorf("messageTimestamp is %v", timed["messageTimestamp"])
			}
			delete(timed, "messageTimestamp")
		}
		got, _ := json.Marshal(sent)    //nolint:errchkjson // it was decoded
		want, _ := json.Marshal(answer) //nolint:errchkjson // it was decoded
		if !bytes.Equal(got, want) {
			t.Errorf("the event has  %s\nthe answer has %s", got, want)
		}
		return
	}
}

// Damaged data makes nothing but JSON, or nothing.
func FuzzEvents(f *testing.F) {
	for _, kind := range eventlog.Kinds() {
		f.Add(string(kind), `{"chat":"1@g.us","from":{"jid":"2@lid"},"participants":[{}],"people":[null],"contacts":[{}],"media":{},"poll":{},"type":"image"}`)
	}
	f.Fuzz(func(t *testing.T, kind, data string) {
		_, body, ok := evolution.Format{}.Body(shop(), eventlog.Event{Kind: eventlog.Kind(kind), Data: []byte(data)}, "", []byte("QUJD"))
		if ok && !json.Valid(body) {
			t.Errorf("%s: %q", kind, body)
		}
	})
}
