package watchtest_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// span is a span as tools/collector writes it.
type span struct {
	Trace      string         `json:"trace"`
	ID         string         `json:"id"`
	Parent     string         `json:"parent"`
	Name       string         `json:"name"`
	Kind       string         `json:"kind"`
	Status     string         `json:"status"`
	Message    string         `json:"message"`
	Begin      int64          `json:"begin"`
	End        int64          `json:"end"`
	Attributes map[string]any `json:"attributes"`
	Resource   map[string]any `json:"resource"`
}

// startCollector starts the receiver of a real collector. spans ends it and returns what it
// has received.
func startCollector(t *testing.T) (endpoint string, spans func() []span) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	t.Cleanup(cancel)
	program := filepath.Join(t.TempDir(), "collector")
	build := exec.CommandContext(ctx, "go", "build", "-o", program, ".")
	build.Dir = filepath.Join(root, "tools", "collector")
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("tools/collector is not built: %v\n%s", err, output)
	}
	command := exec.CommandContext(ctx, program)
	input, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // the cancelled context has killed it, if it was still there
		cancel()
		_ = command.Wait()
	})
	lines := bufio.NewReader(output)
	address, err := lines.ReadString('\n')
	if err != nil {
		t.Fatalf("the collector does not start: %v", err)
	}
	return strings.TrimSpace(address), func() (found []span) {
		t.Helper()
		if err := input.Close(); err != nil {
			t.Fatal(err)
		}
		for decoder := json.NewDecoder(lines); ; {
			var one span
			if err := decoder.Decode(&one); err == io.EOF {
				return found
			} else if err != nil {
				t.Fatal(err)
			}
			found = append(found, one)
		}
	}
}

// withHeader adds a header to every request.
type withHeader struct{ name, value string }

func (h withHeader) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set(h.name, h.value)
	return http.DefaultTransport.RoundTrip(r)
}

// record keeps what is logged. It is safe for concurrent use.
type record struct {
	mu  sync.Mutex
	log bytes.Buffer
}

func (r *record) Write(line []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log.Write(line)
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log.String()
}

const (
	clientTrace, clientSpan = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	secretWords             = "nobody else may read this"
)

// A trace goes from the client's request through the send to the receipt, and to the endpoint
// that gets the events of it, over the queue too. A collector understands it, the log names it,
// and it has nothing that people wrote.
func TestTraces(t *testing.T) {
	t.Parallel()
	endpoint, received := startCollector(t)
	log := new(record)
	g := testkit.Start(t, testkit.Options{OTLPEndpoint: endpoint, Log: log})
	sink := testkit.NewSink(t)
	id := g.Link(t, shopNumber)
	if _, err := g.Client.SaveWebhookConfig(t.Context(), id, client.NewWebhookConfig{WebhookURL: sink.URL}); err != nil {
		t.Fatal(err)
	}
	traced := g.Client.WithHTTPClient(&http.Client{Transport: withHeader{"traceparent", "00-" + clientTrace + "-" + clientSpan + "-01"}})
	sent, err := traced.SendText(t.Context(), id, client.Text{To: customerNumber, Message: secretWords})
	if err != nil {
		t.Fatal(err)
	}
	const queueTrace = "5bf92f3577b34da6a3ce929d0e0e4736"
	queued := g.Client.WithHTTPClient(&http.Client{Transport: withHeader{"traceparent", "00-" + queueTrace + "-" + clientSpan + "-01"}})
	later, err := queued.SendText(t.Context(), id, client.Text{To: customerNumber, Message: secretWords, Prefer: client.RespondAsync})
	if err != nil {
		t.Fatal(err)
	}
	g.Phones.SendText(t, customerNumber, shopNumber, secretWords)
	about := func(words ...string) func(testkit.Delivered) bool {
		return func(d testkit.Delivered) bool {
			missing := func(word string) bool { return !strings.Contains(string(d.Body), word) }
			return !slices.ContainsFunc(words, missing)
		}
	}
	wasSent := sink.AwaitType("message.sent", about(sent.ID))
	wasRead := sink.AwaitType("message.status", about(sent.ID, `"read"`))
	sentLater := sink.AwaitType("message.sent", about(later.ID))
	came := sink.AwaitType("message.received", about())
	g.Stop() // which sends the last spans
	all := received()

	path := tree(all, clientTrace)
	for _, want := range []string{
		"POST /api/message/{instanceId}/text",
		"POST /api/message/{instanceId}/text > find recipient",
		"POST /api/message/{instanceId}/text > encode",
		"POST /api/message/{instanceId}/text > send",
		"POST /api/message/{instanceId}/text > send > encrypt and keep",
		"POST /api/message/{instanceId}/text > send > acknowledgement",
		"POST /api/message/{instanceId}/text > send > write acknowledgement",
		"POST /api/message/{instanceId}/text > receive receipt",
		"POST /api/message/{instanceId}/text > receive receipt > deliver message.status",
	} {
		if _, ok := path[want]; !ok {
			t.Errorf("the trace has no %s, but\n%s", want, strings.Join(names(path), "\n"))
		}
	}
	first := path["POST /api/message/{instanceId}/text"]
	if first.Parent != clientSpan || first.Kind != "Server" || first.Attributes["recado.instance_id"] != id ||
		first.Attributes["http.response.status_code"] != 201.0 || first.Resource["service.name"] != "recado" || first.Resource["service.version"] != "test" {
		t.Errorf("the request is %+v", first)
	}
	// A receipt may come before the acknowledgement is written down, and then it is what says that
	// the message was sent.
	told, ok := path["POST /api/message/{instanceId}/text > send > write acknowledgement > deliver message.sent"]
	if !ok {
		told, ok = path["POST /api/message/{instanceId}/text > receive receipt > deliver message.sent"]
	}
	if !ok {
		t.Errorf("the trace has no delivery of message.sent, but\n%s", strings.Join(names(path), "\n"))
	}
	wantHeader(t, wasSent, clientTrace, told)
	if !strings.Contains(wasRead.Header.Get("Traceparent"), clientTrace) {
		t.Errorf("the receipt is delivered with the header %q", wasRead.Header.Get("Traceparent"))
	}
	wantHeader(t, sentLater, queueTrace, span{})
	if _, ok := tree(all, queueTrace)["POST /api/message/{instanceId}/text > send from the queue > send > acknowledgement"]; !ok {
		t.Errorf("what went through the queue is\n%s", strings.Join(names(tree(all, queueTrace)), "\n"))
	}
	_, incoming, _ := strings.Cut(came.Header.Get("Traceparent"), "-")
	incoming, _, _ = strings.Cut(incoming, "-")
	if _, ok := tree(all, incoming)["receive message > deliver message.received"]; !ok {
		t.Errorf("what came in is\n%s", strings.Join(names(tree(all, incoming)), "\n"))
	}
	if lines := log.String(); !strings.Contains(lines, "trace_id="+clientTrace) || !strings.Contains(lines, "span_id="+first.ID) {
		t.Error("the log does not name the trace")
	}
	wantNothingPrivate(t, all)
}

// tree gives the spans of a trace by their names and those of the spans around them.
func tree(all []span, trace string) map[string]span {
	byID := map[string]span{}
	for _, one := range all {
		if one.Trace == trace {
			byID[one.ID] = one
		}
	}
	paths := map[string]span{}
	for _, one := range byID {
		path := one.Name
		for above, ok := byID[one.Parent]; ok; above, ok = byID[above.Parent] {
			path = above.Name + " > " + path
		}
		paths[path] = one
	}
	return paths
}

func names(paths map[string]span) (found []string) {
	for path := range paths {
		found = append(found, path)
	}
	slices.Sort(found)
	return found
}

// wantHeader fails the test unless a delivery names its trace, and the span if there is one.
func wantHeader(t *testing.T, d testkit.Delivered, trace string, in span) {
	t.Helper()
	header := d.Header.Get("Traceparent")
	if !strings.HasPrefix(header, "00-"+trace+"-"+in.ID) || !strings.HasSuffix(header, "-01") {
		t.Errorf("%s is delivered with the header %q, want the trace %s and the span %s", d.Event.Type, header, trace, in.ID)
	}
}

func wantNothingPrivate(t *testing.T, all []span) {
	t.Helper()
	for _, one := range all {
		shown := fmt.Sprint(one)
		if strings.Contains(shown, customerNumber) || strings.Contains(shown, secretWords) || one.End < one.Begin {
			t.Errorf("%s shows %s", one.Name, shown)
		}
	}
}

// Without traces nothing is sent to endpoints that clients did not ask for; and a collector
// that is away holds nothing up.
func TestTracesAreOff(t *testing.T) {
	t.Parallel()
	for name, endpoint := range cases.Sorted(map[string]string{"no collector": "", "a collector that is away": "http://127.0.0.1:1"}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log := new(record)
			g := testkit.Start(t, testkit.Options{OTLPEndpoint: endpoint, Log: log})
			sink := testkit.NewSink(t)
			id := g.Link(t, shopNumber)
			if _, err := g.Client.SaveWebhookConfig(t.Context(), id, client.NewWebhookConfig{WebhookURL: sink.URL}); err != nil {
				t.Fatal(err)
			}
			traced := g.Client.WithHTTPClient(&http.Client{Transport: withHeader{"traceparent", "00-" + clientTrace + "-" + clientSpan + "-01"}})
			sent, err := traced.SendText(t.Context(), id, client.Text{To: customerNumber, Message: "hello"})
			if err != nil {
				t.Fatal(err)
			}
			d := sink.AwaitType("message.sent", func(d testkit.Delivered) bool { return strings.Contains(string(d.Body), sent.ID) })
			if header := d.Header.Get("Traceparent"); (header != "") != (endpoint != "") {
				t.Errorf("the delivery has the header %q", header)
			}
			began := time.Now()
			g.Stop()
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("the program takes %s to stop", took)
			}
			if strings.Contains(log.String(), "trace_id") != (endpoint != "") {
				t.Error("the log is wrong about traces")
			}
		})
	}
}
