package commandtest_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit/await"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/phones"
	"github.com/recado-project/recado/internal/testkit/process"
)

func start(t *testing.T, args ...string) *process.Process {
	t.Helper()
	return process.Start(t, process.Program(t), args...)
}

// ready is what `dev --ready-file` writes.
type ready struct {
	BaseURL        string `json:"baseUrl"`
	APIKey         string `json:"apiKey"`
	PartnerKey     string `json:"partnerKey"`
	InstanceID     string `json:"instanceId"`
	InstanceNumber string `json:"instanceNumber"`
}

func awaitReady(t *testing.T, path string) ready {
	t.Helper()
	var r ready
	await.Until(t, "the ready file", func() bool {
		content, err := os.ReadFile(path)
		if err != nil {
			return false
		}
		if err := json.Unmarshal(content, &r); err != nil {
			t.Fatalf("the ready file is no JSON: %s", content)
		}
		return true
	})
	return r
}

const recipient = "5511988887766"

// The first minute of a newcomer: one command, and the line that it prints sends
// a message that the phone shows.
func TestDevPrintsALineThatSends(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("curl is not installed")
		}
		t.Skip("curl is not installed")
	}
	p := start(t, "dev", "--listen", "127.0.0.1:0", "--data", t.TempDir())
	send := awaitCommand(p)
	if !strings.Contains(send, "-H 'content-type: application/json'") {
		t.Errorf("without its content type, tools take the body for a form: %s", send)
	}
	answer, err := exec.CommandContext(t.Context(), "sh", "-c", send).Output()
	if err != nil {
		t.Fatal(err)
	}
	var sent client.Sent
	if err := json.Unmarshal(answer, &sent); err != nil || sent.ID == "" || sent.MessageID == "" {
		t.Fatalf("answered %s", answer)
	}
	page := p.Await("http://")
	await.Until(t, "the message on the page of the phone", func() bool {
		shown, err := exec.CommandContext(t.Context(), "curl", "-s", page).Output()
		if err != nil {
			t.Fatal(err)
		}
		_, chat, _ := strings.Cut(string(shown), "<ol>")
		return strings.Contains(chat, "Oi!")
	})
}

// awaitCommand returns the next command that the banner shows, as it can be
// pasted, and requires that a window of 80 columns shows it whole.
func awaitCommand(p *process.Process) string {
	line := p.Await("curl -s")
	command := line
	for strings.HasSuffix(line, "\\") {
		line = p.Await("")
		command += "\n" + line
	}
	return command
}

// kill -9, start again: the instance is back without a code, and nothing that
// was acknowledged is gone or doubled.
func TestDevComesBackAfterAKill(t *testing.T) {
	t.Parallel()
	data, file := t.TempDir(), filepath.Join(t.TempDir(), "ready.json")
	args := []string{"dev", "--listen", "127.0.0.1:0", "--data", data, "--ready-file", file}
	first := start(t, args...)
	before := awaitReady(t, file)
	sent, err := client.New(before.BaseURL, before.APIKey).SendText(t.Context(), before.InstanceID,
		client.Text{To: recipient, Message: "before"})
	if err != nil {
		t.Fatal(err)
	}
	phones.New(before.BaseURL).SendText(t, recipient, before.InstanceNumber, "an answer")
	first.Kill()
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}

	start(t, args...)
	after := awaitReady(t, file)
	if after.APIKey != before.APIKey || after.PartnerKey != before.PartnerKey ||
		after.InstanceID != before.InstanceID || after.InstanceNumber != before.InstanceNumber {
		t.Errorf("before %+v, after %+v", before, after)
	}
	page, err := client.New(after.BaseURL, after.APIKey).ListInstances(t.Context(), client.ListInstancesParams{}, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(page.Data) != 1 || page.Data[0].Status != "connected" || page.Data[0].MessengerID != before.InstanceNumber {
		t.Errorf("instances after the kill: %+v", page.Data)
	}
	again, err := client.New(after.BaseURL, after.APIKey).SendText(t.Context(), after.InstanceID,
		client.Text{To: recipient, Message: "after", QuoteMessageID: sent.ID})
	if err != nil {
		t.Fatal(err)
	}
	handsets := phones.New(after.BaseURL)
	handsets.AwaitMessage(t, recipient, again.MessageID)
	var texts []string
	for _, message := range handsets.Messages(t, recipient, "") {
		texts = append(texts, message.Text)
	}
	if got := strings.Join(texts, ", "); got != "before, an answer, after" {
		t.Errorf("the phone shows %s", got)
	}
}

func TestSecondProcessOnTheSameDataIsRefused(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	p := start(t, "dev", "--listen", "127.0.0.1:0", "--data", data, "--empty")
	p.Await("Recado is ready")
	second := exec.CommandContext(t.Context(), process.Program(t), "dev", "--listen", "127.0.0.1:0", "--data", data)
	output, err := second.CombinedOutput()
	if err == nil || !strings.Contains(string(output), "in use by another recado process") {
		t.Errorf("the second process answered %s (%v)", output, err)
	}
}

// A refused option is reported without the names of the packages that the error came
// through.
func TestDevRefusesAShortKey(t *testing.T) {
	t.Parallel()
	dev := exec.CommandContext(t.Context(), process.Program(t), "dev", "--listen", "127.0.0.1:0", "--data", t.TempDir(),
		"--api-key", "short", "--log-level", "error")
	output, err := dev.CombinedOutput()
	if err == nil || string(output) != "recado: --api-key must have 16 to 255 characters; this one has 5\n" {
		t.Errorf("it answered %s (%v)", output, err)
	}
}

// A gateway and a sandbox as two processes, with keys and instances made on the
// command line, as an operator does it.
func TestServeOnASandboxOfItsOwn(t *testing.T) {
	t.Parallel()
	box := start(t, "sandbox", "--listen", "127.0.0.1:0", "--data", t.TempDir())
	hint := strings.Fields(box.Await("A gateway on it: recado serve"))
	data := t.TempDir()
	serve := start(t, append([]string{"serve", "--listen", "127.0.0.1:0", "--data", data}, hint[6:]...)...)
	baseURL := strings.TrimSuffix(strings.Fields(serve.Await("recado "))[4], ",")
	handsets := phones.New("http" + strings.TrimPrefix(hint[7], "ws"))

	// What it prints next is what one does next. The program of the tests lies where go run keeps what it has built.
	const program = "go run ./cmd/recado "
	url, key := serve.Await("  export RECADO_URL="), serve.Await("  export RECADO_API_KEY=$(")
	if url != "  export RECADO_URL="+baseURL {
		t.Errorf("it says %s", url)
	}
	create := strings.Fields(strings.TrimSuffix(strings.TrimPrefix(key, "  export RECADO_API_KEY=$("+program), ")"))
	partnerKey := command(t, create...)
	id := command(t, append(strings.Fields(strings.TrimPrefix(serve.Await("  "+program+"instances create"), "  "+program)),
		"--url", baseURL, "--api-key", partnerKey)...)
	code, err := client.New(baseURL, partnerKey).GetQRCode(t.Context(), id, client.GetQRCodeParams{Format: client.FormatRaw})
	if err != nil {
		t.Fatal(err)
	}
	link := start(t, "qr", "--url", baseURL, "--api-key", partnerKey, id)
	link.Await("On the phone: Linked devices")
	handsets.Scan(t, "5511999990100", code.QRCode)
	link.Await("Linked to 5511999990100")
	if list := command(t, "instances", "list", "--url", baseURL, "--api-key", partnerKey); !strings.Contains(list, id) || !strings.Contains(list, "connected") {
		t.Errorf("the list shows %s", list)
	}

	sent := command(t, "send", "text", "--url", baseURL, "--api-key", partnerKey, "--instance", id, "--to", recipient, "Oi do terminal")
	await.Until(t, "the message on the phone", func() bool {
		shown := handsets.Messages(t, recipient, "")
		return len(shown) == 1 && shown[0].Text == "Oi do terminal" && strings.Contains(sent, shown[0].MessageID)
	})

	keys := command(t, "keys", "list", "--data", data)
	keyID := strings.Fields(keys)[0]
	command(t, "keys", "revoke", "--data", data, keyID)
	_, err = client.New(baseURL, partnerKey).ListInstances(t.Context(), client.ListInstancesParams{}, 0, 0)
	if refusal, ok := errors.AsType[*client.Error](err); !ok || refusal.Code != "UNAUTHORIZED" {
		t.Errorf("a key that was revoked is answered with %v", err)
	}
}

// command runs the program to its end and returns what it printed.
func command(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, process.Program(t), args...)
	var failure strings.Builder
	cmd.Stderr = io.MultiWriter(&failure, t.Output())
	output, err := cmd.Output()
	if err != nil {
		t.Fatalf("recado %s: %v: %s", strings.Join(args, " "), err, failure.String())
	}
	return strings.TrimSpace(string(output))
}

// The doctor looks at a gateway that runs, with the same settings, and leaves it alone; when
// something is wrong, it says what and fails.
func TestDoctorBesideAGateway(t *testing.T) {
	t.Parallel()
	box := start(t, "sandbox", "--listen", "127.0.0.1:0", "--data", t.TempDir())
	platform := strings.Fields(box.Await("A gateway on it: recado serve"))[6:]
	data := filepath.Join(t.TempDir(), "data")
	serve := start(t, append([]string{"serve", "--listen", "127.0.0.1:0", "--data", data}, platform...)...)
	baseURL := strings.TrimSuffix(strings.Fields(serve.Await("recado "))[4], ",")
	examine := func(args ...string) (code int, findings map[string]string, said string) {
		t.Helper()
		var stderr strings.Builder
		command := exec.CommandContext(t.Context(), process.Program(t), append([]string{"doctor", "--json", "--data", data}, args...)...)
		command.Stderr = &stderr
		output, err := command.Output()
		if failed, ok := errors.AsType[*exec.ExitError](err); ok {
			code = failed.ExitCode()
		} else if err != nil {
			t.Fatal(err)
		}
		var all []struct {
			Check string `json:"check"`
			State string `json:"state"`
			Found string `json:"found"`
		}
		if err := json.Unmarshal(output, &all); err != nil {
			t.Fatalf("it printed %s", output)
		}
		findings = map[string]string{}
		for _, one := range all {
			findings[one.Check] += one.State + " " + one.Found + "\n"
		}
		return code, findings, stderr.String()
	}
	_, findings, _ := examine(append(platform, "--public-url", baseURL)...) // the test's own disk may be full, or in memory
	for check, want := range cases.Sorted(map[string]string{
		"settings": "ok ", "master key": "ok ", "data folder": "ok ", "database": "ok SQLite", "integrity": "ok ", "tables": "ok ",
		"durability": "ok ", "files": "ok ", "platform": "ok ", "clock, platform's": "ok ", "public address": "ok " + baseURL + " leads to this gateway",
		"proxies": "ok ", "webhooks": "ok ", "nodes": "ok ",
	}) {
		if !strings.HasPrefix(findings[check], want) {
			t.Errorf("%s: %q, want %q", check, findings[check], want)
		}
	}
	code, findings, said := examine("--platform-url", "ws://127.0.0.1:1", "--platform-version", "new", "--max-streams", "-1")
	if code != 1 || !strings.Contains(said, "things are wrong") || !strings.HasPrefix(findings["platform"], "wrong ") ||
		!strings.Contains(findings["settings"], "--platform-key are needed together") || !strings.Contains(findings["settings"], "a limit must not be less than 0") {
		t.Errorf("exit code %d, %s, %v", code, said, findings)
	}
	key := command(t, "keys", "create", "--name", "ops", "--partner", "--data", data)
	if _, err := client.New(baseURL, key).ListInstances(t.Context(), client.ListInstancesParams{}, 0, 0); err != nil {
		t.Errorf("the gateway does not work any more: %v", err)
	}
}
