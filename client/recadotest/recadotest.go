// Package recadotest starts a gateway with simulated phones for the time of a test, to test bots
// without an account. It needs only the standard library, and the program: what RECADO_BIN names,
// or `recado` in PATH. If there is none, Docker runs the image that RECADO_IMAGE names, or `recado`.
//
//	gateway := recadotest.Start(t)
//	phone := gateway.Phone("5511988887766")
//	phone.Send(t, "Oi!")
//	answer := phone.WaitForMessage(t, nil)
package recadotest

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	startTimeout   = time.Minute
	stopTimeout    = 15 * time.Second
	messageTimeout = 5 * time.Second
	pollInterval   = 10 * time.Millisecond
	maxAnswer      = 32 << 20
)

// guarded is a shell's script. The shell becomes the program; what it leaves behind waits until
// standard input closes, as it does when the test's process ends, however it ends, and then stops it.
const guarded = `exec 3<&0
(read -r _ <&3; kill $$) >/dev/null 2>&1 &
exec "$@" </dev/null 3<&-`

// Gateway is a gateway that ends with its test, with one instance that is linked to a phone.
type Gateway struct {
	BaseURL        string `json:"baseUrl"`
	APIKey         string `json:"apiKey"`
	InstanceID     string `json:"instanceId"`
	InstanceNumber string `json:"instanceNumber"` // phones write to it
}

// Start starts a gateway of its own, with a port and a folder of its own, and returns when
// everything answers. The test fails if it does not start.
func Start(tb testing.TB) *Gateway {
	tb.Helper()
	folder := tb.TempDir()
	args := commandOf(filepath.Join(folder, "data"))
	program := args[0]
	if runtime.GOOS != "windows" {
		args = append([]string{"/bin/sh", "-c", guarded, "recado"}, args...)
	}
	log, err := os.Create(filepath.Join(folder, "log")) //nolint:gosec // its own folder
	if err != nil {
		tb.Fatal(err)
	}
	defer log.Close()                                                  //nolint:errcheck // the program has one of its own
	command := exec.CommandContext(tb.Context(), args[0], args[1:]...) //nolint:gosec // what the tests name
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	command.WaitDelay = stopTimeout // then it is killed
	command.Stderr = log
	// The settings of another gateway do not reach this one.
	command.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "RECADO_") })
	if _, err := command.StdinPipe(); err != nil {
		tb.Fatal(err)
	}
	output, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		tb.Fatalf("start %s: %v", program, err)
	}
	tb.Cleanup(func() { _ = command.Wait() }) // the context of the test has ended by then
	late := time.AfterFunc(startTimeout, func() { _ = command.Process.Kill() })
	defer late.Stop()
	gateway := &Gateway{}
	line, err := bufio.NewReader(output).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, gateway)
	}
	if err != nil {
		said, _ := os.ReadFile(log.Name())
		tb.Fatalf("%s dev did not start: %v\n%s", program, err, said)
	}
	return gateway
}

// commandOf returns the command that starts a gateway: of the program, or of Docker if none is named and
// none is in PATH. A container has the network of the machine, so that webhooks reach a bot on 127.0.0.1.
func commandOf(data string) []string {
	program := cmp.Or(os.Getenv("RECADO_BIN"), "recado")
	if os.Getenv("RECADO_BIN") == "" && !inPath(program) && inPath("docker") {
		image := cmp.Or(os.Getenv("RECADO_IMAGE"), "recado")
		return []string{"docker", "run", "--rm", "--network", "host", image, "dev", "--json", "--listen", "127.0.0.1:0"}
	}
	return []string{program, "dev", "--json", "--listen", "127.0.0.1:0", "--data", data}
}

func inPath(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

// Phone returns the simulated phone with a number. Numbers that end in 0000 to 0003 behave in a
// special way: docs/sandbox.md, "Phones".
func (g *Gateway) Phone(number string) *Phone {
	return &Phone{Number: number, gateway: g, passed: map[string]bool{}}
}

// Phone is a simulated phone. One test at a time may use it.
type Phone struct {
	Number  string
	gateway *Gateway
	passed  map[string]bool
}

// Message is a message as a phone shows it.
type Message struct {
	MessageID string `json:"messageId"`
	Chat      string `json:"chat"`   // by number
	From      string `json:"from"`   // by number
	FromMe    bool   `json:"fromMe"` // whether this phone has sent it
	Type      string `json:"type"`
	Text      string `json:"text"` // empty for other types than text
}

// Send sends a text to the gateway's instance, and returns the message's ID.
func (p *Phone) Send(tb testing.TB, text string) string {
	tb.Helper()
	body, err := json.Marshal(map[string]string{"to": p.gateway.InstanceNumber, "type": "text", "text": text})
	if err != nil {
		tb.Fatal(err)
	}
	var sent struct {
		MessageID string `json:"messageId"`
	}
	p.ask(tb, http.MethodPost, body, &sent)
	return sent.MessageID
}

// Messages returns the messages that the phone shows, oldest first, its own among them.
func (p *Phone) Messages(tb testing.TB) []Message {
	tb.Helper()
	var list struct {
		Data []Message `json:"data"`
	}
	p.ask(tb, http.MethodGet, nil, &list)
	return list.Data
}

// WaitForMessage returns the first message received that match accepts; nil accepts all. Each call
// goes on behind the message that the last one returned. The test fails after five seconds, with
// what the phone has received.
func (p *Phone) WaitForMessage(tb testing.TB, match func(Message) bool) Message {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), messageTimeout)
	defer cancel()
	next := time.NewTicker(pollInterval)
	defer next.Stop()
	for {
		received := slices.DeleteFunc(p.Messages(tb), func(m Message) bool { return m.FromMe })
		for i, message := range received {
			if p.passed[message.MessageID] || match != nil && !match(message) {
				continue
			}
			for _, earlier := range received[:i+1] {
				p.passed[earlier.MessageID] = true
			}
			return message
		}
		select {
		case <-next.C:
		case <-ctx.Done():
			tb.Fatalf("%s received no such message within %v. All that it has received: %+v", p.Number, messageTimeout, received)
		}
	}
}

// ask asks the sandbox about the phone's messages, or posts one.
func (p *Phone) ask(tb testing.TB, method string, body []byte, answer any) {
	tb.Helper()
	address := fmt.Sprintf("%s/sandbox/api/phones/%s/messages", p.gateway.BaseURL, p.Number)
	request, err := http.NewRequestWithContext(tb.Context(), method, address, bytes.NewReader(body))
	if err != nil {
		tb.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		tb.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // it was read
	said, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err == nil && response.StatusCode >= http.StatusBadRequest {
		err = fmt.Errorf("%s: %s", response.Status, said)
	}
	if err == nil {
		err = json.Unmarshal(said, answer)
	}
	if err != nil {
		tb.Fatalf("the phone %s was refused: %v", p.Number, err)
	}
}
