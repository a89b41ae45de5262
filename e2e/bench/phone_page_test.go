package bench_test

import (
	"bufio"
	"context"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit/crowd"
)

// BenchmarkPhonePage measures the time from a request to the gateway until the message is on
// the open page of the phone that gets it: both programs are processes of their own, and the
// page is read as a browser reads it.
func BenchmarkPhonePage(b *testing.B) {
	const messages = 300
	w := &world{sandbox: startSandbox(b), data: b.TempDir()}
	w.startGateway(b)
	w.link(b, 0)
	w.awaitConnected(b)
	send := func(text string) {
		if _, err := w.client.SendText(b.Context(), w.instances[0], client.Text{To: crowd.Recipient(0), Message: text}); err != nil {
			b.Error(err)
		}
	}
	for n := range crowd.WarmUp {
		send(fmt.Sprintf("before %d", n))
	}
	lines := followPhone(b, "http://"+w.sandbox.address, crowd.Recipient(0))
	for b.Loop() {
		took := make([]time.Duration, messages)
		for n := range took {
			text := fmt.Sprintf("message %d of the page", n)
			began := time.Now()
			go send(text)
			for line := range lines {
				if strings.Contains(line, text) {
					break
				}
			}
			took[n] = time.Since(began)
		}
		slices.Sort(took)
		b.ReportMetric(float64(took[messages/2].Microseconds())/1000, "p50-ms")
		b.ReportMetric(float64(took[messages*99/100].Microseconds())/1000, "p99-ms")
		b.ReportMetric(float64(took[messages-1].Microseconds())/1000, "max-ms")
	}
	b.ReportMetric(0, "ns/op")
}

// followPhone opens the page of a phone and returns what its stream brings, line by line.
func followPhone(b *testing.B, sandbox, number string) <-chan string {
	b.Helper()
	ctx, cancel := context.WithCancel(b.Context())
	b.Cleanup(cancel)
	page := fetch(ctx, b, sandbox+"/sandbox?"+url.Values{"left": {number}}.Encode())
	content, err := io.ReadAll(page)
	if err != nil {
		b.Fatal(err)
	}
	found := regexp.MustCompile(`sse-connect="([^"]+)"`).FindSubmatch(content)
	if found == nil {
		b.Fatal("the page has no stream")
	}
	stream := fetch(ctx, b, sandbox+html.UnescapeString(string(found[1])))
	lines := make(chan string, 1024)
	go func() {
		defer close(lines)
		scanner := bufio.NewScanner(stream)
		scanner.Buffer(nil, 1<<20)
		for scanner.Scan() {
			lines <- scanner.Text()
		}
	}()
	return lines
}

// fetch returns the body of an answer.
func fetch(ctx context.Context, b *testing.B, address string) io.Reader {
	b.Helper()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		b.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = response.Body.Close() })
	if response.StatusCode != http.StatusOK {
		b.Fatalf("%s is answered %d", address, response.StatusCode)
	}
	return response.Body
}
