package cloud_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/dialect/cloud"
	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// shop is an instance whose events are posted.
func shop() gateway.Instance {
	return gateway.Instance{ID: "019aa1f4-5b0c-7e43-9d1f-6a1f2f6f3b11", Profile: gateway.Profile{JID: shopNumber + "@s.whatsapp.net", LID: "100@lid"}}
}

func event(kind eventlog.Kind, data string) eventlog.Event {
	return eventlog.Event{ID: "019aa1f4-0000-7000-8000-000000000001", Kind: kind, At: time.Unix(1_795_184_530, 0), Data: []byte(data)}
}

// valueOf is what is posted for an event, without what stands around everything.
func valueOf(t *testing.T, of eventlog.Event, link string) (field, value string) {
	t.Helper()
	path, body, ok := cloud.Format{}.Body(shop(), of, link, nil)
	if !ok {
		return "", ""
	}
	var posted struct {
		Object string `json:"object"`
		Entry  []struct {
			ID      string `json:"id"`
			Changes []struct {
				Field string                     `json:"field"`
				Value map[string]json.RawMessage `json:"value"`
			} `json:"changes"`
		} `json:"entry"`
	}
	if err := json.Unmarshal(body, &posted); err != nil || path != "" || posted.Object != "whatsapp_business_account" || len(posted.Entry) != 1 || len(posted.Entry[0].Changes) != 1 {
		t.Fatalf("posted is %s to %s", body, path)
	}
	change := posted.Entry[0].Changes[0]
	if posted.Entry[0].ID != shopNumber || string(change.Value["messaging_product"]) != `"whatsapp"` ||
		string(change.Value["metadata"]) != `{"display_phone_number":"`+shopNumber+`","phone_number_id":"`+shopNumber+`"}` {
		t.Errorf("around it is %s", body)
	}
	delete(change.Value, "messaging_product")
	delete(change.Value, "metadata")
	rest, err := json.Marshal(change.Value)
	if err != nil {
		t.Fatal(err)
	}
	return change.Field, string(rest)
}

// Every event that the language has words for, and those that it has none for.
func TestFormat(t *testing.T) {
	t.Parallel()
	const (
		chat     = `"chat":"5511988887766@s.whatsapp.net","chatLid":"200@lid"`
		ana      = `"from":{"jid":"5511988887766@s.whatsapp.net","lid":"200@lid","name":"Ana Souza"}`
		head     = chat + `,"id":"019aa1f4-8d52-7c1e-b3a0-0f4de1c9a7b2","messageId":"3EB0","timestamp":"2026-11-20T13:02:10.123Z",` + ana
		anaIs    = `"contacts":[{"profile":{"name":"Ana Souza"},"wa_id":"5511988887766","user_id":"LI.200"}],"messages":[{"from":"5511988887766","from_user_id":"LI.200",`
		anaWrote = `{` + anaIs + `"id":"3EB0","timestamp":"1795179730",`
		again    = `{` + anaIs + `"id":"019aa1f4-0000-7000-8000-000000000001","timestamp":"1795184530",`
		fileID   = `"id":"019aa1f45b0c7e439d1f6a1f2f6f3b11019aa1f48d527c1eb3a00f4de1c9a7b2"`
		paid     = `"recipient_id":"5511988887766","recipient_user_id":"LI.200","conversation":{"id":"5511988887766","origin":{"type":"service"}},"pricing":{"billable":false,"pricing_model":"PMP","category":"service"}}]}`
	)
	type posted struct {
		kind       eventlog.Kind
		data, want string
	}
	const received, sent, changed = eventlog.KindMessageReceived, eventlog.KindMessageSent, eventlog.KindMessageStatus
	for name, one := range cases.Sorted(map[string]posted{
		"a text":                 {received, `{` + head + `,"type":"text","text":"Olá <b>"}`, anaWrote + `"type":"text","text":{"body":"Olá \u003cb\u003e"}}]}`},
		"a picture":              {received, `{` + head + `,"type":"image","caption":"Look","media":{"mimeType":"image/jpeg","size":9}}`, anaWrote + `"type":"image","image":{` + fileID + `,"mime_type":"image/jpeg","url":"https://link","caption":"Look"}}]}`},
		"a video":                {received, `{` + head + `,"type":"video","media":{"mimeType":"video/mp4","animated":true}}`, anaWrote + `"type":"video","video":{` + fileID + `,"mime_type":"video/mp4","url":"https://link"}}]}`},
		"a voice note":           {received, `{` + head + `,"type":"voice","media":{"mimeType":"audio/ogg; codecs=opus","voice":true}}`, anaWrote + `"type":"audio","audio":{` + fileID + `,"mime_type":"audio/ogg; codecs=opus","url":"https://link","voice":true}}]}`},
		"an audio":               {received, `{` + head + `,"type":"audio","media":{"mimeType":"audio/mp4"}}`, anaWrote + `"type":"audio","audio":{` + fileID + `,"mime_type":"audio/mp4","url":"https://link"}}]}`},
		"a document":             {received, `{` + head + `,"type":"document","media":{"mimeType":"application/pdf","fileName":"a.pdf","sha256":"0f"}}`, anaWrote + `"type":"document","document":{` + fileID + `,"mime_type":"application/pdf","sha256":"0f","url":"https://link","filename":"a.pdf"}}]}`},
		"a sticker":              {received, `{` + head + `,"type":"sticker","media":{"mimeType":"image/webp","animated":true}}`, anaWrote + `"type":"sticker","sticker":{` + fileID + `,"mime_type":"image/webp","url":"https://link","animated":true}}]}`},
		"a place":                {received, `{` + head + `,"type":"location","location":{"latitude":-23.5,"longitude":0,"name":"Shop"}}`, anaWrote + `"type":"location","location":{"latitude":-23.5,"longitude":0,"name":"Shop"}}]}`},
		"cards":                  {received, `{` + head + `,"type":"contact","contacts":[{"fullName":"Rui","numbers":[{"number":"5511977776655","label":"CELL","writable":true},{"number":"1133334444"}],"emails":["r@example.org"],"organization":"Co"}]}`, anaWrote + `"type":"contacts","contacts":[{"name":{"formatted_name":"Rui","first_name":"Rui"},"phones":[{"phone":"5511977776655","wa_id":"5511977776655","type":"CELL"},{"phone":"1133334444"}],"emails":[{"email":"r@example.org"}],"org":{"company":"Co"}}]}]}`},
		"a button":               {received, `{` + head + `,"type":"text","text":"Yes","selection":{"id":"yes-1","parameters":null},"quotedMessageId":"3EAF"}`, anaWrote + `"type":"interactive","context":{"id":"3EAF"},"interactive":{"type":"button_reply","button_reply":{"id":"yes-1","title":"Yes"}}}]}`},
		"a button in a poll":     {eventlog.KindMessagePollVote, `{` + chat + `,` + ana + `,"messageId":"3EB1","options":["Yes"],"selection":{"id":"yes-1","text":"Yes","reference":"buttons"}}`, again + `"type":"interactive","context":{"from":"5511999990100","id":"3EB1"},"interactive":{"type":"button_reply","button_reply":{"id":"yes-1","title":"Yes"}}}]}`},
		"a row in a poll":        {eventlog.KindMessagePollVote, `{` + chat + `,` + ana + `,"messageId":"3EB1","options":["Yes"],"selection":{"id":"yes-1","text":"Yes","reference":"list"}}`, again + `"type":"interactive","context":{"from":"5511999990100","id":"3EB1"},"interactive":{"type":"list_reply","list_reply":{"id":"yes-1","title":"Yes"}}}]}`},
		"a row as a text":        {received, `{` + head + `,"type":"text","text":"1","selection":{"id":"yes-1","text":"Yes","reference":"list","parameters":null},"quotedMessageId":"3EAF"}`, anaWrote + `"type":"interactive","context":{"id":"3EAF"},"interactive":{"type":"list_reply","list_reply":{"id":"yes-1","title":"Yes"}}}]}`},
		"another vote":           {eventlog.KindMessagePollVote, `{` + chat + `,` + ana + `,"messageId":"3EB1","options":["Yes"],"selection":null}`, ""},
		"a vote in a group":      {eventlog.KindMessagePollVote, `{"chat":"1203@g.us",` + ana + `,"messageId":"3EB1","options":["Yes"],"selection":{"id":"yes-1","text":"Yes"}}`, ""},
		"an answer":              {received, `{` + head + `,"type":"text","text":"Yes","quotedMessageId":"3EAF","quoted":{"type":"text","sender":{"jid":"5511999990100@s.whatsapp.net"}}}`, anaWrote + `"type":"text","context":{"from":"5511999990100","id":"3EAF"},"text":{"body":"Yes"}}]}`},
		"a forwarded text":       {received, `{` + head + `,"type":"text","text":"Yes","forwarded":true}`, anaWrote + `"type":"text","context":{"forwarded":true},"text":{"body":"Yes"}}]}`},
		"an advertisement":       {received, `{` + head + `,"type":"text","text":"Yes","referral":{"sourceType":"ad","sourceId":"1","sourceUrl":"https://u","headline":"H","body":"B","clickId":"C"}}`, anaWrote + `"type":"text","referral":{"source_url":"https://u","source_id":"1","source_type":"ad","headline":"H","body":"B","ctwa_clid":"C"},"text":{"body":"Yes"}}]}`},
		"a username":             {received, `{` + head + `,"type":"text","text":"Yes","senderUsername":"ana.s"}`, strings.Replace(anaWrote, `"name":"Ana Souza"`, `"name":"Ana Souza","username":"ana.s"`, 1) + `"type":"text","text":{"body":"Yes"}}]}`},
		"a poll":                 {received, `{` + head + `,"type":"poll","caption":"?"}`, anaWrote + `"type":"unsupported","errors":[{"code":131051,"title":"Message type unknown","message":"Message type unknown","error_data":{"details":"The message is of the type poll, which is not supported here."}}]}]}`},
		"what opens once":        {received, `{` + head + `,"type":"image","media":{"mimeType":"image/jpeg","viewOnce":true}}`, anaWrote + `"type":"unsupported","errors":[{"code":131051,"title":"Message type unknown","message":"Message type unknown","error_data":{"details":"The message is of the type image, which is not supported here."}}]}]}`},
		"nobody's number":        {received, `{"chat":"200@lid","messageId":"3EB0","timestamp":"2026-11-20T13:02:10Z","from":{"jid":null,"lid":"200@lid","name":null},"type":"text","text":"Oi"}`, `{"contacts":[{"profile":{"name":"LI.200"},"user_id":"LI.200"}],"messages":[{"from_user_id":"LI.200","id":"3EB0","timestamp":"1795179730","type":"text","text":{"body":"Oi"}}]}`},
		"a group":                {received, `{"chat":"1203@g.us","messageId":"3EB0","isGroup":true,` + ana + `,"type":"text","text":"Oi"}`, ""},
		"a status post":          {received, `{"chat":"status@broadcast","messageId":"3EB0",` + ana + `,"type":"text","text":"Oi"}`, ""},
		"nobody's message":       {received, `{` + chat + `,"from":null,"type":"text","text":"Oi"}`, ""},
		"an album's frame":       {received, `{` + head + `,"type":"album"}`, ""},
		"from the phone":         {sent, `{` + chat + `,"messageId":"3EB1","timestamp":"2026-11-20T13:02:10Z","fromMe":true,"type":"text","text":"Oi","source":"device"}`, `echo {"message_echoes":[{"from":"5511999990100","to":"5511988887766","to_user_id":"LI.200","id":"3EB1","timestamp":"1795179730","type":"text","text":{"body":"Oi"}}]}`},
		"through the API":        {sent, `{` + chat + `,"messageId":"3EB1","timestamp":"2026-11-20T13:02:10Z","fromMe":true,"type":"text","text":"Oi","source":"api"}`, `{"statuses":[{"id":"3EB1","status":"sent","timestamp":"1795179730",` + paid},
		"what a client calls it": {sent, `{` + chat + `,"messageId":"3EB1","timestamp":"2026-11-20T13:02:10Z","fromMe":true,"type":"text","text":"Oi","source":"api","clientData":"order 17"}`, `{"statuses":[{"id":"3EB1","status":"sent","timestamp":"1795179730",` + strings.Replace(paid, `}]}`, `,"biz_opaque_callback_data":"order 17"}]}`, 1)},
		"the status sent":        {changed, `{` + chat + `,"messageId":"3EB1","status":"sent","timestamp":"2026-11-20T13:02:10Z"}`, ""},
		"delivered":              {changed, `{` + chat + `,"messageId":"3EB1","status":"delivered","timestamp":"2026-11-20T13:02:10Z"}`, `{"statuses":[{"id":"3EB1","status":"delivered","timestamp":"1795179730",` + paid},
		"played":                 {changed, `{` + chat + `,"messageId":"3EB1","status":"played","timestamp":"2026-11-20T13:02:10Z"}`, `{"statuses":[{"id":"3EB1","status":"read","timestamp":"1795179730",` + paid},
		"failed":                 {changed, `{` + chat + `,"messageId":"3EB1","status":"failed","timestamp":"2026-11-20T13:02:10Z","failure":{"code":"RECIPIENT_NOT_REGISTERED","message":"No account."},"clientData":"order 17"}`, `{"statuses":[{"id":"3EB1","status":"failed","timestamp":"1795179730","recipient_id":"5511988887766","recipient_user_id":"LI.200","errors":[{"code":131026,"title":"Message undeliverable","message":"Message undeliverable","error_data":{"details":"No account."}}],"biz_opaque_callback_data":"order 17"}]}`},
		"failed without why":     {changed, `{"chat":"200@lid","messageId":"3EB1","status":"failed","timestamp":"2026-11-20T13:02:10Z"}`, `{"statuses":[{"id":"3EB1","status":"failed","timestamp":"1795179730","recipient_user_id":"LI.200","errors":[{"code":131000,"title":"Something went wrong","message":"Something went wrong","error_data":{"details":"The platform does not say why."}}]}]}`},
		"a group's receipt":      {changed, `{"chat":"1203@g.us","messageId":"3EB1","status":"read","timestamp":"2026-11-20T13:02:10Z"}`, ""},
		"a reaction":             {eventlog.KindMessageReaction, `{` + chat + `,` + ana + `,"messageId":"3EB1","reaction":"👍"}`, again + `"type":"reaction","reaction":{"message_id":"3EB1","emoji":"👍"}}]}`},
		"a reaction less":        {eventlog.KindMessageReaction, `{` + chat + `,` + ana + `,"messageId":"3EB1","reaction":""}`, again + `"type":"reaction","reaction":{"message_id":"3EB1"}}]}`},
		"an own reaction":        {eventlog.KindMessageReaction, `{` + chat + `,"from":{"lid":"100@lid"},"messageId":"3EB1","reaction":"👍"}`, ""},
		"an edit":                {eventlog.KindMessageEdited, `{` + chat + `,` + ana + `,"messageId":"3EB1","text":"Better"}`, again + `"type":"text","context":{"from":"5511988887766","id":"3EB1"},"text":{"body":"✏️ Better"}}]}`},
		"an own edit":            {eventlog.KindMessageEdited, `{` + chat + `,"from":{"jid":"5511999990100@s.whatsapp.net"},"messageId":"3EB1","text":"Better"}`, ""},
		"a deletion":             {eventlog.KindMessageDeleted, `{` + chat + `,` + ana + `,"messageId":"3EB1"}`, ""},
		"damaged data":           {received, `{"chat":7}`, ""},
		"no data":                {received, ``, ""},
		"something newer":        {"message.invented", `{}`, ""},
	}) {
		link := ""
		if strings.Contains(one.want, "https://link") {
			link = "https://link"
		}
		field, got := valueOf(t, event(one.kind, one.data), link)
		want, echo := strings.CutPrefix(one.want, "echo ")
		if got != want || got != "" && (field == "smb_message_echoes") != echo {
			t.Errorf("%s: %s\n%s\n%s", name, field, got, want)
		}
	}
}

// A delivery is signed with the secret of its webhook, as Meta signs.
func TestSignature(t *testing.T) {
	t.Parallel()
	// As openssl dgst -sha256 -hmac has it.
	const want = "sha256=f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8"
	header := http.Header{}
	cloud.Format{}.SetHeaders(header, time.Time{}, "", []byte("x"))
	if len(header) != 0 {
		t.Errorf("without a secret: %v", header)
	}
	cloud.Format{}.SetHeaders(header, time.Time{}, "key", []byte("The quick brown fox jumps over the lazy dog"))
	if got := header.Get("X-Hub-Signature-256"); got != want {
		t.Errorf("it is %s", got)
	}
	if !(cloud.Format{}).Refuses(400) || (cloud.Format{}).Refuses(500) || (cloud.Format{}).Refuses(401) {
		t.Error("an endpoint refuses with another status than 400")
	}
}

// Whatever an event holds, what is posted is JSON, and not much longer.
func FuzzFormat(f *testing.F) {
	for _, kind := range []eventlog.Kind{eventlog.KindMessageReceived, eventlog.KindMessageSent, eventlog.KindMessageStatus, eventlog.KindMessageReaction, eventlog.KindMessageEdited} {
		f.Add(string(kind), `{"chat":"1@s.whatsapp.net","from":{"jid":"1@s.whatsapp.net"},"source":"device","type":"image","media":{},"status":"failed","text":"x","contacts":[{}],"quotedMessageId":""}`)
		f.Add(string(kind), `{"chat":"@lid","from":{"lid":"@lid"},"type":"","location":{},"selection":{},"quoted":{}}`)
		f.Add(string(kind), `null`)
	}
	f.Fuzz(func(t *testing.T, kind, data string) {
		_, body, ok := cloud.Format{}.Body(shop(), event(eventlog.Kind(kind), data), "", nil)
		if ok != json.Valid(body) || len(body) > 12*len(data)+2000 {
			t.Errorf("a %s of %q is %s", kind, data, body)
		}
	})
}
