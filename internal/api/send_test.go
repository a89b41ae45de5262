package api_test

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/api"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/messaging"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// newStub is the API on use cases that always have the same answer.
func newStub(t *testing.T, stub *outcome) (f *fixture, instanceID string) {
	t.Helper()
	f = newFixture(t, func(c *api.Config) { c.Messages, c.Directory, c.Groups = stub, stub, groupStub{stub} })
	instanceID = f.newInstance(t)
	return f, instanceID
}

const sentBody = `{"id":"019aa1f4-8d52-7c1e-b3a0-0f4de1c9a7b2","messageId":"3EB0"}`

func sentResult() messaging.Result {
	return messaging.Result{ID: "019aa1f4-8d52-7c1e-b3a0-0f4de1c9a7b2", MessageID: "3EB0"}
}

func TestSendsAskForWhatWasMeant(t *testing.T) {
	t.Parallel()
	stub := &outcome{result: sentResult()}
	f, id := newStub(t, stub)
	to := messaging.Request{InstanceID: id, To: gateway.Recipient{Number: "5511988887766"}}
	quoting := to
	quoting.Quote = gateway.MessageRef{ID: "3EB0AA"}
	for _, test := range []struct {
		kind, fields string
		want         asked
	}{
		{
			"text", `"message":"a","quoteMessageId":"3EB0AA"`,
			asked{call: "Send", request: quoting, kind: gateway.TypeText, other: gateway.Content{Type: gateway.TypeText, Text: "a"}},
		},
		{
			"image", `"image":"https://a.example/b.png","caption":"c","quoteMessageId":"3EB0AA","viewOnce":true`,
			asked{call: "SendMedia", request: quoting, kind: gateway.TypeImage, media: messaging.MediaParams{
				Input: "https://a.example/b.png", Field: "image", Caption: "c", ViewOnce: true,
			}},
		},
		{
			"image", `"image":"DATA:image/PNG;charset=x;BASE64,` + png + `","fileName":"x","caption":null,"viewOnce":null`,
			asked{call: "SendMedia", request: to, kind: gateway.TypeImage, media: messaging.MediaParams{
				Input: "data:image/PNG;charset=x;base64," + png, Field: "image",
			}},
		},
		{
			"video", `"video":"HTTP://[::1]:80/","caption":"","quoteMessageId":"","viewOnce":false`,
			asked{call: "SendMedia", request: to, kind: gateway.TypeVideo, media: messaging.MediaParams{Input: "HTTP://[::1]:80/", Field: "video"}},
		},
		{
			"audio-note", `"audio":"data:audio/ogg; codecs=opus;base64,AA","caption":"no","viewOnce":true`,
			asked{call: "SendMedia", request: to, kind: gateway.TypeVoice, media: messaging.MediaParams{
				Input: "data:audio/ogg; codecs=opus;base64,AA==", Field: "audio", ViewOnce: true,
			}},
		},
		{
			"audio-file", `"audio":"data:;base64,AA==","viewOnce":true,"quoteMessageId":"3EB0AA"`,
			asked{call: "SendMedia", request: quoting, kind: gateway.TypeAudio, media: messaging.MediaParams{Input: "data:;base64,AA==", Field: "audio"}},
		},
		{
			"document", `"document":"data:text/plain;base64,AAA=","caption":"c","fileName":"d.txt"`,
			asked{call: "SendMedia", request: to, kind: gateway.TypeDocument, media: messaging.MediaParams{
				Input: "data:text/plain;base64,AAA=", Field: "document", Caption: "c", FileName: "d.txt",
			}},
		},
		{
			"sticker", `"sticker":"data:image/webp;base64,AAAA","quoteMessageId":"3EB0AA"`,
			asked{call: "SendMedia", request: quoting, kind: gateway.TypeSticker, media: messaging.MediaParams{Input: "data:image/webp;base64,AAAA", Field: "sticker"}},
		},
		{
			"sticker", `"sticker":"data:image/png;base64,AAAA","convert":true`,
			asked{call: "SendMedia", request: to, kind: gateway.TypeSticker, media: messaging.MediaParams{Input: "data:image/png;base64,AAAA", Field: "sticker", Convert: true}},
		},
		{
			"location", `"latitude":-90,"longitude":1.8e2,"name":"n","address":"a"`,
			asked{call: "Send", request: to, kind: gateway.TypeLocation, other: gateway.Content{Type: gateway.TypeLocation, Location: &gateway.Location{Latitude: -90, Longitude: 180, Name: "n", Address: "a"}}},
		},
		{
			"location", `"latitude":0,"longitude":-0.5`,
			asked{call: "Send", request: to, kind: gateway.TypeLocation, other: gateway.Content{Type: gateway.TypeLocation, Location: &gateway.Location{Longitude: -0.5}}},
		},
		{
			"contact", `"contact":{"fullName":"Ana","phoneNumber":"(11) 97777-6655","organization":"o","other":1}`,
			asked{call: "Send", request: to, kind: gateway.TypeContact, other: gateway.Content{Type: gateway.TypeContact, Contacts: []gateway.ContactCard{{FullName: "Ana", PhoneNumber: "5511977776655", Organization: "o"}}}},
		},
		{
			"contact", `"contacts":[{"fullName":"Ana","phoneNumber":"5511977776655"},{"fullName":"Bia","phoneNumber":"5511977776644"}],"contact":null`,
			asked{call: "Send", request: to, kind: gateway.TypeContact, other: gateway.Content{Type: gateway.TypeContact, Contacts: []gateway.ContactCard{{FullName: "Ana", PhoneNumber: "5511977776655"}, {FullName: "Bia", PhoneNumber: "5511977776644"}}}},
		},
		{
			"forward", `"messageId":"false_77@lid_3EB0AA"`,
			asked{call: "Forward", request: to, ref: gateway.MessageRef{ID: "3EB0AA", Chat: "77@lid"}},
		},
	} {
		r := request{method: post, path: "/api/message/" + id + "/" + test.kind, key: f.key, body: `{"to":"+55 11 98888-7766",` + test.fields + `}`}
		wantJSON(t, f.do(t, r), http.StatusCreated, sentBody)
		if got := stub.last(); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s {%s}\nasked %+v\nwant  %+v", test.kind, test.fields, got, test.want)
		}
	}
}

// Every send can be repeated, and every field of it counts.
func TestEverySendTakesAnIdempotencyKey(t *testing.T) {
	t.Parallel()
	stub := &outcome{result: sentResult()}
	f, id := newStub(t, stub)
	hashes := map[string]string{}
	send := func(kind, body string) {
		t.Helper()
		r := request{
			method: post, path: "/api/message/" + id + "/" + kind, key: f.key, body: body,
			header: http.Header{"Idempotency-Key": {"once"}},
		}
		if got := f.do(t, r); got.Code != http.StatusCreated {
			t.Fatalf("%s: %d %s", kind, got.Code, got.Body)
		}
		repeat := stub.last().request.Repeat
		if repeat == nil || repeat.Key != "once" || repeat.KeyID == "" {
			t.Fatalf("%s: the repeat is %+v", kind, repeat)
		}
		if first, seen := hashes[string(repeat.Hash)]; seen {
			t.Errorf("two requests have one hash: %s and %s", first, body)
		}
		hashes[string(repeat.Hash)] = kind + body
	}
	for _, r := range everyOperation(id) {
		if !strings.Contains(r.body, `"to"`) || !strings.Contains(r.path, "/message/") {
			continue
		}
		send(r.path[strings.LastIndex(r.path, "/")+1:], r.body)
	}
	for _, fields := range []string{
		`"image":"http://a/b","caption":"ab"`, `"image":"http://a/bab"`, `"image":"http://a/b","caption":"a","quoteMessageId":"b"`,
		`"image":"http://a/b","clientData":"a"`, `"image":"http://a/b","clientData":"b"`, `"image":"http://a/b","clientData":"b","caption":"a"`,
		`"image":"http://a/b","viewOnce":true`, `"image":"http://a/b"`, `"image":"http://a/` + strings.Repeat("b", 10000) + `"`,
		`"image":"http://a/` + strings.Repeat("b", 9999) + `c"`,
	} {
		send("image", `{"to":"5511988887766",`+fields+`}`)
	}
	send("location", `{"to":"5511988887766","latitude":0,"longitude":0.1}`)
	send("location", `{"to":"5511988887766","latitude":0.1,"longitude":0}`)
	stub.result.Replayed = true
	r := request{method: post, path: "/api/message/" + id + "/location", key: f.key, body: `{"to":"5511988887766","latitude":0,"longitude":0}`}
	if got := f.do(t, r); got.Header().Get("Idempotency-Replayed") != "true" {
		t.Error("a location does not say that it is a repeat")
	}
}

// Every send takes what the program calls the message.
func TestEverySendTakesClientData(t *testing.T) {
	t.Parallel()
	stub := &outcome{result: sentResult()}
	f, id := newStub(t, stub)
	sends := 0
	for _, r := range everyOperation(id) {
		if !strings.HasPrefix(r.path, "/api/message/"+id+"/") || !strings.Contains(r.body, `"to"`) && !strings.Contains(r.path, "/status/") {
			continue
		}
		sends++
		r.key, r.body = f.key, strings.Replace(r.body, "{", `{"clientData":"order 17\nof Ana",`, 1)
		if got := f.do(t, r); got.Code != http.StatusCreated {
			t.Errorf("%s: %d %s", r.path, got.Code, got.Body)
		}
		if got := stub.last().request.ClientData; got != "order 17\nof Ana" {
			t.Errorf("%s passes on %q", r.path, got)
		}
	}
	if sends < 18 {
		t.Errorf("only %d operations were tried", sends)
	}
}

func TestMessagesThatExist(t *testing.T) {
	t.Parallel()
	stub := &outcome{result: sentResult(), link: messaging.DownloadLink{URL: "http://gateway/media/1", ExpiresIn: 3600, FileName: "a <b>.pdf"}}
	f, id := newStub(t, stub)
	given := "true_5511988887766@c.us_3EB0"
	ref := gateway.MessageRef{ID: "3EB0", Chat: "5511988887766@s.whatsapp.net"}
	only := instanceOnly(id)
	for _, test := range []struct {
		operation, body string
		status          int
		answer          string
		want            asked
	}{
		{"POST edit", `{"messageId":"` + given + `","message":" b "}`, 200, sentBody, asked{call: "Edit", request: only, ref: ref, other: " b "}},
		{"POST read", `{"messageId":"` + given + `"}`, 200, `{"messageId":"` + given + `"}`, asked{call: "MarkRead", request: only, ref: ref}},
		{"DELETE delete", `{"messageId":"` + given + `"}`, 204, ``, asked{call: "Delete", request: only, ref: ref}},
		{"POST reaction", `{"messageId":"3EB0","reaction":"👍🏽"}`, 204, ``, asked{call: "React", request: only, ref: gateway.MessageRef{ID: "3EB0"}, other: "👍🏽"}},
		{"POST reaction", `{"messageId":"3EB0","reaction":""}`, 204, ``, asked{call: "React", request: only, ref: gateway.MessageRef{ID: "3EB0"}, other: ""}},
		{"POST 3EB0/pin", `{"durationSeconds":604800}`, 204, ``, asked{call: "Pin", request: only, ref: gateway.MessageRef{ID: "3EB0"}, other: 7 * 24 * time.Hour}},
		{"DELETE 3EB0/pin", ``, 204, ``, asked{call: "Pin", request: only, ref: gateway.MessageRef{ID: "3EB0"}, other: time.Duration(0)}},
		// An identifier with a chat but no message is one that no message has.
		{"POST read", `{"messageId":"77@lid_"}`, 200, `{"messageId":"77@lid_"}`, asked{call: "MarkRead", request: only, ref: gateway.MessageRef{ID: "77@lid_"}}},
		{
			"GET media-download-link/true_5511988887766%40c.us_3EB0", ``, 200,
			`{"url":"http://gateway/media/1","urlExpiresIn":3600,"fileName":"a <b>.pdf"}`,
			asked{call: "MediaLink", request: only, ref: ref, other: "http://gateway"},
		},
		{
			"GET media-download-link/a%2Fb%20+c", ``, 200, `{"url":"http://gateway/media/1","urlExpiresIn":3600,"fileName":"a <b>.pdf"}`,
			asked{call: "MediaLink", request: only, ref: gateway.MessageRef{ID: "a/b +c"}, other: "http://gateway"},
		},
	} {
		method, name, _ := strings.Cut(test.operation, " ")
		r := request{method: method, path: "/api/message/" + id + "/" + name, key: f.key, body: test.body}
		got := f.do(t, r)
		if test.answer != "" {
			wantJSON(t, got, test.status, test.answer)
		} else if got.Code != test.status || got.Body.Len() != 0 {
			t.Errorf("%s: %d %s", test.operation, got.Code, got.Body)
		}
		if got := stub.last(); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s\nasked %+v\nwant  %+v", test.operation, got, test.want)
		}
	}
}

func TestLinksBeginWithHowTheGatewayIsReached(t *testing.T) {
	t.Parallel()
	for name, test := range cases.Sorted(map[string]struct {
		publicURL   string
		behindProxy bool
		forwarded   string
		secure      bool
		want        string
	}{
		"plain":                         {want: "http://gateway"},
		"over TLS":                      {secure: true, want: "https://gateway"},
		"a header that nobody vouches":  {forwarded: "https", want: "http://gateway"},
		"behind a proxy":                {behindProxy: true, forwarded: "https", want: "https://gateway"},
		"behind two":                    {behindProxy: true, forwarded: "HTTPS , http", want: "https://gateway"},
		"behind one that says nothing":  {behindProxy: true, want: "http://gateway"},
		"behind one that says nonsense": {behindProxy: true, forwarded: "javascript", secure: true, want: "https://gateway"},
		"configured":                    {publicURL: "https://m.example/gw/", behindProxy: true, forwarded: "http", want: "https://m.example/gw"},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stub := &outcome{}
			f := newFixture(t, func(c *api.Config) {
				c.Messages, c.PublicURL, c.BehindProxy = stub, test.publicURL, test.behindProxy
			})
			made := httptest.NewRequestWithContext(t.Context(), get, "/api/message/"+f.newInstance(t)+"/media-download-link/3EB0", http.NoBody)
			made.Host = "gateway"
			made.Header.Set("X-Api-Key", f.key)
			if test.forwarded != "" {
				made.Header.Set("X-Forwarded-Proto", test.forwarded)
			}
			if test.secure {
				made.TLS = &tls.ConnectionState{}
			}
			f.handler.ServeHTTP(httptest.NewRecorder(), made)
			if got := stub.last().other; got != test.want {
				t.Errorf("the link begins with %q, want %q", got, test.want)
			}
		})
	}
}

func TestNumbersAreNormalised(t *testing.T) {
	t.Parallel()
	stub := &outcome{registrations: []gateway.Registration{
		{Number: "5511988887766", Exists: true, JID: "551188887766@s.whatsapp.net", LID: "77@lid"},
		{Number: "14155550123"},
	}}
	f, id := newStub(t, stub)
	check := func(body string) *httptest.ResponseRecorder {
		return f.do(t, request{method: post, path: "/api/instances/" + id + "/check-numbers", key: f.key, body: body})
	}
	wantJSON(t, check(`{"numbers":["+55 (11) 98888-7766","11988887766","14155550123","5511988887766:3@c.us"]}`), http.StatusOK,
		`{"results":[{"number":"5511988887766","exists":true,"jid":"551188887766@s.whatsapp.net"},{"number":"14155550123","exists":false}]}`)
	if got := fmt.Sprint(stub.last().other); got != "[5511988887766 5511988887766 14155550123 5511988887766]" {
		t.Errorf("asked about %s", got)
	}
	stub.registrations = nil
	wantJSON(t, check(`{"numbers":[]}`), http.StatusOK, `{"results":[]}`)
	many := `{"numbers":["5511988887766"` + strings.Repeat(`,"5511988887766"`, 499) + `]}`
	wantJSON(t, check(many), http.StatusOK, `{"results":[]}`)
}

func TestContacts(t *testing.T) {
	t.Parallel()
	stub := &outcome{picture: "https://pps.example/a?b=1&c=<d>"}
	f, id := newStub(t, stub)
	base := "/api/instances/" + id + "/contacts/"
	for phone, want := range cases.Sorted(map[string]gateway.Recipient{
		"5511988887766":                   {Number: "5511988887766"},
		"+14155550123":                    {Number: "14155550123"},
		"%2B14155550123":                  {Number: "14155550123"},
		"11988887766":                     {Number: "5511988887766"},
		"(11)%2098888-7766":               {Number: "5511988887766"},
		"5511988887766@s.whatsapp.net":    {Chat: "5511988887766@s.whatsapp.net"},
		"5511988887766%40c.us":            {Chat: "5511988887766@s.whatsapp.net"},
		"5511988887766:3@s.whatsapp.net":  {Chat: "5511988887766@s.whatsapp.net"},
		"77@lid":                          {Chat: "77@lid"},
		"120363041234567890@g.us":         {Chat: "120363041234567890@g.us"},
		"5511988887766-1500000000%40g.us": {Chat: "5511988887766-1500000000@g.us"},
	}) {
		r := request{method: get, path: base + phone + "/profile-picture", key: f.key}
		wantJSON(t, f.do(t, r), http.StatusOK, `{"url":"https://pps.example/a?b=1&c=<d>"}`)
		if got := stub.last(); got.call != "ProfilePicture" || got.who != want || got.request.InstanceID != id {
			t.Errorf("%s: asked %+v", phone, got)
		}
		for method, blocked := range cases.Sorted(map[string]bool{post: true, destroy: false}) {
			r := request{method: method, path: base + phone + "/block", key: f.key, body: "ignored"}
			got := f.do(t, r)
			if want.Chat.IsGroup() {
				body := wantRefusal(t, r, got, http.StatusBadRequest, gateway.CodeValidation)
				if body.Message != "phone must be a person, not a group or a channel" {
					t.Errorf("%s: %s", phone, body.Message)
				}
				continue
			}
			if last := stub.last(); got.Code != http.StatusNoContent || got.Body.Len() != 0 || last.call != "Block" || last.who != want || last.other != blocked {
				t.Errorf("%s %s: %d %s, asked %+v", method, phone, got.Code, got.Body, last)
			}
		}
	}
	stub.picture = ""
	wantJSON(t, f.do(t, request{path: base + "1234567/profile-picture", key: f.key}), http.StatusOK, `{"url":null}`)
}

func TestPresence(t *testing.T) {
	t.Parallel()
	stub := &outcome{}
	f, id := newStub(t, stub)
	for _, presence := range []gateway.Presence{
		gateway.PresenceComposing, gateway.PresenceRecording, gateway.PresencePaused, gateway.PresenceAvailable, gateway.PresenceUnavailable,
	} {
		got := f.do(t, request{
			method: post, path: "/api/instances/" + id + "/presence", key: f.key,
			body: `{"to":"120363041234567890@g.us","presence":"` + string(presence) + `"}`,
		})
		last := stub.last()
		if got.Code != http.StatusNoContent || got.Body.Len() != 0 || last.other != presence || last.who.Chat != "120363041234567890@g.us" {
			t.Errorf("%s: %d %s, asked %+v", presence, got.Code, got.Body, last)
		}
	}
}

func TestGroups(t *testing.T) {
	t.Parallel()
	stub := &outcome{found: gateway.Group{ID: "120363041234567890@g.us", Subject: "<Team>"}}
	f, id := newStub(t, stub)
	r := request{path: "/api/instances/" + id + "/groups/120363041234567890%40g.us", key: f.key}
	wantJSON(t, f.do(t, r), http.StatusOK,
		`{"id":"120363041234567890@g.us","subject":"<Team>","description":null,"owner":null,"creation":0,"participants":[]}`)
	if got := stub.last(); got.call != "Group" || got.other != gateway.JID("120363041234567890@g.us") {
		t.Errorf("asked %+v", got)
	}
	stub.found = gateway.Group{
		ID: "120363041234567890@g.us", Subject: "Team", Description: "d", CreatedAt: time.UnixMilli(1795012930999),
		Owner: gateway.Party{JID: "5511999990000@s.whatsapp.net", LID: "1@lid"},
		Participants: []gateway.Participant{
			{Party: gateway.Party{JID: "5511999990000@s.whatsapp.net", LID: "1@lid"}, Role: gateway.RoleSuperAdmin},
			{Party: gateway.Party{LID: "2@lid"}, Role: gateway.RoleAdmin},
			{Party: gateway.Party{JID: "5511988887766@s.whatsapp.net"}},
		},
	}
	wantJSON(t, f.do(t, r), http.StatusOK, `{"id":"120363041234567890@g.us","subject":"Team","description":"d","owner":"5511999990000@s.whatsapp.net",
		"creation":1795012930,"participants":[{"id":"5511999990000@s.whatsapp.net","admin":"superadmin"},{"id":"2@lid","admin":"admin"},
		{"id":"5511988887766@s.whatsapp.net","admin":null}]}`)
}

// A link begins with the host of the request only if that is a valid host.
func TestLinksBeginWithAHost(t *testing.T) {
	t.Parallel()
	stub := &outcome{}
	f, id := newStub(t, stub)
	for host, ok := range cases.Sorted(map[string]bool{
		"gateway": true, "gateway.example:8080": true, "127.0.0.1:80": true, "[::1]:8080": true, "a_b.example.": true,
		"javascript:alert(1)": false, "a/b": false, "a@b": false, "a b": false, "a\"b": false, "": false, "-a": false, "[a]x": false, "a:b": false, "a#b": false,
	}) {
		made := httptest.NewRequestWithContext(t.Context(), get, "/api/message/"+id+"/media-download-link/3EB0", http.NoBody)
		made.Host = host
		made.Header.Set("X-Api-Key", f.key)
		got := httptest.NewRecorder()
		f.handler.ServeHTTP(got, made)
		if (got.Code == http.StatusOK) != ok {
			t.Errorf("%q: answered %d %s", host, got.Code, got.Body)
		}
		if ok && stub.last().other != "http://"+host {
			t.Errorf("%q: the link begins with %v", host, stub.last().other)
		}
	}
}
