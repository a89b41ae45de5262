package evolution_test

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/png"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// picture is a PNG.
func picture(t *testing.T) []byte {
	t.Helper()
	var file bytes.Buffer
	if err := png.Encode(&file, image.NewGray(image.Rect(0, 0, 64, 48))); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// Everything that can be sent arrives, and is answered as that API answers.
func TestSends(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	o := newTool(t, g, id)
	g.Phones.SetStatusAudience(t, shopNumber, "contacts")
	g.Phones.NameContact(t, shopNumber, customerNumber, "Ana")
	if _, err := g.Partner.CreateTemplate(t.Context(), client.NewTemplate{
		Name: "hello", Language: "pt_BR", Components: []client.NewTemplateComponent{{Type: client.TypeBody, Text: "Olá {{1}}"}},
	}); err != nil {
		t.Fatal(err)
	}
	file := base64.StdEncoding.EncodeToString(picture(t))
	card := func(name, number string) object {
		return object{"fullName": name, "wuid": number, "phoneNumber": "+" + number, "organization": "Loja", "email": "a@example.org"}
	}
	for name, test := range cases.Sorted(map[string]struct {
		operation string
		body      object
		kind      string // of what is answered
		shown     string // the type that the phone shows
		want      func(answer any) bool
	}{
		"text": {"sendText", object{"text": "Olá", "delay": 1}, "conversation", "text", func(a any) bool { return text(a, "message", "conversation") == "Olá" }},
		"image": {"sendMedia", object{"mediatype": "image", "media": file, "caption": "Novo", "fileName": "image.jpg"}, "imageMessage", "image", func(a any) bool {
			return text(a, "message", "imageMessage", "caption") == "Novo" && at(a, "message", "imageMessage", "width") == 64.0
		}},
		"data URI": {"sendMedia", object{"mediatype": "image", "media": "data:image/png;base64," + file}, "imageMessage", "image", nil},
		"document": {"sendMedia", object{"mediatype": "document", "media": base64.StdEncoding.EncodeToString([]byte(strings.Repeat("a;b\n", 50))), "fileName": "lista.csv"}, "documentMessage", "document", func(a any) bool {
			return text(a, "message", "documentMessage", "fileName") == "lista.csv"
		}},
		"short document": {"sendMedia", object{"mediatype": "document", "media": "b2k=", "fileName": "a.txt"}, "documentMessage", "document", nil},
		"location": {"sendLocation", object{"latitude": "-23.5", "longitude": -46.6, "name": "Loja", "address": "Rua"}, "locationMessage", "location", func(a any) bool {
			return at(a, "message", "locationMessage", "degreesLatitude") == -23.5
		}},
		"contact": {"sendContact", object{"contact": []object{card("Bia", otherNumber)}}, "contactMessage", "contact", func(a any) bool {
			return text(a, "message", "contactMessage", "displayName") == "Bia" && strings.Contains(text(a, "message", "contactMessage", "vcard"), "waid="+otherNumber)
		}},
		"contacts": {"sendContact", object{"contact": []object{card("Bia", otherNumber), card("Ana", customerNumber)}}, "contactsArrayMessage", "contact", func(a any) bool {
			return text(a, "message", "contactsArrayMessage", "contacts", 1, "displayName") == "Ana"
		}},
		"poll": {"sendPoll", object{"name": "Qual?", "selectableCount": 1, "values": []string{"um", "dois"}}, "pollCreationMessageV3", "poll", func(a any) bool {
			return text(a, "message", "pollCreationMessageV3", "options", 1, "optionName") == "dois"
		}},
		"buttons": {"sendButtons", object{"title": "Qual?", "description": "Escolha", "footer": "Loja", "buttons": []object{
			{"type": "reply", "displayText": "Sim", "id": "s"}, {"type": "url", "displayText": "Site", "url": "https://u"}, {"type": "reply", "displayText": "Não", "id": "n"},
		}}, "pollCreationMessageV3", "poll", func(a any) bool {
			return text(a, "message", "pollCreationMessageV3", "name") == "Qual?\n\nEscolha\n\nSite: https://u\n\nLoja" && text(a, "message", "pollCreationMessageV3", "options", 1, "optionName") == "Não"
		}},
		"list": {"sendList", object{"title": "Qual?", "buttonText": "Ver", "sections": []object{{"rows": []object{{"title": "Um", "description": "o primeiro", "rowId": "1"}, {"title": "Dois", "rowId": "2"}}}}}, "pollCreationMessageV3", "poll", func(a any) bool {
			return text(a, "message", "pollCreationMessageV3", "name") == "Qual?\n\nUm: o primeiro"
		}},
		"pix": {"sendButtons", object{"title": "Pague", "buttons": []object{{"type": "pix", "currency": "BRL", "name": "Loja", "keyType": "random", "key": "123e"}}}, "conversation", "text", func(a any) bool {
			return text(a, "message", "conversation") == "Pague\n\nPix (chave aleatória): 123e\nLoja"
		}},
		"copy and call": {"sendButtons", object{"title": "Use", "buttons": []object{{"type": "copy", "displayText": "Cupom", "copyCode": "X1"}, {"type": "call", "displayText": "Ligue", "phoneNumber": "0800"}}}, "conversation", "text", func(a any) bool {
			return text(a, "message", "conversation") == "Use\n\nCupom: X1\n\nLigue: 0800"
		}},
		"one button": {"sendButtons", object{"title": "Pronto?", "buttons": []object{{"type": "reply", "displayText": "Sim", "id": "s"}}}, "conversation", "text", func(a any) bool {
			return text(a, "message", "conversation") == "Pronto?\n\n👇 Sim"
		}},
		"template": {"sendTemplate", object{"name": "hello", "language": "pt_BR", "components": []object{{"type": "body", "parameters": []object{{"type": "text", "text": "Ana"}}}}}, "conversation", "text", func(a any) bool {
			return text(a, "message", "conversation") == "Olá Ana"
		}},
		"sticker": {"sendSticker", object{"sticker": file}, "stickerMessage", "sticker", nil},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sender := *o
			sender.t = t
			test.body["number"] = "+55 (11) 98888-7766"
			answer := sender.does(http.StatusCreated, http.MethodPost, "/message/"+test.operation, test.body)
			if text(answer, "messageType") != test.kind || text(answer, "status") != "PENDING" || text(answer, "key", "remoteJid") != customerNumber+"@s.whatsapp.net" ||
				at(answer, "key", "fromMe") != true || text(answer, "instanceId") != id || text(answer, "pushName") != "Você" || test.want != nil && !test.want(answer) {
				t.Errorf("answered %v", answer)
			}
			if shown := g.Phones.AwaitMessage(t, customerNumber, text(answer, "key", "id")); shown.Type != test.shown {
				t.Errorf("the phone shows %+v", shown)
			}
		})
	}
}

// A file comes as a form too.
func TestAFormWithAFile(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	o := newTool(t, g, id)
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for name, value := range cases.Sorted(map[string]string{"number": customerNumber, "mediatype": "document", "caption": "Veja", "mentionsEveryOne": "false"}) {
		if err := form.WriteField(name, value); err != nil {
			t.Fatal(err)
		}
	}
	part, err := form.CreateFormFile("file", "contrato.txt")
	if err == nil {
		_, err = part.Write([]byte("um contrato"))
	}
	if err == nil {
		err = form.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	status, answer := o.post(http.MethodPost, "/message/sendMedia/shop", form.FormDataContentType(), body.String())
	if status != http.StatusCreated || text(answer, "message", "documentMessage", "fileName") != "contrato.txt" || text(answer, "message", "documentMessage", "caption") != "Veja" {
		t.Errorf("answered %d %v", status, answer)
	}
}

// A send answers, mentions and reacts.
func TestSendsReferToOthers(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	o := newTool(t, g, id)
	came := g.Phones.SendText(t, customerNumber, shopNumber, "Tem?")
	testkit.Await(t, "the message", func() bool {
		_, err := g.Client.GetMessage(t.Context(), id, came)
		return err == nil
	})
	answer := o.does(http.StatusCreated, http.MethodPost, "/message/sendText", object{
		"number": customerNumber + "@s.whatsapp.net", "text": "Tem, @" + otherNumber, "quoted": object{"key": object{"id": came}},
		"mentioned": []string{otherNumber + "@s.whatsapp.net"}, "linkPreview": false,
	})
	if text(answer, "contextInfo", "stanzaId") != came || text(answer, "contextInfo", "mentionedJid", 0) != otherNumber+"@s.whatsapp.net" {
		t.Errorf("answered %v", answer)
	}
	reacted := o.does(http.StatusCreated, http.MethodPost, "/message/sendReaction", object{
		"key": object{"remoteJid": customerNumber + "@s.whatsapp.net", "fromMe": false, "id": came}, "reaction": "👍",
	})
	if text(reacted, "message", "reactionMessage", "text") != "👍" || text(reacted, "message", "reactionMessage", "key", "id") != came {
		t.Errorf("answered %v", reacted)
	}
	posted := o.does(http.StatusCreated, http.MethodPost, "/message/sendStatus", object{"type": "text", "content": "Promoção", "backgroundColor": "#008000", "font": 1, "allContacts": true})
	if text(posted, "key", "remoteJid") != "status@broadcast" {
		t.Errorf("answered %v", posted)
	}
}

// An instance that is set so refuses choices, and sends what is none.
func TestChoicesAreRefused(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	o := newTool(t, g, id)
	if changed, err := g.Client.ChangeInstance(t.Context(), id, client.InstanceChange{Buttons: client.Set(client.ButtonsRefuse)}); err != nil || changed.Buttons != client.ButtonsRefuse {
		t.Fatalf("changed to %+v (%v)", changed, err)
	}
	body := object{"number": customerNumber, "title": "?", "buttons": []object{{"type": "reply", "displayText": "Sim", "id": "s"}, {"type": "reply", "displayText": "Não", "id": "n"}}}
	if message := o.refused(http.StatusNotImplemented, http.MethodPost, "/message/sendButtons/shop", body); !strings.Contains(text(message, 0), "sendPoll") {
		t.Errorf("refused with %v", message)
	}
	o.does(http.StatusCreated, http.MethodPost, "/message/sendButtons", object{"number": customerNumber, "title": "?", "buttons": []object{{"type": "url", "url": "https://u"}}})
	if changed, err := g.Client.ChangeInstance(t.Context(), id, client.InstanceChange{Buttons: client.Null[string]()}); err != nil || changed.Buttons != "" {
		t.Fatalf("changed back to %+v (%v)", changed, err)
	}
	o.does(http.StatusCreated, http.MethodPost, "/message/sendButtons", body)
}

// What can't be sent is refused as flows expect it.
func TestSendsAreRefused(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	o := newTool(t, g, id)
	g.Phones.Update(t, nobody, map[string]any{"registered": false})
	message := o.refused(http.StatusBadRequest, http.MethodPost, "/message/sendText/shop", object{"number": nobody, "text": "Oi"})
	if at(message, 0, "exists") != false || text(message, 0, "number") != nobody || text(message, 0, "jid") != nobody+"@s.whatsapp.net" {
		t.Errorf("a number without an account: %v", message)
	}
	for name, test := range cases.Sorted(map[string]struct {
		operation string
		body      object
		want      int
		message   string
	}{
		"no number":        {"sendText", object{"text": "Oi"}, http.StatusBadRequest, `instance requires property "number"`},
		"no text":          {"sendText", object{"number": customerNumber}, http.StatusBadRequest, `instance requires property "text"`},
		"no number at all": {"sendText", object{"number": "abc", "text": "Oi"}, http.StatusBadRequest, "number "},
		"no media":         {"sendMedia", object{"number": customerNumber, "mediatype": "image"}, http.StatusBadRequest, `instance requires property "media"`},
		"another kind":     {"sendMedia", object{"number": customerNumber, "mediatype": "fax", "media": "b2k="}, http.StatusBadRequest, "mediatype"},
		"no file name":     {"sendMedia", object{"number": customerNumber, "mediatype": "document", "media": "b2k="}, http.StatusBadRequest, "file name"},
		"two emoji":        {"sendReaction", object{"key": object{"id": "3EB0"}, "reaction": "ab"}, http.StatusBadRequest, "reaction"},
		"one option":       {"sendPoll", object{"number": customerNumber, "name": "Qual?", "values": []string{"um"}}, http.StatusBadRequest, "options"},
		"no audience":      {"sendStatus", object{"type": "text", "content": "Oi"}, http.StatusBadRequest, "statusJidList"},
		"no buttons":       {"sendButtons", object{"number": customerNumber, "title": "Oi"}, http.StatusBadRequest, `instance requires property "buttons"`},
		"odd button":       {"sendButtons", object{"number": customerNumber, "title": "Oi", "buttons": []object{{"type": "fax"}}}, http.StatusBadRequest, "fax"},
		"empty button":     {"sendButtons", object{"number": customerNumber, "title": "Oi", "buttons": []object{{"type": "url"}}}, http.StatusBadRequest, "url"},
		"no list":          {"sendList", object{"number": customerNumber, "sections": []object{{"rows": []object{}}}}, http.StatusBadRequest, `instance requires property "sections"`},
		"no template":      {"sendTemplate", object{"number": customerNumber, "language": "pt_BR"}, http.StatusBadRequest, `instance requires property "name"`},
		"which template":   {"sendTemplate", object{"number": customerNumber, "name": "hello", "language": "pt_BR"}, http.StatusNotFound, "no such template"},
		"odd component":    {"sendTemplate", object{"number": customerNumber, "name": "hello", "language": "pt_BR", "components": []object{{"type": "fax"}}}, http.StatusBadRequest, "components[0].type"},
		"odd parameters":   {"sendTemplate", object{"number": customerNumber, "name": "hello", "language": "pt_BR", "components": []object{{"parameters": 1}}}, http.StatusBadRequest, "components can't be read"},
	}) {
		if message := o.refused(test.want, http.MethodPost, "/message/"+test.operation+"/shop", test.body); !strings.Contains(text(message, 0), test.message) {
			t.Errorf("%s: %v", name, message)
		}
	}
}
