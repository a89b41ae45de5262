package store_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/seal"
	"github.com/recado-project/recado/internal/sqlite"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/store/vault"
	"github.com/recado-project/recado/internal/testkit/database"
	"github.com/recado-project/recado/internal/testkit/postgres"
	"github.com/recado-project/recado/internal/webhook"
)

// secrets are values of every kind in a database.
type secrets struct {
	t      *testing.T
	config store.Config

	accountID string
	id, other string // instances
	device    int64
	keys      map[string][]byte
	program   []byte
}

const (
	proxyPassword = "a-proxy-password"
	hookSecret    = "whsec_of-a-webhook-of-now"
	hookPrevious  = "whsec_of-a-webhook-before"
	appSecret     = "the-secret-of-an-app"
	hookHeader    = "Bearer of-a-header-of-a-webhook"
	someKeys      = 700 // more than one slice, and then some
)

// onBoth runs a test on both databases, with secrets in them that are plain.
func onBoth(t *testing.T, test func(t *testing.T, f *secrets)) {
	t.Helper()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		test(t, newSecrets(t, store.Config{Path: database.File(t)}))
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		test(t, newSecrets(t, store.Config{URL: postgres.Start(t)}))
	})
}

func newSecrets(t *testing.T, config store.Config) *secrets {
	t.Helper()
	f := &secrets{t: t, config: config, id: uuid.NewString(), other: uuid.NewString(), keys: map[string][]byte{}}
	f.with(nil, func(s *store.Store) {
		ctx, now := t.Context(), time.Now().UTC().Truncate(time.Millisecond)
		account := gateway.Account{ID: uuid.NewString(), Name: "test", CreatedAt: now}
		f.check(s.CreateAccount(ctx, account))
		f.accountID = account.ID
		f.check(s.SetAppSecret(ctx, account.ID, appSecret, now))
		for _, id := range []string{f.id, f.other} {
			f.check(s.CreateInstance(ctx, gateway.Instance{
				ID: id, AccountID: account.ID, Proxy: "socks5://ana:" + proxyPassword + "@proxy.example.org", CreatedAt: now, UpdatedAt: now,
			}))
			f.check(s.Webhooks.SaveWebhook(ctx, webhook.Webhook{
				ID: uuid.NewString(), InstanceID: id, First: true, URL: "https://example.org", Secret: hookSecret, PreviousSecret: hookPrevious,
				Headers: []webhook.Header{{Name: "Authorization", Value: hookHeader}}, CreatedAt: now, UpdatedAt: now,
			}, nil))
		}
		var rows []gateway.DeviceKey
		for i := range someKeys {
			value := make([]byte, 40)
			_, _ = rand.Read(value)
			name := fmt.Sprintf("name %d", i)
			f.keys[name] = value
			rows = append(rows, gateway.DeviceKey{Kind: "session", Name: name, Value: value})
		}
		var err error
		f.device, err = s.Devices.AddDevice(ctx, "5511999990100:1@s.whatsapp.net", rows)
		f.check(err)
		f.program, err = s.Secret(ctx, "links", 32)
		f.check(err)
		f.keys["shared"] = []byte("a key that all devices share")
		f.check(s.Devices.WriteDeviceKeys(ctx, f.id, deviceKeys{{Kind: "pair", Name: "shared", Value: f.keys["shared"]}}))
	})
	return f
}

func (f *secrets) check(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// with opens the store with a master key, and closes it again.
func (f *secrets) with(master *seal.Key, do func(s *store.Store)) {
	f.t.Helper()
	f.config.Master = master
	f.t.Run("", func(t *testing.T) { do(open(t, f.config)) })
	if f.t.Failed() {
		f.t.FailNow()
	}
}

// refuses fails the test unless the store can't be opened with the key.
func (f *secrets) refuses(master *seal.Key, want error) {
	f.t.Helper()
	config := f.config
	config.Master = master
	if s, err := store.Open(f.t.Context(), config); !errors.Is(err, want) {
		_ = s.Close()
		f.t.Errorf("it opens with %v, want %v", err, want)
	}
}

// reads fails the test unless every secret is as it was written.
func (f *secrets) reads(s *store.Store) {
	f.t.Helper()
	ctx := f.t.Context()
	rows, err := s.Devices.ListDeviceKeys(ctx, f.device, "session", "")
	f.check(err)
	for _, row := range rows {
		if !bytes.Equal(row.Value, f.keys[row.Name]) {
			f.t.Fatalf("the key %s is another one", row.Name)
		}
	}
	one, err := s.Devices.FindDeviceKey(ctx, f.device, "session", "name 7")
	f.check(err)
	shared, err := s.Devices.FindDeviceKey(ctx, 0, "pair", "shared")
	f.check(err)
	instance, err := s.GetInstance(ctx, f.id)
	f.check(err)
	hook, _, err := s.Webhooks.FindWebhook(ctx, webhook.First(f.id))
	f.check(err)
	program, err := s.Secret(ctx, "links", 32)
	f.check(err)
	ofAccount, _, err := s.AppSecret(ctx, f.accountID)
	f.check(err)
	if ofAccount != appSecret || len(rows) != someKeys || !bytes.Equal(one, f.keys["name 7"]) || !bytes.Equal(shared, f.keys["shared"]) || instance.Proxy != "socks5://ana:"+proxyPassword+"@proxy.example.org" ||
		hook.Secret != hookSecret || hook.PreviousSecret != hookPrevious || len(hook.Headers) != 1 || hook.Headers[0].Value != hookHeader || !bytes.Equal(program, f.program) {
		f.t.Error("a secret is not as it was")
	}
}

// raw opens the database as somebody who knows nothing of seals.
func (f *secrets) raw(do func(db *sql.DB)) {
	f.t.Helper()
	var db *sql.DB
	var err error
	if f.config.URL != "" {
		db, err = sql.Open("pgx", f.config.URL)
	} else {
		db, err = sqlite.OpenPool(f.t.Context(), f.config.Path, 1)
	}
	f.check(err)
	defer func() { _ = db.Close() }()
	do(db)
}

// under returns how many values there are of a generation.
func (f *secrets) under(generation int64) (count int) {
	f.t.Helper()
	f.raw(func(db *sql.DB) {
		f.check(db.QueryRowContext(f.t.Context(), `SELECT (SELECT count(*) FROM device_keys WHERE value_seal = $1) +
			(SELECT count(*) FROM secrets WHERE value_seal = $1) + (SELECT count(*) FROM instances WHERE proxy_seal = $1) +
			(SELECT count(*) FROM webhooks WHERE secret_seal = $1) + (SELECT count(*) FROM webhooks WHERE previous_secret_seal = $1) +
			(SELECT count(*) FROM accounts WHERE app_secret_seal = $1) +
			(SELECT count(*) FROM webhooks WHERE headers_seal = $1) + (SELECT count(*) FROM account_webhooks WHERE secret_seal = $1) +
			(SELECT count(*) FROM account_webhooks WHERE previous_secret_seal = $1) + (SELECT count(*) FROM account_webhooks WHERE headers_seal = $1)`,
			generation).Scan(&count))
	})
	return count
}

// all is how many values there are.
const all = someKeys + 2 + 4*2 + 1

// column returns the values of a column, one after another, and decoded as well.
func (f *secrets) column(db *sql.DB, query string) []byte {
	f.t.Helper()
	rows, err := db.QueryContext(f.t.Context(), query)
	f.check(err)
	defer func() { _ = rows.Close() }()
	var content []byte
	for rows.Next() {
		var value []byte
		f.check(rows.Scan(&value))
		content = append(content, value...)
		if decoded, err := base64.StdEncoding.DecodeString(string(value)); err == nil {
			content = append(content, decoded...)
		}
	}
	f.check(rows.Err())
	return content
}

// runs seals as a gateway does, until stop is called.
func (f *secrets) runs(s *store.Store) (stop func()) {
	ctx, cancel := context.WithCancel(f.t.Context())
	ended := make(chan error)
	go func() { ended <- s.Vault().Run(ctx) }()
	return func() {
		f.t.Helper()
		cancel()
		f.check(<-ended)
	}
}

// renews adds a data key, unless a gateway may run that could not open it.
func (f *secrets) renews(s *store.Store) bool {
	f.t.Helper()
	err := s.Vault().Renew(f.t.Context(), false)
	if errors.Is(err, vault.ErrUnknownToGateways) {
		return false
	}
	f.check(err)
	return true
}

// shows reports whether a secret can be read in the rows, and with SQLite in the files.
func (f *secrets) shows() bool {
	f.t.Helper()
	var content bytes.Buffer
	f.raw(func(db *sql.DB) {
		for _, query := range []string{
			"SELECT value FROM device_keys", "SELECT value FROM secrets", "SELECT proxy FROM instances", "SELECT secret FROM webhooks",
			"SELECT app_secret FROM accounts", "SELECT previous_secret FROM webhooks", "SELECT headers FROM webhooks",
		} {
			content.Write(f.column(db, query))
		}
	})
	if f.config.Path != "" {
		files, err := filepath.Glob(f.config.Path + "*")
		f.check(err)
		for _, file := range files {
			part, err := os.ReadFile(file)
			f.check(err)
			content.Write(part)
		}
	}
	for _, value := range f.keys {
		if bytes.Contains(content.Bytes(), value) {
			return true
		}
	}
	for _, text := range []string{proxyPassword, appSecret, hookSecret, hookPrevious, string(f.program)} {
		if bytes.Contains(content.Bytes(), []byte(text)) {
			return true
		}
	}
	return false
}

// The secrets of a database that was plain are sealed when it gets a master key, and
// nothing of them is left. They are read with that key only, until they are made plain again.
func TestSecretsAreSealed(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, f *secrets) {
		t.Helper()
		master, next := seal.NewKey(), seal.NewKey()
		if !f.shows() {
			t.Fatal("the secrets were not plain")
		}
		f.with(master, func(s *store.Store) {
			f.reads(s)
			if n, err := s.Vault().Follow(t.Context()); err != nil || n != all {
				t.Errorf("sealed %d values (%v), want %d", n, err, all)
			}
			if n, err := s.Vault().Follow(t.Context()); err != nil || n != 0 {
				t.Errorf("the second time, sealed %d values (%v)", n, err)
			}
			f.reads(s)
		})
		if f.shows() || f.under(1) != all {
			t.Errorf("%d values are sealed, and can be read: %t", f.under(1), f.shows())
		}
		f.refuses(nil, vault.ErrSealed)
		f.refuses(next, vault.ErrWrongKey)

		f.with(master, func(s *store.Store) { f.check(s.Vault().Rewrap(t.Context(), next)) })
		f.refuses(master, vault.ErrWrongKey)
		f.with(next, func(s *store.Store) {
			f.reads(s)
			if err := s.Vault().Renew(t.Context(), false); !errors.Is(err, vault.ErrUnknownToGateways) {
				t.Errorf("a data key that no gateway could open is answered %v", err)
			}
			stop := f.runs(s) // a gateway with the new key
			for !f.renews(s) {
				runtime.Gosched()
			}
			stop()
			f.reads(s)
			if _, err := s.Vault().Reseal(t.Context()); err != nil || f.under(2) != all {
				t.Errorf("%d of %d values are under the new key (%v)", f.under(2), all, err)
			}
			f.reads(s)
		})
		f.with(next, func(s *store.Store) {
			if n, err := s.Vault().Remove(t.Context()); err != nil || n != all {
				t.Errorf("%d values became plain (%v)", n, err)
			}
			f.reads(s)
		})
		f.with(nil, f.reads)
	})
}

// What is written after a data key was added is sealed with it, also while others read the data
// keys: an earlier look must not bring the earlier key back.
func TestNewDataKeyStays(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, f *secrets) {
		t.Helper()
		f.with(seal.NewKey(), func(s *store.Store) {
			var looks sync.WaitGroup
			defer looks.Wait()
			ctx, cancel := context.WithCancel(f.t.Context())
			defer cancel()
			for range 4 {
				looks.Go(func() {
					for ctx.Err() == nil {
						if _, err := s.Vault().Open(ctx, vault.Proxy(f.id), nil, 1_000_000); err == nil { // it looks for the key
							t.Error("a value without a data key is opened")
						}
					}
				})
			}
			for generation := int64(2); generation < 60; generation++ {
				f.check(s.Vault().Renew(f.t.Context(), true))
				for range 20 {
					if _, sealed := s.Vault().SealText(vault.Proxy(f.id), "socks5://proxy"); sealed != generation {
						t.Fatalf("sealed with generation %d, want %d", sealed, generation)
					}
					runtime.Gosched()
				}
			}
		})
	})
}

// A sealed value is worth nothing in another row.
func TestSealedValuesCannotBeMoved(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, f *secrets) {
		t.Helper()
		master := seal.NewKey()
		f.with(master, func(s *store.Store) {
			_, err := s.Vault().Reseal(t.Context())
			f.check(err)
		})
		f.raw(func(db *sql.DB) {
			for _, statement := range []string{
				"UPDATE device_keys SET value = (SELECT value FROM device_keys WHERE name = 'name 8') WHERE name = 'name 7'",
				"UPDATE webhooks SET secret = (SELECT w.secret FROM webhooks w WHERE w.instance_id = '" + f.other + "') WHERE instance_id = '" + f.id + "'",
				"UPDATE instances SET proxy = (SELECT i.proxy FROM instances i WHERE i.id = '" + f.other + "') WHERE id = '" + f.id + "'",
				"INSERT INTO secrets (name, value, value_seal) SELECT 'others', value, value_seal FROM secrets",
			} {
				_, err := db.ExecContext(t.Context(), statement)
				f.check(err)
			}
		})
		f.with(master, func(s *store.Store) {
			_, keyErr := s.Devices.FindDeviceKey(t.Context(), f.device, "session", "name 7")
			_, listErr := s.Devices.ListDeviceKeys(t.Context(), f.device, "session", "")
			_, _, hookErr := s.Webhooks.FindWebhook(t.Context(), webhook.First(f.id))
			_, proxyErr := s.GetInstance(t.Context(), f.id)
			_, secretErr := s.Secret(t.Context(), "others", 32)
			for _, err := range []error{keyErr, listErr, hookErr, proxyErr, secretErr} {
				if !errors.Is(err, seal.ErrForeign) {
					t.Errorf("a moved value is answered %v", err)
				}
			}
		})
	})
}

// Sealing that is cut off in the middle goes on at the next start, also for the secrets that
// are written meanwhile, and so do sealing anew and making plain.
func TestSealingGoesOnAfterACut(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, f *secrets) {
		t.Helper()
		master := seal.NewKey()
		cut := func(work func(ctx context.Context, s *store.Store) error) {
			f.with(master, func(s *store.Store) {
				ctx := cutAfter(t.Context(), 7)
				if err := work(ctx, s); !errors.Is(err, context.Canceled) {
					t.Errorf("it was not cut off: %v", err)
				}
				f.reads(s)
			})
		}
		reseal := func(ctx context.Context, s *store.Store) error {
			_, err := s.Vault().Reseal(ctx)
			return err
		}
		finish := func(generation int64) {
			f.with(master, func(s *store.Store) {
				f.check(reseal(t.Context(), s))
				f.reads(s)
			})
			if f.under(generation) != all {
				t.Errorf("%d of %d values are of generation %d", f.under(generation), all, generation)
			}
		}
		cut(reseal)
		f.refuses(nil, vault.ErrSealed)
		finish(1)
		if f.shows() {
			t.Error("a secret can be read")
		}
		f.with(master, func(s *store.Store) { f.check(s.Vault().Renew(t.Context(), true)) })
		cut(reseal)
		finish(2)
		cut(func(ctx context.Context, s *store.Store) error {
			_, err := s.Vault().Remove(ctx)
			return err
		})
		finish(2) // the gateway was started with the key again
	})
}

// cutContext ends after some looks at it.
type cutContext struct {
	context.Context //nolint:containedctx // it is one

	left atomic.Int64
}

// cutAfter makes a context that ends after that many looks.
func cutAfter(ctx context.Context, looks int) *cutContext {
	cut := &cutContext{Context: ctx}
	cut.left.Store(int64(looks))
	return cut
}

// Err counts a look; drivers look from goroutines of their own.
func (c *cutContext) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return c.Context.Err()
}

// A gateway that runs reads what another process has sealed with a new data key, and seals
// anew what it has itself written with the old one.
func TestNewDataKeyIsFollowed(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, f *secrets) {
		t.Helper()
		master := seal.NewKey()
		f.with(master, func(s *store.Store) {
			_, err := s.Vault().Follow(t.Context())
			f.check(err)
			other := open(t, f.config)
			f.check(other.Vault().Renew(t.Context(), false))
			_, err = other.Vault().Reseal(t.Context())
			f.check(err)
			row := deviceKeys{{Device: f.device, Kind: "session", Name: "name 7", Value: f.keys["name 7"]}}
			f.check(s.Devices.WriteDeviceKeys(t.Context(), f.id, row))
			if f.under(1) != 1 {
				t.Errorf("%d values are of generation 1", f.under(1))
			}
			f.reads(s)
			if _, err := s.Vault().Follow(t.Context()); err != nil || f.under(2) != all {
				t.Errorf("%d of %d values are of generation 2 (%v)", f.under(2), all, err)
			}
			f.reads(other)
		})
	})
}

// deviceKeys are changes to write.
type deviceKeys []gateway.DeviceKey

// Rows returns them.
func (k deviceKeys) Rows() []gateway.DeviceKey { return k }

// Written does nothing.
func (deviceKeys) Written() {}
