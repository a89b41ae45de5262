package cloud_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media/mediatest"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// files serves the files that messages link to.
func files(t *testing.T) (address string) {
	t.Helper()
	served := http.NewServeMux()
	served.HandleFunc("GET /picture.png", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(mediatest.PNG(t, 64, 64)) })
	served.Handle("GET /", http.FileServer(http.Dir("../../media/testdata")))
	server := httptest.NewServer(served)
	t.Cleanup(server.Close)
	return server.URL
}

// What Chatwoot and Typebot send comes to the phone as it is meant.
func TestMessages(t *testing.T) {
	t.Parallel()
	r, at := start(t), files(t)
	quoted := r.Phones.SendText(t, customerNumber, shopNumber, "Are you open?")
	testkit.Await(t, "the question", func() bool {
		_, err := r.Client.GetMessage(t.Context(), r.id, quoted)
		return err == nil
	})
	chatwoot := func(content string) string {
		return `{"messaging_product":"whatsapp","context":null,"to":"` + customerNumber + `",` + content + `}`
	}
	typebot := func(content string) string {
		return `{"messaging_product":"whatsapp","to":"+` + customerNumber + `","recipient_type":"individual",` + content + `}`
	}
	north, west := -23.5, -46.6
	ana := testkit.ContactCard{FullName: "Ana Souza", PhoneNumber: "+5511988880000"}
	for name, one := range cases.Sorted(map[string]struct {
		body string
		want testkit.PhoneMessage
	}{
		"Chatwoot's text":                  {chatwoot(`"text":{"body":"Oi!"},"type":"text"`), testkit.PhoneMessage{Type: "text", Text: "Oi!"}},
		"Chatwoot's answer":                {`{"messaging_product":"whatsapp","context":{"message_id":"` + quoted + `"},"to":"` + customerNumber + `","text":{"body":"Yes"},"type":"text"}`, testkit.PhoneMessage{Type: "text", Text: "Yes", QuotedMessageID: quoted}},
		"Chatwoot's picture":               {chatwoot(`"type":"image","image":{"link":"` + at + `/picture.png","caption":"A picture"}`), testkit.PhoneMessage{Type: "image", Caption: "A picture"}},
		"Chatwoot's document":              {chatwoot(`"type":"document","document":{"link":"` + at + `/picture.png","filename":"invoice.png","caption":"An invoice"}`), testkit.PhoneMessage{Type: "document", Caption: "An invoice", FileName: "invoice.png"}},
		"Chatwoot's voice note":            {chatwoot(`"type":"audio","audio":{"link":"` + at + `/voice.ogg","voice":true}`), testkit.PhoneMessage{Type: "voice"}},
		"older Chatwoot's voice note":      {chatwoot(`"type":"audio","audio":{"link":"` + at + `/voice.ogg"}`), testkit.PhoneMessage{Type: "voice"}},
		"Chatwoot's audio":                 {chatwoot(`"type":"audio","audio":{"link":"` + at + `/tone.mp3"}`), testkit.PhoneMessage{Type: "audio"}},
		"Typebot's text":                   {typebot(`"type":"text","text":{"body":"Oi!","preview_url":false}`), testkit.PhoneMessage{Type: "text", Text: "Oi!"}},
		"Typebot's picture":                {typebot(`"type":"image","image":{"link":"` + at + `/picture.png"}`), testkit.PhoneMessage{Type: "image"}},
		"Typebot's video":                  {typebot(`"type":"video","video":{"link":"` + at + `/clip.mp4"}`), testkit.PhoneMessage{Type: "video"}},
		"Typebot's audio":                  {typebot(`"type":"audio","audio":{"link":"` + at + `/tone.mp3"}`), testkit.PhoneMessage{Type: "audio"}},
		"Typebot's document":               {typebot(`"type":"document","document":{"link":"` + at + `/picture.png","filename":"a.png"}`), testkit.PhoneMessage{Type: "document", FileName: "a.png"}},
		"a number as a number":             {`{"to":` + customerNumber + `,"text":{"body":"Oi!"}}`, testkit.PhoneMessage{Type: "text", Text: "Oi!"}},
		"a sticker":                        {typebot(`"context":{"message_id":"` + quoted + `"},"type":"sticker","sticker":{"link":"` + at + `/sticker.webp"}`), testkit.PhoneMessage{Type: "sticker", QuotedMessageID: quoted}},
		"a place in texts":                 {typebot(`"type":"location","location":{"latitude":"-23.5","longitude":"-46.6","name":"Shop","address":"Street 1"}`), testkit.PhoneMessage{Type: "location", Latitude: &north, Longitude: &west, Name: "Shop", Address: "Street 1"}},
		"a place in numbers":               {typebot(`"context":{"message_id":"` + quoted + `"},"type":"location","location":{"latitude":-23.5,"longitude":-46.6}`), testkit.PhoneMessage{Type: "location", Latitude: &north, Longitude: &west, QuotedMessageID: quoted}},
		"a card":                           {typebot(`"context":{"message_id":"` + quoted + `"},"type":"contacts","contacts":[{"name":{"formatted_name":"Ana Souza","first_name":"Ana"},"phones":[{"phone":"+55 11 98888-0000","type":"CELL"}]}]`), testkit.PhoneMessage{Type: "contact", Contact: &ana, QuotedMessageID: quoted}},
		"two cards":                        {typebot(`"type":"contacts","contacts":[{"name":{"formatted_name":"Ana Souza"},"phones":[{"phone":"x","wa_id":"5511988880000"}]},{"name":{"first_name":"Rui"},"phones":[{"phone":"5511988881111"}]}]`), testkit.PhoneMessage{Type: "contact", Contact: &ana}},
		"a link that is a button":          {typebot(`"type":"interactive","interactive":{"type":"cta_url","header":{"type":"text","text":"News"},"body":{"text":"Look"},"action":{"name":"cta_url","parameters":{"display_text":"Here","url":"` + at + `"}}}`), testkit.PhoneMessage{Type: "text", Text: "News\n\nLook\n\nHere: " + at}},
		"Typebot's buttons":                {typebot(`"type":"interactive","interactive":{"type":"button","header":{"type":"image","image":{"link":"` + at + `/picture.png"}},"body":{"text":"Which?"},"action":{"buttons":[{"type":"reply","reply":{"id":"a","title":"One"}},{"type":"reply","reply":{"id":"b","title":"Two"}}]}}`), testkit.PhoneMessage{Type: "poll", Text: "Which?"}},
		"Typebot's only button":            {typebot(`"type":"interactive","interactive":{"type":"button","body":{"text":"Ready?"},"action":{"buttons":[{"type":"reply","reply":{"id":"a","title":"Yes"}}]}}`), testkit.PhoneMessage{Type: "text", Text: "Ready?\n\n👇 Yes"}},
		"Chatwoot's list":                  {chatwoot(`"type":"interactive","interactive":{"type":"list","body":{"text":"Which?"},"action":"{\"button\":\"Options\",\"sections\":[{\"rows\":[{\"id\":\"a\",\"title\":\"One\",\"description\":\"the first\"},{\"id\":\"b\",\"title\":\"Two\"}]}]}"}`), testkit.PhoneMessage{Type: "poll", Text: "Which?\n\nOne: the first"}},
		"a link whose action is in a text": {chatwoot(`"type":"interactive","interactive":{"type":"cta_url","body":{"text":"Look"},"action":"{\"parameters\":{\"url\":\"` + at + `\"}}"}`), testkit.PhoneMessage{Type: "text", Text: "Look\n\n" + at}},
	}) {
		got := r.Phones.AwaitMessage(t, customerNumber, r.send(t, one.body))
		if one.want.Contact != nil && (got.Contact == nil || got.Contact.FullName != one.want.Contact.FullName || got.Contact.PhoneNumber != one.want.Contact.PhoneNumber) {
			t.Errorf("%s: the card is %+v", name, got.Contact)
		}
		if two := name == "two cards"; two != (len(got.Contacts) == 2) {
			t.Errorf("%s: there are %d cards", name, len(got.Contacts))
		}
		shown := testkit.PhoneMessage{
			Type: got.Type, Text: got.Text, Caption: got.Caption, FileName: got.FileName, QuotedMessageID: got.QuotedMessageID,
			Latitude: got.Latitude, Longitude: got.Longitude, Name: got.Name, Address: got.Address, Contact: one.want.Contact,
		}
		if !reflect.DeepEqual(shown, one.want) {
			t.Errorf("%s: the phone shows %+v", name, got)
		}
	}
}

// An instance that is set so refuses buttons and lists.
func TestChoicesAreRefused(t *testing.T) {
	t.Parallel()
	r := start(t)
	if _, err := r.Client.ChangeInstance(t.Context(), r.id, client.InstanceChange{Buttons: client.Set(client.ButtonsRefuse)}); err != nil {
		t.Fatal(err)
	}
	got := r.ask(t, "POST", "v21.0/"+shopNumber+"/messages", `{"to":"`+customerNumber+`","type":"interactive","interactive":{"type":"button","body":{"text":"?"},"action":{"buttons":[{"reply":{"id":"a","title":"A"}},{"reply":{"id":"b","title":"B"}}]}}}`)
	if got.status != http.StatusNotImplemented || got.Error.Code != 131051 {
		t.Errorf("answered %d %s", got.status, got.body)
	}
}

// What is refused of choices below a file is refused before the file is sent.
func TestChoicesAreNotHalfSent(t *testing.T) {
	t.Parallel()
	r, at := start(t), files(t)
	button := func(id, title string) string { return `{"reply":{"id":"` + id + `","title":"` + title + `"}}` }
	two, question := button("a", "A")+","+button("b", "B"), "?"
	long := strings.Repeat("ã", 300)
	for name, one := range cases.Sorted(map[string]struct{ buttons, question, more string }{
		"IDs that are the same":   {button("a", "A") + "," + button("a", "B"), question, ""},
		"a long ID":               {button(long, "A") + "," + button("b", "B"), question, ""},
		"an ID of two lines":      {button(`a\nb`, "A") + "," + button("b", "B"), question, ""},
		"a blank ID":              {button(" ", "A") + "," + button("b", "B"), question, ""},
		"nothing on a button":     {button("", "") + "," + button("b", "B"), question, ""},
		"U+0000 on a button":      {button("a", `A\u0000`) + "," + button("b", "B"), question, ""},
		"U+0000 in the question":  {two, `\u0000`, ""},
		"one button and U+0000":   {button("a", "A"), `\u0000`, ""},
		"too many":                {strings.TrimSuffix(strings.Repeat(button("a", "A")+",", 13), ","), question, ""},
		"too long a text":         {two, strings.Repeat("ã", 65_537), ""},
		"too long for one button": {button("a", "A"), strings.Repeat("ã", 65_537), ""},
		"a quote of nothing":      {two, question, `"context":{"message_id":"3EB0NOTHING"},`},
		"a quote and a long text": {two, long, `"context":{"message_id":"3EB0NOTHING"},`},
	}) {
		got := r.ask(t, "POST", "v21.0/"+shopNumber+"/messages", `{"to":"`+customerNumber+`",`+one.more+`"type":"interactive","interactive":{"type":"button","header":{"type":"image","image":{"link":"`+
			at+`/picture.png"}},"body":{"text":"`+one.question+`"},"action":{"buttons":[`+one.buttons+`]}}}`)
		if got.status != http.StatusBadRequest || got.Error.Code == 0 {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
	last := r.send(t, `{"to":"`+customerNumber+`","text":{"body":"the only message"}}`)
	r.Phones.AwaitMessage(t, customerNumber, last)
	if shown := r.Phones.Messages(t, customerNumber, ""); len(shown) != 1 {
		t.Errorf("the phone shows %+v", shown)
	}
}

// What a client calls a message is kept with everything that the message becomes.
func TestCallbackData(t *testing.T) {
	t.Parallel()
	r, at := start(t), files(t)
	choice := `{"reply":{"id":"a","title":"A"}},{"reply":{"id":"b","title":"B"}}`
	north := `"latitude":-23.5,"longitude":-46.6`
	for name, content := range cases.Sorted(map[string]string{
		"a text":     `"text":{"body":"Oi!"}`,
		"a picture":  `"type":"image","image":{"link":"` + at + `/picture.png"}`,
		"a video":    `"type":"video","video":{"link":"` + at + `/clip.mp4"}`,
		"a document": `"type":"document","document":{"link":"` + at + `/picture.png"}`,
		"a voice":    `"type":"audio","audio":{"link":"` + at + `/voice.ogg"}`,
		"an audio":   `"type":"audio","audio":{"link":"` + at + `/tone.mp3"}`,
		"a sticker":  `"type":"sticker","sticker":{"link":"` + at + `/sticker.webp"}`,
		"a place":    `"type":"location","location":{` + north + `}`,
		"a card":     `"type":"contacts","contacts":[{"name":{"formatted_name":"Ana"},"phones":[{"phone":"5511988880000"}]}]`,
		"buttons":    `"type":"interactive","interactive":{"type":"button","header":{"type":"image","image":{"link":"` + at + `/picture.png"}},"body":{"text":"` + strings.Repeat("?", 300) + `"},"action":{"buttons":[` + choice + `]}}`,
	}) {
		sent := r.send(t, `{"to":"`+customerNumber+`",`+content+`,"biz_opaque_callback_data":"`+name+`"}`)
		if kept, err := r.Client.GetMessage(t.Context(), r.id, sent); err != nil || kept.ClientData != name {
			t.Errorf("%s is called %q (%v)", name, kept.ClientData, err)
		}
	}
	called := 0
	for each, err := range r.Client.ChatMessages(t.Context(), r.id, customerNumber, client.ListChatMessagesParams{}) {
		if err != nil {
			t.Fatal(err)
		}
		if each.ClientData == "buttons" {
			called++
		}
	}
	if called != 3 {
		t.Errorf("of the buttons' three messages %d are called so", called)
	}
	got := r.ask(t, "POST", "v21.0/"+shopNumber+"/messages", `{"to":"`+customerNumber+`","text":{"body":"Oi!"},"biz_opaque_callback_data":"`+strings.Repeat("ã", 513)+`"}`)
	if got.status != http.StatusBadRequest || got.Error.Code != 131009 || !strings.Contains(got.Error.Message, "biz_opaque_callback_data") {
		t.Errorf("one that is too long: %d %s", got.status, got.body)
	}
}

// The answer to a message has the platform's form of the number, and an identifier that replies, reactions and
// marks find.
func TestWhatIsAnsweredIsUnderstood(t *testing.T) {
	t.Parallel()
	r := start(t)
	got := r.ask(t, "POST", "v21.0/"+shopNumber+"/messages", `{"to":"+55 11 98888-7766","text":{"body":"Oi!"}}`)
	if got.status != http.StatusOK || !strings.Contains(got.body, `"contacts":[{"input":"+55 11 98888-7766","wa_id":"`+customerNumber+`"}]`) {
		t.Fatalf("the answer is %d %s", got.status, got.body)
	}
	mine := got.Messages[0].ID
	if answer := r.Phones.AwaitMessage(t, customerNumber, r.send(t, `{"to":"`+customerNumber+`","context":{"message_id":"`+mine+`"},"text":{"body":"Me again"}}`)); answer.QuotedMessageID != mine {
		t.Errorf("it answers %s", answer.QuotedMessageID)
	}
	theirs := r.Phones.SendText(t, customerNumber, shopNumber, "Oi!")
	testkit.Await(t, "the message", func() bool {
		_, err := r.Client.GetMessage(t.Context(), r.id, theirs)
		return err == nil
	})
	if got := r.ask(t, "POST", "v21.0/"+shopNumber+"/messages", `{"messaging_product":"whatsapp","status":"read","message_id":"`+theirs+`","typing_indicator":{"type":"text"}}`); got.status != http.StatusOK || got.body != `{"success":true}` {
		t.Errorf("it is read: %d %s", got.status, got.body)
	}
	r.Phones.AwaitActivity(t, customerNumber, "receipt", "read")
	r.Phones.AwaitActivity(t, customerNumber, "chatstate", "composing")
	for _, emoji := range []string{"👍", ""} {
		if id := r.send(t, `{"to":"`+customerNumber+`","type":"reaction","reaction":{"message_id":"`+theirs+`","emoji":"`+emoji+`"}}`); id != theirs {
			t.Errorf("a reaction is %s", id)
		}
		testkit.Await(t, "the reaction "+emoji, func() bool {
			reactions := r.Phones.AwaitMessage(t, customerNumber, theirs).Reactions
			return emoji == "" && len(reactions) == 0 || len(reactions) == 1 && reactions[0].Reaction == emoji
		})
	}
}

// People without a number are written to by the ID that the gateway has told, and groups by theirs.
func TestOtherRecipients(t *testing.T) {
	t.Parallel()
	r := start(t)
	group := r.Phones.CreateGroup(t, "Customers", customerNumber, shopNumber).ID
	profile, err := r.Client.GetContact(t.Context(), r.id, customerNumber)
	if err != nil || profile.LID == nil {
		t.Fatalf("the contact is %+v, %v", profile, err)
	}
	lid := gateway.JID(*profile.LID).User()
	for name, body := range cases.Sorted(map[string]string{
		"a user ID":               `{"recipient":"LI.` + lid + `","text":{"body":"Oi!"}}`,
		"a user ID as the number": `{"to":"LI.` + lid + `","text":{"body":"Oi!"}}`,
		"a group":                 `{"to":"` + strings.TrimSuffix(group, "@g.us") + `","recipient_type":"group","text":{"body":"Oi!"}}`,
	}) {
		if got := r.Phones.AwaitMessage(t, customerNumber, r.send(t, body)); got.Text != "Oi!" || (name == "a group") != (got.Chat == group) {
			t.Errorf("%s: the phone shows %+v", name, got)
		}
	}
}

// sum is the hash of a file.
func sum(content []byte) string {
	hash := sha256.Sum256(content)
	return hex.EncodeToString(hash[:])
}

// A file that Typebot uploads with one key is sent with another one, as often as somebody likes, until it is deleted.
func TestUploads(t *testing.T) {
	t.Parallel()
	r := start(t)
	upload := func(name string, content []byte) string {
		t.Helper()
		var form bytes.Buffer
		writer := multipart.NewWriter(&form)
		part, err := writer.CreateFormFile("file", name)
		if err == nil {
			_, err = part.Write(content)
		}
		err = errors.Join(err, writer.WriteField("type", "image/png"), writer.WriteField("messaging_product", "whatsapp"), writer.Close())
		if err != nil {
			t.Fatal(err)
		}
		got := r.ask(t, "POST", "v21.0/"+shopNumber+"/media", form.String(), "Content-Type: "+writer.FormDataContentType())
		if got.status != http.StatusOK || got.Media.ID == "" || strings.Contains(got.Media.ID, ".") {
			t.Fatalf("the answer is %d %s", got.status, got.body)
		}
		return got.Media.ID
	}
	voice, err := os.ReadFile(filepath.Join("..", "..", "media", "testdata", "voice.ogg"))
	if err != nil {
		t.Fatal(err)
	}
	drawn := mediatest.PNG(t, 64, 64)
	id, spoken := upload("a.png", drawn), upload("a.ogg", voice)
	r.key = newKey(t, r.Gateway, r.id)
	for name, one := range cases.Sorted(map[string]struct {
		content string
		want    testkit.PhoneMessage
	}{
		"a picture":  {`"type":"image","image":{"id":"` + id + `","caption":"A picture"}`, testkit.PhoneMessage{Type: "image", Caption: "A picture"}},
		"a document": {`"type":"document","document":{"id":"` + id + `"}`, testkit.PhoneMessage{Type: "document", FileName: "a.png"}},
		"a voice":    {`"type":"audio","audio":{"id":"` + spoken + `"}`, testkit.PhoneMessage{Type: "voice"}},
	}) {
		got := r.Phones.AwaitMessage(t, customerNumber, r.send(t, `{"to":"`+customerNumber+`",`+one.content+`}`))
		if got.Type != one.want.Type || got.Caption != one.want.Caption || got.FileName != one.want.FileName {
			t.Errorf("%s: the phone shows %+v", name, got)
		}
	}
	got := r.ask(t, "GET", "v21.0/"+id, "")
	if got.status != http.StatusOK || got.Media.MimeType != "image/png" || got.Media.SHA256 != sum(drawn) {
		t.Fatalf("it is %d %s", got.status, got.body)
	}
	response, err := http.Get(got.Media.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if read, err := io.ReadAll(response.Body); err != nil || !bytes.Equal(read, drawn) {
		t.Errorf("it has %d bytes, %v", len(read), err)
	}
	if got := r.ask(t, "DELETE", "v21.0/"+id, ""); got.status != http.StatusOK || got.body != `{"success":true}` {
		t.Errorf("it is deleted: %d %s", got.status, got.body)
	}
	if got := r.ask(t, "GET", "v21.0/"+id, ""); got.Error.Code != 100 || got.Error.Subcode != 33 {
		t.Errorf("it was deleted: %d %s", got.status, got.body)
	}
}

// A file that was received is found by its ID, fetched and read.
func TestMedia(t *testing.T) {
	t.Parallel()
	r := start(t)
	picture, err := os.ReadFile(filepath.Join("..", "..", "media", "testdata", "sticker.webp"))
	if err != nil {
		t.Fatal(err)
	}
	sent := r.Phones.Send(t, customerNumber, map[string]any{"to": shopNumber, "type": "document", "media": client.DataURI("image/webp", picture), "fileName": "a.webp"})
	var stored client.StoredMessage
	testkit.Await(t, "the file", func() bool {
		stored, err = r.Client.GetMessage(t.Context(), r.id, sent)
		return err == nil
	})
	id := strings.ReplaceAll(r.id+stored.ID, "-", "")
	got := r.ask(t, "GET", "v13.0/"+id+"?phone_number_id="+shopNumber, "")
	if got.status != http.StatusOK || got.Media.ID != id || got.Media.MimeType != "image/webp" || got.Media.Size != int64(len(picture)) || got.Media.SHA256 != sum(picture) {
		t.Fatalf("the file is %d %s", got.status, got.body)
	}
	response, err := http.Get(got.Media.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if read, err := io.ReadAll(response.Body); err != nil || !bytes.Equal(read, picture) {
		t.Errorf("the file has %d bytes, %v", len(read), err)
	}
	if got := r.ask(t, "DELETE", "v13.0/"+id, ""); got.status != http.StatusNotImplemented {
		t.Errorf("it is deleted: %d %s", got.status, got.body)
	}
	text := r.send(t, `{"to":"`+customerNumber+`","text":{"body":"Oi!"}}`)
	if stored, err = r.Client.GetMessage(t.Context(), r.id, text); err != nil {
		t.Fatal(err)
	}
	if got := r.ask(t, "GET", "v13.0/"+strings.ReplaceAll(r.id+stored.ID, "-", ""), ""); got.status != http.StatusBadRequest || got.Error.Code != 131009 {
		t.Errorf("a text is %d %s", got.status, got.body)
	}
}
