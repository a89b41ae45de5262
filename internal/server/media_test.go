package server_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/access"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media"
	"github.com/recado-project/recado/internal/sandbox/content"
	"github.com/recado-project/recado/internal/sandbox/mediahost"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// picture draws a PNG.
func picture(t *testing.T) []byte {
	t.Helper()
	drawn := image.NewRGBA(image.Rect(0, 0, 120, 80))
	for x := range 120 {
		drawn.Set(x, x*80/120, color.RGBA{R: 200, G: uint8(x), A: 255})
	}
	var encoded bytes.Buffer
	if err := png.Encode(&encoded, drawn); err != nil {
		t.Fatal(err)
	}
	return encoded.Bytes()
}

// mediaFile reads one of the samples of the media package.
func mediaFile(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile("../media/testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func sum(content []byte) string {
	hash := sha256.Sum256(content)
	return hex.EncodeToString(hash[:])
}

// Every kind of media reaches the phone, which fetches and decrypts it: the
// bytes are those that were given.
func TestMediaReachesThePhone(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	quoted := sendText(t, g, id, "Can you send it?").MessageID
	drawn, document := picture(t), []byte("%PDF-1.4\n%a document\n")
	webp := mediaFile(t, "sticker.webp")
	ogg := mediaFile(t, "voice.ogg")
	mp4 := mediaFile(t, "clip.mp4")
	for name, c := range cases.Sorted(map[string]struct {
		send    func(ctx context.Context) (client.Sent, error)
		content []byte
		want    testkit.PhoneMessage
	}{
		"image": {func(ctx context.Context) (client.Sent, error) {
			return g.Client.SendImage(ctx, id, client.Image{
				To: customerNumber, Image: client.DataURI("image/png", drawn), Caption: "look", QuoteMessageID: quoted,
			})
		}, drawn, testkit.PhoneMessage{Type: "image", Caption: "look", MimeType: "image/png", QuotedMessageID: quoted}},
		"image, once": {func(ctx context.Context) (client.Sent, error) {
			return g.Client.SendImage(ctx, id, client.Image{To: customerNumber, Image: client.DataURI("image/png", drawn), ViewOnce: true})
		}, drawn, testkit.PhoneMessage{Type: "image", MimeType: "image/png", ViewOnce: true}},
		"video": {func(ctx context.Context) (client.Sent, error) {
			return g.Client.SendVideo(ctx, id, client.Video{
				To: customerNumber, Video: client.DataURI("video/mp4", mp4), Caption: "watch", QuoteMessageID: quoted, ViewOnce: true,
			})
		}, mp4, testkit.PhoneMessage{Type: "video", Caption: "watch", MimeType: "video/mp4", QuotedMessageID: quoted, ViewOnce: true}},
		"voice note": {func(ctx context.Context) (client.Sent, error) {
			return g.Client.SendVoiceNote(ctx, id, client.VoiceNote{
				To: customerNumber, Audio: client.DataURI("audio/ogg; codecs=opus", ogg), QuoteMessageID: quoted,
			})
		}, ogg, testkit.PhoneMessage{Type: "voice", MimeType: "audio/ogg; codecs=opus", QuotedMessageID: quoted}},
		"voice note, once": {func(ctx context.Context) (client.Sent, error) {
			return g.Client.SendVoiceNote(ctx, id, client.VoiceNote{
				To: customerNumber, Audio: client.DataURI("audio/ogg; codecs=opus", ogg), ViewOnce: true,
			})
		}, ogg, testkit.PhoneMessage{Type: "voice", MimeType: "audio/ogg; codecs=opus", ViewOnce: true}},
		"audio file": {func(ctx context.Context) (client.Sent, error) {
			return g.Client.SendAudioFile(ctx, id, client.AudioFile{
				To: customerNumber, Audio: client.DataURI("audio/ogg", ogg), QuoteMessageID: quoted,
			})
		}, ogg, testkit.PhoneMessage{Type: "audio", MimeType: "audio/ogg; codecs=opus", QuotedMessageID: quoted}},
		"document": {func(ctx context.Context) (client.Sent, error) {
			return g.Client.SendDocument(ctx, id, client.Document{
				To: customerNumber, Document: client.DataURI("application/pdf", document),
				Caption: "read", FileName: "Orçamento.pdf", QuoteMessageID: quoted,
			})
		}, document, testkit.PhoneMessage{
			Type: "document", Caption: "read", MimeType: "application/pdf", FileName: "Orçamento.pdf", QuotedMessageID: quoted,
		}},
		"document without a name": {func(ctx context.Context) (client.Sent, error) {
			return g.Client.SendDocument(ctx, id, client.Document{To: customerNumber, Document: client.DataURI("application/pdf", document)})
		}, document, testkit.PhoneMessage{Type: "document", MimeType: "application/pdf", FileName: "document.pdf"}},
		"sticker": {func(ctx context.Context) (client.Sent, error) {
			return g.Client.SendSticker(ctx, id, client.Sticker{To: customerNumber, Sticker: client.DataURI("image/webp", webp), QuoteMessageID: quoted})
		}, webp, testkit.PhoneMessage{Type: "sticker", MimeType: "image/webp", QuotedMessageID: quoted}},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sent, err := c.send(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			got := g.Phones.AwaitMessage(t, customerNumber, sent.MessageID)
			if got.MediaSHA256 != sum(c.content) || got.MediaSize == nil || *got.MediaSize != int64(len(c.content)) {
				t.Errorf("the phone has another file: %+v", got)
			}
			if got.Type != c.want.Type || got.Caption != c.want.Caption || got.MimeType != c.want.MimeType ||
				got.FileName != c.want.FileName || got.ViewOnce != c.want.ViewOnce || got.QuotedMessageID != c.want.QuotedMessageID {
				t.Errorf("the phone shows %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestMediaByURL(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	content := picture(t)
	files := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/menu de hoje.png" {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(content)
	}))
	t.Cleanup(files.Close)
	sent, err := g.Client.SendDocument(t.Context(), id, client.Document{To: customerNumber, Document: files.URL + "/menu%20de%20hoje.png"})
	if err != nil {
		t.Fatal(err)
	}
	got := g.Phones.AwaitMessage(t, customerNumber, sent.MessageID)
	if got.MediaSHA256 != sum(content) || got.FileName != "menu de hoje.png" || got.MimeType != "image/png" {
		t.Errorf("the phone shows %+v", got)
	}
	_, err = g.Client.SendImage(t.Context(), id, client.Image{To: customerNumber, Image: files.URL + "/nothing.png"})
	testkit.Refused(t, err, http.StatusBadRequest, "MEDIA_FETCH_FAILED")
}

// A template goes out with its parameters, as a text or below the file of its header, and is the account's: any key sends
// it, and no key for certain instances changes it.
func TestTemplates(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	limited, err := g.Partner.CreateAPIKey(t.Context(), client.NewKey{Name: "one", InstanceIDs: []string{id}})
	if err != nil {
		t.Fatal(err)
	}
	one := client.New(g.BaseURL, limited.Key)
	var after int64
	text := client.NewTemplate{Name: "order_shipped", Language: "pt_BR", Components: []client.NewTemplateComponent{
		{Type: "BODY", Text: "Olá {{1}}, o pedido {{2}} saiu."},
		{Type: "FOOTER", Text: "Loja da Ana"},
		{Type: "BUTTONS", Buttons: []client.NewTemplateButton{{Type: "URL", Text: "Acompanhar", URL: "https://shop.example/{{1}}"}, {Type: "QUICK_REPLY", Text: "Recebi"}}},
	}}
	made, err := g.Client.CreateTemplate(t.Context(), text)
	if err != nil || made.Category != "UTILITY" || made.ParameterFormat != "POSITIONAL" || len(made.ID) != 16 || strings.Trim(made.ID, "0123456789") != "" {
		t.Fatalf("made %+v (%v)", made, err)
	}
	file := client.NewTemplate{Name: "menu", Language: "pt_BR", Components: []client.NewTemplateComponent{{Type: "HEADER", Format: "DOCUMENT"}, {Type: "BODY", Text: "O menu de {{dia}}"}}}
	if _, err := g.Partner.CreateTemplate(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	_, err = g.Client.CreateTemplate(t.Context(), text)
	testkit.Refused(t, err, http.StatusConflict, client.CodeTemplateExists)
	_, err = one.CreateTemplate(t.Context(), client.NewTemplate{Name: "x", Language: "en", Components: text.Components})
	testkit.Refused(t, err, http.StatusForbidden, client.CodeForbidden)
	testkit.Refused(t, one.DeleteTemplate(t.Context(), made.ID), http.StatusForbidden, client.CodeForbidden)
	if listed, err := one.ListTemplates(t.Context(), client.ListTemplatesParams{Name: "order_shipped"}, 1, 10); err != nil || listed.TotalCount != 1 || !reflect.DeepEqual(listed.Data[0], made) {
		t.Errorf("listed %+v (%v)", listed, err)
	}

	order := client.TemplateMessage{
		To: customerNumber, Name: "order_shipped", Language: "pt_BR", IdempotencyKey: "once",
		BodyParameters: map[string]string{"1": "Bia", "2": "77"}, ButtonParameters: map[string]string{"0": "77"},
	}
	sent, err := one.SendTemplate(t.Context(), id, order)
	if err != nil {
		t.Fatal(err)
	}
	want := "Olá Bia, o pedido 77 saiu.\n\nAcompanhar: https://shop.example/77\n1. Recebi\n\n_Loja da Ana_"
	if got := g.Phones.AwaitMessage(t, customerNumber, sent.MessageID); got.Text != want || got.Type != "text" {
		t.Errorf("the phone shows %+v, want %q", got, want)
	}
	menu := client.TemplateMessage{
		To: customerNumber, Name: "menu", Language: "pt_BR", BodyParameters: map[string]string{"dia": "hoje"},
		Media: client.DataURI("text/plain", []byte("feijoada")), FileName: "menu.txt",
	}
	sent2, err := one.SendTemplate(t.Context(), id, menu)
	if err != nil {
		t.Fatal(err)
	}
	if got := g.Phones.AwaitMessage(t, customerNumber, sent2.MessageID); got.Type != "document" || got.Caption != "O menu de hoje" || got.FileName != "menu.txt" || got.MediaSHA256 != sum([]byte("feijoada")) {
		t.Errorf("the phone shows %+v", got)
	}

	// next is what the customer's next answer selects.
	next := func(what string) string {
		for event, err := range g.Client.Follow(t.Context(), id, client.FollowOptions{After: &after, Types: []string{client.TypeMessagePollVote, client.TypeMessageReceived}}) {
			if err != nil {
				t.Fatal(err)
			}
			after = event.Sequence
			var data struct {
				Selection *client.MessageSelection `json:"selection"`
			}
			if err := json.Unmarshal(event.Data, &data); err != nil || data.Selection == nil || data.Selection.Reference == nil {
				t.Fatalf("%s: %s (%v)", what, event.Data, err)
			}
			return data.Selection.ID + " of " + *data.Selection.Reference
		}
		return ""
	}
	if _, err := one.SendTemplate(t.Context(), id, client.TemplateMessage{
		To: customerNumber, Name: "order_shipped", Language: "pt_BR", BodyParameters: order.BodyParameters, ButtonParameters: map[string]string{"0": "78", "1": "got_it"},
	}); err != nil {
		t.Fatal(err)
	}
	g.Phones.SendText(t, customerNumber, shopNumber, "recebi")
	if got := next("the label of a quick reply"); got != "got_it of order_shipped" {
		t.Errorf("it selects %s", got)
	}
	ask := client.NewTemplate{Name: "ask", Language: "pt_BR", Components: []client.NewTemplateComponent{
		{Type: "BODY", Text: "Chegou, {{1}}?"}, {Type: "BUTTONS", Buttons: []client.NewTemplateButton{{Type: "QUICK_REPLY", Text: "Sim"}, {Type: "QUICK_REPLY", Text: "Não"}}},
	}}
	if _, err := g.Client.CreateTemplate(t.Context(), ask); err != nil {
		t.Fatal(err)
	}
	for _, refuse := range []bool{false, true} {
		if refuse {
			if _, err := g.Client.ChangeInstance(t.Context(), id, client.InstanceChange{Buttons: client.Set(client.ButtonsRefuse)}); err != nil {
				t.Fatal(err)
			}
		}
		asked, err := one.SendTemplate(t.Context(), id, client.TemplateMessage{To: customerNumber, Name: "ask", Language: "pt_BR", BodyParameters: map[string]string{"1": "Bia"}, ButtonParameters: map[string]string{"1": "no"}})
		if err != nil {
			t.Fatal(err)
		}
		shown := g.Phones.AwaitMessage(t, customerNumber, asked.MessageID)
		if isPoll := shown.Type == "poll"; isPoll == refuse || refuse && shown.Text != "Chegou, Bia?\n\n1. Sim\n2. Não" {
			t.Errorf("the phone shows %+v", shown)
		}
		if refuse {
			g.Phones.SendText(t, customerNumber, shopNumber, "2")
		} else {
			g.Phones.Vote(t, customerNumber, asked.MessageID, "Não")
		}
		if got := next("a quick reply"); got != "no of ask" {
			t.Errorf("it selects %s", got)
		}
	}

	var refused *client.Error
	_, err = one.SendTemplate(t.Context(), id, client.TemplateMessage{To: customerNumber, Name: "menu", Language: "pt_BR", BodyParameters: map[string]string{"1": "x"}})
	if !errors.As(err, &refused) || refused.Code != client.CodeValidationError || len(refused.Details) != 3 || refused.Details[0].Field != "media" {
		t.Errorf("what is missing is answered %+v", err)
	}
	for _, name := range []string{"nothing", "Nothing!"} {
		_, err = one.SendTemplate(t.Context(), id, client.TemplateMessage{To: customerNumber, Name: name, Language: "pt_BR"})
		testkit.Refused(t, err, http.StatusNotFound, client.CodeTemplateNotFound)
	}
	if err := g.Client.DeleteTemplate(t.Context(), made.ID); err != nil {
		t.Fatal(err)
	}
	testkit.Refused(t, g.Client.DeleteTemplate(t.Context(), made.ID), http.StatusNotFound, client.CodeTemplateNotFound)
	if again, err := one.SendTemplate(t.Context(), id, order); err != nil || again.MessageID != sent.MessageID {
		t.Errorf("a repeat after the template is gone is answered %+v (%v)", again, err)
	}
}

func TestMediaOfTheWrongKindIsRefused(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	text := client.DataURI("text/plain", []byte("just text"))
	still := client.DataURI("image/png", picture(t))
	for name, err := range cases.Sorted(map[string]error{
		"image":   second(g.Client.SendImage(t.Context(), id, client.Image{To: customerNumber, Image: text})),
		"video":   second(g.Client.SendVideo(t.Context(), id, client.Video{To: customerNumber, Video: still})),
		"audio":   second(g.Client.SendVoiceNote(t.Context(), id, client.VoiceNote{To: customerNumber, Audio: still})),
		"sticker": second(g.Client.SendSticker(t.Context(), id, client.Sticker{To: customerNumber, Sticker: still})),
		"neither": second(g.Client.SendImage(t.Context(), id, client.Image{To: customerNumber, Image: "picture.png"})),
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testkit.Refused(t, err, http.StatusBadRequest, "VALIDATION_ERROR")
		})
	}
	if got := len(g.Phones.Messages(t, customerNumber, "")); got != 0 {
		t.Errorf("the phone has %d messages", got)
	}
}

func second(_ client.Sent, err error) error { return err }

// The file of a message is fetched from the platform once, and handed out under
// a link that needs no key.
func TestMediaDownloadLink(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	sendText(t, g, id, "Oi!")
	content := picture(t)
	received := g.Phones.Send(t, customerNumber, map[string]any{
		"to": shopNumber, "type": "image", "media": client.DataURI("image/png", content), "caption": "mine",
	})
	awaitMessage(t, g, id, received)
	link, err := g.Client.GetMediaDownloadLink(t.Context(), id, received)
	if err != nil {
		t.Fatal(err)
	}
	if link.URLExpiresIn != 3600 || !strings.HasPrefix(link.FileName, "image-") || !strings.HasSuffix(link.FileName, ".png") {
		t.Errorf("link %+v", link)
	}
	if got := download(t, link.URL); !bytes.Equal(got, content) {
		t.Errorf("downloaded %d bytes, want %d", len(got), len(content))
	}
	// What the platform drops from here on is kept by us.
	g.Phones.DropMedia(t, customerNumber, received)
	again, err := g.Client.GetMediaDownloadLink(t.Context(), id, received)
	if err != nil {
		t.Fatal(err)
	}
	if got := download(t, again.URL); !bytes.Equal(got, content) {
		t.Errorf("downloaded %d bytes the second time", len(got))
	}
	response, err := http.Get(strings.Replace(link.URL, "signature=", "signature=A", 1))
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusForbidden {
		t.Errorf("a changed link answers %d", response.StatusCode)
	}

	// The event of a message has such a link too, if its webhook wants one.
	sink := testkit.NewSink(t)
	if _, err := g.Client.CreateWebhook(t.Context(), id, client.NewWebhook{URL: sink.URL, MediaLinks: new(true)}); err != nil {
		t.Fatal(err)
	}
	received = g.Phones.Send(t, customerNumber, map[string]any{
		"to": shopNumber, "type": "document", "media": client.DataURI("image/png", content), "fileName": "praça.png",
	})
	told := sink.AwaitType(client.TypeMessageReceived, func(d testkit.Delivered) bool { return strings.Contains(string(d.Body), received) })
	if told.Event.MediaLink == nil || time.Until(told.Event.MediaLink.ExpiresAt) < 50*time.Minute {
		t.Fatalf("the event is %s", told.Body)
	}
	if got := download(t, told.Event.MediaLink.URL); !bytes.Equal(got, content) {
		t.Errorf("downloaded %d bytes from the link of the event", len(got))
	}
	g.Phones.Delete(t, customerNumber, received)
	testkit.Await(t, "the file is gone", func() bool { return statusOf(t, told.Event.MediaLink.URL) == http.StatusNotFound })

	sent := sendText(t, g, id, "no file")
	if told := sink.AwaitType(client.TypeMessageSent, func(d testkit.Delivered) bool { return strings.Contains(string(d.Body), sent.MessageID) }); told.Event.MediaLink != nil {
		t.Errorf("an event without a file has the link %s", told.Event.MediaLink.URL)
	}
	_, err = g.Client.GetMediaDownloadLink(t.Context(), id, sent.MessageID)
	testkit.Refused(t, err, http.StatusBadRequest, "MESSAGE_HAS_NO_MEDIA")
	_, err = g.Client.GetMediaDownloadLink(t.Context(), id, "3EB0NOTHING")
	testkit.Refused(t, err, http.StatusNotFound, "MESSAGE_NOT_FOUND")
}

func TestMediaThatThePlatformDroppedIsAskedForAgain(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	sendText(t, g, id, "Oi!")
	content := picture(t)
	received := g.Phones.Send(t, customerNumber, map[string]any{
		"to": shopNumber, "type": "document", "media": client.DataURI("image/png", content), "fileName": "mine.png",
	})
	awaitMessage(t, g, id, received)
	g.Phones.AwaitMessage(t, shopNumber, received) // the phone has fetched the file
	g.Phones.DropMedia(t, customerNumber, received)
	link, err := g.Client.GetMediaDownloadLink(t.Context(), id, received)
	if err != nil {
		t.Fatal(err)
	}
	if link.FileName != "mine.png" {
		t.Errorf("link %+v", link)
	}
	if got := download(t, link.URL); !bytes.Equal(got, content) {
		t.Errorf("downloaded %d bytes, want %d", len(got), len(content))
	}
}

func download(t *testing.T, url string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("answered %d: %s (%v)", response.StatusCode, content, err)
	}
	return content
}

func TestLocationAndContactReachThePhone(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	quoted := sendText(t, g, id, "Where are you?").MessageID
	sent, err := g.Client.SendLocation(t.Context(), id, client.Location{
		To: customerNumber, Latitude: -23.5614, Longitude: -46.6559, Name: "MASP", Address: "Av. Paulista, 1578", QuoteMessageID: quoted,
	})
	if err != nil {
		t.Fatal(err)
	}
	place := g.Phones.AwaitMessage(t, customerNumber, sent.MessageID)
	if place.Type != "location" || place.Latitude == nil || *place.Latitude != -23.5614 || *place.Longitude != -46.6559 ||
		place.Name != "MASP" || place.Address != "Av. Paulista, 1578" || place.QuotedMessageID != quoted {
		t.Errorf("the phone shows %+v", place)
	}
	sent, err = g.Client.SendContact(t.Context(), id, client.Contact{To: customerNumber, QuoteMessageID: quoted, Contact: client.Card{
		FullName: "Ana; Silva", PhoneNumber: "+55 11 97777-6655", Organization: "Loja, Ltda",
	}})
	if err != nil {
		t.Fatal(err)
	}
	card := g.Phones.AwaitMessage(t, customerNumber, sent.MessageID)
	// Her account is under the number without the ninth digit, and phones write to that one.
	want := testkit.ContactCard{FullName: "Ana; Silva", PhoneNumber: "551177776655", Organization: "Loja, Ltda"}
	if card.Type != "contact" || card.Contact == nil || *card.Contact != want || card.QuotedMessageID != quoted {
		t.Errorf("the phone shows %+v", card)
	}
	sent, err = g.Client.SendContact(t.Context(), id, client.Contact{To: customerNumber, Contacts: []client.Card{
		{FullName: "Ana", PhoneNumber: "5511977776655"}, {FullName: "Beto", PhoneNumber: "+55 11 97777-0000"}, // who has no account
	}})
	if err != nil {
		t.Fatal(err)
	}
	several := g.Phones.AwaitMessage(t, customerNumber, sent.MessageID)
	if several.Type != "contact" || len(several.Contacts) != 2 || several.Contacts[0].PhoneNumber != "551177776655" || several.Contacts[1].PhoneNumber != "+5511977770000" {
		t.Errorf("the phone shows %+v", several)
	}
	if kept, err := g.Client.GetMessage(t.Context(), id, sent.ID); err != nil || len(kept.Contacts) != 2 || kept.Contacts[1].FullName != "Beto" {
		t.Errorf("kept %+v, %v", kept, err)
	}
}

func TestForwardCarriesEveryKindOn(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	sendText(t, g, id, "Oi!")
	const third = "5511977770100"
	content := picture(t)
	for _, message := range []map[string]any{
		{"type": "text", "text": "pass it on"},
		{"type": "image", "media": client.DataURI("image/png", content), "caption": "pass it on"},
		{"type": "location", "latitude": 1.5, "longitude": 2.5},
		{"type": "contact", "contact": map[string]any{"fullName": "Ana", "phoneNumber": "5511977776655"}},
	} {
		t.Run(message["type"].(string), func(t *testing.T) {
			t.Parallel()
			message["to"] = shopNumber
			received := g.Phones.Send(t, customerNumber, message)
			awaitMessage(t, g, id, received)
			sent, err := g.Client.ForwardMessage(t.Context(), id, client.Forward{To: third, MessageID: received})
			if err != nil {
				t.Fatal(err)
			}
			got := g.Phones.AwaitMessage(t, third, sent.MessageID)
			if got.Type != message["type"] || !got.Forwarded || got.QuotedMessageID != "" {
				t.Errorf("the phone shows %+v", got)
			}
			if got.Type == "image" && (got.MediaSHA256 != sum(content) || got.Caption != "pass it on") {
				t.Errorf("the phone shows %+v", got)
			}
		})
	}
	t.Run("unknown", func(t *testing.T) {
		t.Parallel()
		_, err := g.Client.ForwardMessage(t.Context(), id, client.Forward{To: third, MessageID: "3EB0NOTHING"})
		testkit.Refused(t, err, http.StatusNotFound, "MESSAGE_NOT_FOUND")
	})
}

// A phone judges what a linked device has sent, and nothing that other phones have: they are people's.
func TestPhonesSayWhatIsWrong(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{Problems: []string{"without an extension"}})
	received := g.Phones.Send(t, customerNumber, map[string]any{
		"to": shopNumber, "type": "document", "media": client.DataURI("application/pdf", []byte("%PDF-1.4\n%%EOF\n")), "fileName": "nota",
	})
	awaitMessage(t, g, id, received)
	sent, err := g.Client.ForwardMessage(t.Context(), id, client.Forward{To: memberNumber, MessageID: received})
	if err != nil {
		t.Fatal(err)
	}
	shown := g.Phones.AwaitMessage(t, memberNumber, sent.MessageID)
	if len(shown.Problems) != 1 || !strings.Contains(shown.Problems[0], `"nota"`) {
		t.Errorf("the phone shows %+v", shown)
	}
	all := g.Phones.Problems(t)
	if len(all) != 1 || all[0].Number != memberNumber || all[0].MessageID != sent.MessageID || !slices.Equal(all[0].Problems, shown.Problems) {
		t.Errorf("all problems are %+v", all)
	}
	if others := g.Phones.Problems(t, "without an extension"); len(others) > 0 {
		t.Errorf("besides the expected one there are %+v", others)
	}
}

func TestMessageIsKeptWithItsKind(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	sendText(t, g, id, "Oi!")
	for kind, message := range cases.Sorted(map[gateway.MessageType]map[string]any{
		gateway.TypeVoice:   {"type": "voice", "media": client.DataURI("audio/ogg", mediaFile(t, "voice.ogg"))},
		gateway.TypeSticker: {"type": "sticker", "media": client.DataURI("image/webp", mediaFile(t, "sticker.webp"))},
		gateway.TypeImage:   {"type": "image", "media": client.DataURI("image/png", picture(t)), "viewOnce": true, "caption": "once"},
	}) {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			message["to"] = shopNumber
			kept := awaitMessage(t, g, id, g.Phones.Send(t, customerNumber, message))
			if kept.Type != kind {
				t.Errorf("kept as %s", kept.Type)
			}
		})
	}
}

// statusOf follows a link and returns the status of the answer.
func statusOf(t *testing.T, url string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	return response.StatusCode
}

// A video note reaches the phone as one, and one of a phone is told as one; both have their
// file.
func TestVideoNotes(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	clip := client.DataURI("video/mp4", mediaFile(t, "clip.mp4"))
	for _, later := range []bool{false, true} {
		sent, err := g.Client.SendVideoNote(t.Context(), id, client.VideoNote{To: customerNumber, Video: clip, Prefer: testkit.Prefer(later)})
		if err != nil {
			t.Fatal(err)
		}
		got := g.Phones.AwaitMessage(t, customerNumber, sent.MessageID)
		if got.Type != "video" || !got.VideoNote || got.MediaSize == nil || *got.MediaSize != int64(len(mediaFile(t, "clip.mp4"))) || got.MimeType != "video/mp4" {
			t.Errorf("the phone shows %+v", got)
		}
	}
	received := g.Phones.Send(t, customerNumber, map[string]any{"to": shopNumber, "type": "video", "media": clip, "videoNote": true})
	awaitMessage(t, g, id, received)
	message, err := g.Client.GetMessage(t.Context(), id, received)
	if err != nil || message.Media == nil || !message.Media.VideoNote || message.Type != "video" {
		t.Errorf("received %+v (%v)", message, err)
	}
	if _, err := g.Client.GetMediaDownloadLink(t.Context(), id, received); err != nil {
		t.Error(err)
	}
	ordinary, err := g.Client.SendVideo(t.Context(), id, client.Video{To: customerNumber, Video: clip})
	if err != nil {
		t.Fatal(err)
	}
	if got := g.Phones.AwaitMessage(t, customerNumber, ordinary.MessageID); got.VideoNote {
		t.Error("a video is shown as a note")
	}
}

// A video becomes a sticker that the phone shows moving, at once and from the queue; one that a
// phone sends is told as moving. Without being asked, only WebP is taken.
func TestStickersThatMove(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	moving := client.DataURI("image/webp", mediaFile(t, "animated.webp"))
	stickers := []client.Sticker{{Sticker: moving}, {Sticker: moving, Prefer: client.RespondAsync}}
	if _, err := exec.LookPath("ffmpeg"); err == nil {
		clip := client.DataURI("video/mp4", mediaFile(t, "clip.mp4"))
		stickers = append(stickers, client.Sticker{Sticker: clip, Convert: true}, client.Sticker{Sticker: clip, Convert: true, Prefer: client.RespondAsync})
	}
	for _, sticker := range stickers {
		sticker.To = customerNumber
		sent, err := g.Client.SendSticker(t.Context(), id, sticker)
		if err != nil {
			t.Fatal(err)
		}
		if got := g.Phones.AwaitMessage(t, customerNumber, sent.MessageID); got.Type != "sticker" || !got.Animated || got.MimeType != "image/webp" {
			t.Errorf("the phone shows %+v", got)
		}
	}
	for name, animated := range cases.Sorted(map[string]bool{"animated.webp": true, "sticker.webp": false}) {
		received := g.Phones.Send(t, customerNumber, map[string]any{
			"to": shopNumber, "type": "sticker", "media": client.DataURI("image/webp", mediaFile(t, name)),
		})
		awaitMessage(t, g, id, received)
		message, err := g.Client.GetMessage(t.Context(), id, received)
		if err != nil || message.Media == nil || message.Media.Animated != animated {
			t.Errorf("received %+v (%v)", message, err)
		}
	}
	_, err := g.Client.SendSticker(t.Context(), id, client.Sticker{To: customerNumber, Sticker: client.DataURI("video/mp4", mediaFile(t, "clip.mp4"))})
	if !client.IsCode(err, client.CodeValidationError) {
		t.Errorf("a video as a sticker: %v", err)
	}
}

// album returns the identifiers of the messages of an album that a phone shows, in their order.
func album(t *testing.T, g *testkit.Gateway, number, albumID string) (ids []string) {
	t.Helper()
	for _, message := range g.Phones.Messages(t, number, "") {
		if message.AlbumID == albumID {
			ids = append(ids, message.MessageID)
		}
	}
	return ids
}

// ids are the identifiers of what was sent of an album; "" for what was not.
func ids(sent client.SentAlbum) []string {
	all := make([]string, len(sent.Items))
	for n, item := range sent.Items {
		if item.MessageID != nil {
			all[n] = *item.MessageID
		}
	}
	return all
}

// An album is a frame, and messages that name it: sent at once and from the queue, under a key
// only once, and received.
func TestAlbums(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	sink := followChats(t, g, id).Sink
	shown, clip := client.DataURI("image/png", picture(t)), client.DataURI("video/mp4", mediaFile(t, "clip.mp4"))
	items := []client.AlbumItem{{Image: shown, Caption: "front"}, {Image: shown}, {Video: clip, Caption: "moving"}}

	request := client.Album{To: customerNumber, Items: items, IdempotencyKey: "catalogue"}
	sent, err := g.Client.SendAlbum(t.Context(), id, request)
	if err != nil || len(sent.Items) != 3 || slices.Contains(ids(sent), "") {
		t.Fatalf("sent %+v (%v)", sent, err)
	}
	if frame := g.Phones.AwaitMessage(t, customerNumber, sent.MessageID); frame.Type != "album" || frame.Album == nil || *frame.Album != (content.Album{Images: 2, Videos: 1}) {
		t.Errorf("the phone shows %+v", frame)
	}
	testkit.Await(t, "the album", func() bool { return slices.Equal(album(t, g, customerNumber, sent.MessageID), ids(sent)) })
	if video := g.Phones.AwaitMessage(t, customerNumber, ids(sent)[2]); video.Type != "video" || video.Caption != "moving" || video.MediaSHA256 == "" {
		t.Errorf("the phone shows %+v", video)
	}
	if message := kept(t, g, id, ids(sent)[0]); message.AlbumID == nil || *message.AlbumID != sent.MessageID || message.Type != "image" {
		t.Errorf("kept %+v", message)
	}
	again, err := g.Client.SendAlbum(t.Context(), id, request)
	if err != nil || !again.IdempotencyReplayed || again.MessageID != sent.MessageID || !slices.Equal(ids(again), ids(sent)) {
		t.Errorf("the repeat sent %+v (%v)", again, err)
	}

	// Nothing is sent if a file is wrong.
	before := len(g.Phones.Messages(t, customerNumber, ""))
	_, err = g.Client.SendAlbum(t.Context(), id, client.Album{To: customerNumber, Items: []client.AlbumItem{{Image: shown}, {Image: clip}}})
	testkit.Refused(t, err, http.StatusBadRequest, client.CodeValidationError)
	marker := sendText(t, g, id, "after it")
	g.Phones.AwaitMessage(t, customerNumber, marker.MessageID)
	if after := len(g.Phones.Messages(t, customerNumber, "")); after != before+1 {
		t.Errorf("%d messages more on the phone instead of one", after-before)
	}

	// From the queue, in the same order.
	later, err := g.Client.SendAlbum(t.Context(), id, client.Album{To: customerNumber, Items: items, Prefer: client.RespondAsync})
	if err != nil || !later.Accepted || slices.Contains(ids(later), "") {
		t.Fatalf("queued %+v (%v)", later, err)
	}
	testkit.Await(t, "the album from the queue", func() bool { return slices.Equal(album(t, g, customerNumber, later.MessageID), ids(later)) })

	// Received: each says which album it belongs to, and the frame is no message.
	frame := g.Phones.Send(t, customerNumber, map[string]any{"to": shopNumber, "type": "album", "album": map[string]int{"images": 2}})
	for range 2 {
		messageID := g.Phones.Send(t, customerNumber, map[string]any{"to": shopNumber, "type": "image", "media": shown, "albumId": frame})
		if message := awaitMessage(t, g, id, messageID); message.PlatformID != messageID {
			t.Errorf("received %+v", message)
		}
		if message := kept(t, g, id, messageID); message.AlbumID == nil || *message.AlbumID != frame {
			t.Errorf("received %+v", message)
		}
	}
	if _, err := g.Client.GetMessage(t.Context(), id, frame); !client.IsCode(err, client.CodeMessageNotFound) {
		t.Errorf("the frame is a message: %v", err)
	}
	testkit.Await(t, "the events", func() bool {
		return len(eventsOf[client.MessageReceivedEvent](t, sink, "message.received")) == 2
	})
	for _, event := range eventsOf[client.MessageReceivedEvent](t, sink, "message.received") {
		if event.AlbumID == nil || *event.AlbumID != frame {
			t.Errorf("the event is %+v", event)
		}
	}
}

// What the platform refuses in the middle of an album does not keep the rest back, and the answer
// says what it was; a repeat says the same.
func TestAlbumSaysWhatFailed(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	sendText(t, g, id, "look") // the chat and its keys are known
	shown := client.DataURI("image/png", picture(t))
	request := client.Album{To: customerNumber, IdempotencyKey: "half", Items: []client.AlbumItem{{Image: shown, Caption: "kept"}, {Image: shown}, {Image: shown}}}
	g.Phones.Faults(t, map[string]any{"ackDelayMs": 3_000})
	answers := make(chan client.SentAlbum, 1)
	go func() {
		sent, err := g.Client.SendAlbum(t.Context(), id, request)
		if err != nil {
			t.Error(err)
		}
		answers <- sent
	}()
	// The first one is on the phone, and the next waits for its acknowledgement.
	testkit.Await(t, "the first picture", func() bool {
		return slices.ContainsFunc(g.Phones.Messages(t, customerNumber, ""), func(m testkit.PhoneMessage) bool { return m.Caption == "kept" })
	})
	g.Phones.Faults(t, map[string]any{"sendError": 479})
	sent := <-answers
	if len(sent.Items) != 3 || sent.Items[0].Error != nil {
		t.Fatalf("sent %+v", sent)
	}
	for _, item := range sent.Items[1:] {
		if item.Error == nil || *item.Error != client.CodePlatformError || item.MessageID != nil {
			t.Errorf("the result is %+v", item)
		}
	}
	g.Phones.Faults(t, map[string]any{})
	again, err := g.Client.SendAlbum(t.Context(), id, request)
	if err != nil || !again.IdempotencyReplayed || !slices.Equal(ids(again), ids(sent)) || again.Items[2].Error == nil {
		t.Errorf("the repeat sent %+v (%v)", again, err)
	}
	if got := album(t, g, customerNumber, sent.MessageID); !slices.Equal(got, ids(sent)[:1]) {
		t.Errorf("the phone shows %v of the album", got)
	}
}

// document encodes a document message, as its sender wants it.
func document(file mediahost.Pointer, size uint64, mimeType string) []byte {
	var about []byte
	field := func(number protowire.Number, content []byte) {
		about = protowire.AppendTag(about, number, protowire.BytesType)
		about = protowire.AppendBytes(about, content)
	}
	field(2, []byte(mimeType))
	field(4, file.SHA256)
	about = protowire.AppendTag(about, 5, protowire.VarintType)
	about = protowire.AppendVarint(about, size)
	field(7, file.Key)
	field(8, []byte("note.txt"))
	field(9, file.EncryptedSHA256)
	field(10, []byte(file.DirectPath))
	const documentMessage = 7
	return protowire.AppendBytes(protowire.AppendTag(nil, documentMessage, protowire.BytesType), about)
}

// What a sender says of a file's size need not be true: a file that is too large
// is refused, and nothing of it stays.
func TestFileThatIsLargerThanItSaysIsRefused(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	g, id := testkit.StartLinked(t, testkit.Options{DataDir: data, Blobs: media.BlobsConfig{MaxFile: 100_000}})
	send := func(size int) string {
		file := g.Phones.Upload(t, "document", client.DataURI("text/plain", bytes.Repeat([]byte("x"), size)))
		sent := g.Phones.SendRaw(t, customerNumber, shopNumber, document(file, 10, "text/plain\x00"), nil)
		awaitMessage(t, g, id, sent)
		return sent
	}
	_, err := g.Client.GetMediaDownloadLink(t.Context(), id, send(100_001))
	testkit.Refused(t, err, http.StatusRequestEntityTooLarge, "PAYLOAD_TOO_LARGE")
	for _, folder := range []string{filepath.Join("media", ".incoming"), "tmp"} {
		if left, err := os.ReadDir(filepath.Join(data, folder)); err != nil || len(left) > 0 {
			t.Errorf("%s has %v, %v", folder, left, err)
		}
	}
	if _, err := g.Client.GetMediaDownloadLink(t.Context(), id, send(100_000)); err != nil {
		t.Errorf("a file that is just not too large, and of a malformed type: %v", err)
	}
}

// A file in a form reaches the phone byte by byte, at once and from the queue, and a repeat of
// the same request sends nothing.
func TestFilesInForms(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	clip := mediaFile(t, "clip.mp4")
	for _, later := range []bool{false, true} {
		sent, err := g.Client.SendVideo(t.Context(), id, client.Video{
			To: customerNumber, File: &client.File{Content: bytes.NewReader(clip)}, Caption: "Oi", Prefer: testkit.Prefer(later),
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := g.Phones.AwaitMessage(t, customerNumber, sent.MessageID); got.Type != "video" || got.Caption != "Oi" || got.MediaSize == nil || *got.MediaSize != int64(len(clip)) {
			t.Errorf("the phone shows %+v", got)
		}
	}
	document := func(content string) (client.Sent, error) {
		return g.Client.SendDocument(t.Context(), id, client.Document{
			To: customerNumber, File: &client.File{Content: strings.NewReader(content), Name: "nota fiscal.txt"}, IdempotencyKey: "once",
		})
	}
	first, err := document("one")
	if err != nil {
		t.Fatal(err)
	}
	if got := g.Phones.AwaitMessage(t, customerNumber, first.MessageID); got.FileName != "nota fiscal.txt" {
		t.Errorf("the phone shows %+v", got)
	}
	if again, err := document("one"); err != nil || !again.IdempotencyReplayed || again.ID != first.ID {
		t.Errorf("a repeat: %+v, %v", again, err)
	}
	if _, err := document("two"); !client.IsCode(err, client.CodeIdempotencyConflict) {
		t.Errorf("another file under the same key: %v", err)
	}
}

// The same file to further recipients is left with the platform once, at once and from the queue, and every phone can open it.
// A file to be looked at once is left for itself, and so is one that is sent as something else.
func TestFilesAreLeftWithThePlatformOnce(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{Admin: true})
	drawn := picture(t)
	given := client.DataURI("image/png", drawn)
	size := float64(len(drawn))
	image := func(to string, once bool, prefer string) func() (client.Sent, error) {
		return func() (client.Sent, error) {
			return g.Client.SendImage(t.Context(), id, client.Image{To: to, Image: given, ViewOnce: once, Prefer: prefer})
		}
	}
	for _, c := range []struct {
		to   string
		send func() (client.Sent, error)
		left float64 // bytes so far
	}{
		{customerNumber, image(customerNumber, false, ""), size},
		{otherNumber, image(otherNumber, false, ""), size},
		{customerNumber, image(customerNumber, false, client.RespondAsync), size},
		{customerNumber, image(customerNumber, true, ""), 2 * size},
		{customerNumber, image(customerNumber, true, client.RespondAsync), 3 * size},
		{customerNumber, func() (client.Sent, error) {
			return g.Client.SendDocument(t.Context(), id, client.Document{To: customerNumber, Document: given})
		}, 4 * size},
	} {
		sent, err := c.send()
		if err != nil {
			t.Fatal(err)
		}
		if got := g.Phones.AwaitMessage(t, c.to, sent.MessageID); got.MediaSHA256 != sum(drawn) {
			t.Errorf("the phone shows %+v", got)
		}
		if left := measured(t, g, `recado_media_bytes_total{direction="out"}`); left != c.left {
			t.Errorf("%v bytes were left with the platform, want %v", left, c.left)
		}
	}
}

// A file that was uploaded once is sent many times, as whatever it can be, by every key of the account and no
// other, until its time is over.
func TestUploads(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 14, 0, 0, 0, time.UTC)
	var ahead atomic.Int64
	g, id := testkit.StartLinked(t, testkit.Options{Now: func() time.Time { return at.Add(time.Duration(ahead.Load())) }})
	drawn, document := picture(t), []byte("%PDF-1.4\n%a document\n")
	made, err := g.Partner.CreateUpload(t.Context(), client.NewUpload{File: &client.File{Content: bytes.NewReader(drawn), Name: "a picture.png"}})
	if err != nil {
		t.Fatal(err)
	}
	if made.MimeType != "image/png" || made.FileName != "a picture.png" || made.Size != int64(len(drawn)) || made.SHA256 != sum(drawn) ||
		made.ExpiresAt.Sub(made.CreatedAt) != 30*24*time.Hour || strings.ContainsAny(made.ID, ".-/") {
		t.Errorf("the upload is %+v", made)
	}
	inline, err := g.Client.CreateUpload(t.Context(), client.NewUpload{Media: client.DataURI("application/pdf", document), FileName: "a.pdf"})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range cases.Sorted(map[string]struct {
		send    func(ctx context.Context) (client.Sent, error)
		content []byte
		want    testkit.PhoneMessage
	}{
		"image": {func(ctx context.Context) (client.Sent, error) {
			return g.Client.SendImage(ctx, id, client.Image{To: customerNumber, Image: "upload:" + made.ID})
		}, drawn, testkit.PhoneMessage{Type: "image", MimeType: "image/png"}},
		"document": {func(ctx context.Context) (client.Sent, error) {
			return g.Client.SendDocument(ctx, id, client.Document{To: customerNumber, Document: "upload:" + made.ID})
		}, drawn, testkit.PhoneMessage{Type: "document", MimeType: "image/png", FileName: "a picture.png"}},
		"document, in the queue": {func(ctx context.Context) (client.Sent, error) {
			return g.Client.SendDocument(ctx, id, client.Document{To: customerNumber, Document: "UPLOAD:" + inline.ID, FileName: "b.pdf", Prefer: "respond-async"})
		}, document, testkit.PhoneMessage{Type: "document", MimeType: "application/pdf", FileName: "b.pdf"}},
	}) {
		sent, err := c.send(t.Context())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := g.Phones.AwaitMessage(t, customerNumber, sent.MessageID)
		if got.Type != c.want.Type || got.MimeType != c.want.MimeType || got.FileName != c.want.FileName || got.MediaSHA256 != sum(c.content) {
			t.Errorf("%s: the phone shows %+v", name, got)
		}
	}
	if _, err := g.Client.SendVideo(t.Context(), id, client.Video{To: customerNumber, Video: "upload:" + made.ID}); !client.IsCode(err, client.CodeValidationError) {
		t.Errorf("as a video: %v", err)
	}

	link, err := g.Client.GetUploadDownloadLink(t.Context(), made.ID)
	if err != nil {
		t.Fatal(err)
	}
	if content := download(t, link.URL); !bytes.Equal(content, drawn) {
		t.Errorf("the link leads to %d bytes", len(content))
	}
	account, err := g.Server.Access().EnsureAccount(t.Context(), "another")
	if err != nil {
		t.Fatal(err)
	}
	_, secret, err := g.Server.Access().CreateKey(t.Context(), access.KeyParams{AccountID: account.ID, Name: "another"})
	if err != nil {
		t.Fatal(err)
	}
	stranger := client.New(g.BaseURL, secret)
	if _, err := stranger.GetUpload(t.Context(), made.ID); !client.IsCode(err, client.CodeUploadNotFound) {
		t.Errorf("another account finds it: %v", err)
	}
	if err := stranger.DeleteUpload(t.Context(), made.ID); !client.IsCode(err, client.CodeUploadNotFound) {
		t.Errorf("another account deletes it: %v", err)
	}
	if err := g.Client.DeleteUpload(t.Context(), inline.ID); err != nil {
		t.Error(err)
	}
	list, err := g.Client.ListUploads(t.Context(), 1, 10)
	if err != nil || len(list.Data) != 1 || list.Data[0] != made {
		t.Errorf("there are %+v, %v", list.Data, err)
	}
	ahead.Store(int64(30 * 24 * time.Hour))
	if _, err := g.Client.GetUpload(t.Context(), made.ID); !client.IsCode(err, client.CodeUploadNotFound) {
		t.Errorf("after its time: %v", err)
	}
	if _, err := g.Client.SendImage(t.Context(), id, client.Image{To: customerNumber, Image: "upload:" + made.ID}); !client.IsCode(err, client.CodeValidationError) {
		t.Errorf("it is sent after its time: %v", err)
	}
}
