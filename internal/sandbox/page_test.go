package sandbox_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/skip2/go-qrcode"
	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/sandbox"
	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/content"
	"github.com/recado-project/recado/internal/sandbox/webclient"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// browser is somebody at the page of the phones.
type browser struct {
	w    *world
	lang string
}

// answered is what is known of an answer besides its body.
type answered struct {
	StatusCode int
	Header     http.Header
}

// get opens a path and returns the answer, whose body is read.
func (b browser) get(path string) (answered, string) {
	b.w.tb.Helper()
	return b.do(http.MethodGet, path, "", nil, nil)
}

// page opens a page, which must be there.
func (b browser) page(path string) string {
	b.w.tb.Helper()
	response, body := b.get(path)
	if response.StatusCode != http.StatusOK {
		b.w.tb.Fatalf("%s: %d %s", path, response.StatusCode, body)
	}
	return body
}

// post sends a form as the page's script does.
func (b browser) post(path string, form url.Values) (answered, string) {
	b.w.tb.Helper()
	return b.do(http.MethodPost, path, "application/x-www-form-urlencoded", strings.NewReader(form.Encode()), http.Header{"Hx-Request": {"true"}})
}

// done sends a form that must succeed.
func (b browser) done(path string, form url.Values) http.Header {
	b.w.tb.Helper()
	response, body := b.post(path, form)
	if response.StatusCode/100 != 2 {
		b.w.tb.Fatalf("%s: %d %s", path, response.StatusCode, body)
	}
	return response.Header
}

// upload sends a form with a file.
func (b browser) upload(path, field, fileName string, file []byte, form url.Values) (answered, string) {
	b.w.tb.Helper()
	var body bytes.Buffer
	parts := multipart.NewWriter(&body)
	for name, values := range form {
		_ = parts.WriteField(name, values[0])
	}
	part, err := parts.CreateFormFile(field, fileName)
	if err == nil {
		_, err = part.Write(file)
	}
	if err != nil {
		b.w.tb.Fatal(err)
	}
	_ = parts.Close()
	return b.do(http.MethodPost, path, parts.FormDataContentType(), &body, http.Header{"Hx-Request": {"true"}})
}

func (b browser) do(method, path, kind string, body io.Reader, header http.Header) (answered, string) {
	b.w.tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, "http://sandbox"+path, body)
	if err != nil {
		b.w.tb.Fatal(err)
	}
	maps.Copy(request.Header, header)
	if kind != "" {
		request.Header.Set("Content-Type", kind)
	}
	request.Header.Set("Accept-Language", b.lang)
	response, err := b.w.dial.Do(request)
	if err != nil {
		b.w.tb.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		b.w.tb.Fatal(err)
	}
	return answered{StatusCode: response.StatusCode, Header: response.Header}, string(answer)
}

// open is the address of a phone with a chat.
func open(number, chat string) string {
	if !strings.Contains(chat, "@") {
		chat += "@s.whatsapp.net"
	}
	return "/sandbox?" + url.Values{"left": {number}, "leftChat": {chat}}.Encode()
}

// chatURL and messageURL are the paths of what can be done in a chat, and to the newest
// message of it.
func chatURL(number, chat string) string {
	if !strings.Contains(chat, "@") {
		chat += "@s.whatsapp.net"
	}
	return "/sandbox/ui/phones/" + number + "/chats/" + chat
}

func (w *world) messageURL(number, chat string) string {
	w.tb.Helper()
	bubbles := w.window(number, chat, 0, 1).Bubbles
	if len(bubbles) == 0 {
		w.tb.Fatalf("the phone %s has no message in %s", number, chat)
	}
	return "/sandbox/ui/phones/" + number + "/messages/" + strconv.FormatInt(bubbles[0].Place, 10)
}

// last returns the newest message that a phone shows in a chat.
func (w *world) last(number, chat string) content.Shown {
	w.tb.Helper()
	bubbles := w.window(number, chat, 0, 1).Bubbles
	if len(bubbles) == 0 {
		return content.Shown{}
	}
	return bubbles[0].Shown
}

// example is an example of the page of what people and businesses write.
func example(t *testing.T, id string) json.RawMessage {
	t.Helper()
	examples, err := content.Examples()
	if err != nil {
		t.Fatal(err)
	}
	n := slices.IndexFunc(examples, func(e content.Example) bool { return e.ID == id })
	if n < 0 {
		t.Fatalf("there is no example %s", id)
	}
	return examples[n].Content
}

func TestPageShowsEveryKindOfMessage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := browser{w: w}
	file := func(kind string) string { return dataURI(kind, []byte("the content of a file")) }
	for name, c := range cases.Sorted(map[string]struct {
		message  map[string]any
		sent     []string // what the phone shows that has sent it
		received []string // what the other one shows
	}{
		"text":     {map[string]any{"type": "text", "text": "hello there"}, []string{"hello there", "Delivered"}, []string{"hello there"}},
		"image":    {map[string]any{"type": "image", "media": file("image/png"), "caption": "look"}, []string{"<img", "look"}, []string{"<img", "/file", "look"}},
		"video":    {map[string]any{"type": "video", "media": file("video/mp4")}, []string{"<video controls"}, []string{"<video controls", "/file"}},
		"voice":    {map[string]any{"type": "voice", "media": file("audio/ogg")}, []string{"<audio controls"}, []string{"<audio controls", "/played", "Voice message"}},
		"audio":    {map[string]any{"type": "audio", "media": file("audio/mpeg")}, []string{"<audio controls"}, []string{"<audio controls", `aria-label="Audio"`}},
		"document": {map[string]any{"type": "document", "media": file("application/pdf"), "fileName": "invoice.pdf"}, []string{"invoice.pdf"}, []string{"invoice.pdf", "download", "21 B"}},
		"sticker":  {map[string]any{"type": "sticker", "media": file("image/webp")}, []string{`class="sticker"`}, []string{`class="sticker"`}},
		"location": {map[string]any{"type": "location", "latitude": -23.5, "longitude": -46.6, "name": "MASP", "address": "Paulista"}, []string{`class="map"`}, []string{"MASP", "Paulista", "-23.500000, -46.600000", "<line ", "openstreetmap.org"}},
		"contact":  {map[string]any{"type": "contact", "contact": map[string]string{"fullName": "Ana Souza", "phoneNumber": friend, "organization": "Loja"}}, []string{"Ana Souza"}, []string{"Ana Souza", "+" + friend, "Loja"}},
		"contacts": {map[string]any{"type": "content", "content": example(t, "contacts")}, []string{"Dra. Ana", "Recepção"}, []string{"Dra. Ana", "+5511977770014", "Recepção", "+55 11 3333-0015"}},
		"template": {map[string]any{"type": "content", "content": example(t, "template")}, []string{"Seu pedido saiu", "Acompanhar"}, []string{"Pedido 1234", "Seu pedido saiu", "Recebi", "Acompanhar", "Ligar"}},
		"poll":     {map[string]any{"type": "poll", "text": "Which day?", "options": []string{"Monday", "Friday"}}, []string{"Which day?"}, []string{"Which day?", "<bdi>Monday</bdi>", "<bdi>Friday</bdi>"}},
		"unknown":  {map[string]any{"type": "unsupported"}, []string{"A kind of message"}, []string{"A kind of message that phones can&#39;t show"}},
		"once":     {map[string]any{"type": "image", "media": file("image/png"), "viewOnce": true}, []string{"Can be opened once"}, []string{"Can be opened once", "/opened"}},
	}) {
		c.message["to"] = otherSilent
		var answer struct{ MessageID string }
		w.do(http.MethodPost, "/phones/"+silent+"/messages", c.message, &answer)
		w.message(otherSilent, answer.MessageID, anyMessage)
		w.message(silent, answer.MessageID, hasStatus("delivered"))
		for number, want := range cases.Sorted(map[string][]string{silent: c.sent, otherSilent: c.received}) {
			other := otherSilent
			if number == otherSilent {
				other = silent
			}
			bubble := lastBubble(b.page(open(number, other)))
			for _, text := range want {
				if !strings.Contains(bubble, text) {
					t.Errorf("%s on %s: no %q in %s", name, number, text, bubble)
				}
			}
		}
	}
}

// lastBubble returns the last bubble of a page.
func lastBubble(page string) string {
	_, list, _ := strings.Cut(page, `<ol>`)
	bubbles := regexp.MustCompile(`(?s)<li id="left-m.*?\n</li>`).FindAllString(list, -1)
	if len(bubbles) == 0 {
		return ""
	}
	return bubbles[len(bubbles)-1]
}

func TestPageShowsWhatHappensToMessages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := browser{w: w}
	id := receivedText(w)
	bubble := func() string { return lastBubble(b.page(open(otherSilent, silent))) }
	w.do(http.MethodPost, chatPath(silent, id, "edit"), map[string]string{"text": "a new text"}, nil)
	w.do(http.MethodPost, chatPath(otherSilent, id, "reaction"), map[string]string{"reaction": "👍"}, nil)
	w.message(otherSilent, id, func(m content.Shown) bool { return m.Edited })
	if got := bubble(); !strings.Contains(got, "a new text") || !strings.Contains(got, "edited") || !strings.Contains(got, "👍") {
		t.Errorf("after an edit and a reaction: %s", got)
	}
	w.do(http.MethodDelete, chatPath(silent, id, ""), nil, nil)
	w.message(otherSilent, id, func(m content.Shown) bool { return m.Deleted })
	if got := bubble(); strings.Contains(got, "a new text") || !strings.Contains(got, "This message was deleted") || strings.Contains(got, "data-reply") {
		t.Errorf("after the deletion: %s", got)
	}
	quoted := w.send(silent, otherSilent, "a question")
	w.message(otherSilent, quoted, anyMessage)
	var answer struct{ MessageID string }
	w.do(http.MethodPost, "/phones/"+otherSilent+"/messages", map[string]string{
		"to": silent, "type": "text", "text": "an answer", "quoteMessageId": quoted,
	}, &answer)
	w.message(otherSilent, answer.MessageID, anyMessage)
	if got := bubble(); !strings.Contains(got, "<blockquote>") || !strings.Contains(got, "a question") {
		t.Errorf("the answer: %s", got)
	}
}

// What others write is shown as they wrote it, and does nothing.
func TestPageEscapesAndBoundsWhatOthersWrite(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := browser{w: w}
	const evil = `<script>alert("x")</script>`
	w.do(http.MethodPut, "/phones/"+silent, map[string]string{"name": evil}, nil)
	w.do(http.MethodPost, "/groups", map[string]any{
		"subject": evil, "description": evil, "owner": silent, "participants": []map[string]string{{"number": otherSilent}},
	}, nil)
	for _, message := range []map[string]any{
		{"type": "text", "text": evil},
		{"type": "document", "media": dataURI("text/html", []byte(evil)), "fileName": evil + ".html", "caption": evil},
		{"type": "contact", "contact": map[string]string{"fullName": evil, "phoneNumber": friend, "organization": evil}},
		{"type": "location", "latitude": 1, "longitude": 2, "name": evil, "address": evil},
		{"type": "poll", "text": evil, "options": []string{evil, "b"}},
		{"type": "text", "text": strings.Repeat("long ", 20_000)},
	} {
		var answer struct{ MessageID string }
		message["to"] = otherSilent
		w.do(http.MethodPost, "/phones/"+silent+"/messages", message, &answer)
		w.message(otherSilent, answer.MessageID, anyMessage)
		w.do(http.MethodPost, chatPath(otherSilent, answer.MessageID, "reaction"), map[string]string{"reaction": evil}, nil)
	}
	at := w.messageURL(otherSilent, silent)
	for _, path := range []string{
		open(otherSilent, silent), at, "/sandbox/ui/phones/" + silent, "/sandbox/ui/phones/" + otherSilent + "/chats/new", chatURL(otherSilent, silent),
		"/sandbox?search=" + url.QueryEscape(evil), "/sandbox?left=" + url.QueryEscape(evil),
	} {
		page := b.page(path)
		if strings.Contains(page, "<script>") || strings.Contains(page, "alert(\"x\")") {
			t.Errorf("%s has the script in it", path)
		}
		if len(page) > 100_000 {
			t.Errorf("%s has %d bytes", path, len(page))
		}
	}
	response, whole := b.get(at + "/text")
	if len(whole) != 100_000 || !strings.HasPrefix(response.Header.Get("Content-Type"), "text/plain") {
		t.Errorf("the whole text has %d bytes of %s", len(whole), response.Header.Get("Content-Type"))
	}
}

// A file of somebody else is shown if it is a picture or a sound, and else only saved.
func TestFilesOfMessagesAreNoPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := browser{w: w}
	for kind, want := range cases.Sorted(map[string]string{
		"image/png": "inline", "audio/ogg; codecs=opus": "inline", "video/mp4": "inline",
		"text/html": "attachment", "image/svg+xml": "attachment", "application/pdf": "attachment", "nonsense": "attachment", "text/html; x": "attachment",
	}) {
		var answer struct{ MessageID string }
		w.do(http.MethodPost, "/phones/"+silent+"/messages", map[string]any{
			"to": otherSilent, "type": "document", "media": dataURI("text/plain", []byte("<script>alert(1)</script>")), "mimeType": kind, "fileName": "a\"\r\nb.html",
		}, &answer)
		w.message(otherSilent, answer.MessageID, anyMessage)
		response, body := b.get(w.messageURL(otherSilent, silent) + "/file")
		header := response.Header
		if response.StatusCode != http.StatusOK || body != "<script>alert(1)</script>" {
			t.Fatalf("%s: %d %q", kind, response.StatusCode, body)
		}
		if !strings.HasPrefix(header.Get("Content-Disposition"), want+";") || header.Get("X-Content-Type-Options") != "nosniff" ||
			!strings.HasPrefix(header.Get("Content-Security-Policy"), "sandbox;") || strings.Contains(header.Get("Content-Type"), "html") {
			t.Errorf("%s is answered with %v", kind, header)
		}
	}
	at := w.messageURL(otherSilent, silent)
	if response, body := b.do(http.MethodGet, at+"/file", "", nil, http.Header{"Range": {"bytes=0-6"}}); response.StatusCode != http.StatusPartialContent || body != "<script" {
		t.Errorf("a part of it: %d %q", response.StatusCode, body)
	}
	for _, path := range []string{"/sandbox/ui/phones/" + silent + "/messages/999999/file", strings.Replace(at, otherSilent, friend, 1) + "/file", at + "x/file"} {
		if response, _ := b.get(path); response.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d", path, response.StatusCode)
		}
	}
}

// stream reads the parts of the page that change, from the moment at which it was shown.
func (b browser) stream(page string) (news func() string, closing func()) {
	b.w.tb.Helper()
	found := regexp.MustCompile(`sse-connect="([^"]+)"`).FindStringSubmatch(page)
	if found == nil {
		b.w.tb.Fatal("the page has no stream")
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://sandbox"+html.UnescapeString(found[1]), http.NoBody)
	if err != nil {
		b.w.tb.Fatal(err)
	}
	response, err := b.w.dial.Do(request) //nolint:bodyclose // closing does it
	if err != nil {
		b.w.tb.Fatal(err)
	}
	lines := bufio.NewReader(response.Body)
	return func() string {
			b.w.tb.Helper()
			var event strings.Builder
			for {
				line, err := lines.ReadString('\n')
				if err != nil {
					b.w.tb.Fatalf("the stream ended: %v", err)
				}
				if data, ok := strings.CutPrefix(line, "data: "); ok {
					event.WriteString(data)
				} else if line == "\n" && event.Len() > 0 {
					return event.String()
				}
			}
		}, func() {
			cancel()
			_ = response.Body.Close()
		}
}

// awaitNews reads a stream until it brings all texts.
func awaitNews(tb testing.TB, news func() string, texts ...string) {
	tb.Helper()
	for len(texts) > 0 {
		part := news()
		texts = slices.DeleteFunc(texts, func(text string) bool { return strings.Contains(part, text) })
	}
}

func TestStreamBringsWhatChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := browser{w: w}
	receivedText(w)
	news, closing := b.stream(b.page(open(otherSilent, silent) + "&right=" + silent))
	defer closing()
	id := w.send(silent, otherSilent, "fresh")
	awaitNews(t, news, `id="left-log"`, `id="left-chats"`, "fresh", `id="phones"`)
	w.do(http.MethodPost, chatPath(otherSilent, id, "read"), nil, nil)
	awaitNews(t, news, `title="Read"`)
	w.do(http.MethodPost, "/phones/"+silent+"/presence", map[string]string{"to": otherSilent, "presence": "composing"}, nil)
	awaitNews(t, news, "is typing…")
	w.do(http.MethodPost, "/phones/"+silent+"/ban", nil, nil)
	awaitNews(t, news, "The account is banned.")
	w.do(http.MethodPut, "/faults", map[string]bool{"outdated": true}, nil)
	awaitNews(t, news, "Faults are on")
	w.do(http.MethodGet, "/phones/"+friend, nil, nil)
	awaitNews(t, news, "+"+friend)
}

// A browser gets nothing that it has already, so that nothing moves while a page opens.
func TestStreamBeginsWithWhatIsNew(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := browser{w: w}
	receivedText(w)
	page := b.page(open(otherSilent, silent))
	w.do(http.MethodPut, "/phones/"+silent, map[string]string{"name": "Renamed"}, nil)
	news, closing := b.stream(page)
	defer closing()
	first := news()
	if !strings.Contains(first, "Renamed") || strings.Contains(first, `id="left-log"`) || strings.Contains(first, `id="left-head"`) {
		t.Errorf("the stream begins with %s", first)
	}
}

// A page that was opened before there was anything shows the first phone and its first
// chat by itself.
func TestEmptyPageFillsItself(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := browser{w: w}
	page := b.page("/sandbox")
	if !strings.Contains(page, "No phones yet") {
		t.Error("the empty page does not say so")
	}
	news, closing := b.stream(page)
	defer closing()
	w.do(http.MethodPost, "/phones/"+silent+"/messages", map[string]string{"to": otherSilent, "type": "text", "text": "the first"}, nil)
	awaitNews(t, news, `id="left-head"`, "+"+silent, "the first", `id="left-write"`)
}

func TestStreamsEndWhenTheProgramStops(t *testing.T) {
	t.Parallel()
	stopping := make(chan struct{})
	w := newWorld(t, func(c *sandbox.Config) { c.Stopping = stopping })
	b := browser{w: w}
	page := b.page("/sandbox")
	close(stopping)
	found := regexp.MustCompile(`sse-connect="([^"]+)"`).FindStringSubmatch(page)
	if response, _ := b.get(html.UnescapeString(found[1])); response.StatusCode != http.StatusOK {
		t.Errorf("answered %d", response.StatusCode)
	}
}

func TestPagesOfAChat(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := browser{w: w}
	for i := range 360 {
		w.send(silent, otherSilent, fmt.Sprintf("text %d.", i))
	}
	next := regexp.MustCompile(`href="([^"]+)">[^/]*<svg[^>]*>(?:<[^>]*>\s*)*</svg>Earlier messages`)
	address, shown := open(silent, otherSilent), map[string]bool{}
	for range 20 {
		page := b.page(address)
		for _, text := range regexp.MustCompile(`text \d+\.`).FindAllString(page, -1) {
			shown[text] = true
		}
		found := next.FindStringSubmatch(page)
		if found == nil {
			break
		}
		address = html.UnescapeString(found[1])
	}
	if len(shown) != 360 {
		t.Errorf("the pages show %d messages", len(shown))
	}
	if page := b.page(address); !strings.Contains(page, "Newest messages") {
		t.Error("the earliest page does not lead back")
	}
}

func TestManyPhonesAreSearched(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := browser{w: w}
	for i := range 60 {
		w.do(http.MethodGet, fmt.Sprintf("/phones/49151000%05d", 100+i), nil, nil)
	}
	w.do(http.MethodPut, "/phones/4915100000100", map[string]string{"name": "Zuleika"}, nil)
	cards := func(page string) int { return strings.Count(page, `<li id="phone-`) }
	if page := b.page("/sandbox?left=4915100000159"); cards(page) != 40 || !strings.Contains(page, "20 more phones") {
		t.Errorf("the row has %d phones", cards(page))
	}
	if page := b.page("/sandbox?left=4915100000101"); cards(page) != 41 || !strings.Contains(page, `id="phone-4915100000101" class="here"`) {
		t.Errorf("with one that is open, the row has %d phones", cards(page))
	}
	if page := b.page("/sandbox?left=4915100000159&search=zuLEI"); cards(page) != 2 || !strings.Contains(page, "Zuleika") {
		t.Errorf("the search finds %d phones", cards(page))
	}
}

// Looking at a page makes no phones; only asking for them does.
func TestPageOfAPhoneThatDoesNotExist(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := browser{w: w}
	if page := b.page(open(friend, other)); !strings.Contains(page, "There is no phone with the number "+friend) {
		t.Errorf("the page is %s", page)
	}
	if phones, err := w.server.Profiles.List(t.Context()); err != nil || len(phones) != 0 {
		t.Errorf("there are %d phones, %v", len(phones), err)
	}
	if to := b.done("/sandbox/ui/phones", url.Values{"number": {"+" + friend}, "name": {"Fritz"}}).Get("HX-Redirect"); to != "/sandbox?left="+friend {
		t.Errorf("the page is sent to %q", to)
	}
	if page := b.page(open(friend, other)); !strings.Contains(page, "Fritz") {
		t.Error("the phone was not made")
	}
}

func TestPageSpeaksTheBrowsersLanguage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	receivedText(w)
	for lang, texts := range cases.Sorted(map[string][]string{
		"pt-BR,pt;q=0.9": {`lang="pt-BR"`, "Conversas", "Marcar como lida", "não conectado", "Mensagem"},
		"es-MX,es;q=0.9": {`lang="es"`, "Chats", "Marcar como leído", "no vinculado", "Mensaje"},
	}) {
		page := browser{w: w, lang: lang}.page(open(otherSilent, silent))
		for _, text := range texts {
			if !strings.Contains(page, text) {
				t.Errorf("%s: no %q", lang, text)
			}
		}
	}
	b := browser{w: w, lang: "pt-BR,pt;q=0.9"}
	response, body := b.post("/sandbox/ui/phones", url.Values{"number": {"12"}})
	if response.StatusCode != http.StatusBadRequest || !strings.Contains(body, "um número de telefone tem de 7 a 15 dígitos") &&
		!strings.Contains(body, "Um número de telefone tem de 7 a 15 dígitos") {
		t.Errorf("a wrong number: %d %s", response.StatusCode, body)
	}
	if problem, err := url.PathUnescape(response.Header.Get("X-Problem")); err != nil || !strings.Contains(problem, "dígitos") {
		t.Errorf("the page reads %q, %v", problem, err)
	}
}

func TestMessagesAreWrittenOnThePage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := browser{w: w}
	first := w.send(silent, otherSilent, "a question")
	w.message(otherSilent, first, anyMessage)
	place := w.window(otherSilent, silent, 0, 1).Bubbles[0].Place
	to := chatURL(otherSilent, silent) + "/messages"
	for name, c := range cases.Sorted(map[string]struct {
		form url.Values
		want func(m content.Shown) bool
	}{
		"text":   {url.Values{"text": {" two\r\nlines "}}, func(m content.Shown) bool { return m.Type == "text" && m.Text == "two\nlines" }},
		"answer": {url.Values{"text": {"an answer"}, "quote": {strconv.FormatInt(place, 10)}}, func(m content.Shown) bool { return m.QuotedMessageID == first }},
		"picture": {url.Values{"sample": {"photo.png"}, "text": {"look"}}, func(m content.Shown) bool {
			return m.Type == "image" && m.Caption == "look" && m.MimeType == "image/png"
		}},
		"voice":     {url.Values{"sample": {"voice.ogg"}, "as": {"voice"}, "viewOnce": {"on"}}, func(m content.Shown) bool { return m.Type == "voice" && m.ViewOnce }},
		"sound":     {url.Values{"sample": {"tone.mp3"}}, func(m content.Shown) bool { return m.Type == "audio" }},
		"document":  {url.Values{"sample": {"invoice.pdf"}, "viewOnce": {"on"}}, func(m content.Shown) bool { return m.Type == "document" && m.FileName == "invoice.pdf" && !m.ViewOnce }},
		"sticker":   {url.Values{"sample": {"sticker.webp"}, "as": {"sticker"}}, func(m content.Shown) bool { return m.Type == "sticker" }},
		"location":  {url.Values{"type": {"location"}, "latitude": {"-23,5"}, "longitude": {"46.5"}, "name": {"MASP"}}, func(m content.Shown) bool { return m.Type == "location" && *m.Latitude == -23.5 && m.Name == "MASP" }},
		"contact":   {url.Values{"type": {"contact"}, "name": {"Ana"}, "number": {friend}}, func(m content.Shown) bool { return m.Type == "contact" && m.Contact.FullName == "Ana" }},
		"poll":      {url.Values{"type": {"poll"}, "text": {"which?"}, "options": {"a\r\n\r\nb\r\n"}}, func(m content.Shown) bool { return m.Type == "poll" && m.Text == "which?" }},
		"something": {url.Values{"type": {"unsupported"}}, func(m content.Shown) bool { return m.Type == "unsupported" }},
	}) {
		b.done(to, c.form)
		if m := w.last(otherSilent, silent); !m.FromMe || !c.want(m) {
			t.Errorf("%s became %+v", name, m)
		}
	}
	if response, body := b.upload(to, "file", "clip.mp4", []byte("a video"), url.Values{"as": {"video"}, "text": {"see"}, "viewOnce": {"on"}}); response.StatusCode != http.StatusNoContent {
		t.Errorf("an upload: %d %s", response.StatusCode, body)
	}
	if m := w.last(otherSilent, silent); m.Type != "video" || m.Caption != "see" || !m.ViewOnce || m.MediaSHA256 == "" {
		t.Errorf("the upload became %+v", m)
	}
	for name, form := range cases.Sorted(map[string]url.Values{
		"nothing": {"text": {" "}}, "no number": {"type": {"location"}, "latitude": {"x"}, "longitude": {"1"}}, "no place": {"text": {"x"}, "quote": {"y"}},
		"no file": {"sample": {"../photo.png"}}, "no type": {"type": {"hologram"}},
	}) {
		if response, _ := b.post(to, form); response.StatusCode/100 != 4 || response.Header.Get("X-Problem") == "" {
			t.Errorf("%s: %d", name, response.StatusCode)
		}
	}
}

func TestMessagesAreChangedOnThePage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := browser{w: w}
	receivedText(w)
	mine, theirs := w.messageURL(silent, otherSilent), w.messageURL(otherSilent, silent)
	for _, path := range []string{mine, theirs, mine + "?side=right"} {
		if page := b.page(path); !strings.Contains(page, "Message ID") || strings.Contains(page, "/edit") == strings.HasPrefix(path, theirs) {
			t.Errorf("the dialog at %s is %s", path, page)
		}
	}
	shows := func(what string, want func(m content.Shown) bool) {
		t.Helper()
		w.until(what, func() bool { return want(w.last(otherSilent, silent)) }, func() any { return w.last(otherSilent, silent) })
	}
	b.done(theirs+"/reaction", url.Values{"reaction": {"🎉"}})
	shows("the reaction", func(m content.Shown) bool { return len(m.Reactions) == 1 && m.Reactions[0].Reaction == "🎉" })
	b.done(mine+"/edit", url.Values{"text": {"better"}})
	shows("the edit", func(m content.Shown) bool { return m.Text == "better" })
	b.done(theirs+"/read", nil)
	shows("that it is read", func(m content.Shown) bool { return m.Status == "read" })
	b.done(theirs+"/played", nil)
	shows("that it is played", func(m content.Shown) bool { return m.Status == "played" })
	b.done(mine+"/delete", nil)
	shows("the deletion", func(m content.Shown) bool { return m.Deleted })
	for path, form := range cases.Sorted(map[string]url.Values{theirs + "/edit": {"text": {"x"}}, theirs + "/explode": nil, mine + "/reaction": {"reaction": {"x"}}}) {
		if response, _ := b.post(path, form); response.StatusCode/100 != 4 {
			t.Errorf("%s: %d", path, response.StatusCode)
		}
	}
}

func TestFilesAreForgottenAndOpenedOnceOnThePage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := browser{w: w}
	b.done("/sandbox/ui/phones", url.Values{"number": {otherSilent}})
	b.done("/sandbox/ui/phones", url.Values{"number": {silent}})
	b.done(chatURL(silent, otherSilent)+"/messages", url.Values{"sample": {"photo.png"}, "viewOnce": {"on"}})
	w.until("it arrives", func() bool { return w.last(otherSilent, silent).Type == "image" }, func() any { return w.messages(otherSilent) })
	at := w.messageURL(otherSilent, silent)
	if page := lastBubble(b.page(open(otherSilent, silent))); strings.Contains(page, "/file") {
		t.Errorf("what can be opened once is shown at once: %s", page)
	}
	response, once := b.post(at+"/opened", nil)
	if response.StatusCode != http.StatusOK || !strings.Contains(once, at+"/file") || w.last(otherSilent, silent).Status != "played" {
		t.Errorf("opening it: %d %s", response.StatusCode, once)
	}
	if page := lastBubble(b.page(open(otherSilent, silent))); !strings.Contains(page, "Opened") || strings.Contains(page, "/opened") {
		t.Errorf("what was opened once is %s", page)
	}
	b.done(at+"/forget", url.Values{"everywhere": {"yes"}})
	if response, _ := b.get(at + "/file"); response.StatusCode != http.StatusNotFound {
		t.Errorf("the file that all have lost: %d", response.StatusCode)
	}
}

func TestChatsAreReadAndCalledOnThePage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := browser{w: w}
	c := w.newClient().link(gateway)
	for _, text := range []string{"one", "two"} {
		w.message(silent, c.text(silent, text), anyMessage)
	}
	at := chatURL(silent, gateway)
	if page := b.page(open(silent, gateway)); !strings.Contains(page, "2 unread messages") || !strings.Contains(page, at+"/read") {
		t.Error("the page does not say what is unread")
	}
	b.done(at+"/read", nil)
	if page := b.page(open(silent, gateway)); strings.Contains(page, "unread") && strings.Contains(page, at+"/read") {
		t.Error("the page shows what was read as unread")
	}
	b.done(at+"/call", url.Values{"video": {"on"}})
	expect[*events.CallOffer](c, nil)
	b.done(at+"/presence", url.Values{"presence": {"composing"}})
	w.activity(gateway, func(a account.Activity) bool { return a.Value == "composing" })
	if page := b.page(open(gateway, silent)); !strings.Contains(page, "is typing…") {
		t.Error("the other phone does not show that somebody types")
	}
	if response, _ := b.post(at+"/presence", url.Values{"presence": {"asleep"}}); response.StatusCode != http.StatusBadRequest {
		t.Errorf("an unknown presence: %d", response.StatusCode)
	}
}

func TestPhonesAreSwitchedOnThePage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := browser{w: w}
	c := w.newClient().link(gateway)
	at := "/sandbox/ui/phones/" + gateway
	phone := func() account.Phone {
		t.Helper()
		shown, _, err := w.server.Profiles.Look(t.Context(), gateway)
		if err != nil {
			t.Fatal(err)
		}
		return shown
	}
	if dialog := b.page(at); !strings.Contains(dialog, "Unlink all") || !strings.Contains(dialog, phone().LID) {
		t.Errorf("the dialog is %s", dialog)
	}
	b.done(at+"/do/offline", nil)
	if phone().Online || !strings.Contains(b.page("/sandbox?left="+gateway), "The phone is offline") {
		t.Error("the phone is still online")
	}
	b.done(at+"/do/online", nil)
	if response, body := b.upload(at, "picture", "me.png", picture(t, 4, 4), url.Values{"name": {"Zé"}, "online": {"on"}, "registered": {"on"}, "hidesNumber": {"on"}}); response.StatusCode != http.StatusNoContent {
		t.Fatalf("saving: %d %s", response.StatusCode, body)
	}
	if p := phone(); p.Name != "Zé" || p.PictureID == "" || !p.HidesNumber || !p.Online || !p.Registered {
		t.Errorf("saved was %+v", p)
	}
	if page := b.page("/sandbox?left=" + gateway); !strings.Contains(page, "/sandbox/pictures/"+phone().PictureID) {
		t.Error("the page does not show the picture")
	}
	b.done(at, url.Values{"name": {"Zé"}, "online": {"on"}, "registered": {"on"}, "removePicture": {"on"}})
	if p := phone(); p.PictureID != "" || p.HidesNumber {
		t.Errorf("saved was %+v", p)
	}
	b.done(at+"/do/restrict", url.Values{"seconds": {"60"}})
	if page := b.page("/sandbox?left=" + gateway); !strings.Contains(page, "can&#39;t write to new contacts until") {
		t.Error("the page does not say that the account is restricted")
	}
	b.done(at+"/do/lift-restriction", nil)
	b.done(at+"/do/lose-keys", nil)
	b.done(at+"/do/ban", url.Values{"seconds": {"600"}})
	expect[*events.TemporaryBan](c, nil)
	if page := b.page("/sandbox?left=" + gateway); !strings.Contains(page, "The account is banned until") {
		t.Error("the page does not say that the account is banned")
	}
	b.done(at+"/do/lift-ban", nil)
	c.restart()
	expect[*events.Connected](c, nil)
	b.done(at+"/do/disconnect", nil)
	expect[*events.Disconnected](c, nil)
	expect[*events.Connected](c, nil)
	b.done(at+"/do/unlink", nil)
	expect[*events.LoggedOut](c, nil)
	if p := phone(); len(p.Devices) != 0 {
		t.Errorf("still linked are %v", p.Devices)
	}
	for path, form := range cases.Sorted(map[string]url.Values{at + "/do/explode": nil, at + "/do/ban": {"seconds": {"-1"}}, at: {"name": {" "}}, "/sandbox/ui/phones/" + friend: {"name": {"x"}}}) {
		if response, _ := b.post(path, form); response.StatusCode/100 != 4 {
			t.Errorf("%s: %d", path, response.StatusCode)
		}
	}
}

func TestGroupsAreMadeOnThePage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := browser{w: w}
	receivedText(w)
	at := "/sandbox/ui/phones/" + silent
	if dialog := b.page(at + "/chats/new"); !strings.Contains(dialog, otherSilent) {
		t.Errorf("the dialog does not offer the other phone: %s", dialog)
	}
	if to := b.done(at+"/chats?side=right", url.Values{"number": {friend}}).Get("HX-Redirect"); to != "/sandbox?right="+silent+"&rightChat="+friend+"%40s.whatsapp.net" {
		t.Errorf("the new chat is at %s", to)
	}
	to := b.done(at+"/groups", url.Values{"subject": {"walk"}, "description": {"on Sunday"}, "member": {otherSilent}, "numbers": {friend + ", " + other}}).Get("HX-Redirect")
	made, err := w.server.Groups.List(t.Context())
	if err != nil || len(made) != 1 || len(made[0].Participants) != 4 || made[0].Subject != "walk" {
		t.Fatalf("made were %+v, %v", made, err)
	}
	page := b.page(to)
	if !strings.Contains(page, "walk") || !strings.Contains(page, `name="text"`) {
		t.Errorf("the page of the group is %s", page)
	}
	group := chatURL(silent, made[0].ID)
	b.done(chatURL(otherSilent, made[0].ID)+"/messages", url.Values{"text": {"coming"}})
	w.until("it arrives", func() bool { return w.last(silent, made[0].ID).Text == "coming" }, func() any { return w.messages(silent) })
	if bubble := lastBubble(b.page(to)); !strings.Contains(bubble, `class="sender"`) {
		t.Errorf("the message does not say who has sent it: %s", bubble)
	}
	b.done(group, url.Values{"settings": {"yes"}, "subject": {"run"}, "description": {""}, "announcement": {"on"}})
	if page := b.page(open(otherSilent, made[0].ID)); !strings.Contains(page, "Only admins can write to this group.") || strings.Contains(page, `name="text"`) {
		t.Error("a member who may not write is not told so")
	}
	b.done(group, url.Values{"number": {otherSilent}, "what": {"promote"}})
	if dialog := b.page(chatURL(otherSilent, made[0].ID)); !strings.Contains(dialog, "Add numbers") || !strings.Contains(dialog, "Demote") {
		t.Errorf("an admin can't change the group: %s", dialog)
	}
	b.done(group, url.Values{"number": {otherSilent}, "what": {"demote"}})
	b.done(group, url.Values{"number": {otherSilent}, "what": {"remove"}})
	if page := b.page(open(otherSilent, made[0].ID)); !strings.Contains(page, "This phone is not in the group any more.") {
		t.Error("who was removed is not told so")
	}
}

func TestFaultsAreSetOnThePage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := browser{w: w}
	const at = "/sandbox/ui/faults"
	b.done(at, url.Values{
		"ackDelay": {"1500"}, "lost": {"25"}, "sendError": {"463"}, "silent": {"login"}, "stallMedia": {"0"}, "padding": {"7"}, "refuseLogins": {"on"},
		"oldestVersion": {"2.3000.17"}, "newestVersion": {"2.3000.18"}, "versionPage": {"down"},
	})
	f := w.server.Faults.Current()
	if f.AckDelay != 1500*time.Millisecond || f.DropAcks != 0.25 || f.SendError != 463 || f.Silent != "login" || f.StallMedia == nil ||
		*f.StallMedia != 0 || f.StallHistory != nil || f.MediaPadding != 7 || !f.RefuseLogins || f.Outdated ||
		f.OldestVersion[2] != 17 || f.NewestVersion[2] != 18 || f.VersionPage != webclient.Down {
		t.Errorf("set is %+v", f.Faults)
	}
	if dialog := b.page(at); !strings.Contains(dialog, `value="1500"`) || !strings.Contains(dialog, `value="login" selected`) || !strings.Contains(dialog, `value="2.3000.17"`) || !strings.Contains(dialog, `value="down" selected`) || !strings.Contains(dialog, `name="stallMedia" inputmode="numeric" value="0"`) {
		t.Errorf("the dialog is %s", dialog)
	}
	for _, form := range []url.Values{{"lost": {"101"}}, {"ackDelay": {"x"}}, {"ackDelay": {"99999999999999"}}, {"silent": {"lunch"}}, {"sendError": {"-1"}}, {"oldestVersion": {"17"}}, {"versionPage": {"lunch"}}} {
		if response, _ := b.post(at, form); response.StatusCode != http.StatusBadRequest {
			t.Errorf("%v: %d", form, response.StatusCode)
		}
	}
	b.done(at, url.Values{"none": {"yes"}, "lost": {"25"}})
	if f := w.server.Faults.Current(); f.Any() {
		t.Errorf("still set is %+v", f.Faults)
	}
	b.done(at, url.Values{"lost": {"29"}})
	if dialog := b.page(at); !strings.Contains(dialog, `name="lost" inputmode="numeric" value="29"`) {
		t.Errorf("29 percent are shown as %s", dialog) // 0.29 has no exact form in binary
	}
	b.done(at, url.Values{"none": {"yes"}})
	b.done(at+"/disconnect", nil)
}

// A code is linked by its picture, its text, or by being typed.
func TestCodesAreScannedOnThePage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := browser{w: w}
	w.do(http.MethodGet, "/phones/"+gateway, nil, nil)
	at := "/sandbox/ui/phones/" + gateway + "/scan"
	if dialog := b.page(at); !strings.Contains(dialog, "Paste one below") {
		t.Errorf("the dialog is %s", dialog)
	}
	for name, scan := range cases.Sorted(map[string]func(c *client, code string) (answered, string){
		"text": func(_ *client, code string) (answered, string) { return b.post(at, url.Values{"text": {code}}) },
		"picture": func(_ *client, code string) (answered, string) {
			file, err := qrcode.Encode(code, qrcode.Low, 300)
			if err != nil {
				t.Fatal(err)
			}
			return b.upload(at, "picture", "code.png", file, nil)
		},
		"pasted picture": func(_ *client, code string) (answered, string) {
			file, err := qrcode.Encode(code, qrcode.Low, 300)
			if err != nil {
				t.Fatal(err)
			}
			return b.post(at, url.Values{"text": {"data:image/png;base64," + base64.StdEncoding.EncodeToString(file)}})
		},
		"typed": func(c *client, _ string) (answered, string) {
			code, err := c.PairPhone(context.Background(), gateway, true, whatsmeow.PairClientChrome, "Chrome (Linux)")
			if err != nil {
				t.Fatal(err)
			}
			return b.post(at, url.Values{"code": {code}})
		},
	}) {
		c := w.newClient()
		c.connect()
		codes := expect[*events.QR](c, nil)
		if response, body := scan(c, codes.Codes[0]); response.StatusCode != http.StatusNoContent {
			t.Errorf("%s: %d %s", name, response.StatusCode, body)
			continue
		}
		expect[*events.Connected](c, nil)
	}
	for name, form := range cases.Sorted(map[string]url.Values{"nothing": {}, "no code": {"text": {"hello"}}, "gone": {"id": {"x"}}, "no picture": {"text": {"data:image/png;base64,AA"}}}) {
		if response, _ := b.post(at, form); response.StatusCode/100 != 4 || response.Header.Get("X-Problem") == "" {
			t.Errorf("%s: %d", name, response.StatusCode)
		}
	}
}

// Every answer has the headers that keep scripts out, and other sites can't post.
func TestPageIsProtected(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := browser{w: w}
	for _, path := range []string{"/sandbox", "/sandbox/ui/faults", "/sandbox/ui/phones/new", "/sandbox/ui/nothing"} {
		response, _ := b.get(path)
		if policy := response.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "script-src 'self';") {
			t.Errorf("%s has the policy %q", path, policy)
		}
	}
	response, _ := b.do(http.MethodPost, "/sandbox/ui/faults", "application/x-www-form-urlencoded", strings.NewReader("outdated=on"), http.Header{"Sec-Fetch-Site": {"cross-site"}})
	if response.StatusCode != http.StatusForbidden || w.server.Faults.Current().Any() {
		t.Errorf("another site sets faults: %d", response.StatusCode)
	}
	if response, _ := b.do(http.MethodPost, "/sandbox/ui/faults", "application/x-www-form-urlencoded", strings.NewReader(strings.Repeat("x", 2<<20)), nil); response.StatusCode/100 != 4 {
		t.Errorf("a form that is too large: %d", response.StatusCode)
	}
	// A browser without the page's script is led back to the page.
	if response, body := b.do(http.MethodPost, "/sandbox/ui/faults", "application/x-www-form-urlencoded", strings.NewReader("none=yes"), nil); response.StatusCode != http.StatusOK || !strings.Contains(body, "<html") {
		t.Errorf("a plain form: %d", response.StatusCode)
	}
}
