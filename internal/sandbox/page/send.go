// Messages that somebody writes on a phone.

package page

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/sandbox/content"
	"github.com/recado-project/recado/internal/sandbox/refusal"
	"github.com/recado-project/recado/internal/sandbox/samples"
	"github.com/recado-project/recado/internal/web"
	"github.com/recado-project/recado/internal/web/bubbles"
)

// send lets the phone send a message.
func (p *Page) send(r *request) error {
	if err := r.read(); err != nil {
		return err
	}
	message, err := p.compose(r)
	if err != nil {
		return err
	}
	if _, err := p.config.Phones.SendMessage(r.Context(), r.number(), message); err != nil {
		return err
	}
	return r.done("")
}

// compose reads the message in a form.
func (p *Page) compose(r *request) (content.Outgoing, error) {
	m := content.Outgoing{To: r.chat(), Type: r.field("type")}
	if quoted := r.field("quote"); quoted != "" {
		at, err := strconv.ParseInt(quoted, 10, 64)
		if err != nil {
			return m, refusal.NotFoundf("the phone shows no message in this place")
		}
		bubble, err := p.config.Phones.Bubble(r.Context(), r.number(), at)
		if err != nil {
			return m, err
		}
		m.QuotedMessageID = bubble.MessageID
	}
	switch m.Type {
	case "":
		return p.composeText(r, m)
	case "location":
		var err error
		if m.Latitude, err = r.decimal("latitude"); err != nil {
			return m, err
		}
		m.Longitude, err = r.decimal("longitude")
		m.Name, m.Address = r.field("name"), r.field("address")
		return m, err
	case "contact":
		m.Contact = &content.Contact{FullName: r.field("name"), PhoneNumber: r.field("number"), Organization: r.field("organization")}
	case "event":
		m.Text, m.Event = r.field("text"), &content.Event{Start: inUTC(r.field("start")), End: inUTC(r.field("end")), Description: r.field("description")}
		if place := r.field("name"); place != "" {
			m.Event.Location = &content.Place{Name: place}
		}
	case "content":
		examples, err := content.Examples()
		n := slices.IndexFunc(examples, func(e content.Example) bool { return e.ID == r.field("example") })
		if err != nil || n < 0 {
			return m, errors.Join(err, refusal.Invalidf("example", "there is no such example"))
		}
		m.Content = examples[n].Content
	case "poll":
		m.Text, m.Options = r.field("text"), nil
		if !r.on("several") {
			m.MaxAnswers = 1
		}
		for option := range strings.Lines(r.Form.Get("options")) {
			if option = strings.TrimSpace(option); option != "" {
				m.Options = append(m.Options, option)
			}
		}
	}
	return m, nil
}

// inUTC is a time as browsers write it into a form, in ISO 8601; "" for none.
func inUTC(at string) string {
	if parsed, err := time.Parse("2006-01-02T15:04", at); err == nil {
		return parsed.Format(time.RFC3339)
	}
	return at
}

// mentions are the numbers after an @ in a text.
var mentions = regexp.MustCompile(`@(\d{7,15})\b`)

// maxMentions bounds how many of them are looked for.
const maxMentions = 20

// composeText reads a text, or a file whose caption the text is.
func (p *Page) composeText(r *request, m content.Outgoing) (content.Outgoing, error) {
	m.Text = strings.TrimSpace(strings.ReplaceAll(r.Form.Get("text"), "\r\n", "\n"))
	for _, mention := range mentions.FindAllStringSubmatch(m.Text, maxMentions) {
		m.Mentions = append(m.Mentions, mention[1])
	}
	file, err := r.file("file")
	if err != nil {
		return m, err
	}
	if sample := r.field("sample"); sample != "" {
		bytes, kind, found := samples.Read(samples.Prefix + sample)
		if !found {
			return m, refusal.Invalidf("sample", "there is no such file")
		}
		file = &attachment{content: bytes, name: sample, mimeType: kind}
	}
	if file == nil {
		m.Type = "text"
		return m, nil
	}
	m.Type = typeOf(r.field("as"), file.mimeType)
	m.Media, m.MimeType, m.FileName = file.content, file.mimeType, bubbles.Line(file.name, bubbles.MaxLine)
	m.ViewOnce = r.on("viewOnce") && (m.Type == "image" || m.Type == "video" || m.Type == "voice")
	m.Caption, m.Text = m.Text, ""
	return m, nil
}

// typeOf is the type of the message with a file: what somebody has chosen, or else what
// fits the file.
func typeOf(chosen, mimeType string) string {
	switch chosen {
	case "image", "video", "voice", "audio", "document", "sticker":
		return chosen
	}
	switch kind, _, _ := strings.Cut(mimeType, "/"); kind {
	case "image", "video", "audio":
		return kind
	default:
		return "document"
	}
}

// askMessage answers with the dialog for messages that are no text and no file of one's
// own.
func (p *Page) askMessage(r *request) error {
	return r.dialog("more", struct {
		Path     string
		Samples  []sample
		Examples []example
	}{r.chatPath(), sampleFiles(), exampleKinds()})
}

// sample is a file that comes with the program.
type sample struct {
	File string
	As   string // the type of its message, "" for what fits the file
	Name web.Word
	Icon string
}

func sampleFiles() []sample {
	return []sample{
		{File: "photo.png", Name: web.Word("Picture"), Icon: "image"},
		{File: "clip.mp4", Name: web.Word("Video"), Icon: "video"},
		{File: "voice.ogg", As: "voice", Name: web.Word("Voice message"), Icon: "mic"},
		{File: "tone.mp3", Name: web.Word("Audio"), Icon: "music"},
		{File: "invoice.pdf", Name: web.Word("File"), Icon: "file-text"},
		{File: "sticker.webp", As: "sticker", Name: web.Word("Sticker"), Icon: "sticker"},
	}
}

// example is content of another kind, ready to be sent.
type example struct {
	ID   string // content.Example
	Name web.Word
}

func exampleKinds() []example {
	return []example{
		{"template", web.Word("Template with buttons")},
		{"code", web.Word("Code to sign in with")},
		{"reminder", web.Word("Reminder of an older kind")},
		{"buttons", web.Word("Buttons")},
		{"list", web.Word("List")},
		{"product", web.Word("Product")},
		{"question", web.Word("Question about a product")},
		{"invoice", web.Word("Invoice")},
		{"payment", web.Word("Request for a payment")},
		{"live_location", web.Word("Live location")},
		{"contacts", web.Word("Several contacts")},
	}
}

// setPresence shows the chat that the phone is online, or that somebody types on it.
func (p *Page) setPresence(r *request) error {
	if err := r.read(); err != nil {
		return err
	}
	if err := p.config.Presences.Set(r.Context(), r.number(), r.chat(), r.field("presence")); err != nil {
		return err
	}
	return r.done("")
}

// call lets the phone call the chat.
func (p *Page) call(r *request) error {
	if err := r.read(); err != nil {
		return err
	}
	if _, err := p.config.Calls.Call(r.Context(), r.number(), r.chat(), r.on("video")); err != nil {
		return err
	}
	return r.done(web.Word("It rings on the linked devices of the other side."))
}

// readChat marks what is shown of a chat as read.
func (p *Page) readChat(r *request) error {
	window, err := p.config.Phones.Window(r.Context(), r.number(), r.chat(), 0, maxSize)
	if err != nil {
		return err
	}
	for _, m := range window.Bubbles {
		if m.FromMe || m.Deleted || m.Status == "read" || m.Status == bubbles.Opened {
			continue
		}
		if err := p.config.Phones.MarkRead(r.Context(), r.number(), m.MessageID, false); err != nil {
			return err
		}
	}
	return r.done("")
}
