package movein_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/movein"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/postgres"
)

// export exports an instance as the command line does, beside a gateway or without one.
func (m *move) export(instanceID, file string, forget bool) (gateway.Instance, error) {
	m.t.Helper()
	opened, err := store.Open(m.t.Context(), m.data())
	check(m.t, err)
	defer func() { check(m.t, opened.Close()) }()
	return movein.Export(m.t.Context(), movein.ExportConfig{
		Data: m.data(), Store: opened, InstanceID: instanceID, File: file, Forget: forget, Now: time.Now,
	})
}

// wantRefused fails the test unless an export fails with a text, and leaves no file.
func (m *move) wantRefused(instanceID, file, want string) {
	m.t.Helper()
	before, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		m.t.Fatal(err)
	}
	if _, err := m.export(instanceID, file, false); err == nil || !strings.Contains(err.Error(), want) {
		m.t.Errorf("the export is answered %v, want %q", err, want)
	}
	after, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) || !bytes.Equal(before, after) {
		m.t.Errorf("the file was written (%v)", err)
	}
}

// An instance that is exported goes on in another program: it connects without a code,
// reads what comes, and is read. And it can come back.
func TestMoveOut(t *testing.T) {
	t.Parallel()
	for name, options := range cases.Sorted(map[string]func(t *testing.T) testkit.Options{
		"SQLite": func(t *testing.T) testkit.Options {
			t.Helper()
			return testkit.Options{DataDir: t.TempDir()}
		},
		"PostgreSQL": func(t *testing.T) testkit.Options {
			t.Helper()
			return testkit.Options{DataDir: t.TempDir(), DatabaseURL: postgres.Start(t)}
		},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "main.db")
			m, g := newMove(t, 1, options(t), file)
			one := m.devices[0]
			id := g.Link(t, one.Owner)
			for _, to := range []string{one.To, one.Group} {
				sent, err := g.Client.SendText(t.Context(), id, client.Text{To: to, Message: "hello"})
				check(t, err)
				g.Phones.AwaitMessage(t, one.To, sent.MessageID)
			}
			m.reads(g, []movein.Result{{InstanceID: id}}, m.say(g, "good morning"))

			m.wantRefused(id, file, "a gateway runs on this data")
			check(t, g.Partner.StopInstance(t.Context(), id))
			m.say(g, "are you there")
			_, err := m.export(id, file, false)
			check(t, err)
			if about, err := os.Stat(file); err != nil || about.Mode().Perm() != 0o600 {
				t.Errorf("the file is %v (%v)", about, err)
			}
			if left, err := os.ReadDir(filepath.Dir(file)); err != nil || len(left) != 1 {
				t.Errorf("beside the file there are %v (%v)", left, err)
			}
			m.wantRefused(id, file, "exists already")

			other := startBare(t, m.bare(g, "here I am"))
			other.await(m.heard("are you there")...)
			m.say(g, "welcome")
			other.await(m.heard("welcome")...)
			for _, chat := range []string{one.Owner, one.Group} {
				testkit.Await(t, "the text on the phone", func() bool {
					for _, message := range g.Phones.Messages(t, one.To, chat) {
						if message.Text == "here I am" {
							return true
						}
					}
					return false
				})
			}
			other.stop()
			m.nobodyAsksAgain(g)

			// Back again: the instance that was exported forgets the keys first.
			ids := m.say(g, "come back")
			if _, err := m.export(id, filepath.Join(t.TempDir(), "again.db"), true); !errors.Is(err, movein.ErrGatewayRuns) {
				t.Errorf("beside a gateway the keys are forgotten: %v", err)
			}
			g.Stop()
			forgotten, err := m.export(id, filepath.Join(t.TempDir(), "again.db"), true)
			check(t, err)
			if forgotten.Linked() || forgotten.Profile.JID != "" {
				t.Errorf("the instance is %+v", forgotten)
			}
			results := m.importAll()
			after := testkit.Start(t, m.options)
			after.AwaitStatus(t, results[0].InstanceID, gateway.StatusConnected)
			m.reads(after, results, ids)
			m.isRead(after, results)
			m.nobodyAsksAgain(after)
		})
	}
}

// An export while no gateway runs stops the instance, so that the next start of the
// gateway does not connect it beside the other program.
func TestExportStopsTheInstance(t *testing.T) {
	t.Parallel()
	m, g := newMove(t, 2, testkit.Options{DataDir: t.TempDir()}, "")
	exported, other := g.Link(t, m.devices[0].Owner), g.Link(t, m.devices[1].Owner)
	unlinked, err := g.Partner.CreateInstance(t.Context(), client.NewInstance{Name: "unlinked"})
	check(t, err)
	g.Stop()
	file := filepath.Join(t.TempDir(), "main.db")
	m.wantRefused(unlinked.InstanceID, file, "is not linked")
	m.wantRefused("01990000-0000-7000-8000-000000000000", file, "no such instance")
	m.wantRefused(exported, filepath.Join(t.TempDir(), "missing", "main.db"), "no such file")
	instance, err := m.export(exported, file, false)
	check(t, err)
	if instance.Status != gateway.StatusManuallyStopped || !instance.Linked() {
		t.Fatalf("the instance is %+v", instance)
	}
	again := testkit.Start(t, m.options)
	again.AwaitStatus(t, other, gateway.StatusConnected)
	if status := again.Instance(t, exported).Status; status != string(gateway.StatusManuallyStopped) {
		t.Errorf("after the start the instance is %s", status)
	}
	events, err := again.Client.Events(t.Context(), exported, client.EventsParams{After: new(int64(0))})
	check(t, err)
	defer func() { check(t, events.Close()) }()
	for {
		event, err := events.Next()
		check(t, err)
		if event.Type == "instance.status" && strings.Contains(string(event.Data), "manually_stopped") {
			break
		}
	}
}
