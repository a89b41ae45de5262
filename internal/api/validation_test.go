package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

func TestValidation(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	id := f.newInstance(t)
	text, pairing := "POST /api/message/"+id+"/text", "POST /api/instances/"+id+"/pairing-code"
	image, album := "POST /api/message/"+id+"/image", "POST /api/message/"+id+"/album"
	payment, keys := "PUT /api/partner/instances/"+id+"/payment", "POST /api/partner/api-keys"
	recipient := gateway.ErrRecipient.Error()
	const trunk = "must not begin with 0: leave it out and write the country code in front (Brazil: 55)"
	const form = "body is form data; send JSON with content-type: application/json"
	for _, test := range []struct {
		operation, body string
		want            string // field and message of each detail
	}{
		{text, ``, "message is required; to is required"},
		{text, `{}`, "message is required; to is required"},
		{text, `{"to":null,"message":null,"quoteMessageId":null}`, "message is required; to is required"},
		{text, `{"to":5511988887766,"message":["a"]}`, "message must be a string; to must be a string"},
		{text, `{"to":true,"message":{}}`, "message must be a string; to must be a string"},
		{text, `{"to":"","message":""}`, "message must not be blank; to must not be blank"},
		{text, `{"to":" \n","message":"\u00a0\u3000"}`, "message must not be blank; to must not be blank"},
		{text, `{"to":"nobody","message":"a\u0000b","quoteMessageId":1}`, "message must not contain U+0000; quoteMessageId must be a string; to " + recipient},
		{text, `{"to":"55119@example.org","message":"a","quoteMessageId":"\u0000"}`, "quoteMessageId must not contain U+0000; to " + recipient},
		{text, `{"TO":"5511988887766","Message":"a"}`, "message is required; to is required"},
		{text, `{"to":"5511988887766","message":"` + strings.Repeat("é", 65537) + `"}`, "message must have 65536 characters or less"},
		{text, `{"to":"5511988887766","message":"` + strings.Repeat("a", 65536) + `","MESSAGE":0}`, ""},
		{text, `{"to":"5511988887766","message":"` + strings.Repeat(`\ud83d\ude00`, 65536) + `"}`, ""},
		{text, `{"to":"5511988887766","message":"` + strings.Repeat(`\ud83d\ude00`, 65537) + `"}`, "message must have 65536 characters or less"},
		{text, `{"to":"5511988887766","message":"a","other":"\u0000","more":{"to":1}}`, ""},
		{text, `{"to":"5511988887766","message":"a","clientData":"` + strings.Repeat(`\ud83d\ude00`, 512) + `"}`, ""},
		{text, `{"to":"5511988887766","message":"a","clientData":"` + strings.Repeat("a", 513) + `"}`, "clientData must have 512 characters or less"},
		{text, `{"to":"5511988887766","message":"a","clientData":"\u0000"}`, "clientData must not contain U+0000"},
		{text, `[]`, "body must be a JSON object"},
		{text, `null`, "body must be a JSON object"},
		{text, `"to"`, "body must be a JSON object"},
		{text, `1`, "body must be a JSON object"},
		{text, `{"to":"5511988887766"`, "body is not valid JSON (byte 21)"},
		{text, `{"to":"5511988887766"} x`, "body is not valid JSON (byte 24)"},
		{text, `to=5511988887766&message=a`, form},
		{text, `%7B%22to%22%3A%225511988887766%22%7D=`, form},
		{text, `%7b%22to%22%3a1%7d`, form},
		{text, "--------------------------4d4c\r\nContent-Disposition: form-data; name=\"to\"\r\n\r\n5511988887766\r\n", form},
		{text, ` contact[name]=Ana`, form},
		{text, `{"to"="5511988887766"}`, "body is not valid JSON (byte 6)"},
		{text, "\xef\xbb\xbf{}", "message is required; to is required"},
		{text, "{\"to\":\"5511988887766\",\"message\":\"a\nb\"}", "body is not valid JSON: in a text there is a line break, which is written \\n (byte 35)"},
		{text, "{\"to\":\"5511988887766\",\"message\":\"a\tb\"}", "body is not valid JSON: in a text there is a tab, which is written \\t (byte 35)"},
		{text, "\x1f\x8b\b\x00", "body is compressed (gzip); send it as it is"},
		{image, "\x1f\x8b\b\x00", "body is compressed (gzip); send it as it is"},
		{image, "\xef\xbb\xbf{}", "image is required; to is required"},
		{image, "{\"image\":\"data:image/png;base64,AAAA\",\"caption\":\"a\nb\"}", "body is not valid JSON: in a text there is a line break, which is written \\n (byte 51)"},
		{album, "{\"to\":\"5511988887766\",\"items\":[{\"image\":\"data:image/png;base64,AAAA\",\"caption\":\"a\r\nb\"}]}", "body is not valid JSON: in a text there is a line break, which is written \\n (byte 82)"},
		{text, strings.Repeat(`{"a":`, 20_000), "body is not valid JSON (byte 50001)"},
		{text + "?page=x", `{"to":"1"}`, "message is required; to " + recipient},

		{pairing, `{}`, "phone is required"},
		{pairing, `{"phone":"5511999990000@s.whatsapp.net"}`, "phone must be a phone number with country code (7 to 15 digits)"},
		{text, `{"to":"011988887766","message":"a"}`, "to " + trunk},
		{pairing, `{"phone":"011988887766"}`, "phone " + trunk},
		{"POST /api/instances/" + id + "/check-numbers", `{"numbers":["011988887766"]}`, "numbers[0] " + trunk},
		{pairing, `{"phone":"123456"}`, "phone must be a phone number with country code (7 to 15 digits)"},

		{"POST /api/partner/instances", `{}`, "name is required"},
		{"POST /api/partner/instances", `{"name":" "}`, "name must not be blank"},
		{"POST /api/partner/instances", `{"name":"` + strings.Repeat("a", 256) + `"}`, "name must have 255 characters or less"},

		{payment, `{}`, "pending is required"},
		{payment, `{"pending":"true"}`, "pending must be true or false"},
		{payment, `{"pending":1}`, "pending must be true or false"},
		{payment, `{"pending":null}`, "pending is required"},

		{keys, `{}`, "name is required"},
		{keys, `{"name":1,"instanceIds":"all","partner":"yes","expiresAt":1795012930123}`, "expiresAt must be a string; instanceIds must be an array; name must be a string; partner must be true or false"},
		{keys, `{"name":"a","instanceIds":[]}`, "instanceIds must have 1 items or more"},
		{keys, `{"name":"a","instanceIds":["` + id + `",1,null]}`, "instanceIds[1] must be a string; instanceIds[2] is required"},
		{keys, `{"name":"a","instanceIds":["` + id + `","x","` + uuid.New().String() + `"]}`, "instanceIds[1] must be an instance of the account; instanceIds[2] must be an instance of the account"},
		{keys, `{"name":"a","expiresAt":"tomorrow"}`, "expiresAt must be a date and time like 2026-11-20T14:22:10Z"},
		{keys, `{"name":"a","expiresAt":"2026-11-20T14:22:10.123Z"}`, "expiresAt must be in the future"},

		{"GET /api/instances?page=0", ``, "page must be 1 or more"},
		{"GET /api/instances?page=-1&limit=101", ``, "limit must be 100 or less; page must be 1 or more"},
		{"GET /api/instances?page=x&limit=1.5", ``, "limit must be a whole number; page must be a whole number"},
		{"GET /api/instances?page=&limit=", ``, "limit must be a whole number; page must be a whole number"},
		{"GET /api/instances?limit=0", ``, "limit must be 1 or more"},
		{"GET /api/instances?page=99999999999999999999", ``, "page must be a whole number"},
		{"GET /api/partner/api-keys?limit=1e2", ``, "limit must be a whole number"},
		{"GET /api/instances/" + id + "/qr?format=svg", ``, "format must be one of: png, raw"},
	} {
		f.wantDetails(t, test.operation, test.body, test.want)
	}
}

// wantDetails checks which fields of a request are refused, and how. An empty want
// means that the request is valid: then the state of the instance refuses it.
func (f *fixture) wantDetails(t *testing.T, operation, body, want string) {
	t.Helper()
	method, path, _ := strings.Cut(operation, " ")
	r := request{method: method, path: path, body: body, key: f.partner}
	got := f.do(t, r)
	if want == "" {
		wantRefusal(t, r, got, http.StatusConflict, gateway.CodeNotConnected)
		return
	}
	refused := wantRefusal(t, r, got, http.StatusBadRequest, gateway.CodeValidation)
	details := make([]string, len(refused.Details))
	for i, detail := range refused.Details {
		details[i] = detail.Field + " " + detail.Message
	}
	if said := strings.Join(details, "; "); said != want || refused.Message != want {
		t.Errorf("%s %.80s:\ndetails %s\nmessage %s\nwant    %s", operation, body, said, refused.Message, want)
	}
}

func TestValidationOfSends(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	id := f.newInstance(t)
	const (
		notMedia = "must be a data URI (data:<type>;base64,<data>), an http(s) URL or an upload (upload:<id>)"
		notData  = "must be a data URI in base64 (data:<type>;base64,<data>)"
		notPhone = "must be a phone number with country code (7 to 15 digits)"
	)
	recipient := gateway.ErrRecipient.Error()
	long := strings.Repeat("é", 1025)
	const card = `{"fullName":"Ana","phoneNumber":"5511977776655"}`
	for _, test := range []struct{ kind, body, want string }{
		{"image", `{}`, "image is required; to is required"},
		{"image", `{"to":null,"image":null,"caption":null,"quoteMessageId":null,"viewOnce":null}`, "image is required; to is required"},
		{"image", `{"to":1,"image":1,"caption":1,"quoteMessageId":1,"viewOnce":1}`, "caption must be a string; image must be a string; quoteMessageId must be a string; to must be a string; viewOnce must be true or false"},
		{"image", `{"to":"x","image":"x","caption":"\u0000","quoteMessageId":"\u0000","viewOnce":"true"}`, "caption must not contain U+0000; image " + notMedia + "; quoteMessageId must not contain U+0000; to " + recipient + "; viewOnce must be true or false"},
		{"image", `{"to":"5511988887766","image":"http://a/\u0000"}`, "image must not contain U+0000"},
		{"image", `{"to":"5511988887766","image":" "}`, "image must not be blank"},
		{"image", `{"to":"5511988887766","image":"ftp://a/b"}`, "image " + notMedia},
		{"image", `{"to":"5511988887766","image":"file:///etc/passwd"}`, "image " + notMedia},
		{"image", `{"to":"5511988887766","image":"//a/b.png"}`, "image " + notMedia},
		{"image", `{"to":"5511988887766","image":"http:///b.png"}`, "image " + notMedia},
		{"image", `{"to":"5511988887766","image":"http://a b/c"}`, "image " + notMedia},
		{"image", `{"to":"5511988887766","image":"` + png + `"}`, "image " + notMedia},
		{"image", `{"to":"5511988887766","image":"data:image/png,AAAA"}`, "image " + notData},
		{"image", `{"to":"5511988887766","image":"data:image/png;base64"}`, "image " + notData},
		{"image", `{"to":"5511988887766","image":"data:"}`, "image " + notData},
		{"image", `{"to":"5511988887766","image":"data:image/png;base64,"}`, "image must not be empty"},
		{"image", `{"to":"5511988887766","image":"data:image/png;base64,=="}`, "image must not be empty"},
		{"image", `{"to":"5511988887766","image":"data:image/png;base64,A"}`, "image must be a data URI whose data is valid base64"},
		{"image", `{"to":"5511988887766","image":"data:image/png;base64,AA*A"}`, "image must be a data URI whose data is valid base64"},
		{"image", `{"to":"5511988887766","image":"data:image/png;base64,AA-_"}`, "image must be a data URI whose data is valid base64"},
		{"image", `{"to":"5511988887766","image":"data:image/png;base64,` + png + `","caption":"` + long + `"}`, "caption must have 1024 characters or less"},
		{"image", `{"to":"5511988887766","image":"data:image/png;base64,` + png + `","caption":"` + long[2:] + `"}`, ""},
		{"video", `{}`, "to is required; video is required"},
		{"video", `{"to":"5511988887766","video":{},"caption":"` + long + `","viewOnce":0}`, "caption must have 1024 characters or less; video must be a string; viewOnce must be true or false"},
		{"audio-note", `{}`, "audio is required; to is required"},
		{"audio-note", `{"to":"5511988887766","audio":"","viewOnce":"no"}`, "audio must not be blank; viewOnce must be true or false"},
		{"audio-note", `{"to":"5511988887766","audio":"data:a/b;base64,` + ogg + `","caption":1}`, ""},
		{"audio-note", `{"to":"5511988887766","audio":"data:audio/ogg;base64,AAAA"}`, "audio must hold audio, such as MP3, M4A, OGG, WAV, FLAC or WebM"},
		{"audio-file", `{}`, "audio is required; to is required"},
		{"audio-file", `{"to":"5511988887766","audio":"data:audio/mpeg","quoteMessageId":[]}`, "audio " + notData + "; quoteMessageId must be a string"},
		{"audio-file", `{"to":"5511988887766","audio":"data:a/b;base64,` + ogg + `","viewOnce":1}`, ""},
		{"audio-file", `{"to":"5511988887766","audio":"data:audio/png;base64,` + png + `"}`, "audio must hold audio, such as MP3, M4A, OGG, WAV, FLAC or WebM"},
		{"image", `{"to":"5511988887766","image":"data:image/png;base64,AAAA"}`, "image must hold an image (JPEG, PNG, WebP or GIF)"},
		{"video", `{"to":"5511988887766","video":"data:video/mp4;base64,` + png + `"}`, "video must hold a video or an animated GIF"},
		{"sticker", `{"to":"5511988887766","sticker":"data:image/webp;base64,` + png + `"}`, "sticker must hold a WebP picture; with convert it may be a PNG, JPEG, GIF, MP4 or WebM"},
		{"text", "{\"to\":\"5511988887766\",\"message\":\"caf\xe9\"}", "body must be UTF-8"},
		{"document", `{}`, "document is required; to is required"},
		{"document", `{"to":"5511988887766","document":"a.pdf","fileName":1,"caption":false}`, "caption must be a string; document " + notMedia + "; fileName must be a string"},
		{"document", `{"to":"5511988887766","document":"data:a/b;base64,AAAA","fileName":"a\u0000"}`, "fileName must not contain U+0000"},
		{"document", `{"to":"5511988887766","document":"data:a/b;base64,AAAA","fileName":"` + strings.Repeat("a", 9999) + `"}`, ""},
		{"sticker", `{}`, "sticker is required; to is required"},
		{"sticker", `{"to":"5511988887766","sticker":[],"quoteMessageId":1,"caption":1}`, "quoteMessageId must be a string; sticker must be a string"},
		{"poll", `{}`, "options is required; question is required; to is required"},
		{"poll", `{"to":"5511988887766","question":" ","options":["a"],"maxAnswers":-1}`, "maxAnswers must be 0 or more; options must have 2 items or more; question must not be blank"},
		{"poll", `{"to":"5511988887766","question":"a","options":["a",1]}`, "options[1] must be a string"},
		{"poll", `{"to":"5511988887766","question":"a","options":["a","a"," ","` + long + `"],"maxAnswers":5}`, "maxAnswers must be at most the number of options; options[1] must differ from the options before it: votes could not tell them apart; options[2] must not be empty; options[3] must have at most 100 characters"},
		{"poll", `{"to":"5511988887766","question":"a","options":["a","b"],"maxAnswers":0}`, ""},
		{"poll", `{"to":"5511988887766","question":"a","options":["a","b"],"optionIds":["1","2"],"reference":"r"}`, ""},
		{"text", `{"to":"5511988887766","message":"a","options":["a"]}`, "options must come with optionIds"},
		{"text", `{"to":"5511988887766","message":"a","options":["a","a"],"optionIds":["1","2"]}`, "options[1] must differ from the options before it: votes could not tell them apart"},
		{"text", `{"to":"5511988887766","message":"a","optionIds":["1"]}`, "optionIds must have one item for each of the options"},
		{"poll", `{"to":"5511988887766","question":"a","options":["a","b"],"reference":"r"}`, "reference must come with optionIds"},
		{"poll", `{"to":"5511988887766","question":"a","options":["a","b"],"optionIds":["1"]}`, "optionIds must have one item for each of the options"},
		{"poll", `{"to":"5511988887766","question":"a","options":["a","b"],"optionIds":["1","2"],"maxAnswers":2}`, "optionIds must come with a maxAnswers of 1"},
		{"poll", `{"to":"5511988887766","question":"a","options":["a","b","c","d"],"optionIds":["1","1"," ","` + strings.Repeat("a", 257) + `"]}`, "optionIds[1] must differ from the IDs before it; optionIds[2] must not be empty; optionIds[3] must have at most 256 characters"},
		{"poll", `{"to":"5511988887766","question":"a","options":["a","b"],"optionIds":["1","2\n"]}`, "optionIds[1] must not have control characters"},
		{"event", `{}`, "name is required; start is required; to is required"},
		{"event", `{"to":"5511988887766","name":" ","start":"tomorrow","end":1,"joinLink":1,"extraGuestsAllowed":"yes"}`, "end must be a string; extraGuestsAllowed must be true or false; joinLink must be a string; name must not be blank; start must be a date and time like 2026-11-20T14:22:10Z"},
		{"event", `{"to":"5511988887766","name":"a","start":"1999-12-31T23:59:59Z","end":"2100-01-01T00:00:00Z","joinLink":"ftp://a/b","location":{"name":"a","latitude":1}}`, "start must be in the years from 2000 to 2099; end must be in the years from 2000 to 2099; joinLink must be an http or https URL; location must have both latitude and longitude, or none of them"},
		{"event", `{"to":"5511988887766","name":"a","start":"2031-05-06T10:00:00Z","end":"2031-05-06T07:00:00.9-03:00"}`, "end must be after start"},
		{"event", `{"to":"5511988887766","name":"a","start":"2031-05-06T10:00:00Z","location":{"name":"","latitude":91,"longitude":"1"}}`, "location.latitude must be 90 or less; location.longitude must be a number; location.name must not be blank"},
		{"event", `{"to":"5511988887766","name":"a","start":"2031-05-06T10:00:00Z","end":"2031-05-06T10:00:01Z","joinLink":"https://a/b","location":{"name":"a","latitude":1,"longitude":-1}}`, ""},
		{"location", `{}`, "latitude is required; longitude is required; to is required"},
		{"location", `{"to":"5511988887766","latitude":null,"longitude":null}`, "latitude is required; longitude is required"},
		{"location", `{"to":"5511988887766","latitude":"1","longitude":true}`, "latitude must be a number; longitude must be a number"},
		{"location", `{"to":"5511988887766","latitude":-90.0001,"longitude":180.0001}`, "latitude must be -90 or more; longitude must be 180 or less"},
		{"location", `{"to":"5511988887766","latitude":91,"longitude":-181}`, "latitude must be 90 or less; longitude must be -180 or more"},
		{"location", `{"to":"5511988887766","latitude":1e308,"longitude":-1e308}`, "latitude must be 90 or less; longitude must be -180 or more"},
		{"location", `{"to":"5511988887766","latitude":1e400,"longitude":0}`, "body has a number that is out of range (byte 38)"},
		{"location", `{"to":"5511988887766","latitude":NaN,"longitude":0}`, "body is not valid JSON (byte 34)"},
		{"location", `{"to":"5511988887766","latitude":0,"longitude":0,"name":1,"address":{}}`, "address must be a string; name must be a string"},
		{"location", `{"to":"5511988887766","latitude":0,"longitude":0,"name":"` + long + `","address":"` + long + `"}`, "address must have 1024 characters or less; name must have 1024 characters or less"},
		{"location", `{"to":"5511988887766","latitude":90,"longitude":-180,"name":"","address":""}`, ""},
		{"contact", `{}`, "contact is required; to is required"},
		{"contact", `{"to":"5511988887766","contacts":null}`, "contact is required"},
		{"contact", `{"to":"5511988887766","contacts":[` + card + `]}`, "contacts must have 2 items or more"},
		{"contact", `{"to":"5511988887766","contacts":[` + card + `,{"fullName":" "}]}`, "contacts[1].fullName must not be blank; contacts[1].phoneNumber is required"},
		{"contact", `{"to":"5511988887766","contacts":[` + card + `,` + card + `],"contact":` + card + `}`, "contacts must not be there beside contact"},
		{"contact", `{"to":"5511988887766","contact":null}`, "contact is required"},
		{"contact", `{"to":"5511988887766","contact":"Ana"}`, "contact must be an object"},
		{"contact", `{"to":"5511988887766","contact":[]}`, "contact must be an object"},
		{"contact", `{"to":"5511988887766","contact":{}}`, "contact.fullName is required; contact.phoneNumber is required"},
		{"contact", `{"to":"5511988887766","contact":{"fullName":null,"phoneNumber":null,"organization":null}}`, "contact.fullName is required; contact.phoneNumber is required"},
		{"contact", `{"to":"5511988887766","contact":{"fullName":1,"phoneNumber":5511977776655,"organization":1}}`, "contact.fullName must be a string; contact.organization must be a string; contact.phoneNumber must be a string"},
		{"contact", `{"to":"5511988887766","contact":{"fullName":" ","phoneNumber":" "}}`, "contact.fullName must not be blank; contact.phoneNumber must not be blank"},
		{"contact", `{"to":"5511988887766","contact":{"fullName":"\u0000","phoneNumber":"77@lid","organization":"\u0000"}}`, "contact.fullName must not contain U+0000; contact.organization must not contain U+0000; contact.phoneNumber " + notPhone},
		{"contact", `{"to":"5511988887766","contact":{"fullName":"` + long + `","phoneNumber":"123456","organization":"` + long + `"}}`, "contact.fullName must have 1024 characters or less; contact.organization must have 1024 characters or less; contact.phoneNumber " + notPhone},
		{"contact", `{"to":"5511988887766","fullName":"Ana","phoneNumber":"5511977776655"}`, "contact is required"},
		{"forward", `{}`, "messageId is required; to is required"},
		{"forward", `{"to":[],"messageId":1}`, "messageId must be a string; to must be a string"},
		{"forward", `{"to":" ","messageId":" "}`, "messageId must not be blank; to must not be blank"},
		{"forward", `{"to":"5511988887766","messageId":"\u0000"}`, "messageId must not contain U+0000"},
	} {
		f.wantDetails(t, "POST /api/message/"+id+"/"+test.kind, test.body, test.want)
	}
}

func TestValidationOfTheRest(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	id := f.newInstance(t)
	const (
		notMedia  = "must be a data URI (data:<type>;base64,<data>), an http(s) URL or an upload (upload:<id>)"
		notInvite = "must be the code of an invite link, or a link that begins with https://chat.whatsapp.com/"
		notNumber = "must be a phone number with country code (7 to 15 digits) or a personal chat ID ending in @s.whatsapp.net"
		notEmoji  = "must be one emoji, or empty"
		notState  = "must be one of: composing, recording, paused, available, unavailable"
		notGroup  = "must be a group chat ID ending in @g.us"
	)
	recipient := gateway.ErrRecipient.Error()
	for _, test := range []struct{ operation, body, want string }{
		{"POST message/edit", `{}`, "message is required; messageId is required"},
		{"POST message/edit", `{"messageId":1,"message":1}`, "message must be a string; messageId must be a string"},
		{"POST message/edit", `{"messageId":"","message":"\n"}`, "message must not be blank; messageId must not be blank"},
		{"POST message/edit", `{"messageId":"\u0000","message":"\u0000"}`, "message must not contain U+0000; messageId must not contain U+0000"},
		{"POST message/edit", `{"messageId":"3EB0","message":"` + strings.Repeat("a", 65537) + `"}`, "message must have 65536 characters or less"},
		{"POST message/read", ``, "messageId is required"},
		{"POST message/read", `{"messageId":null}`, "messageId is required"},
		{"POST message/read", `{"messageId":["3EB0"]}`, "messageId must be a string"},
		{"DELETE message/delete", ``, "messageId is required"},
		{"DELETE message/delete", `{"messageId":" "}`, "messageId must not be blank"},
		{"DELETE message/delete", `[]`, "body must be a JSON object"},
		{"POST message/album", `{"to":"5511988887766","items":[{"image":"https://a/b"}]}`, "items must have at least 2 items"},
		{"POST message/album", `{"to":"5511988887766","items":[{"image":"https://a/b"},{"caption":"c"}]}`, "items[1] must have an image or a video"},
		{"POST message/album", `{"to":"5511988887766","items":[{"image":"https://a/b","video":"https://a/b"},{"video":"https://a/b"}]}`, "items[0] must have an image or a video"},
		{
			"POST message/status/text", `{"message":"a","background":"red","font":"comic"}`,
			"background must match ^#[0-9A-Fa-f]{6}$; font must be one of: system, script, bold, breeze, calistoga, exo, typewriter",
		},
		{"POST message/status/text", `{}`, "message is required"},
		{"POST message/3EB0/pin", `{}`, "durationSeconds is required"},
		{"POST message/3EB0/pin", `{"durationSeconds":86401}`, "durationSeconds must be one of: 86400, 604800, 2592000"},
		{"POST message/reaction", `{}`, "messageId is required; reaction is required"},
		{"POST message/reaction", `{"messageId":"3EB0","reaction":null}`, "reaction is required"},
		{"POST message/reaction", `{"messageId":"3EB0","reaction":1}`, "reaction must be a string"},
		{"POST message/reaction", `{"messageId":"3EB0","reaction":" "}`, "reaction " + notEmoji},
		{"POST message/reaction", `{"messageId":"3EB0","reaction":"ok"}`, "reaction " + notEmoji},
		{"POST message/reaction", `{"messageId":"3EB0","reaction":"👍👍"}`, "reaction " + notEmoji},
		{"POST message/reaction", `{"messageId":"3EB0","reaction":"\u0000"}`, "reaction must not contain U+0000"},
		{"POST message/reaction", `{"messageId":"3EB0","reaction":"\ud83d"}`, "reaction " + notEmoji},
		{"GET message/media-download-link/%00", ``, "messageId must not contain U+0000"},
		{"GET message/media-download-link/a%00b", ``, "messageId must not contain U+0000"},
		{"GET message/media-download-link/%ff", ``, "messageId must be UTF-8"},
		{"GET message/media-download-link/%20", ``, "messageId must not be blank"},

		{"POST instances/check-numbers", `{}`, "numbers is required"},
		{"POST instances/check-numbers", `{"numbers":null}`, "numbers is required"},
		{"POST instances/check-numbers", `{"numbers":"5511988887766"}`, "numbers must be an array"},
		{"POST instances/check-numbers", `{"numbers":{"0":"5511988887766"}}`, "numbers must be an array"},
		{"POST instances/check-numbers", `{"numbers":["5511988887766",1,null,"x","77@lid","1-2@g.us",""," ","a\u0000","123456","55119@c.us"]}`, "numbers[1] must be a string; numbers[2] is required; numbers[3] " + notNumber +
			"; numbers[4] " + notNumber + "; numbers[5] " + notNumber + "; numbers[6] must not be blank; numbers[7] must not be blank; numbers[8] must not contain U+0000; numbers[9] " + notNumber},
		{"POST instances/check-numbers", `{"numbers":["5511988887766"` + strings.Repeat(`,"5511988887766"`, 500) + `]}`, "numbers must have 500 items or less"},
		{"POST instances/check-numbers", `{"numbers":["5511988887766","5511988887766@s.whatsapp.net"]}`, ""},
		{"POST instances/presence", `{}`, "presence is required; to is required"},
		{"POST instances/presence", `{"to":"x","presence":"typing"}`, "presence " + notState + "; to " + recipient},
		{"POST instances/presence", `{"to":"5511988887766","presence":""}`, "presence " + notState},
		{"POST instances/presence", `{"to":"5511988887766","presence":"Composing"}`, "presence " + notState},
		{"POST instances/presence", `{"to":"5511988887766","presence":1}`, "presence must be a string"},
		{"GET instances/contacts/x/profile-picture", ``, "phone " + recipient},
		{"GET instances/contacts/%20/profile-picture", ``, "phone " + recipient},
		{"GET instances/contacts/%00/profile-picture", ``, "phone " + recipient},
		{"GET instances/contacts/%ff@lid/profile-picture", ``, "phone " + recipient},
		{"GET instances/contacts/123456/profile-picture", ``, "phone " + recipient},
		{"GET instances/contacts/1@example.org/profile-picture", ``, "phone " + recipient},
		{"POST instances/contacts/x/block", ``, "phone " + recipient},
		{"DELETE instances/contacts/1234567890123456/block", ``, "phone " + recipient},
		{"DELETE instances/contacts/1-2@g.us/block", ``, "phone must be a person, not a group or a channel"},
		{"GET instances/groups/5511988887766", ``, "groupId " + notGroup},
		{"GET instances/groups/5511988887766@s.whatsapp.net", ``, "groupId " + notGroup},
		{"GET instances/groups/x@g.us", ``, "groupId " + notGroup},
		{"GET instances/groups/1%00@g.us", ``, "groupId " + notGroup},
		{"GET instances/groups/%20", ``, "groupId " + notGroup},
		{"GET instances/groups/1@g.us", ``, ""},
		{"GET instances/groups?limit=101&page=0", ``, "limit must be 100 or less; page must be 1 or more"},
		{"GET instances/communities/x/groups?limit=0", ``, "communityId " + notGroup + "; limit must be 1 or more"},
		{"POST instances/groups", `{}`, "subject is required"},
		{"POST instances/groups", `{"subject":" "}`, "subject must not be blank"},
		{
			"POST instances/groups", `{"subject":"` + strings.Repeat("é", 101) + `","description":"` + strings.Repeat("é", 2049) + `"}`,
			"description must have 2048 characters or less; subject must have 100 characters or less",
		},
		{"POST instances/groups", `{"subject":"a","participants":["x","5511988887766"],"picture":"x"}`, "participants[0] " + recipient + "; picture " + notMedia},
		{"POST instances/groups", `{"subject":"a","participants":["5511988887766"` + strings.Repeat(`,"5511988887766"`, 9_999) + `]}`, "participants must have 256 items or less"},
		{"POST instances/groups", `{"subject":"a","communityId":"5511988887766"}`, "communityId " + notGroup},
		{"PATCH instances/groups/1@g.us", `{}`, "body must have a field to change"},
		{"PATCH instances/groups/1@g.us", `{"subject":null}`, "subject must not be null: leave it out to change nothing"},
		{
			"PATCH instances/groups/1@g.us", `{"messages":"nobody","approval":"yes","disappearing":-5}`,
			"approval must be true or false; disappearing must be 0 or more; messages must be one of: all, admins",
		},
		{"PATCH instances/groups/1@g.us", `{"approval":null,"disappearing":5}`, "approval must not be null: leave it out to change nothing; disappearing must be one of: 0, 86400, 604800, 7776000"},
		{"POST instances/groups/1@g.us/participants", `{"action":"ban","participants":[]}`, "action must be one of: add, remove, promote, demote"},
		{"POST instances/groups/1@g.us/join-requests", `{"action":"approve"}`, "participants is required"},
		{"GET instances/group-invites/a%2Fb", ``, "invite " + notInvite},
		{"GET instances/group-invites/https:%2F%2Fexample.org%2FAbCd", ``, "invite " + notInvite},
		{"POST instances/group-invites/%00/join", ``, "invite " + notInvite},
		{"PUT instances/communities/1@g.us/groups/5511988887766", ``, "groupId " + notGroup},
	} {
		method, path, _ := strings.Cut(test.operation, " ")
		room, rest, _ := strings.Cut(path, "/")
		f.wantDetails(t, method+" /api/"+room+"/"+id+"/"+rest, test.body, test.want)
	}
}

func TestContentTypeIsNotLookedAt(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	for _, contentType := range []string{"", "application/json", "application/x-www-form-urlencoded", "text/plain; charset=latin1", "nonsense", "a;+b"} {
		r := request{
			method: post, path: "/api/partner/instances", key: f.partner, body: `{"name":"a"}`,
			header: http.Header{"Content-Type": {contentType}, "Accept": {"text/html;q=1, image/*"}},
		}
		if got := f.do(t, r); got.Code != http.StatusCreated || got.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%q: status %d %s", contentType, got.Code, got.Body)
		}
	}
}

func TestIdempotencyKeyThatIsNone(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	id := f.newInstance(t)
	for value, want := range cases.Sorted(map[string]string{
		strings.Repeat("a", 256): "Idempotency-Key must have 255 characters or less",
		"\xff":                   "Idempotency-Key must be UTF-8",
	}) {
		r := request{
			method: post, path: "/api/message/" + id + "/text", key: f.key, body: `{"to":"5511988887766"}`,
			header: http.Header{"Idempotency-Key": {value}},
		}
		body := wantRefusal(t, r, f.do(t, r), http.StatusBadRequest, gateway.CodeValidation)
		if body.Message != want+"; message is required" {
			t.Errorf("message %q", body.Message)
		}
	}
}
