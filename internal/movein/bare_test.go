package movein_test

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // registers the driver "pgx"
	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/store/sqlstore"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/sqlite"
	"github.com/recado-project/recado/internal/testkit/crowd"
)

// bareVariable makes the test binary another program: it holds a bareConfig.
const bareVariable = "RECADO_TEST_BARE"

// bareConfig is what the other program does. It is a process of its own, as it would be,
// because this program changes whatsmeow's way of writing sessions for its whole process.
type bareConfig struct {
	Sandbox string    `json:"sandbox"` // host:port
	Store   string    `json:"store"`   // a file, or postgres://…
	Devices []bareOne `json:"devices"`
	Text    string    `json:"text"` // that each device sends to both; empty: nothing
}

// bareOne is a device of the other program: the number of its phone, and whom it writes to.
type bareOne struct {
	Owner string `json:"owner"`
	To    string `json:"to"`
	Group string `json:"group"`
}

// bare is the other program, while it runs.
type bare struct {
	config bareConfig
	web    *http.Client
	mu     sync.Mutex // of the output
}

// runBare links the devices that the store does not have, connects all, sends, and prints
// "ready" and then a line for each message that it receives, until its input ends.
func runBare(encoded string) error {
	b := &bare{}
	if err := json.Unmarshal([]byte(encoded), &b.config); err != nil {
		return err
	}
	ctx := context.Background()
	key, err := crowd.RootKey(ctx, b.config.Sandbox)
	if err != nil {
		return err
	}
	whatsmeow.WACertPubKey = key
	var db *sql.DB
	dialect := "sqlite3"
	if strings.HasPrefix(b.config.Store, "postgres:") {
		dialect = "postgres"
		db, err = sql.Open("pgx", b.config.Store)
	} else {
		db, err = sqlite.OpenPool(ctx, b.config.Store, 1)
	}
	if err != nil {
		return err
	}
	container := sqlstore.NewWithDB(db, dialect, nil)
	if err := container.Upgrade(ctx); err != nil {
		return err
	}
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, b.config.Sandbox)
	}
	b.web = &http.Client{Transport: &http.Transport{DialContext: dial, DialTLSContext: dial}}
	devices, err := container.GetAllDevices(ctx)
	if err != nil {
		return err
	}
	clients := make([]*whatsmeow.Client, len(b.config.Devices))
	errs := make([]error, len(clients))
	var group sync.WaitGroup
	for n, one := range b.config.Devices {
		device := container.NewDevice()
		if known := slices.IndexFunc(devices, func(d *store.Device) bool { return d.ID.User == one.Owner }); known >= 0 {
			device = devices[known]
		}
		group.Go(func() { clients[n], errs[n] = b.connect(ctx, device, one) })
	}
	group.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if err := b.send(ctx, clients); err != nil {
		return err
	}
	b.print("ready")
	_, _ = io.Copy(io.Discard, os.Stdin)
	for n, client := range clients {
		// When this is answered, everything before it was taken.
		if _, err := client.IsOnWhatsApp(ctx, []string{"+" + b.config.Devices[n].To}); err != nil {
			return err
		}
		client.Disconnect()
	}
	return db.Close()
}

func (b *bare) print(line string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, _ = fmt.Fprintln(os.Stdout, line)
}

// connect connects a device, and links it before if it is new.
func (b *bare) connect(ctx context.Context, device *store.Device, one bareOne) (*whatsmeow.Client, error) {
	client := whatsmeow.NewClient(device, nil)
	client.SetWebsocketHTTPClient(b.web)
	client.SetPreLoginHTTPClient(b.web)
	client.SetMediaHTTPClient(b.web)
	codes, connected, known := make(chan string, 1), make(chan struct{}, 10), make(chan struct{}, 100)
	client.AddEventHandler(func(event any) {
		switch event := event.(type) {
		case *events.QR:
			codes <- event.Codes[0]
		case *events.Connected:
			connected <- struct{}{}
		case *events.AppStateSyncComplete:
			known <- struct{}{}
		case *events.Message:
			if text := event.Message.GetConversation() + event.Message.GetExtendedTextMessage().GetText(); text != "" && !event.Info.IsFromMe {
				b.print("got " + one.Owner + " " + text)
			}
		case *events.UndecryptableMessage:
			b.print("got " + one.Owner + " what can't be decrypted")
		}
	})
	isNew := device.ID == nil
	if err := client.Connect(); err != nil {
		return nil, err
	}
	if isNew {
		if err := crowd.Scan(ctx, b.config.Sandbox, one.Owner, <-codes); err != nil {
			return nil, err
		}
	}
	<-connected
	if isNew {
		// A client that writes to its own phone at the moment in which that shares its keys makes
		// the library lose the phone's message.
		<-known
	}
	return client, nil
}

// send sends the text from each device to a person and to a group.
func (b *bare) send(ctx context.Context, clients []*whatsmeow.Client) error {
	if b.config.Text == "" {
		return nil
	}
	for n, client := range clients {
		for _, to := range []string{b.config.Devices[n].To + "@" + types.DefaultUserServer, b.config.Devices[n].Group} {
			jid, err := types.ParseJID(to)
			if err != nil {
				return err
			}
			text := b.config.Text
			if _, err := client.SendMessage(ctx, jid, &waE2E.Message{Conversation: &text}); err != nil {
				return err
			}
		}
	}
	return nil
}

// otherProgram is the other program as a test sees it.
type otherProgram struct {
	t     *testing.T
	lines chan string // closed when it has ended
	early []string    // that came before they were awaited
	stop  func()      // ends it, as its operator would
}

// startBare starts the other program and waits until it is connected. It ends with the
// test, or with the test binary, however that ends.
func startBare(t *testing.T, config bareConfig) *otherProgram {
	t.Helper()
	encoded, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	return startOther(t, bareVariable+"="+string(encoded), os.Args[0])
}

// startOther starts another program with a variable in its environment, and waits until it
// says that it is ready.
func startOther(t *testing.T, variable string, program ...string) *otherProgram {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	command := exec.CommandContext(ctx, program[0], program[1:]...)
	command.Env = append(os.Environ(), variable)
	command.Stderr = os.Stderr
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	p := &otherProgram{t: t, lines: make(chan string, 10_000)}
	ended := make(chan struct{})
	var failure error
	go func() {
		defer close(ended)
		defer close(p.lines)
		for scanner := bufio.NewScanner(out); scanner.Scan(); {
			p.lines <- scanner.Text()
		}
		failure = command.Wait()
	}()
	p.stop = sync.OnceFunc(func() {
		defer cancel()
		if err := in.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
			t.Error(err)
		}
		<-ended
		if failure != nil {
			t.Errorf("the other program ended with %v", failure)
		}
	})
	t.Cleanup(p.stop)
	p.await("ready")
	return p
}

// await waits for lines, in any order.
func (p *otherProgram) await(lines ...string) {
	p.t.Helper()
	for len(lines) > 0 {
		for n, line := range p.early {
			if place := slices.Index(lines, line); place >= 0 {
				lines = slices.Delete(lines, place, place+1)
				p.early[n] = ""
			}
		}
		p.early = slices.DeleteFunc(p.early, func(line string) bool { return line == "" })
		if len(lines) == 0 {
			return
		}
		line, ok := <-p.lines
		if !ok || strings.Contains(line, "can't be decrypted") {
			p.t.Fatalf("the other program said %q, want %q", line, lines)
		}
		p.early = append(p.early, line)
	}
}
