//go:build linux

package imagetest_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit/await"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/phones"
	"github.com/recado-project/recado/internal/testkit/postgres"
	"github.com/recado-project/recado/internal/testkit/process"
)

const (
	// customer writes to the shops, and is written to.
	customer = "5511988887766"
	// picture is a GIF of one pixel.
	picture = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"
)

// The services of the cluster work together with the settings of their files: what a client
// asks of the balancer is answered, events come when they happen, files are in the store. A
// node stops, and no request fails.
func TestClusterWorks(t *testing.T) { //nolint:paralleltest // it wants the processors for itself
	requireHAProxy(t)
	services, err := readWithCompose(t, clusterFile, append(secrets(), "RECADO_PUBLIC_URL=http://balancer:8080")...)
	if err != nil {
		t.Fatal(err)
	}
	handsets, platform := startSandbox(t)
	c := newCluster(t, services, postgres.Start(t), platform)
	c.beginFiles(t)
	nodes := map[string]*running{}
	for name, s := range c.services {
		if s.Image == ourImage {
			nodes[name] = c.begin(t, name)
		}
	}
	if len(nodes) != 3 {
		t.Fatalf("there are %d nodes", len(nodes))
	}
	for name, node := range cases.Sorted(nodes) {
		node.line(t, "recado ")
		health := c.command(t, name, c.services[name].Healthcheck.Test[1:]...)
		health.Env = append(health.Env, "RECADO_URL=http://"+c.address(name)+":8080")
		run(t, stepWait, health)
	}
	c.begin(t, "balancer")
	base := "http://" + c.address("balancer") + ":8080"
	await.Until(t, "the balancer answers", func() bool { status, _ := fetch(t, base+"/readyz"); return status == http.StatusOK })

	key := strings.TrimSpace(run(t, stepWait, c.command(t, "node1", "/recado", "keys", "create", "--name", "ops", "--partner")))
	gateway := client.New(base, key)
	var shops []string
	for _, number := range []string{"5511999990201", "5511999990202", "5511999990203"} {
		shops = append(shops, link(t, gateway, handsets, number))
	}
	tryCluster(t, c, gateway, handsets, shops[0])
	stopNode(t, c, nodes, gateway, shops)
}

// startSandbox starts a platform, and returns its phones and the variables that name it.
func startSandbox(t *testing.T) (handsets *phones.API, platform []string) {
	t.Helper()
	box := start(t, exec.CommandContext(context.WithoutCancel(t.Context()), process.Program(t), "sandbox", "--listen", "127.0.0.1:0", "--data", t.TempDir(), "--log-level", "error"))
	hint := strings.Fields(box.line(t, "A gateway on it: recado serve"))
	return phones.New("http" + strings.TrimPrefix(hint[7], "ws")), []string{"RECADO_PLATFORM_URL=" + hint[7], "RECADO_PLATFORM_KEY=" + hint[9]}
}

// beginFiles starts the store for files, and returns when it answers.
func (c *cluster) beginFiles(t *testing.T) {
	t.Helper()
	c.begin(t, "files")
	check := c.services["files"].Healthcheck.Test
	address := strings.Replace(check[len(check)-1], "127.0.0.1", c.address("files"), 1)
	await.Until(t, "the store answers", func() bool { status, _ := fetch(t, address); return status == http.StatusOK })
}

// tryCluster sees that events come at once, and that files come from the store.
func tryCluster(t *testing.T, c *cluster, gateway *client.Client, handsets *phones.API, shop string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), stepWait)
	defer cancel()
	stream, err := gateway.Events(ctx, shop, client.EventsParams{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stream.Close() }()
	handsets.Send(t, customer, map[string]any{"to": "5511999990201", "type": "image", "media": picture})
	var received client.MessageReceivedEvent
	for received.MessageID == "" {
		event, err := stream.Next()
		if err != nil {
			t.Fatal(err)
		}
		data, err := event.Decode()
		if err != nil {
			t.Fatal(err)
		}
		received, _ = data.(client.MessageReceivedEvent)
	}
	link, err := gateway.GetMediaDownloadLink(ctx, shop, received.MessageID)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(link.URL, "http://"+c.address("balancer")+":8080/") {
		t.Errorf("the link is %s", link.URL)
	}
	if status, file := fetch(t, link.URL); status != http.StatusOK || !strings.HasPrefix(file, "GIF89a") {
		t.Errorf("the file is answered %d %q", status, file)
	}
	kept, err := filepath.Glob(filepath.Join(c.folder, "files", "buckets", "recado", "*", "*"))
	if err != nil || len(kept) == 0 {
		t.Errorf("the store has no file: %v", err)
	}
}

// stopNode stops a node that has instances, as Compose does, while clients go on: none of
// their requests fails but with 503, and that succeeds when it is repeated.
func stopNode(t *testing.T, c *cluster, nodes map[string]*running, gateway *client.Client, shops []string) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var working sync.WaitGroup
	t.Cleanup(func() { stop(); working.Wait() })
	listed, sent := make([]int, 1), make([]int, len(shops))
	working.Go(func() {
		for ; ctx.Err() == nil; listed[0]++ {
			if _, err := gateway.ListInstances(context.WithoutCancel(ctx), client.ListInstancesParams{}, 1, 10); err != nil {
				t.Errorf("a list: %v", err)
			}
		}
	})
	for i, shop := range shops {
		working.Go(func() {
			for ; ctx.Err() == nil; sent[i]++ {
				if !send(context.WithoutCancel(ctx), t, gateway, shop) {
					return
				}
			}
		})
	}
	stopped := ""
	for name := range cases.Sorted(nodes) {
		status, metrics := fetch(t, "http://"+c.address(name)+":9090/metrics")
		if status != http.StatusOK {
			t.Errorf("the metrics of %s are answered %d", name, status)
		}
		if held := regexp.MustCompile(`(?m)^recado_instances_held (\d+)$`).FindStringSubmatch(metrics); len(held) == 2 && held[1] != "0" {
			stopped = name
		}
	}
	if stopped == "" {
		t.Fatal("no node has an instance")
	}
	grace, err := time.ParseDuration(c.services[stopped].StopGracePeriod)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := nodes[stopped].terminate(); err != nil {
		t.Errorf("%s did not stop cleanly: %v", stopped, err)
	}
	took := time.Since(began)
	if took > grace {
		t.Errorf("%s needed %s to stop, and is killed after %s", stopped, took, grace)
	}
	for _, shop := range shops { // every one has an owner again
		if !send(ctx, t, gateway, shop) {
			return
		}
	}
	stop()
	working.Wait()
	t.Logf("%s stopped in %.1f s; meanwhile %d lists were answered, and %d messages sent", stopped, took.Seconds(), listed[0], sent)
}

// send sends a text as a client does that wants it to be sent once: what is answered 503 it
// repeats under the same name.
func send(ctx context.Context, t *testing.T, gateway *client.Client, shop string) bool {
	t.Helper()
	text := client.Text{To: customer, Message: "olá", IdempotencyKey: uuid.NewString()}
	pace := time.NewTicker(100 * time.Millisecond)
	defer pace.Stop()
	for deadline := time.Now().Add(stepWait / 2); ; <-pace.C {
		_, err := gateway.SendText(ctx, shop, text)
		if err == nil {
			return true
		}
		refusal, ok := errors.AsType[*client.Error](err)
		if !ok || refusal.Code != client.CodeUnavailable || time.Now().After(deadline) {
			t.Errorf("a send: %v", err)
			return false
		}
	}
}

// link makes an instance and links it to a number.
func link(t *testing.T, gateway *client.Client, handsets *phones.API, number string) (id string) {
	t.Helper()
	instance, err := gateway.CreateInstance(t.Context(), client.NewInstance{Name: number})
	if err != nil {
		t.Fatal(err)
	}
	code, err := gateway.GetQRCode(t.Context(), instance.InstanceID, client.GetQRCodeParams{Format: client.FormatRaw})
	if err != nil {
		t.Fatal(err)
	}
	handsets.Scan(t, number, code.QRCode)
	await.Until(t, number+" is connected", func() bool {
		now, err := gateway.GetInstance(t.Context(), instance.InstanceID)
		return err == nil && now.Status == "connected"
	})
	return instance.InstanceID
}

// fetch asks for a page, and returns the status and the text of the answer; 0 if there is none.
func fetch(t *testing.T, address string) (status int, text string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := (&http.Client{Timeout: stepWait}).Do(request)
	if err != nil {
		return 0, ""
	}
	content, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		t.Error(err)
	}
	return response.StatusCode, string(content)
}

// requireHAProxy ends the test if there is no haproxy; where an image has to be tested, or in
// CI, that is a failure.
func requireHAProxy(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("haproxy"); err != nil {
		if os.Getenv("CI") == "true" || os.Getenv("RECADO_TEST_IMAGE") == "required" {
			t.Fatal("haproxy is not installed")
		}
		t.Skip("haproxy is not installed")
	}
}
