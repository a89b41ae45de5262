//go:build unix

// Command bare sends and receives messages with whatsmeow alone, on the same kind of store
// as the gateway: a commit waits for the disk. The benchmarks compare the gateway with it.
//
// If its store is empty, it links a number of sessions and makes each of them send a few
// messages; otherwise it connects those of the store. Then it sends from all of them at
// once, waits for messages that phones have sent, or does nothing for some time, and prints
// as one line of JSON what this took. What it sends is over when the phones have read everything.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/store/sqlstore"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/sqlite"
	"github.com/recado-project/recado/internal/testkit/crowd"
)

func main() {
	load := load{began: time.Now()} //nolint:forbidigo // it is what is measured
	flag.StringVar(&load.sandbox, "sandbox", "", "host:port of the sandbox")
	flag.StringVar(&load.data, "data", "", "folder of the sessions")
	flag.IntVar(&load.sessions, "sessions", 1, "how many sessions")
	flag.IntVar(&load.senders, "senders", 1, "how many send at once in each session")
	flag.IntVar(&load.messages, "messages", 1000, "how many messages each of them sends, or each session receives")
	flag.StringVar(&load.receive, "receive", "", "receive instead of sending: count the messages that begin with this text")
	flag.BoolVar(&load.memory, "memory", false, "keep what sending changes in memory alone: what the library itself costs")
	flag.DurationVar(&load.idle, "idle", 0, "stay connected for so long instead of sending")
	flag.Parse()
	if err := load.run(context.Background()); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "bare:", err)
		os.Exit(1)
	}
}

// load is one measurement.
type load struct {
	began                       time.Time
	sandbox, data               string
	sessions, senders, messages int
	receive                     string
	memory                      bool
	idle                        time.Duration

	web      *http.Client
	received atomic.Int64
	read     atomic.Int64  // messages of ours that a phone has read
	complete chan struct{} // closed when everything was received
}

// Result is what bare prints: of sending and doing nothing without the start, of receiving
// with it.
type Result struct {
	Seconds     float64 `json:"seconds"` // until the last message was sent or received; receipts take longer
	CPUSeconds  float64 `json:"cpuSeconds"`
	Allocations uint64  `json:"allocations"`
	Allocated   uint64  `json:"allocated"` // bytes
}

func (l *load) run(ctx context.Context) error {
	key, err := crowd.RootKey(ctx, l.sandbox)
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
	l.web = &http.Client{Transport: &http.Transport{DialContext: dial, DialTLSContext: dial}}
	l.complete = make(chan struct{})
	clients, err := l.connect(ctx, container)
	if err != nil {
		return err
	}
	before, last := Result{}, Result{}
	switch {
	case l.receive != "":
		<-l.complete
	case l.idle > 0:
		before = l.soFar()
		select {
		case <-time.After(l.idle): // it is what is measured
		case <-ctx.Done():
			return ctx.Err()
		}
	default:
		read := l.read.Load()
		before = l.soFar()
		if err := send(ctx, clients, l.senders, l.messages); err != nil {
			return err
		}
		last = l.soFar()
		if err := l.awaitRead(ctx, read+int64(len(clients)*l.senders*l.messages)); err != nil {
			return err
		}
	}
	after := l.soFar()
	if last.Seconds == 0 {
		last = after
	}
	for _, client := range clients {
		client.Disconnect()
	}
	return json.NewEncoder(os.Stdout).Encode(Result{
		Seconds: last.Seconds - before.Seconds, CPUSeconds: after.CPUSeconds - before.CPUSeconds,
		Allocations: after.Allocations - before.Allocations, Allocated: after.Allocated - before.Allocated,
	})
}

// awaitRead waits until phones have read so many messages in all.
func (l *load) awaitRead(ctx context.Context, messages int64) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	for l.read.Load() < messages {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return fmt.Errorf("phones have read %d messages of %d", l.read.Load(), messages)
		}
	}
	return nil
}

// soFar is what this process has taken since its start.
func (l *load) soFar() Result {
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return Result{
		Seconds: time.Since(l.began).Seconds(), CPUSeconds: cpuTime().Seconds(),
		Allocations: memory.Mallocs, Allocated: memory.TotalAlloc,
	}
}

// connect connects the sessions of the store; if there are none, it links new ones.
func (l *load) connect(ctx context.Context, container *sqlstore.Container) ([]*whatsmeow.Client, error) {
	devices, err := container.GetAllDevices(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the sessions: %w", err)
	}
	clients := make([]*whatsmeow.Client, l.sessions)
	if len(devices) == 0 {
		for i := range clients {
			if clients[i], err = l.link(ctx, container, i); err != nil {
				return nil, err
			}
		}
		if err := send(ctx, clients, 1, crowd.WarmUp); err != nil {
			return nil, err
		}
		return clients, l.awaitRead(ctx, int64(len(clients)*crowd.WarmUp))
	}
	connected := make(chan struct{}, len(clients))
	for i := range clients {
		n := slices.IndexFunc(devices, func(d *store.Device) bool { return d.ID.User == crowd.Owner(i) })
		if n < 0 {
			return nil, fmt.Errorf("session %d was not linked", i)
		}
		if l.memory {
			keepInMemory(devices[n])
		}
		clients[i] = l.newClient(devices[n])
		clients[i].AddEventHandler(func(event any) {
			if _, ok := event.(*events.Connected); ok {
				connected <- struct{}{}
			}
		})
		if err := clients[i].Connect(); err != nil {
			return nil, fmt.Errorf("connect: %w", err)
		}
	}
	for range clients {
		<-connected
	}
	return clients, nil
}

// newClient makes the client of a session. If it is to receive, a message is acknowledged
// after its handler, and its plaintext is kept until then, as in the gateway.
func (l *load) newClient(device *store.Device) *whatsmeow.Client {
	client := whatsmeow.NewClient(device, nil)
	client.SetWebsocketHTTPClient(l.web)
	client.SetPreLoginHTTPClient(l.web)
	client.SetMediaHTTPClient(l.web)
	client.SynchronousAck = l.receive != ""
	client.EnableDecryptedEventBuffer = l.receive != ""
	wanted := int64(l.sessions * l.messages)
	client.AddEventHandler(func(event any) {
		if receipt, ok := event.(*events.Receipt); ok && receipt.Type == types.ReceiptTypeRead {
			l.read.Add(int64(len(receipt.MessageIDs)))
		}
		message, ok := event.(*events.Message)
		if !ok || l.receive == "" {
			return
		}
		text := message.Message.GetConversation() + message.Message.GetExtendedTextMessage().GetText()
		if strings.HasPrefix(text, l.receive) && l.received.Add(1) == wanted {
			close(l.complete)
		}
	})
	return client
}

// keepInMemory makes a device keep what sending changes in memory, and write nothing. What was
// kept before is read from its store when it is needed.
func keepInMemory(device *store.Device) {
	nothing := new(store.NoopStore)
	device.Sessions = &sessionsInMemory{SessionStore: device.Sessions, of: map[string][]byte{}}
	device.Identities = trusting{nothing}
	device.MsgSecrets, device.PrivacyTokens = nothing, nothing
}

// trusting takes every identity for the right one.
type trusting struct{ store.IdentityStore }

func (trusting) IsTrustedIdentity(context.Context, string, [32]byte) (bool, error) { return true, nil }

// sessionsInMemory are sessions, by address.
type sessionsInMemory struct {
	store.SessionStore

	lock sync.Mutex
	of   map[string][]byte
}

func (s *sessionsInMemory) GetSession(ctx context.Context, address string) ([]byte, error) {
	sessions, err := s.GetManySessions(ctx, []string{address})
	return sessions[address], err
}

func (s *sessionsInMemory) HasSession(ctx context.Context, address string) (bool, error) {
	session, err := s.GetSession(ctx, address)
	return session != nil, err
}

func (s *sessionsInMemory) GetManySessions(ctx context.Context, addresses []string) (map[string][]byte, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	sessions := make(map[string][]byte, len(addresses))
	for _, address := range addresses {
		session, known := s.of[address]
		if !known {
			var err error
			if session, err = s.SessionStore.GetSession(ctx, address); err != nil {
				return nil, fmt.Errorf("read a session: %w", err)
			}
			s.of[address] = session
		}
		sessions[address] = session
	}
	return sessions, nil
}

func (s *sessionsInMemory) PutSession(ctx context.Context, address string, session []byte) error {
	return s.PutManySessions(ctx, map[string][]byte{address: session})
}

func (s *sessionsInMemory) PutManySessions(_ context.Context, sessions map[string][]byte) error {
	s.lock.Lock()
	defer s.lock.Unlock()
	maps.Copy(s.of, sessions)
	return nil
}

// link makes a session and links it to a phone of its own.
func (l *load) link(ctx context.Context, container *sqlstore.Container, i int) (*whatsmeow.Client, error) {
	client := l.newClient(container.NewDevice())
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
	if err := crowd.Scan(ctx, l.sandbox, crowd.Owner(i), <-codes); err != nil {
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
			to := types.NewJID(crowd.Recipient(i), types.DefaultUserServer)
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
