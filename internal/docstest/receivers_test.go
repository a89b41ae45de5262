package docstest_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"math"
	"net/http"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/cli/demo"
	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/needs"
)

const webhooksPath = "docs/webhooks.md"

// exampleReceiver is a receiver that docs/webhooks.md shows.
type exampleReceiver struct {
	language string // of its block in the document
	path     string
	program  string // that runs it; "": the go command builds it
	// command returns how it is started; it may take its time.
	command func(t *testing.T, path string) []string
}

func exampleReceivers() []exampleReceiver {
	return []exampleReceiver{
		{"go", "docs/webhooks/go/receiver.go", "", func(t *testing.T, path string) []string {
			t.Helper()
			built := filepath.Join(t.TempDir(), "receiver")
			if output, err := exec.CommandContext(t.Context(), "go", "build", "-o", built, path).CombinedOutput(); err != nil {
				t.Fatalf("go build: %v\n%s", err, output)
			}
			return []string{built}
		}},
		{"js", "docs/webhooks/node/receiver.mjs", "node", func(_ *testing.T, path string) []string {
			return []string{"node", path}
		}},
		{"python", "docs/webhooks/python/receiver.py", "python3", func(_ *testing.T, path string) []string {
			return []string{"python3", path}
		}},
		{"php", "docs/webhooks/php/receiver.php", "php", func(_ *testing.T, path string) []string {
			return []string{"php", "-S", "127.0.0.1:0", path}
		}},
	}
}

// The receivers that people read are the ones that are tried.
func TestWebhooksDocumentShowsTheReceivers(t *testing.T) {
	t.Parallel()
	document := readFile(t, webhooksPath)
	for _, example := range exampleReceivers() {
		var shown []block
		for _, b := range blocksOf(document) {
			if b.language == example.language {
				shown = append(shown, b)
			}
		}
		if len(shown) != 1 {
			t.Errorf("%s has %d blocks of %s", webhooksPath, len(shown), example.language)
			continue
		}
		code := readFile(t, example.path)
		switch {
		case shown[0].text == code:
		case *update:
			document = document[:shown[0].start] + code + document[shown[0].end:]
			writeFile(t, webhooksPath, document)
		default:
			t.Errorf("%s:%d is not %s: go test ./internal/docstest -run WebhooksDocument -update", webhooksPath, shown[0].line, example.path)
		}
	}
}

// A receiver that somebody copies takes what the gateway has signed, under every
// form of a secret, and refuses everything else.
func TestWebhooksDocumentReceivers(t *testing.T) {
	t.Parallel()
	secrets := map[string]struct{ secret, key string }{
		"a secret with the prefix":          {"whsec_Y2hhdmUgc2VjcmV0YSBkZSAzMiBieXRlcyBvdSBtYWlz", "chave secreta de 32 bytes ou mais"},
		"any other secret":                  {"não é base64, e não precisa ser", "não é base64, e não precisa ser"},
		"what only looks like the first":    {"whsec_not base64, but text", "whsec_not base64, but text"},
		"base64 that lacks its end":         {"whsec_Y2hhdmU", "whsec_Y2hhdmU"},
		"the prefix and nothing behind it":  {"whsec_", "whsec_"},
		"base64 without the prefix is text": {"Y2hhdmU=", "Y2hhdmU="},
	}
	for _, example := range exampleReceivers() {
		t.Run(example.language, func(t *testing.T) {
			t.Parallel()
			if example.program != "" {
				needs.Require(t, example.program)
			}
			command := example.command(t, example.path)
			for name, c := range cases.Sorted(secrets) {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					r := startReceiver(t, command, c.secret)
					r.requireRightAnswers(t, c.key)
				})
			}
		})
	}
}

// The request that people try their own code with is signed as it says.
func TestWebhooksDocumentRequestIsSigned(t *testing.T) {
	t.Parallel()
	document := readFile(t, webhooksPath)
	for _, b := range blocksOf(document) {
		if b.language != "http" {
			continue
		}
		head, body, _ := strings.Cut(strings.TrimSuffix(b.text, "\n"), "\n\n")
		_, lines, _ := strings.Cut(head, "\n")
		header := http.Header{}
		for line := range strings.Lines(lines) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			header.Set(name, value)
		}
		verifier := client.WebhookVerifier{Secrets: []string{"whsec_cmVjYWRvLWV4ZW1wbG8tc2VncmVkby0x"}, Tolerance: math.MaxInt64}
		if _, err := verifier.Verify(header, []byte(body)); err != nil {
			t.Errorf("%s:%d: %v", webhooksPath, b.line, err)
		}
		return
	}
	t.Errorf("%s shows no request", webhooksPath)
}

// The examples, in their order, answer what the page says.
func TestWebhooksDocumentExamples(t *testing.T) {
	t.Parallel()
	needs.Require(t, "curl")
	document := readFile(t, webhooksPath)
	g := testkit.Start(t, testkit.Options{})
	made, err := demo.Prepare(t.Context(), g.Server, t.TempDir(), "", false)
	if err != nil {
		t.Fatal(err)
	}
	const shown = "http://127.0.0.1:3000/recado"
	sink := testkit.NewSink(t)
	r := &reader{folder: t.TempDir(), values: newValues(map[string]string{sink.URL: shown})}
	r.values.know(assigned(t, document, "URL"), g.BaseURL)
	r.values.know(assigned(t, document, "KEY"), made.APIKey)
	r.values.know(assigned(t, document, "PARTNER"), made.PartnerKey)
	r.values.know(assigned(t, document, "INSTANCE"), made.InstanceID)
	r.values.know(shown, sink.URL)
	blocks := append(blocksOf(document), block{}) // so that every block has a next one
	for i, b := range blocks[:len(blocks)-1] {
		switch next := blocks[i+1]; {
		case b.language == "sh" && isAnswer(next):
			r.try(t, b, &next)
		case b.language == "sh":
			r.try(t, b, nil)
		}
		if t.Failed() {
			t.Fatalf("that was in %s", webhooksPath)
		}
	}
	sink.AwaitType(string(eventlog.KindWebhookTest), nil)
	sink.AwaitType(string(eventlog.KindMessageReceived), nil)
}

// delivery is a request to a receiver.
type delivery struct {
	kind   string // of the event; the receiver prints it
	body   string
	header http.Header
}

// deliveryCase changes a request that is signed as it should be.
type deliveryCase struct {
	name   string
	change func(t *testing.T, d *delivery, sign signing)
	taken  bool
}

// signing returns a signature of what d is now.
type signing func(d *delivery) string

func deliveryCases() []deliveryCase {
	strange := func(d *delivery) string { return signatureOf("somebody else's key", d) }
	moved := func(by time.Duration) func(*testing.T, *delivery, signing) {
		return func(_ *testing.T, d *delivery, sign signing) {
			d.header.Set("webhook-timestamp", strconv.FormatInt(time.Now().Add(by).Unix(), 10))
			d.header.Set("webhook-signature", sign(d))
		}
	}
	without := func(name string) func(*testing.T, *delivery, signing) {
		return func(_ *testing.T, d *delivery, _ signing) { d.header.Del(name) }
	}
	signature := func(of func(right string) string) func(*testing.T, *delivery, signing) {
		return func(_ *testing.T, d *delivery, sign signing) { d.header.Set("webhook-signature", of(sign(d))) }
	}
	return []deliveryCase{
		{"as it should be", func(*testing.T, *delivery, signing) {}, true},
		{"the second signature is right", func(_ *testing.T, d *delivery, sign signing) {
			d.header.Set("webhook-signature", strange(d)+" "+sign(d))
		}, true},
		{"the first signature is right", func(_ *testing.T, d *delivery, sign signing) {
			d.header.Set("webhook-signature", sign(d)+" "+strange(d))
		}, true},
		{"a signature of a later version besides", signature(func(right string) string { return "v1a,AAAA " + right }), true},
		{"bytes that another writer of JSON would write differently", func(_ *testing.T, d *delivery, sign signing) {
			d.body = `{ "data":{"n":1.0,"text":"Ol\u00e1 😀\/"}, "type":"` + d.kind + `" }`
			d.header.Set("webhook-signature", sign(d))
		}, true},
		{"four minutes old", moved(-4 * time.Minute), true},

		{"another secret", func(_ *testing.T, d *delivery, _ signing) {
			d.header.Set("webhook-signature", strange(d))
		}, false},
		{"another body", func(_ *testing.T, d *delivery, _ signing) { d.body += " " }, false},
		{"no body", func(_ *testing.T, d *delivery, _ signing) { d.body = "" }, false},
		{"another id", func(_ *testing.T, d *delivery, _ signing) { d.header.Set("webhook-id", "x") }, false},
		{"another time", func(_ *testing.T, d *delivery, _ signing) {
			d.header.Set("webhook-timestamp", strconv.FormatInt(time.Now().Add(-time.Minute).Unix(), 10))
		}, false},
		{"six minutes old", moved(-6 * time.Minute), false},
		{"six minutes ahead", moved(6 * time.Minute), false},
		{"a time that is none", func(_ *testing.T, d *delivery, _ signing) { d.header.Set("webhook-timestamp", "now") }, false},
		{"no id", func(_ *testing.T, d *delivery, sign signing) {
			d.header.Del("webhook-id")
			d.header.Set("webhook-signature", sign(d))
		}, false},
		{"no time", without("webhook-timestamp"), false},
		{"no signature", without("webhook-signature"), false},
		{"an empty signature", signature(func(string) string { return "" }), false},
		{"a shorter signature", signature(func(right string) string { return right[:len(right)-1] }), false},
		{"a longer signature", signature(func(right string) string { return right + "=" }), false},
		{"a signature that is no ASCII", signature(func(string) string { return "v1,é" }), false},
		{"a signature without its version", signature(func(right string) string { return strings.TrimPrefix(right, "v1,") }), false},
		{"a signature of another version", signature(func(right string) string { return "v2" + strings.TrimPrefix(right, "v1") }), false},
	}
}

// signatureOf signs what d is now, as Standard Webhooks says.
func signatureOf(key string, d *delivery) string {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(d.header.Get("webhook-id") + "." + d.header.Get("webhook-timestamp") + "." + d.body))
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
