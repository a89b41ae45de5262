// Command collector receives traces with the OTLP receiver of the OpenTelemetry collector, and
// writes every span as a line of JSON. Tests call it; it is a module of its own because the
// receiver needs a hundred others.
//
// The first line is the address that it listens at. It ends with its standard input.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"

	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/receiver/receivertest"
)

// span is one span as it is written.
type span struct {
	Trace      string         `json:"trace"`
	ID         string         `json:"id"`
	Parent     string         `json:"parent"`
	Name       string         `json:"name"`
	Kind       string         `json:"kind"`
	Status     string         `json:"status"`
	Message    string         `json:"message"`
	Begin      int64          `json:"begin"` // in nanoseconds
	End        int64          `json:"end"`
	Attributes map[string]any `json:"attributes"`
	Resource   map[string]any `json:"resource"`
}

func main() {
	if err := run(context.Background(), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "collector:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, in io.Reader, out io.Writer) (err error) {
	address, err := freeAddress(ctx)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	lines := json.NewEncoder(out)
	sink, err := consumer.NewTraces(func(_ context.Context, traces ptrace.Traces) error {
		mu.Lock()
		defer mu.Unlock()
		return write(lines, traces)
	})
	if err != nil {
		return err
	}
	factory := otlpreceiver.NewFactory()
	config := factory.CreateDefaultConfig()
	if err := confmap.NewFromStringMap(map[string]any{
		"protocols": map[string]any{"http": map[string]any{"endpoint": address}},
	}).Unmarshal(config); err != nil {
		return err
	}
	receiver, err := factory.CreateTraces(ctx, receivertest.NewNopSettings(factory.Type()), config, sink)
	if err != nil {
		return err
	}
	if err := receiver.Start(ctx, componenttest.NewNopHost()); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, receiver.Shutdown(ctx)) }()
	if _, err := fmt.Fprintln(out, "http://"+address); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, in)
	return err
}

// freeAddress finds a port that nobody has.
func freeAddress(ctx context.Context) (string, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

func write(lines *json.Encoder, traces ptrace.Traces) error {
	for _, resource := range traces.ResourceSpans().All() {
		for _, scope := range resource.ScopeSpans().All() {
			for _, one := range scope.Spans().All() {
				if err := lines.Encode(span{
					Trace: one.TraceID().String(), ID: one.SpanID().String(), Parent: one.ParentSpanID().String(),
					Name: one.Name(), Kind: one.Kind().String(), Status: one.Status().Code().String(), Message: one.Status().Message(),
					Begin: int64(one.StartTimestamp()), End: int64(one.EndTimestamp()),
					Attributes: one.Attributes().AsRaw(), Resource: resource.Resource().Attributes().AsRaw(),
				}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
