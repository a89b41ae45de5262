package sandbox_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"image"
	"image/png"
	"net/http"
	"net/http/httptest"
	"testing"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"
	"google.golang.org/protobuf/proto"

	"github.com/recado-project/recado/internal/sandbox"
	"github.com/recado-project/recado/internal/sandbox/content"
)

// post lets a phone send a message of any type and returns its ID.
func (w *world) post(number string, body map[string]any) string {
	w.tb.Helper()
	var answer struct{ MessageID string }
	w.do(http.MethodPost, "/phones/"+number+"/messages", body, &answer)
	return answer.MessageID
}

// say lets the client send a message to a person or group, and returns its ID.
func (c *client) say(to types.JID, message *waE2E.Message) string {
	c.w.tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	response, err := c.SendMessage(ctx, to, message)
	if err != nil {
		c.w.tb.Fatalf("send: %v", err)
	}
	return response.ID
}

// message waits for the message with an ID.
func (c *client) message(id string) *events.Message {
	c.w.tb.Helper()
	return expect(c, func(m *events.Message) bool { return m.Info.ID == id })
}

func pn(number string) types.JID { return types.NewJID(number, types.DefaultUserServer) }

func dataURI(kind string, file []byte) string {
	return "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(file)
}

func hashOf(file []byte) string {
	sum := sha256.Sum256(file)
	return hex.EncodeToString(sum[:])
}

// picture draws a picture of that size.
func picture(t *testing.T, width, height int) []byte {
	t.Helper()
	var file bytes.Buffer
	if err := png.Encode(&file, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// upload puts a file on the media host.
func (c *client) upload(file []byte, kind whatsmeow.MediaType) whatsmeow.UploadResponse {
	c.w.tb.Helper()
	up, err := c.Upload(context.Background(), file, kind)
	if err != nil {
		c.w.tb.Fatalf("upload: %v", err)
	}
	return up
}

func imageMessage(up whatsmeow.UploadResponse, caption string) *waE2E.Message {
	return &waE2E.Message{ImageMessage: &waE2E.ImageMessage{
		URL: &up.URL, DirectPath: &up.DirectPath, MediaKey: up.MediaKey, FileEncSHA256: up.FileEncSHA256,
		FileSHA256: up.FileSHA256, FileLength: &up.FileLength, Mimetype: new("image/png"), Caption: &caption,
	}}
}

func audioMessage(up whatsmeow.UploadResponse, ptt bool) *waE2E.Message {
	return &waE2E.Message{AudioMessage: &waE2E.AudioMessage{
		URL: &up.URL, DirectPath: &up.DirectPath, MediaKey: up.MediaKey, FileEncSHA256: up.FileEncSHA256,
		FileSHA256: up.FileSHA256, FileLength: &up.FileLength, Mimetype: new("audio/ogg; codecs=opus"), PTT: &ptt,
	}}
}

func TestPhoneFetchesTheMediaOfAClient(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newClient().link(gateway)
	file := bytes.Repeat([]byte("media "), 20_000)
	up := c.upload(file, whatsmeow.MediaImage)
	sound := c.upload(file, whatsmeow.MediaAudio)
	film := c.upload(file, whatsmeow.MediaVideo)
	paper := c.upload(file, whatsmeow.MediaDocument)
	once := &waE2E.FutureProofMessage{Message: imageMessage(up, "once")}
	video := &waE2E.Message{VideoMessage: &waE2E.VideoMessage{
		DirectPath: &film.DirectPath, MediaKey: film.MediaKey, FileEncSHA256: film.FileEncSHA256,
		FileSHA256: film.FileSHA256, FileLength: &film.FileLength, Mimetype: new("video/mp4"), Caption: new("film"),
	}}
	document := &waE2E.DocumentMessage{
		DirectPath: &paper.DirectPath, MediaKey: paper.MediaKey, FileEncSHA256: paper.FileEncSHA256, FileSHA256: paper.FileSHA256,
		FileLength: &paper.FileLength, Mimetype: new("application/pdf"), Caption: new("paper"), FileName: new("paper.pdf"),
	}
	sticker := &waE2E.Message{StickerMessage: &waE2E.StickerMessage{
		DirectPath: &up.DirectPath, MediaKey: up.MediaKey, FileEncSHA256: up.FileEncSHA256,
		FileSHA256: up.FileSHA256, FileLength: &up.FileLength, Mimetype: new("image/webp"),
	}}
	for _, m := range []struct {
		message *waE2E.Message
		want    content.Shown
	}{
		{imageMessage(up, "look"), content.Shown{Type: "image", Caption: "look", MimeType: "image/png"}},
		{&waE2E.Message{ViewOnceMessageV2: once}, content.Shown{Type: "image", Caption: "once", MimeType: "image/png", ViewOnce: true}},
		{video, content.Shown{Type: "video", Caption: "film", MimeType: "video/mp4"}},
		{audioMessage(sound, true), content.Shown{Type: "voice", MimeType: "audio/ogg; codecs=opus"}},
		{
			&waE2E.Message{ViewOnceMessageV2Extension: &waE2E.FutureProofMessage{Message: audioMessage(sound, true)}},
			content.Shown{Type: "voice", MimeType: "audio/ogg; codecs=opus", ViewOnce: true},
		},
		{audioMessage(sound, false), content.Shown{Type: "audio", MimeType: "audio/ogg; codecs=opus"}},
		{
			&waE2E.Message{DocumentWithCaptionMessage: &waE2E.FutureProofMessage{Message: &waE2E.Message{DocumentMessage: document}}},
			content.Shown{Type: "document", Caption: "paper", MimeType: "application/pdf", FileName: "paper.pdf"},
		},
		{sticker, content.Shown{Type: "sticker", MimeType: "image/webp"}},
	} {
		id := c.say(pn(friend), m.message)
		for _, number := range []string{friend, gateway} {
			got := w.message(number, id, anyMessage)
			if got.Type != m.want.Type || got.Caption != m.want.Caption || got.MimeType != m.want.MimeType ||
				got.FileName != m.want.FileName || got.ViewOnce != m.want.ViewOnce ||
				got.MediaSHA256 != hashOf(file) || got.MediaSize == nil || *got.MediaSize != int64(len(file)) {
				t.Errorf("%s shows %+v, want %+v", number, got, m.want)
			}
		}
	}
}

func TestUnreadableMediaIsShownAsMissing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newClient().link(gateway)
	up := c.upload([]byte("a picture"), whatsmeow.MediaImage)
	wrongKey := imageMessage(up, "wrong key")
	wrongKey.ImageMessage.MediaKey = bytes.Repeat([]byte{7}, 32)
	wrongPath := imageMessage(up, "nowhere")
	wrongPath.ImageMessage.DirectPath = new("/v/nothing.enc?x=1")
	for _, message := range []*waE2E.Message{wrongKey, wrongPath} {
		id := c.say(pn(friend), message)
		if m := w.message(friend, id, anyMessage); m.MediaSHA256 != "" || m.MediaSize != nil || m.Type != "image" {
			t.Errorf("shown as %+v", m)
		}
	}
}

func TestClientReadsTheMediaOfAPhone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(cfg *sandbox.Config) { cfg.AllowPrivateURLs = true })
	c := w.newClient().link(gateway)
	drawn := picture(t, 30, 20)
	web := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, _ *http.Request) {
		answer.Header().Set("Content-Type", "video/mp4")
		_, _ = answer.Write([]byte("a film"))
	}))
	t.Cleanup(web.Close)
	for _, m := range []struct {
		body    map[string]any
		content []byte
		check   func(*waE2E.Message) bool
	}{
		{
			map[string]any{"type": "image", "media": dataURI("image/png", drawn), "caption": "drawn"},
			drawn,
			func(m *waE2E.Message) bool {
				v := m.GetImageMessage()
				return v.GetCaption() == "drawn" && v.GetMimetype() == "image/png" && v.GetWidth() == 30 && v.GetHeight() == 20
			},
		},
		{
			map[string]any{"type": "image", "media": dataURI("image/png", drawn), "viewOnce": true},
			drawn,
			func(m *waE2E.Message) bool { return m.GetImageMessage().GetViewOnce() },
		},
		{
			map[string]any{"type": "video", "media": web.URL + "/film.mp4"},
			[]byte("a film"),
			func(m *waE2E.Message) bool { return m.GetVideoMessage().GetMimetype() == "video/mp4" },
		},
		{
			map[string]any{"type": "voice", "media": dataURI("audio/ogg; codecs=opus", []byte("hum"))},
			[]byte("hum"),
			func(m *waE2E.Message) bool {
				return m.GetAudioMessage().GetPTT() && m.GetAudioMessage().GetMimetype() == "audio/ogg; codecs=opus"
			},
		},
		{
			map[string]any{"type": "audio", "media": dataURI("audio/mpeg", []byte("song"))},
			[]byte("song"),
			func(m *waE2E.Message) bool { return !m.GetAudioMessage().GetPTT() },
		},
		{
			map[string]any{"type": "document", "media": dataURI("application/pdf", []byte("paper")), "fileName": "p.pdf", "caption": "read"},
			[]byte("paper"),
			func(m *waE2E.Message) bool {
				return m.GetDocumentMessage().GetFileName() == "p.pdf" && m.GetDocumentMessage().GetCaption() == "read"
			},
		},
		{
			map[string]any{"type": "sticker", "media": dataURI("image/webp", []byte("webp"))},
			[]byte("webp"),
			func(m *waE2E.Message) bool { return m.GetStickerMessage().GetMimetype() == "image/webp" },
		},
	} {
		m.body["to"] = gateway
		id := w.post(friend, m.body)
		event := c.message(id)
		if event.Info.Type != "media" || !m.check(event.Message) {
			t.Errorf("%s came as %+v %+v", m.body["type"], event.Info, event.Message)
		}
		got, err := c.DownloadAny(context.Background(), event.Message) //nolint:staticcheck // any kind is what is wanted
		if err != nil || !bytes.Equal(got, m.content) {
			t.Errorf("%s: downloaded %d bytes (%v)", m.body["type"], len(got), err)
		}
		for _, number := range []string{friend, gateway} {
			if shown := w.message(number, id, anyMessage); shown.MediaSHA256 != hashOf(m.content) || shown.Type != m.body["type"] {
				t.Errorf("%s shows %+v", number, shown)
			}
		}
	}
}

func TestPlacesContactsQuotesAndForwards(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newClient().link(gateway)
	first := w.send(friend, gateway, "first")
	c.got("first")
	place := w.post(friend, map[string]any{
		"to": gateway, "type": "location", "latitude": -23.5, "longitude": -46.25, "name": "Square", "address": "Street 1", "quoteMessageId": first,
	})
	v := c.message(place).Message.GetLocationMessage()
	if v.GetDegreesLatitude() != -23.5 || v.GetDegreesLongitude() != -46.25 || v.GetName() != "Square" || v.GetAddress() != "Street 1" ||
		v.GetContextInfo().GetStanzaID() != first {
		t.Errorf("the place came as %+v", v)
	}
	card := w.post(friend, map[string]any{
		"to": gateway, "type": "contact",
		"contact": map[string]string{"fullName": "Doe, Jane", "phoneNumber": "+49 151 00000014", "organization": "A; B"},
	})
	if shown := c.message(card).Message.GetContactMessage(); shown.GetDisplayName() != "Doe, Jane" {
		t.Errorf("the contact came as %+v", shown)
	}
	back := c.say(pn(friend), &waE2E.Message{ContactMessage: c.message(card).Message.GetContactMessage()})
	got := w.message(friend, back, anyMessage)
	want := content.Contact{FullName: "Doe, Jane", PhoneNumber: "4915100000014", Organization: "A; B"}
	if got.Type != "contact" || got.Contact == nil || *got.Contact != want {
		t.Errorf("the phone shows %+v, %+v", got, got.Contact)
	}
	passed := c.say(pn(friend), &waE2E.Message{LocationMessage: &waE2E.LocationMessage{
		DegreesLatitude: new(1.5), DegreesLongitude: new(2.5),
		ContextInfo: &waE2E.ContextInfo{IsForwarded: new(true), StanzaID: &first, Participant: new(pn(friend).String())},
	}})
	got = w.message(friend, passed, anyMessage)
	if got.Type != "location" || *got.Latitude != 1.5 || *got.Longitude != 2.5 || !got.Forwarded || got.QuotedMessageID != first {
		t.Errorf("the phone shows %+v", got)
	}
}

func TestLostMediaIsPutOnTheHostAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newClient().link(gateway)
	file := picture(t, 10, 10)
	ctx := context.Background()
	id := w.post(friend, map[string]any{"to": gateway, "type": "image", "media": dataURI("image/png", file)})
	m := c.message(id)
	w.message(gateway, id, anyMessage)
	message := proto.CloneOf(m.Message.GetImageMessage())
	ask := func() (*events.MediaRetry, error) {
		c.forget()
		if _, err := c.Download(ctx, message); !errors.Is(err, whatsmeow.ErrMediaDownloadFailedWith404) {
			t.Errorf("a download of what is gone says %v", err)
		}
		err := c.SendMediaRetryReceipt(ctx, &m.Info, message.GetMediaKey())
		return expect(c, func(e *events.MediaRetry) bool { return e.MessageID == id }), err
	}
	w.do(http.MethodDelete, chatPath(gateway, id, "media"), nil, nil)
	answer, err := ask()
	if err != nil {
		t.Fatal(err)
	}
	retry, err := whatsmeow.DecryptMediaRetryNotification(answer, message.GetMediaKey())
	if err != nil {
		t.Fatal(err)
	}
	message.DirectPath = retry.DirectPath
	if got, err := c.Download(ctx, message); err != nil || !bytes.Equal(got, file) {
		t.Errorf("downloaded %d bytes (%v)", len(got), err)
	}
	w.do(http.MethodDelete, chatPath(friend, id, "media?everywhere=true"), nil, nil)
	if answer, err = ask(); err != nil {
		t.Fatal(err)
	}
	if _, err := whatsmeow.DecryptMediaRetryNotification(answer, message.GetMediaKey()); !errors.Is(err, whatsmeow.ErrMediaNotAvailableOnPhone) {
		t.Errorf("the phone answered %+v", answer)
	}
}
