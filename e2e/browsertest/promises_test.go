// What pages promise whoever acts on them: once, said at the field, and live where they say so.

package browsertest_test

import (
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/recado-project/recado/e2e/browsertest/browser"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/await"
)

// A message is sent once by a double click, by two clicks while the first is under way, and where
// the answer is lost and the same is sent again.
func TestMessageIsSentOnce(t *testing.T) {
	t.Parallel()
	w := start(t, testkit.Options{})
	id := w.Link(t, shopNumber)
	link := newLine(t, w.BaseURL)
	p := browser.New(t, link.url)
	p.Open(strings.Replace(w.ownersLink(), w.BaseURL, link.url, 1))
	p.AwaitPath("/instances")
	p.Open("/instances/" + id + "/chats?chat=" + customerNumber + "@s.whatsapp.net")
	p.Click("[data-dialog=new-message]")
	const button = `#new-message button[type="submit"]`

	p.Fill("#text", "a double click")
	p.DoubleClick(button)
	p.AwaitText(".toast", "Sent.")
	p.Fill("#text", "two clicks")
	p.Eval(`(() => { const button = document.querySelector('`+button+`'); button.click(); button.click(); })()`, nil)
	p.AwaitText("#inbox-log", "two clicks")

	p.Forgive("ERR_")
	p.Forgive("htmx:")
	p.Forgive("[object Event]") // what htmx says of a stream that ends
	p.Fill("#text", "a lost answer")
	link.loseAnswers()
	p.Click(button)
	p.AwaitText(".toast.bad", "can't be reached")
	link.restore()
	p.Click(button)
	p.AwaitText("#inbox-log", "a lost answer")
	p.Fill("#text", "the end")
	p.Click(button)
	texts := map[string]int{}
	await.Until(t, "the last message", func() bool {
		clear(texts)
		for _, message := range w.Phones.Messages(t, customerNumber, "") {
			texts[message.Text]++
		}
		return texts["the end"] > 0
	})
	for _, text := range []string{"a double click", "two clicks", "a lost answer", "the end"} {
		if texts[text] != 1 {
			t.Errorf("%q is on the phone %d times", text, texts[text])
		}
	}
}

// A page says that it is not live while the gateway is away, however long, and that it is when
// the gateway is back.
func TestPageSaysWhetherItIsLive(t *testing.T) {
	t.Parallel()
	w := start(t, testkit.Options{})
	id := w.Link(t, shopNumber)
	w.Phones.SendText(t, customerNumber, shopNumber, "Oi!")
	link := newLine(t, w.BaseURL)
	p := browser.New(t, link.url)
	p.Forgive("ERR_")
	p.Forgive("[object Event]") // what htmx says of a stream that ends
	p.Open(strings.Replace(w.ownersLink(), w.BaseURL, link.url, 1))
	p.AwaitPath("/instances")
	for _, path := range []string{"/instances", "/instances/" + id, "/instances/" + id + "/events", "/sandbox"} {
		p.Open(path)
		p.AwaitGone(".offline")
		events := strings.HasSuffix(path, "/events")
		if events {
			p.AwaitText(".live", "Live")
		}
		link.cut()
		p.AwaitText(".offline", "Not live")
		if events {
			p.AwaitGone(".live")
		}
		link.restore()
		p.AwaitGone(".offline")
		if events {
			p.AwaitText(".live", "Live")
		}
	}
}

// line is a way to a program that can be cut.
type line struct {
	url, to string

	mu       sync.Mutex
	isCut    bool
	answers  bool // they pass
	attached map[net.Conn]struct{}
}

func newLine(t *testing.T, to string) *line {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &line{url: "http://" + listener.Addr().String(), to: strings.TrimPrefix(to, "http://"), answers: true, attached: map[net.Conn]struct{}{}}
	t.Cleanup(func() {
		_ = listener.Close()
		l.cut()
	})
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go l.pass(t.Context(), conn)
		}
	}()
	return l
}

// pass joins a connection to the program until either side ends it or the line is cut.
func (l *line) pass(ctx context.Context, conn net.Conn) {
	defer func() { _ = conn.Close() }()
	program, err := new(net.Dialer).DialContext(ctx, "tcp", l.to)
	if err != nil {
		return
	}
	defer func() { _ = program.Close() }()
	if !l.attach(conn, program) {
		return
	}
	defer l.detach(conn, program)
	go func() {
		_, _ = io.Copy(program, conn)
		_ = program.Close()
	}()
	_, _ = io.Copy(answers{l, conn}, program)
}

// answers passes what the program answers, or hangs up.
type answers struct {
	line *line
	to   net.Conn
}

func (a answers) Write(content []byte) (int, error) {
	a.line.mu.Lock()
	pass := a.line.answers
	a.line.mu.Unlock()
	if !pass {
		return 0, net.ErrClosed
	}
	return a.to.Write(content)
}

func (l *line) attach(ends ...net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.isCut {
		return false
	}
	for _, conn := range ends {
		l.attached[conn] = struct{}{}
	}
	return true
}

func (l *line) detach(ends ...net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, conn := range ends {
		delete(l.attached, conn)
	}
}

// cut ends all connections, and each that comes, until restore.
func (l *line) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.isCut = true
	for conn := range l.attached {
		_ = conn.Close()
	}
}

// loseAnswers lets requests reach the program, and hangs up in place of their answers, until
// restore.
func (l *line) loseAnswers() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.answers = false
}

func (l *line) restore() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.isCut, l.answers = false, true
}

// What is wrong with a form stands at its field, in the visitor's language, also in a dialog; and
// it goes when the field is changed.
func TestWrongFieldSaysSo(t *testing.T) {
	t.Parallel()
	w := start(t, testkit.Options{})
	id := w.Link(t, shopNumber)
	p := w.owner()
	p.Forgive("status of 400")
	p.Forgive("Response Status Error Code 400")
	p.Language("pt-BR")
	p.Open("/instances/" + id + "/chats")
	p.Click("[data-dialog=new-message]")
	p.Fill("#to", "abc")
	p.Fill("#text", "Oi!")
	p.Click(`#new-message button[type="submit"]`)
	p.AwaitText("#to + .wrong", "Deve ser um número com o código do país")
	p.AwaitTrue("the field has the focus", `document.activeElement.id === "to" && document.activeElement.getAttribute("aria-invalid") === "true"`)
	if problems := p.Violations("wcag2a", "wcag2aa", "wcag21aa"); len(problems) > 0 {
		t.Errorf("the page with a wrong field violates %v", problems)
	}
	p.Fill("#to", customerNumber)
	p.AwaitGone(".wrong")

	p.Open("/instances/" + id)
	p.Click("#care summary")
	p.Fill("#jitter", "3601")
	p.Click("#care summary")
	p.Click(`form[action$="/settings"] button[type="submit"]`)
	p.AwaitText("#jitter + .wrong", "3600")

	p.Open("/instances")
	p.Click(`[data-dialog]`)
	p.Await("dialog[open]")
	p.Fill("dialog[open] [name=name]", "   ")
	p.Click(`dialog[open] button[type="submit"]`)
	p.AwaitText("dialog[open] .wrong", "Deve ter de 1 a 255 caracteres visíveis")
}
