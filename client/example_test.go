package client_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit/process"
)

// Send a text, and send it once however often the program repeats it.
func ExampleClient_SendText() {
	demo := startDemo()
	defer demo.stop()
	ctx := context.Background()

	gateway := client.New(demo.BaseURL, demo.APIKey)
	text := client.Text{To: "5511988887766", Message: "Oi!", IdempotencyKey: "order-4711"}
	sent, err := gateway.SendText(ctx, demo.InstanceID, text)
	if err != nil {
		fmt.Println(err)
		return
	}
	again, err := gateway.SendText(ctx, demo.InstanceID, text)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(again.IdempotencyReplayed, again.MessageID == sent.MessageID)

	_, err = gateway.SendText(ctx, demo.InstanceID, client.Text{Message: "To whom?"})
	if refusal, ok := errors.AsType[*client.Error](err); ok {
		fmt.Println(refusal.Code, refusal.Details[0].Field)
	}
	// Output:
	// true true
	// VALIDATION_ERROR to
}

// Process events, beginning with the first one.
func ExampleClient_Follow() {
	demo := startDemo()
	defer demo.stop()
	ctx := context.Background()

	gateway := client.New(demo.BaseURL, demo.APIKey)
	if _, err := gateway.SendText(ctx, demo.InstanceID, client.Text{To: "5511988887766", Message: "Oi!"}); err != nil {
		fmt.Println(err)
		return
	}
	options := client.FollowOptions{
		After: new(int64(0)),
		Types: []string{client.TypeMessageSent, client.TypeMessageStatus},
	}
	for event, err := range gateway.Follow(ctx, demo.InstanceID, options) {
		if err != nil {
			fmt.Println(err)
			return
		}
		data, err := event.Decode()
		if err != nil {
			fmt.Println(err)
			return
		}
		switch data := data.(type) {
		case client.MessageSentEvent:
			fmt.Println("sent:", *data.Text)
		case client.MessageStatusEvent:
			if data.Status == client.StatusRead { // "sent" and "delivered" come first, unless a later one overtakes them
				fmt.Println("now:", data.Status)
				return
			}
		}
	}
	// Output:
	// sent: Oi!
	// now: read
}

// List the instances in the scope of the key.
func ExampleClient_Instances() {
	demo := startDemo()
	defer demo.stop()

	gateway := client.New(demo.BaseURL, demo.APIKey)
	for instance, err := range gateway.Instances(context.Background(), client.ListInstancesParams{}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(instance.Name, instance.Status, instance.MessengerID)
	}
	// Output: demo connected 5511999990100
}

// Receive deliveries, and accept only those that the gateway has signed.
func ExampleWebhookVerifier() {
	verifier := client.WebhookVerifier{
		Secrets: []string{"segredo"},
		// This delivery is an old recording; leave the clock out for real ones.
		Now: func() time.Time { return time.Unix(1795270930, 0) },
	}
	endpoint := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 4<<20))
		if err != nil {
			return // the connection is gone
		}
		event, err := verifier.Verify(r.Header, body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnauthorized)
			return
		}
		// Here: drop the event if its ID was seen before, put it into your queue,
		// and only then answer.
		fmt.Println(event.Type, event.ID)
		w.WriteHeader(http.StatusNoContent)
	})

	delivery := httptest.NewRequest(http.MethodPost, "/recado", strings.NewReader(`{"id":"01a20010-f30e-7274-874a-399b6eff3bc0","type":"webhook.test","timestamp":"2026-11-21T14:22:10.000Z","instanceId":"01a1facb-4dea-7197-a5b5-6c2fc6b5a3c0","sequence":0,"data":{"message":"This is a test."}}`))
	delivery.Header.Set("Webhook-Id", "01a20010-f30e-7274-874a-399b6eff3bc0")
	delivery.Header.Set("Webhook-Timestamp", "1795270930")
	delivery.Header.Set("Webhook-Signature", "v1,8LbH/GjQcoRQ2wm4HWjLHBmOqLq72eOLIwGPMOTagS8=")
	endpoint.ServeHTTP(httptest.NewRecorder(), delivery)
	// Output: webhook.test 01a20010-f30e-7274-874a-399b6eff3bc0
}

// demo is a gateway with a sandbox, as `recado dev` starts it.
type demo struct {
	BaseURL    string `json:"baseUrl"`
	APIKey     string `json:"apiKey"`
	InstanceID string `json:"instanceId"`
	stop       func()
}

func startDemo() demo {
	folder, err := os.MkdirTemp("", "recado-example-*")
	must(err)
	file := filepath.Join(folder, "ready.json")
	recado, err := process.Recado()
	must(err)
	program := exec.Command(recado, "dev", "--listen", "127.0.0.1:0", "--data", folder, "--ready-file", file, "--log-level", "error")
	program.Stderr = os.Stderr
	output, err := program.StdoutPipe()
	must(err)
	must(program.Start())
	for lines := bufio.NewScanner(output); lines.Scan() && !strings.HasPrefix(lines.Text(), "Ctrl-C"); {
	}
	content, err := os.ReadFile(file)
	must(err)
	var started demo
	must(json.Unmarshal(content, &started))
	started.stop = func() {
		must(program.Process.Kill())
		_ = program.Wait() // "signal: killed" is what was asked for
		must(os.RemoveAll(folder))
	}
	return started
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
