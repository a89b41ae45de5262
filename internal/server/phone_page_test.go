package server_test

import (
	"bufio"
	"context"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// onPage is generous beside the 100 ms that a message takes on an idle machine.
const onPage = 30 * time.Second

// streamOf opens the stream of a page and returns what it brings, line by line, and what
// ends it.
func (v *visitor) streamOf(page string) (lines <-chan string, closing func()) {
	v.t.Helper()
	found := regexp.MustCompile(`sse-connect="([^"]+)"`).FindStringSubmatch(page)
	if found == nil {
		v.t.Fatal("the page has no stream")
	}
	ctx, cancel := context.WithCancel(context.Background())
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, v.base+html.UnescapeString(found[1]), http.NoBody)
	if err != nil {
		v.t.Fatal(err)
	}
	response, err := v.web.Do(request) //nolint:bodyclose // the reader closes it
	if err != nil {
		v.t.Fatal(err)
	}
	read := make(chan string)
	go func() {
		defer close(read)
		defer func() { _ = response.Body.Close() }()
		scanner := bufio.NewScanner(response.Body)
		scanner.Buffer(nil, 1<<20)
		for scanner.Scan() {
			select {
			case read <- scanner.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	return read, cancel
}

// A message that a program sends by the API is on the open page of the phone that gets
// it, and what the phone answers is on the page of the other one.
func TestMessagesOfTheGatewayAppearOnThePhonePage(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	g.Phones.Get(t, customerNumber)
	v := newVisitor(t, g.BaseURL)
	status, _, page := v.get("/sandbox?left=" + customerNumber + "&right=" + shopNumber)
	if status != http.StatusOK {
		t.Fatalf("the page answers %d", status)
	}
	lines, closing := v.streamOf(page)
	defer closing()
	await := func(text string) {
		t.Helper()
		timer := time.NewTimer(onPage)
		defer timer.Stop()
		for {
			select {
			case line, open := <-lines:
				if !open {
					t.Fatalf("the stream ended before %q", text)
				}
				if strings.Contains(line, text) {
					return
				}
			case <-timer.C:
				t.Fatalf("the page does not show %q", text)
			}
		}
	}
	if _, err := g.Client.SendText(t.Context(), id, client.Text{To: customerNumber, Message: "by the API"}); err != nil {
		t.Fatal(err)
	}
	await("by the API")
	form := url.Values{"text": {"by hand"}}
	if status, _, body := v.do(http.MethodPost, "/sandbox/ui/phones/"+customerNumber+"/chats/"+shopNumber+"@s.whatsapp.net/messages", form, http.Header{"Hx-Request": {"true"}}); status != http.StatusNoContent {
		t.Fatalf("writing on the page: %d %s", status, body)
	}
	await("by hand")
}

// The page lists the codes that instances show, and links by one click.
func TestCodesAreLinkedByAClickOnThePhonePage(t *testing.T) {
	t.Parallel()
	g := testkit.Start(t, testkit.Options{})
	v := newVisitor(t, g.BaseURL)
	g.Phones.Get(t, shopNumber)
	path := "/sandbox/ui/phones/" + shopNumber
	instances := map[string]string{}
	for _, name := range []string{"by QR code", "by pairing code"} {
		created, err := g.Partner.CreateInstance(t.Context(), client.NewInstance{Name: name})
		if err != nil {
			t.Fatal(err)
		}
		instances[name] = created.InstanceID
	}
	if _, err := g.Client.GetQRCode(t.Context(), instances["by QR code"], client.GetQRCodeParams{}); err != nil {
		t.Fatal(err)
	}
	code, err := g.Client.GetPairingCode(t.Context(), instances["by pairing code"], client.NewPairingCode{Phone: shopNumber})
	if err != nil {
		t.Fatal(err)
	}
	_, _, list := v.get(path + "/codes")
	if !strings.Contains(list, "by QR code") || !strings.Contains(list, code.PairingCode) {
		t.Errorf("the list is %s", list)
	}
	for name, form := range cases.Sorted(map[string]url.Values{"by QR code": {}, "by pairing code": {"typed": {"yes"}}}) {
		form.Set("id", instances[name])
		if status, _, body := v.do(http.MethodPost, path+"/scan", form, http.Header{"Hx-Request": {"true"}}); status != http.StatusNoContent {
			t.Fatalf("%s: %d %s", name, status, body)
		}
		g.AwaitStatus(t, instances[name], gateway.StatusConnected)
	}
	if _, _, list := v.get(path + "/codes"); strings.Contains(list, "by QR code") {
		t.Error("a code that was used is still listed")
	}
}

// A page that somebody left open does not hold up the end of the program.
func TestOpenPhonePagesEndWithTheProgram(t *testing.T) {
	t.Parallel()
	g := testkit.Start(t, testkit.Options{})
	v := newVisitor(t, g.BaseURL)
	_, _, page := v.get("/sandbox")
	lines, closing := v.streamOf(page)
	defer closing()
	<-lines
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for range lines { // until it ends
		}
	}()
	g.Stop()
	<-ended
}
