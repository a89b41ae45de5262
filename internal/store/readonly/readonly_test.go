package readonly_test

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.uber.org/goleak"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/seal"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/store/readonly"
	"github.com/recado-project/recado/internal/store/vault"
	"github.com/recado-project/recado/internal/testkit/postgres"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const proxy = "socks5://ana:secret@proxy.example.org:1080"

// made fills a database as a gateway does, with two instances behind one proxy. The store
// works on until close is called.
func made(t *testing.T, config store.Config) (closeStore func()) {
	t.Helper()
	config.Logger = slog.New(slog.DiscardHandler)
	s, err := store.Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().UTC().Truncate(time.Millisecond)
	account := gateway.Account{ID: uuid.NewString(), Name: "test", CreatedAt: now}
	err = s.CreateAccount(t.Context(), account)
	for range 2 {
		err = errors.Join(err, s.CreateInstance(t.Context(), gateway.Instance{
			ID: uuid.NewString(), AccountID: account.ID, Status: gateway.StatusCreated, Proxy: proxy, CreatedAt: now, UpdatedAt: now,
		}))
	}
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// What is in a database is read while a gateway works with it, and nothing can be written.
func TestBesideAStore(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"SQLite", "PostgreSQL"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			config := store.Config{Path: filepath.Join(t.TempDir(), "recado.db")}
			if kind == "PostgreSQL" {
				config = store.Config{URL: postgres.Start(t)}
			}
			config.Master = seal.NewKey()
			defer made(t, config)()
			d, err := readonly.Open(t.Context(), config.Path, config.URL)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := d.Close(); err != nil {
					t.Error(err)
				}
			}()
			names, err := store.MigrationNames(config)
			if err != nil {
				t.Fatal(err)
			}
			if version, err := d.Version(t.Context(), config.URL != ""); err != nil || version != len(names) {
				t.Errorf("the version is %d, %v", version, err)
			}
			if _, err := d.Number(t.Context(), "INSERT INTO schema_migrations (version, name, applied_at) VALUES (99, 'x', 0) RETURNING version"); err == nil {
				t.Error("something was written")
			}
			if census, err := d.Census(t.Context()); err != nil || census.Instances[string(gateway.StatusCreated)] != 2 {
				t.Errorf("counted %v, %v", census, err)
			}
			if _, _, err := d.Vault(t.Context(), nil, time.Now); !errors.Is(err, vault.ErrSealed) {
				t.Errorf("without a key: %v", err)
			}
			if _, _, err := d.Vault(t.Context(), seal.NewKey(), time.Now); !errors.Is(err, vault.ErrWrongKey) {
				t.Errorf("with another key: %v", err)
			}
			opened, state, err := d.Vault(t.Context(), config.Master, time.Now)
			if err != nil || state.Generation != 1 {
				t.Fatalf("with the key: %v, %v", state, err)
			}
			if found, err := d.Proxies(t.Context(), opened); err != nil || len(found) != 1 || found[0] != (readonly.Through{Proxy: proxy, Instances: 2}) {
				t.Errorf("found %v, %v", found, err)
			}
		})
	}
}

// A database that nobody has open is as it was afterwards, file by file, and its secrets stay
// plain although there is a master key.
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path := filepath.Join(folder, "recado.db")
	made(t, store.Config{Path: path})()
	files := func() string {
		t.Helper()
		var all strings.Builder
		entries, err := os.ReadDir(folder)
		for _, entry := range entries {
			content, readErr := os.ReadFile(filepath.Join(folder, entry.Name()))
			err = errors.Join(err, readErr)
			all.WriteString(entry.Name() + "\n" + string(content))
		}
		if err != nil {
			t.Fatal(err)
		}
		return all.String()
	}
	before := files()
	d, err := readonly.Open(t.Context(), path, "")
	if err != nil {
		t.Fatal(err)
	}
	opened, state, err := d.Vault(t.Context(), seal.NewKey(), time.Now)
	if err != nil || state.Generation != 0 {
		t.Errorf("it is sealed: %v, %v", state, err)
	}
	if found, err := d.Proxies(t.Context(), opened); err != nil || len(found) != 1 {
		t.Errorf("found %v, %v", found, err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if files() != before {
		t.Error("something has changed")
	}
	if _, err := readonly.Open(t.Context(), path+"2", ""); err == nil {
		t.Error("a file that is not there was opened")
	}
	if files() != before {
		t.Error("a file was made")
	}
}
