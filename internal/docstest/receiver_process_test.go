package docstest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// runningReceiver is a receiver that has said where it listens.
type runningReceiver struct {
	url    string
	output *output
	client *http.Client
}

// receiverPatience is long, for a busy machine is no failure.
const receiverPatience = time.Minute

// startReceiver starts a receiver on a free port, and stops it when the test
// ends.
func startReceiver(t *testing.T, command []string, secret string) *runningReceiver {
	t.Helper()
	r := &runningReceiver{
		output: &output{news: make(chan struct{}, 1)},
		client: &http.Client{Transport: &http.Transport{}, Timeout: receiverPatience},
	}
	ctx, kill := context.WithCancel(context.WithoutCancel(t.Context()))
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = append(os.Environ(), "PORT=0", "WEBHOOK_SECRET="+secret)
	cmd.Stdout, cmd.Stderr = r.output, r.output
	cmd.WaitDelay = receiverPatience // for what the receiver may have started itself
	if err := cmd.Start(); err != nil {
		kill()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.client.CloseIdleConnections()
		kill()
		if err := cmd.Wait(); errors.Is(err, exec.ErrWaitDelay) {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("the receiver said:\n%s", r.output)
		}
	})
	r.url = r.output.await(t, regexp.MustCompile(`http://127\.0\.0\.1:\d+`))
	return r
}

// requireRightAnswers sends every case and, at the end, one that must still be
// taken.
func (r *runningReceiver) requireRightAnswers(t *testing.T, key string) {
	t.Helper()
	r.breakOff(t)
	for i, c := range append(deliveryCases(), deliveryCase{"the last", func(*testing.T, *delivery, signing) {}, true}) {
		kind := fmt.Sprintf("%s.%d", map[bool]string{true: "taken", false: "refused"}[c.taken], i)
		d := &delivery{kind: kind, body: `{"type":"` + kind + `","data":{"text":"Olá"}}`, header: http.Header{
			"Content-Type":      {"application/json"},
			"Webhook-Id":        {"01a1facb-550c-74af-b6f8-9a1e4d9d0c81"},
			"Webhook-Timestamp": {strconv.FormatInt(time.Now().Unix(), 10)},
		}}
		sign := func(d *delivery) string { return signatureOf(key, d) }
		d.header.Set("webhook-signature", sign(d))
		c.change(t, d, sign)
		status := r.send(t, d)
		switch {
		case c.taken && status != http.StatusNoContent:
			t.Errorf("%s: answered %d, want 204", c.name, status)
		case c.taken:
			r.output.await(t, regexp.MustCompile(regexp.QuoteMeta(kind)+`\b`))
		case status != http.StatusUnauthorized:
			t.Errorf("%s: answered %d, want 401", c.name, status)
		}
	}
	if said := r.output.String(); strings.Contains(said, "refused.") {
		t.Error("the receiver took what it refused")
	}
}

func (r *runningReceiver) send(t *testing.T, d *delivery) (status int) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.url+"/webhooks", strings.NewReader(d.body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header = d.header
	response, err := r.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode
}

// breakOff begins a request and leaves, which no receiver may die of.
func (r *runningReceiver) breakOff(t *testing.T) {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf")
	if err := errors.Join(err, conn.Close()); err != nil {
		t.Fatal(err)
	}
}

// output is what a program prints.
type output struct {
	mu   sync.Mutex
	text strings.Builder
	news chan struct{}
}

// Write takes what the program prints.
func (o *output) Write(piece []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	select {
	case o.news <- struct{}{}:
	default: // it is known that there is more
	}
	return o.text.Write(piece)
}

// String is what was printed so far.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// await waits until the program has printed what fits, and returns it.
func (o *output) await(t *testing.T, pattern *regexp.Regexp) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), receiverPatience)
	defer cancel()
	for {
		if found := pattern.FindString(o.String()); found != "" {
			return found
		}
		select {
		case <-o.news:
		case <-ctx.Done():
			t.Fatalf("waited %s in vain for %s in: %s", receiverPatience, pattern, o)
		}
	}
}
