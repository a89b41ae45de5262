package doctor

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media/filestore"
	"github.com/recado-project/recado/internal/seal"
	"github.com/recado-project/recado/internal/server"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/proxyserver"
	"github.com/recado-project/recado/internal/whatsapp"
)

// broken is a state in which a gateway does not do what it should.
type broken struct {
	// make breaks something of a gateway that works: its data folder has an instance, and its platform
	// is there.
	make func(t *testing.T, config *Config, instanceID string)
	want string // what has to be found: it is named, and the command fails
}

// states are those that an operator has tried, as far as they can be made here; what is about several nodes,
// about the machine itself, and about time is in the tests of each check.
func states() map[string]broken {
	instance := func(status gateway.Status, reason gateway.Reason, age time.Duration) func(*testing.T, *Config, string) {
		return func(t *testing.T, config *Config, id string) {
			t.Helper()
			change(t, config.Server.DataDir, fmt.Sprintf("UPDATE instances SET status = '%s', reason = '%s', updated_at = %d WHERE id = '%s'",
				status, reason, time.Now().Add(-age).UnixMilli(), id))
		}
	}
	return map[string]broken{
		"an instance was unlinked on the phone": {instance(gateway.StatusStopped, gateway.ReasonUnlinked, time.Hour), "instances: unlinked on the phone: 1"},
		"an account was banned":                 {instance(gateway.StatusError, gateway.ReasonBanned, time.Hour), "instances: in error (banned): 1"},
		"an instance does not come back":        {instance(gateway.StatusConnecting, gateway.ReasonProxyUnreachable, time.Hour), "instances: connecting (proxy_unreachable), the first for 1h0m0s: 1"},
		"the platform is gone": {func(t *testing.T, config *Config, _ string) {
			t.Helper()
			config.Server.Platform.PlatformURL = "ws://" + closedPort(t)
		}, "platform: ws://127.0.0.1"},
		"something else answers as the platform": {func(t *testing.T, config *Config, _ string) {
			t.Helper()
			config.Server.Platform.PlatformURL = "ws" + strings.TrimPrefix(page(t, "hello").URL, "http")
		}, "it answers 200, and not as the platform does"},
		"the key is another platform's": {func(_ *testing.T, config *Config, _ string) {
			config.Server.Platform.RootKey = &[32]byte{1, 2, 3}
		}, "its certificate is signed with another key than --platform-key"},
		"a proxy is gone": {func(t *testing.T, config *Config, id string) {
			t.Helper()
			gone := proxyserver.HTTP(t, proxyserver.Options{User: "ana", Password: "s3nh4"})
			gone.Close()
			config.Server.AllowPrivateURLs = true
			change(t, config.Server.DataDir, "UPDATE instances SET proxy = '"+gone.URL()+"' WHERE id = '"+id+"'")
		}, "it can't be reached"},
		"the master key is another": {func(t *testing.T, config *Config, _ string) {
			t.Helper()
			config.Server.MasterKey = seal.NewKey()
			fill(t, config.Server, func(s *store.Store) error {
				_, err := s.Vault().Reseal(t.Context())
				return err
			})
			config.Master = seal.Source{Text: seal.NewKey().Text()}
		}, "master key: "},
		"the master key was left out": {func(t *testing.T, config *Config, _ string) {
			t.Helper()
			config.Server.MasterKey = seal.NewKey()
			fill(t, config.Server, nil)
		}, "there is no master key"},
		"the database is newer": {func(t *testing.T, config *Config, _ string) {
			t.Helper()
			change(t, config.Server.DataDir, "INSERT INTO schema_migrations (version, name, applied_at) VALUES (999, 'later', 0)")
		}, "they have version 999"},
		"the database is none": {func(t *testing.T, config *Config, _ string) {
			t.Helper()
			write(t, filepath.Join(config.Server.DataDir, "recado.db"), strings.Repeat("no database ", 1000))
		}, "can't be used"},
		"the data were moved to PostgreSQL": {func(t *testing.T, config *Config, _ string) {
			t.Helper()
			file := filepath.Join(config.Server.DataDir, "recado.db")
			if err := os.Rename(file, file+store.MovedSuffix); err != nil {
				t.Fatal(err)
			}
		}, "were moved to PostgreSQL"},
		"PostgreSQL is gone": {func(t *testing.T, config *Config, _ string) {
			t.Helper()
			config.Server.DatabaseURL = "postgres://ana:secret@" + closedPort(t) + "/recado"
		}, "database: "},
		"the data folder is a file": {func(t *testing.T, config *Config, _ string) {
			t.Helper()
			config.Server.DataDir = filepath.Join(t.TempDir(), "file")
			write(t, config.Server.DataDir, "")
		}, "is not a folder"},
		"the mount of the files is missing": {func(t *testing.T, config *Config, _ string) {
			t.Helper()
			at, err := filestore.Parse("file:///not/there")
			if err != nil {
				t.Fatal(err)
			}
			config.Server.MediaLocation = at
		}, "is it mounted?"},
		"the public address is another's": {func(t *testing.T, config *Config, _ string) {
			t.Helper()
			config.Server.PublicURL = page(t, "<html>").URL
		}, "something else than a gateway"},
	}
}

func write(t *testing.T, file, content string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Of each state the cause is named, as something that is wrong, so that the command fails.
func TestBrokenStatesAreNamed(t *testing.T) {
	t.Parallel()
	g := testkit.Start(t, testkit.Options{})
	look := func(t *testing.T, state broken) []Finding {
		t.Helper()
		config := Config{Server: server.Config{DataDir: folder(t), Platform: platformOf(g)}, Now: time.Now}
		id := withInstances(t, config.Server, "")[0]
		change(t, config.Server.DataDir, "UPDATE instances SET status = 'connected'")
		if state.make != nil {
			state.make(t, &config, id)
		}
		var found []Finding
		for _, one := range Examine(t.Context(), config) {
			if one.State == Wrong && one.Check != "disk space" && one.Check != "fsync" { // of the test's machine
				found = append(found, one)
			}
		}
		return found
	}
	if found := look(t, broken{}); len(found) > 0 {
		t.Fatalf("nothing is wrong, and found is %s", list(found))
	}
	for name, state := range cases.Sorted(states()) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			says(t, look(t, state), Wrong, state.want)
		})
	}
}

// What somebody has wanted is no fault, and is said all the same.
func TestInstancesThatSomebodyHasStopped(t *testing.T) {
	t.Parallel()
	settings := server.Config{DataDir: folder(t), Platform: whatsapp.Config{}}
	ids := withInstances(t, settings, "", "", "", "", "")
	for n, status := range []gateway.Status{gateway.StatusConnected, gateway.StatusManuallyStopped, gateway.StatusPaymentPending, gateway.StatusConnecting, gateway.StatusQRTimeout} {
		change(t, settings.DataDir, fmt.Sprintf("UPDATE instances SET status = '%s' WHERE id = '%s'", status, ids[n]))
	}
	found := openedFor(t, with(t, settings)).instances(t.Context())
	says(t, found, Warning, "stopped by their users: 1, such as "+ids[1])
	says(t, found, Warning, "waiting for their payment: 1")
	says(t, found, Warning, "connecting: 1, such as "+ids[3])
	says(t, found, OK, "5, of which 1 are connected and 1 are linked to no phone")
	for _, one := range found {
		if one.State == Wrong {
			t.Errorf("wrong is %+v", one)
		}
	}
}
