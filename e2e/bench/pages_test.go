package bench_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/testkit/crowd"
	"github.com/recado-project/recado/internal/testkit/process"
)

const (
	pagedInstances = 1000
	pagedMessages  = 100 // of each instance
)

// BenchmarkPages measures how long the gateway takes for each page of the dashboard, as a
// user who is signed in asks for it, with a thousand instances and a hundred thousand
// messages in the database. It reports the median of each page, and its HTML as it is.
func BenchmarkPages(b *testing.B) {
	const asked = 200
	w := &world{sandbox: startSandbox(b), data: b.TempDir(), flags: []string{"--allow-private-urls"}}
	w.startGateway(b)
	w.createInstances(b, pagedInstances)
	w.gateway.Stop()
	w.fill(b)
	w.startGateway(b)
	v := w.signIn(b)
	at := "/instances/" + w.instances[pagedInstances/2]
	pages := []struct{ name, path string }{
		{"instances", "/instances"},
		{"search", "/instances?search=shop+7"},
		{"instance", at},
		{"chats", at + "/chats"},
		{"chat", at + "/chats?chat=" + chatOf(3)},
		{"code", at + "/code"},
		{"webhook", at + "/webhook"},
		{"deliveries", at + "/webhook/deliveries"},
		{"events", at + "/events"},
		{"keys", "/keys"},
		{"health", "/health"},
		{"users", "/users"},
		{"audit", "/audit"},
		{"profile", "/profile"},
	}
	for b.Loop() {
		for _, page := range pages {
			took, size := make([]time.Duration, asked), 0
			for i := range took {
				began := time.Now()
				size = v.read(b, page.path)
				took[i] = time.Since(began)
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[asked/2].Microseconds())/1000, page.name+"-ms")
			b.ReportMetric(float64(size)/1000, page.name+"-KB")
		}
	}
	b.ReportMetric(0, "ns/op")
}

// BenchmarkOpenPages measures what a thousand open pages of instances cost the gateway
// while ten messages a second go out, beside the same messages with no page open.
func BenchmarkOpenPages(b *testing.B) {
	const linked, lasting, every = 20, 20 * time.Second, 100 * time.Millisecond
	w := startWorld(b, linked, "--max-streams", "0") // one user has all of them
	w.createInstances(b, pagedInstances-linked)
	v := w.signIn(b)
	measure := func() float64 {
		cpu, ticker := w.gateway.cpu(b), time.NewTicker(every)
		defer ticker.Stop()
		for i := range int(lasting / every) {
			<-ticker.C
			if _, err := w.client.SendText(b.Context(), w.instances[i%linked], client.Text{To: crowd.Recipient(i % linked), Message: "a message"}); err != nil {
				b.Fatal(err)
			}
		}
		return 100 * (w.gateway.cpu(b) - cpu).Seconds() / lasting.Seconds()
	}
	measure() // the first messages to a phone cost more
	for b.Loop() {
		none := measure()
		var received atomic.Int64
		closing := v.openAll(b, w.instances, &received)
		cpu := w.gateway.cpu(b)
		<-time.After(lasting)
		b.ReportMetric(100*(w.gateway.cpu(b)-cpu).Seconds()/lasting.Seconds(), "%-silent")
		received.Store(0)
		open := measure()
		b.ReportMetric(none, "%-none-open")
		b.ReportMetric(open, "%-1000-open")
		b.ReportMetric(open-none, "%-for-the-pages")
		b.ReportMetric(float64(received.Load()), "views")
		closing()
	}
	b.ReportMetric(0, "ns/op")
}

// createInstances creates instances that nobody links.
func (w *world) createInstances(b *testing.B, count int) {
	b.Helper()
	for i := range count {
		created, err := w.client.CreateInstance(b.Context(), client.NewInstance{Name: fmt.Sprintf("shop %d", i)})
		if err != nil {
			b.Fatal(err)
		}
		w.instances = append(w.instances, created.InstanceID)
	}
}

// chatOf is one of the twenty chats of each instance.
func chatOf(n int) string { return fmt.Sprintf("55119888800%02d@s.whatsapp.net", n%20) }

// openStore opens the database of a gateway that is stopped.
func (w *world) openStore(b *testing.B) *store.Store {
	b.Helper()
	opened, err := store.Open(b.Context(), store.Config{
		Path: filepath.Join(w.data, "recado.db"), Bell: new(eventlog.Bell), Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		b.Fatal(err)
	}
	return opened
}

// fill writes messages and their events into the database of a gateway that is stopped.
func (w *world) fill(b *testing.B) {
	b.Helper()
	opened := w.openStore(b)
	var group sync.WaitGroup
	for part := range slices.Chunk(w.instances, (len(w.instances)+63)/64) {
		group.Go(func() {
			for _, id := range part {
				for n := range pagedMessages {
					if err := addMessage(b.Context(), opened, id, n); err != nil {
						b.Error(err)
						return
					}
				}
			}
		})
	}
	group.Wait()
	// Else the gateway puts the words into the index while it is measured.
	if err := errors.Join(opened.Chats.CatchUp(b.Context()), opened.Close()); err != nil {
		b.Fatal(err)
	}
}

func addMessage(ctx context.Context, opened *store.Store, instanceID string, n int) error {
	text, at := fmt.Sprintf("message %d of this instance", n), time.Now().Add(time.Duration(n-pagedMessages)*10*time.Minute)
	message := gateway.Message{
		ID: uuid.Must(uuid.NewV7()).String(), InstanceID: instanceID, PlatformID: fmt.Sprintf("3EB0%016X", n), FromMe: n%3 == 0,
		Chat: gateway.Party{JID: gateway.JID(chatOf(n))}, Sender: gateway.Party{JID: gateway.JID(chatOf(n)), Name: "Ana Souza"},
		Type: gateway.TypeText, Text: text, Payload: append([]byte{0x0a, byte(len(text))}, text...), // waE2E.Message.conversation
		Status: gateway.MessageRead, StatusAt: at, SentAt: at, CreatedAt: at, WireKey: fmt.Sprintf("in-%d", n),
	}
	event, err := eventlog.NewEvent(instanceID, gateway.JID(chatOf(n)), fmt.Sprintf("message-%d", n), at, eventlog.WebhookTest{Message: text})
	if err != nil {
		return err
	}
	_, err = opened.AddMessage(ctx, message, event)
	return err
}

// visitor is a browser that is signed in.
type visitor struct {
	base string
	web  *http.Client
}

// signIn sets the owner's password by a link, as the owner does.
func (w *world) signIn(b *testing.B) *visitor {
	b.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		b.Fatal(err)
	}
	v := &visitor{base: "http://" + w.gateway.address, web: &http.Client{Jar: jar, Transport: &http.Transport{}}}
	b.Cleanup(v.web.CloseIdleConnections)
	printed, err := exec.CommandContext(b.Context(), process.Program(b),
		"users", "create", "bench", "--role", "owner", "--data", w.data, "--json").Output()
	if err != nil {
		b.Fatal(err)
	}
	_, token, found := strings.Cut(string(printed), "token=")
	token, _, _ = strings.Cut(token, `"`)
	if !found {
		b.Fatalf("there is no link in %s", printed)
	}
	v.read(b, "/welcome?token="+token)
	const password = "seven words make a long good password"
	response, err := v.web.PostForm(v.base+"/welcome", url.Values{"password": {password}, "again": {password}})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK || response.Request.URL.Path != "/instances" {
		b.Fatalf("signing in was answered %d at %s", response.StatusCode, response.Request.URL.Path)
	}
	return v
}

// read asks for a page and returns its size in bytes.
func (v *visitor) read(b *testing.B, path string) int {
	b.Helper()
	response, err := v.ask(b.Context(), path)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		b.Fatal(err)
	}
	if response.StatusCode != http.StatusOK || response.Request.URL.Path == "/signin" {
		b.Fatalf("%s is answered %d", path, response.StatusCode)
	}
	return len(content)
}

func (v *visitor) ask(ctx context.Context, path string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, v.base+path, http.NoBody)
	if err != nil {
		return nil, err
	}
	return v.web.Do(request)
}

// openAll keeps the page of each instance up to date, and counts the views that come.
func (v *visitor) openAll(b *testing.B, instances []string, received *atomic.Int64) (closing func()) {
	b.Helper()
	ctx, cancel := context.WithCancel(b.Context())
	var reading sync.WaitGroup
	for _, id := range instances {
		response, err := v.ask(ctx, "/instances/"+id+"/live")
		if err != nil || response.StatusCode != http.StatusOK {
			cancel()
			b.Fatalf("opening a page: %v %v", response, err)
		}
		reading.Go(func() {
			defer func() { _ = response.Body.Close() }()
			lines := bufio.NewScanner(response.Body)
			lines.Buffer(nil, 1<<20)
			for lines.Scan() {
				if strings.HasPrefix(lines.Text(), "event: view") {
					received.Add(1)
				}
			}
		})
	}
	return func() { cancel(); reading.Wait() }
}
