package commandtest_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit/await"
	"github.com/recado-project/recado/internal/testkit/phones"
	"github.com/recado-project/recado/internal/testkit/process"
)

// Whatever a client with one key sends, however much and however slowly, the process takes
// at most 300 MB more than when it is idle.
//
//nolint:paralleltest // see below
func TestRequestsTakeLittleMemory(t *testing.T) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("the system does not show the memory of a process")
	}
	program := buildForUsers(t)
	for _, attack := range []struct {
		name string
		by   func(t *testing.T, r ready)
	}{
		{"fields that do not exist", func(t *testing.T, r ready) {
			t.Helper()
			postAll(t, r, "message/"+r.InstanceID+"/image", `{"a":[`+strings.Repeat(`{},`, 85<<20/3)+"0]}")
		}},
		{"lists beyond their bounds", func(t *testing.T, r ready) {
			t.Helper()
			for range 3 {
				together(4, func() { postAll(t, r, "instances/"+r.InstanceID+"/check-numbers", listOfZeros()) })
			}
		}},
		{"honest documents", func(t *testing.T, r ready) {
			t.Helper()
			file := base64.StdEncoding.EncodeToString(make([]byte, 63<<20))
			body := `{"to":"` + recipient + `","document":"data:application/octet-stream;base64,` + file + `"}`
			together(4, func() { postAll(t, r, "message/"+r.InstanceID+"/document", body) })
		}},
		{"bodies that stall", func(t *testing.T, r ready) {
			t.Helper()
			for range 4 {
				stall(t, r, 84<<20)
			}
		}},
	} {
		//nolint:paralleltest // their bodies are large, and are made in this process
		t.Run(attack.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "ready.json")
			p := process.Start(t, program, "dev", "--listen", "127.0.0.1:0", "--data", t.TempDir(), "--ready-file", file)
			r := awaitReady(t, file)
			before := peakMemory(t, p.PID())
			attack.by(t, r)
			grown := peakMemory(t, p.PID()) - before
			t.Logf("the peak grew by %d MB", grown>>20)
			if grown > 300<<20 {
				t.Errorf("the process grew by %d MB", grown>>20)
			}
		})
	}
}

// A large file in a body passes through the gateway: it is decoded, encrypted and uploaded
// piece by piece.
//
//nolint:paralleltest // its body is large, and is made in this process
func TestAFileInABodyTakesLittleMemory(t *testing.T) {
	if _, err := os.Stat("/proc/self/clear_refs"); err != nil {
		t.Skip("the system does not show the memory of a process")
	}
	program := buildForUsers(t)
	box := process.Start(t, program, "sandbox", "--load", "--listen", "127.0.0.1:0", "--data", t.TempDir())
	hint := strings.Fields(box.Await("A gateway on it: recado serve"))
	data := t.TempDir()
	serve := process.Start(t, program, append([]string{"serve", "--listen", "127.0.0.1:0", "--data", data}, hint[6:]...)...)
	baseURL := strings.TrimSuffix(strings.Fields(serve.Await("recado "))[4], ",")
	gateway := client.New(baseURL, command(t, "keys", "create", "--data", data, "--name", "till", "--partner"))
	instance, err := gateway.CreateInstance(t.Context(), client.NewInstance{Name: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	code, err := gateway.GetQRCode(t.Context(), instance.InstanceID, client.GetQRCodeParams{Format: client.FormatRaw})
	if err != nil {
		t.Fatal(err)
	}
	phones.New("http"+strings.TrimPrefix(hint[7], "ws")).Scan(t, "5511999990100", code.QRCode)
	await.Until(t, "the instance to be connected", func() bool {
		shown, err := gateway.GetInstance(t.Context(), instance.InstanceID)
		return err == nil && shown.Status == "connected"
	})
	send := func(size int) {
		t.Helper()
		document := client.Document{To: recipient, Document: client.DataURI("application/octet-stream", make([]byte, size))}
		if _, err := gateway.SendDocument(t.Context(), instance.InstanceID, document); err != nil {
			t.Fatal(err)
		}
	}
	send(1) // so that all that a send needs is there
	// From here on the peak is that of the next send.
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", serve.PID()), []byte("5"), 0); err != nil {
		t.Skipf("the peak can't be set back: %v", err)
	}
	before := peakMemory(t, serve.PID())
	send(60_000_000)
	grown := peakMemory(t, serve.PID()) - before
	t.Logf("the peak grew by %.1f MB", float64(grown)/1e6)
	if grown > 8_000_000 {
		t.Errorf("the process grew by %d bytes", grown)
	}
}

// buildForUsers builds the program without the race detector, which would take several
// times the memory.
func buildForUsers(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "recado")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".")
	build.Dir = "../../cmd/recado"
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the program: %v\n%s", err, out)
	}
	return program
}

// peakMemory is the most that a process has had in memory, in bytes.
func peakMemory(t *testing.T, pid int) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kilobytes, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kilobytes << 10
}

func together(n int, do func()) {
	var wg sync.WaitGroup
	for range n {
		wg.Go(do)
	}
	wg.Wait()
}

func listOfZeros() string {
	return `{"numbers":[0` + strings.Repeat(",0", 1<<19-20) + `]}`
}

// postAll sends a body and accepts any outcome: a refusal may close the connection before
// the end of the body.
func postAll(t *testing.T, r ready, path, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), http.MethodPost, r.BaseURL+"/api/"+path, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return
	}
	request.Header.Set("X-Api-Key", r.APIKey)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return
	}
	answer, _ := io.ReadAll(response.Body)
	_ = response.Body.Close()
	t.Logf("%s: %d, %d bytes", path, response.StatusCode, len(answer))
	if len(answer) > 16<<10 {
		t.Errorf("%s: the answer has %d bytes", path, len(answer))
	}
}

// stall sends all of a body but its end, and waits until the gateway has read it
// or does not want it.
func stall(t *testing.T, r ready, size int) {
	t.Helper()
	address, err := url.Parse(r.BaseURL)
	if err != nil {
		t.Fatal(err)
	}
	connection, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address.Host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = connection.Close() })
	body := `{"document":"data:;base64,` + strings.Repeat("A", size)
	_, _ = fmt.Fprintf(connection, "POST /api/message/%s/document HTTP/1.1\r\nHost: x\r\nX-Api-Key: %s\r\nContent-Length: %d\r\n\r\n",
		r.InstanceID, r.APIKey, len(body)+10)
	_, _ = io.WriteString(connection, body) // it is cut off where there is no room for it
	await.Until(t, "another request to be answered", func() bool {
		response, err := http.Get(r.BaseURL + "/healthz")
		if err == nil {
			_ = response.Body.Close()
		}
		return err == nil
	})
}
