//go:build unix

// Command bare sends messages with whatsmeow alone, on the same kind of store as the
// gateway. The benchmarks compare the gateway with it.
//
// It links a number of sessions, sends from all of them at once, and prints the time and
// CPU that this took as one line of JSON.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/store/sqlstore"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/bench/phones"
	"github.com/recado-project/recado/internal/sqlite"
)

func main() {
	var load load
	flag.StringVar(&load.sandbox, "sandbox", "", "host:port of the sandbox")
	flag.StringVar(&load.data, "data", "", "folder of the sessions")
	flag.IntVar(&load.sessions, "sessions", 1, "how many sessions")
	flag.IntVar(&load.senders, "senders", 1, "how many send at once in each session")
	flag.IntVar(&load.messages, "messages", 1000, "how many messages each of them sends")
	flag.Parse()
	if err := load.run(context.Background()); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "bare:", err)
		os.Exit(1)
	}
}

// load is one measurement.
type load struct {
	sandbox, data               string
	sessions, senders, messages int
}

// Result is what bare prints.
type Result struct {
	Seconds    float64 `json:"seconds"`
	CPUSeconds float64 `json:"cpuSeconds"`
}

func (l load) run(ctx context.Context) error {
	key, err := phones.RootKey(ctx, l.sandbox)
	if err != nil {
		return err
	}
	whatsmeow.WACertPubKey = key
	db, err := sqlite.OpenPool(ctx, filepath.Join(l.data, "sessions.db"), 1)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }() // the process ends anyway
	container := sqlstore.NewWithDB(db, "sqlite3", nil)
	if err := container.Upgrade(ctx); err != nil {
		return fmt.Errorf("create tables: %w", err)
	}
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, l.sandbox)
	}
	web := &http.Client{Transport: &http.Transport{DialContext: dial, DialTLSContext: dial}}
	clients := make([]*whatsmeow.Client, l.sessions)
	for i := range clients {
		if clients[i], err = l.link(ctx, container, web, i); err != nil {
			return err
		}
	}
	if err := send(ctx, clients, 1, phones.WarmUp); err != nil {
		return err
	}
	cpu, began := cpuTime(), time.Now() //nolint:forbidigo // it is what is measured
	if err := send(ctx, clients, l.senders, l.messages); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(Result{
		Seconds: time.Since(began).Seconds(), CPUSeconds: (cpuTime() - cpu).Seconds(),
	})
}

// link makes a session and links it to a phone of its own.
func (l load) link(ctx context.Context, container *sqlstore.Container, web *http.Client, i int) (*whatsmeow.Client, error) {
	client := whatsmeow.NewClient(container.NewDevice(), nil)
	client.SetWebsocketHTTPClient(web)
	client.SetPreLoginHTTPClient(web)
	client.SetMediaHTTPClient(web)
	codes, connected := make(chan string, 1), make(chan struct{}, 1)
	client.AddEventHandler(func(event any) {
		switch event := event.(type) {
		case *events.QR:
			codes <- event.Codes[0]
		case *events.Connected:
			connected <- struct{}{}
		}
	})
	if err := client.Connect(); err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	if err := phones.Scan(ctx, l.sandbox, phones.Owner(i), <-codes); err != nil {
		return nil, err
	}
	<-connected
	return client, nil
}

// send sends from all clients at once. Each sender of each client sends that many messages
// one after another.
func send(ctx context.Context, clients []*whatsmeow.Client, senders, messages int) error {
	errs := make([]error, len(clients)*senders)
	var group sync.WaitGroup
	for n := range errs {
		i := n % len(clients)
		group.Go(func() {
			to := types.NewJID(phones.Recipient(i), types.DefaultUserServer)
			for m := range messages {
				text := fmt.Sprintf("message %d", m)
				if _, err := clients[i].SendMessage(ctx, to, &waE2E.Message{Conversation: new(text)}); err != nil {
					errs[n] = fmt.Errorf("send: %w", err)
					return
				}
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

// cpuTime returns the CPU time that this process has used so far.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
