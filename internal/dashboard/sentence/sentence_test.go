package sentence_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/dashboard/sentence"
	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/web"
	"github.com/recado-project/recado/internal/web/webtest"
)

func TestEveryWordIsTranslated(t *testing.T) {
	t.Parallel()
	webtest.Words(t)
}

// names are what the gateway knows besides the events.
var names = sentence.Names{"5511988887766@s.whatsapp.net": "Marina", "120363025246125486@g.us": "Padeiros"} //nolint:gochecknoglobals // read only

func tell(t *testing.T, lang string, kind eventlog.Kind, data []byte) string {
	t.Helper()
	words, err := web.ReadWords(sentence.Files)
	if err != nil {
		t.Fatal(err)
	}
	return sentence.Of(eventlog.Event{Kind: kind, Data: data}, names).In(words, lang)
}

func TestSentences(t *testing.T) {
	t.Parallel()
	const chat, group = `"chat":"5511988887766@s.whatsapp.net"`, `"chat":"120363025246125486@g.us"`
	const marina, ana = `"from":{"jid":"5511988887766@s.whatsapp.net","lid":null,"name":"Marina"}`, `{"jid":"5511977776655@s.whatsapp.net","lid":null,"name":"Ana"}`
	for _, c := range []struct {
		kind       eventlog.Kind
		data, want string
	}{
		{"instance.status", `{"status":"connected","previousStatus":"connecting","reason":null}`, "connecting → connected"},
		{"instance.status", `{"status":"stopped","previousStatus":"connected","reason":"unlinked_on_phone"}`, "connected → not linked: the device was removed on the phone"},
		{"instance.status", `{"status":"connecting","previousStatus":"connecting","reason":"proxy_unreachable"}`, "Still connecting: the proxy can't be reached"},
		{"instance.qr", `{"attempt":2}`, "QR code 2 is shown"},
		{"message.received", `{` + chat + `,` + marina + `,"type":"text","text":"Quero\n duas!"}`, "Marina: Quero duas!"},
		{"message.received", `{` + group + `,"from":` + ana + `,"type":"image","text":null,"caption":"O bolo"}`, "Ana in Padeiros: Picture, “O bolo”"},
		{"message.received", `{` + chat + `,` + marina + `,"type":"document","media":{"fileName":"nota.pdf"}}`, "Marina: File, “nota.pdf”"},
		{"message.received", `{` + chat + `,` + marina + `,"type":"voice","media":{"fileName":null}}`, "Marina: Voice note"},
		{"message.received", `{` + chat + `,` + marina + `,"type":"unsupported","text":null}`, "Marina: Message"},
		{"message.received", `{"chat":"5511999990000@s.whatsapp.net","from":null,"type":"text","text":"` + strings.Repeat("a", 300) + `"}`, "+5511999990000: " + strings.Repeat("a", 160) + "…"},
		{"message.received", `{` + chat + `,` + marina + `,"type":"text","text":"a\u202eb"}`, "Marina: ab"},
		{"message.sent", `{` + chat + `,"from":` + ana + `,"type":"text","text":"Já vai","source":"api"}`, "To Marina: Já vai"},
		{"message.sent", `{` + chat + `,"type":"text","text":"Já vai","source":"device"}`, "To Marina, written on the phone: Já vai"},
		{"message.status", `{` + chat + `,"status":"read","participant":null}`, "Read by Marina"},
		{"message.status", `{` + group + `,"status":"delivered","participant":` + ana + `}`, "Delivered to Ana"},
		{"message.status", `{` + chat + `,"status":"failed","failure":{"code":"X","message":"the number has no account"}}`, "Not sent to Marina: the number has no account"},
		{"message.reaction", `{` + chat + `,` + marina + `,"reaction":"👍"}`, "Marina reacted with 👍"},
		{"message.reaction", `{` + chat + `,` + marina + `,"reaction":""}`, "Marina removed a reaction"},
		{"message.poll_vote", `{` + chat + `,` + marina + `,"question":"Bolo?","options":["Sim","Dois"]}`, "Marina voted for Sim, Dois: Bolo?"},
		{"message.pinned", `{` + chat + `,` + marina + `,"pinnedUntil":null}`, "Marina unpinned a message"},
		{"chat.updated", `{` + chat + `,"changed":["archived"],"archived":true}`, "The chat with Marina was archived"},
		{"chat.updated", `{` + chat + `,"changed":["read"],"unreadCount":2}`, "The chat with Marina is unread"},
		{"label.assigned", `{` + chat + `,"labelId":"1","name":"Pago","messageId":null,"assigned":true}`, "The label Pago was put on the chat with Marina"},
		{"group.updated", `{"groupId":"120363025246125486@g.us","change":"participants_added","participants":[` + ana + `,` + ana + `,` + ana + `]}`, "Ana and 2 more joined the group Padeiros"},
		{"contact.updated", ana, "The contact Ana was updated"},
		{"call.received", `{` + chat + `,` + marina + `,"video":true}`, "Marina is making a video call"},
		{"account.updated", `{"change":"blocked","people":[` + ana + `]}`, "Ana was blocked"},
		{"events.expired", `{"fromSequence":3,"toSequence":9}`, "Events 3 to 9 were removed before they were delivered"},
		{"of.tomorrow", `{}`, "An event of the type of.tomorrow"},
		{"message.status", `{` + chat + `,"status":"framed"}`, "An event of the type message.status"},
		{"message.status", `[1]`, "An event of the type message.status"},
		{"message.status", ``, "An event of the type message.status"},
	} {
		if got := tell(t, "en", c.kind, []byte(c.data)); got != c.want {
			t.Errorf("%s %s:\n%s\nwant %s", c.kind, c.data, got, c.want)
		}
	}
	refused := []byte(`{` + chat + `,"status":"failed","failure":{"code":"X","message":"the number has no account on the platform"}}`)
	if got, want := tell(t, "pt-BR", "message.status", refused), "Não enviada para Marina: o número não tem conta na plataforma"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := tell(t, "pt-BR", "message.received", []byte(`{`+group+`,"from":`+ana+`,"type":"image"}`)), "Ana em Padeiros: Imagem"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Every kind, with every word that its fields may have, has a sentence of its own in every language.
func TestEveryKindHasASentence(t *testing.T) {
	t.Parallel()
	all, err := web.ReadWords(sentence.Files)
	if err != nil {
		t.Fatal(err)
	}
	for _, described := range eventlog.Descriptions() {
		kind := described.Data.Kind()
		event, err := eventlog.NewEvent("instance", "", "", time.Now(), described.Data)
		if err != nil {
			t.Fatal(err)
		}
		for field, words := range cases.Sorted(wordsOf(reflect.TypeOf(described.Data))) {
			for _, word := range words {
				told := map[string]any{}
				if err := json.Unmarshal(event.Data, &told); err != nil {
					t.Fatal(err)
				}
				told[field] = word
				if field == "changed" {
					told[field] = []string{word}
				}
				for _, required := range []string{"status", "state", "presence", "response", "change"} { // of another turn
					if given, ok := told[required].(string); ok && given == "" {
						told[required] = append(wordsOf(reflect.TypeOf(described.Data))[required], string(gateway.StatusConnected))[0]
					}
				}
				data, err := json.Marshal(told)
				if err != nil {
					t.Fatal(err)
				}
				for _, lang := range all.Languages() {
					if got := sentence.Of(eventlog.Event{Kind: kind, Data: data}, names).In(all, lang); got == "" || strings.Contains(got, string(kind)) || strings.Contains(got, "%!") {
						t.Errorf("%s with %s %q is told as %q", kind, field, word, got)
					}
				}
			}
		}
	}
}

// wordsOf are the words that each field of a kind's data may have. A kind without such a field has
// one turn all the same.
func wordsOf(data reflect.Type) map[string][]string {
	found := map[string][]string{}
	for _, field := range reflect.VisibleFields(data) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if words := field.Tag.Get("words"); words != "" && len(field.Index) <= 2 {
			found[name] = strings.Split(words, ",")
		}
	}
	if len(found) == 0 {
		found["-"] = []string{""}
	}
	return found
}

// Chats are looked up by the ids in the data, where the data have no name.
func TestUnnamed(t *testing.T) {
	t.Parallel()
	events := []eventlog.Event{
		{Data: []byte(`{"chat":"1@s.whatsapp.net"}`)},
		{Data: []byte(`{"chat":"1@s.whatsapp.net"}`)},
		{Data: []byte(`{"chat":"2@s.whatsapp.net","from":{"name":"Ana"}}`)},
		{Data: []byte(`{"chat":"3@g.us","from":{"name":"Ana"}}`)},
		{Data: []byte(`{"groupId":"4@g.us"}`)},
		{Data: []byte(`nonsense`)},
	}
	if got, want := strings.Join(sentence.Unnamed(events), " "), "1@s.whatsapp.net 3@g.us 4@g.us"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if !gateway.JID("3@g.us").IsGroup() {
		t.Error("a group is none")
	}
}
