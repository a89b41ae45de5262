package movein_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/movein"
	"github.com/recado-project/recado/internal/server"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/crowd"
	"github.com/recado-project/recado/internal/testkit/postgres"
)

// account is that of testkit's keys.
const account = "test"

// devicesVariable says how many devices move; docs/moving-in.md has the figure for 100.
const devicesVariable = "RECADO_TEST_DEVICES"

// move is a move from another program, step by step.
type move struct {
	t       *testing.T
	options testkit.Options
	store   string // of the other program
	devices []bareOne
	// start starts the other program, and from imports its devices.
	start func(*testing.T, bareConfig) *otherProgram
	from  importer
}

// importer is one of the imports.
type importer func(context.Context, movein.Config, func(movein.Result)) error

// newMove makes phones and groups on a new sandbox, and returns the gateway that it is in.
func newMove(t *testing.T, count int, options testkit.Options, otherStore string) (*move, *testkit.Gateway) {
	t.Helper()
	g := testkit.Start(t, options)
	m := &move{t: t, options: options, store: otherStore, start: startBare, from: movein.FromWhatsmeow}
	for n := range count {
		one := bareOne{Owner: crowd.Owner(n), To: crowd.Recipient(n)}
		one.Group = g.Phones.CreateGroup(t, "team "+strconv.Itoa(n), one.To, one.Owner).ID
		m.devices = append(m.devices, one)
	}
	return m, g
}

func (m *move) bare(g *testkit.Gateway, text string) bareConfig {
	m.t.Helper()
	address, err := url.Parse(g.BaseURL)
	if err != nil {
		m.t.Fatal(err)
	}
	return bareConfig{Sandbox: address.Host, Store: m.store, Devices: m.devices, Text: text}
}

// say lets the phones write to each device and its group, and returns the identifiers.
func (m *move) say(g *testkit.Gateway, text string) (ids [][]string) {
	m.t.Helper()
	for _, one := range m.devices {
		ids = append(ids, []string{
			g.Phones.SendText(m.t, one.To, one.Owner, text+", to you"),
			g.Phones.SendText(m.t, one.To, one.Group, text+", to all"),
		})
	}
	return ids
}

// heard are the lines that the other program prints about what say says.
func (m *move) heard(text string) (lines []string) {
	for _, one := range m.devices {
		lines = append(lines, "got "+one.Owner+" "+text+", to you", "got "+one.Owner+" "+text+", to all")
	}
	return lines
}

// useOther links the devices to the other program, which has conversations both ways, and
// stops it.
func (m *move) useOther(g *testkit.Gateway) {
	m.t.Helper()
	other := m.start(m.t, m.bare(g, "hello"))
	m.say(g, "good morning")
	other.await(m.heard("good morning")...)
	other.stop()
}

// data is where the gateway keeps its data.
func (m *move) data() store.Config {
	return server.StoreConfig(m.options.DataDir, m.options.DatabaseURL, slog.New(slog.DiscardHandler))
}

// config is a complete move.
func (m *move) config() movein.Config {
	return movein.Config{From: m.store, Data: m.data(), Account: account, Logger: slog.New(slog.DiscardHandler), Now: time.Now}
}

// importAll imports, and fails the test unless everything came.
func (m *move) importAll() []movein.Result {
	m.t.Helper()
	results, err := collectFrom(m.t, m.config(), m.from)
	if err != nil {
		m.t.Fatal(err)
	}
	for n, result := range results {
		if result.Problem != "" || result.InstanceID == "" || result.Sessions == 0 || result.SenderKeys == 0 || result.UnreadableSessions != 0 {
			m.t.Fatalf("device %d: %+v", n, result)
		}
	}
	if len(results) != len(m.devices) {
		m.t.Fatalf("%d devices came, want %d", len(results), len(m.devices))
	}
	return results
}

func collect(t *testing.T, config movein.Config) (results []movein.Result, err error) {
	t.Helper()
	return collectFrom(t, config, movein.FromWhatsmeow)
}

func collectFrom(t *testing.T, config movein.Config, from importer) (results []movein.Result, err error) {
	t.Helper()
	err = from(t.Context(), config, func(result movein.Result) { results = append(results, result) })
	return results, err
}

// nobodyAsksAgain fails the test if somebody could not decrypt a message.
func (m *move) nobodyAsksAgain(g *testkit.Gateway) {
	m.t.Helper()
	for _, one := range m.devices {
		for _, number := range []string{one.Owner, one.To} {
			for _, activity := range g.Phones.Activity(m.t, number) {
				if activity.Type == "retry" {
					m.t.Errorf("a message of %s was asked for again by %s", number, activity.From)
				}
			}
		}
	}
}

// deviceCount is how many devices move.
func deviceCount(t *testing.T, usual int) int {
	t.Helper()
	text := os.Getenv(devicesVariable)
	if text == "" {
		return usual
	}
	count, err := strconv.Atoi(text)
	check(t, err)
	return count
}

// All devices of another program are connected after the move, without a code. They read
// what was written meanwhile, and are read; nobody needs a message a second time.
func TestMoveIn(t *testing.T) {
	t.Parallel()
	count := deviceCount(t, 5)
	for name, where := range cases.Sorted(map[string]func(t *testing.T) (testkit.Options, string){
		"from SQLite to SQLite": func(t *testing.T) (testkit.Options, string) {
			t.Helper()
			return testkit.Options{DataDir: t.TempDir()}, filepath.Join(t.TempDir(), "main.db")
		},
		"from PostgreSQL to PostgreSQL": func(t *testing.T) (testkit.Options, string) {
			t.Helper()
			return testkit.Options{DataDir: t.TempDir(), DatabaseURL: postgres.Start(t)}, postgres.Start(t)
		},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options, otherStore := where(t)
			m, before := newMove(t, count, options, otherStore)
			m.useOther(before)
			first, second := m.say(before, "are you there"), m.say(before, "hello again")
			before.Stop()

			m.goOn(slices.Concat(first, second))
		})
	}
}

// goOn imports all devices and starts the gateway. All of them are connected, read what is
// waiting for them, and are read; nobody needs a message a second time.
func (m *move) goOn(waiting [][]string) (after *testkit.Gateway, results []movein.Result) {
	m.t.Helper()
	began := time.Now()
	results = m.importAll()
	each := time.Since(began) / time.Duration(len(m.devices))
	m.t.Logf("%d devices, %s each", len(m.devices), each.Round(time.Microsecond))
	// It takes a fraction of a second. A machine that does other things too, under the race
	// detector, may take longer; what grows with all that is there takes much longer.
	if each > 10*time.Second {
		m.t.Errorf("a device took %s", each)
	}

	after = testkit.Start(m.t, m.options)
	began = time.Now()
	names := map[string]bool{}
	for _, result := range results {
		instance := after.AwaitStatus(m.t, result.InstanceID, gateway.StatusConnected)
		names[instance.Name] = true
	}
	m.t.Logf("all connected after %s", time.Since(began).Round(time.Millisecond))
	if len(names) != len(m.devices) {
		m.t.Errorf("the instances are called %v", names)
	}
	m.reads(after, results, waiting)
	m.isRead(after, results)
	m.nobodyAsksAgain(after)
	return after, results
}

// reads fails the test unless the instances receive the messages.
func (m *move) reads(g *testkit.Gateway, results []movein.Result, messages [][]string) {
	m.t.Helper()
	for n, ids := range messages {
		result := results[n%len(results)]
		for _, id := range ids {
			testkit.Await(m.t, "message "+id, func() bool {
				found, err := g.Server.Messages().Find(m.t.Context(), result.InstanceID, gateway.MessageRef{ID: id})
				return err == nil && strings.Contains(found.Text, ", to ")
			})
		}
	}
}

// isRead fails the test unless phones read what the instances send.
func (m *move) isRead(g *testkit.Gateway, results []movein.Result) {
	m.t.Helper()
	for n, one := range m.devices {
		for _, to := range []string{one.To, one.Group} {
			text := fmt.Sprintf("we have moved, %d", n)
			sent, err := g.Client.SendText(m.t.Context(), results[n].InstanceID, client.Text{To: to, Message: text})
			if err != nil {
				m.t.Fatal(err)
			}
			if got := g.Phones.AwaitMessage(m.t, one.To, sent.MessageID); got.Text != text {
				m.t.Errorf("the phone shows %q, want %q", got.Text, text)
			}
		}
	}
}
