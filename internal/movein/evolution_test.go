package movein_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gomodule/redigo/redis"

	"github.com/recado-project/recado/internal/movein"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/postgres"
)

// evolutionTables are the two of Evolution API that matter here, as its migrations make
// them.
const evolutionTables = `
	CREATE SCHEMA evolution_api;
	SET search_path = evolution_api;
	CREATE TYPE "InstanceConnectionStatus" AS ENUM ('open', 'close', 'connecting');
	CREATE TABLE "Instance" (
		"id" TEXT NOT NULL PRIMARY KEY, "name" VARCHAR(255) NOT NULL UNIQUE,
		"connectionStatus" "InstanceConnectionStatus" NOT NULL DEFAULT 'open', "ownerJid" VARCHAR(100), "integration" VARCHAR(100)
	);
	CREATE TABLE "Session" (
		"id" TEXT NOT NULL PRIMARY KEY, "sessionId" TEXT NOT NULL UNIQUE REFERENCES "Instance" ("id"), "creds" TEXT,
		"createdAt" TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP
	);`

// evolutionStore is a store as Evolution API keeps it.
type evolutionStore struct {
	t        *testing.T
	address  string // of the database
	url      string // the same, as its settings have it
	database *sql.DB
	keys     string // the folder
	redis    string // the URL of the server, empty for files
	count    int
}

// newEvolution makes an empty store.
func newEvolution(t *testing.T, inRedis bool) *evolutionStore {
	t.Helper()
	address := postgres.Start(t)
	database, err := sql.Open("pgx", address)
	check(t, err)
	t.Cleanup(func() { _ = database.Close() })
	_, err = database.ExecContext(t.Context(), evolutionTables)
	check(t, err)
	e := &evolutionStore{t: t, address: address, url: address + "&schema=evolution_api&connection_limit=5", database: database}
	e.keys = filepath.Join(t.TempDir(), "srv", "evolution", "api", "instances")
	check(t, os.MkdirAll(e.keys, 0o700))
	if inRedis {
		e.redis = startRedis(t) + "/6"
	}
	return e
}

// add adds an instance with what Baileys has written for a device, by names of files.
// credsBeside says that the credentials are in Redis too.
func (e *evolutionStore) add(name string, files map[string]string, credsBeside bool) (id string) {
	e.t.Helper()
	e.count++
	id = fmt.Sprintf("0197aaaa-bbbb-4ccc-8ddd-%012d", e.count)
	twice, err := json.Marshal(files["creds.json"])
	check(e.t, err)
	statement, args := `INSERT INTO evolution_api."Instance" (id, name, integration) VALUES ($1, $2, 'WHATSAPP-BAILEYS')`, []any{id, name}
	_, err = e.database.ExecContext(e.t.Context(), statement, args...)
	check(e.t, err)
	if !credsBeside {
		_, err = e.database.ExecContext(e.t.Context(), `INSERT INTO evolution_api."Session" (id, "sessionId", creds) VALUES ($1, $1, $2)`, id, string(twice))
		check(e.t, err)
	}
	others := maps.Clone(files)
	if !credsBeside {
		delete(others, "creds.json")
	}
	if e.redis == "" {
		writeState(e.t, filepath.Join(e.keys, id), others)
		return id
	}
	conn, err := redis.DialURLContext(e.t.Context(), e.redis)
	check(e.t, err)
	defer func() { _ = conn.Close() }()
	for file, content := range others {
		_, err := conn.Do("HSET", "evolution:instance:"+id, unfiled(strings.TrimSuffix(file, ".json")), content)
		check(e.t, err)
	}
	return id
}

// unfiled is a name of Baileys' before it was made one of a file.
func unfiled(name string) string {
	switch {
	case strings.HasPrefix(name, "sender-key-memory-"):
	case strings.HasPrefix(name, "sender-key-"):
		return strings.ReplaceAll(name, "--", "::")
	case strings.HasPrefix(name, "app-state-sync-key-"):
		return strings.ReplaceAll(name, "__", "/")
	}
	return name
}

// config is a complete move.
func (e *evolutionStore) config(config movein.Config) movein.Config {
	config.From, config.Redis = e.url, e.redis
	if e.redis == "" {
		config.Keys = e.keys
	}
	return config
}

// stopped closes the connections of the program, and returns when the servers have noticed.
func (e *evolutionStore) stopped() {
	e.t.Helper()
	var name string
	check(e.t, e.database.QueryRowContext(e.t.Context(), "SELECT current_database()").Scan(&name))
	check(e.t, e.database.Close())
	server, err := sql.Open("pgx", strings.Replace(e.address, "/"+name+"?", "/postgres?", 1))
	check(e.t, err)
	defer func() { _ = server.Close() }()
	testkit.Await(e.t, "the end of its connections", func() bool {
		var count int
		err := server.QueryRowContext(e.t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE datname = $1", name).Scan(&count)
		check(e.t, err)
		return count == 0
	})
	if e.redis == "" {
		return
	}
	conn, err := redis.DialURLContext(e.t.Context(), strings.TrimSuffix(e.redis, "/6"))
	check(e.t, err)
	defer func() { _ = conn.Close() }()
	testkit.Await(e.t, "the end of its connections to Redis", func() bool {
		list, err := redis.String(conn.Do("CLIENT", "LIST"))
		check(e.t, err)
		return !strings.Contains(list, " db=6 ")
	})
}

// Instances of Evolution API come without a code, under their own names, wherever it keeps
// its keys.
func TestMoveInFromEvolution(t *testing.T) {
	t.Parallel()
	for name, c := range cases.Sorted(map[string]struct{ inRedis, credsBeside bool }{
		"keys in files": {}, "keys in Redis": {inRedis: true}, "everything in Redis": {true, true},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEvolution(t, c.inRedis)
			m, waiting := useBaileys(t, newest, 2)
			for n, one := range m.devices {
				files := map[string]string{}
				for path, content := range contents(t, filepath.Join(m.store, one.Owner)) {
					files[filepath.Base(path)] = content
				}
				e.add(fmt.Sprintf("instance %d", n), files, c.credsBeside)
			}
			e.stopped()
			m.from = func(ctx context.Context, config movein.Config, report func(movein.Result)) error {
				return movein.FromEvolution(ctx, e.config(config), report)
			}
			m.goOn(waiting)
			var names []string
			for _, instance := range instancesOf(t, m.data()) {
				names = append(names, instance.Name)
			}
			slices.Sort(names)
			if want := []string{"instance 0", "instance 1"}; !slices.Equal(names, want) {
				t.Errorf("the instances are called %q", names)
			}
		})
	}
}

// Evolution API in use is refused, unless its operator knows better.
func TestEvolutionInUse(t *testing.T) {
	t.Parallel()
	for name, c := range cases.Sorted(map[string]struct {
		inRedis bool
		use     func(t *testing.T, e *evolutionStore)
		want    string
	}{
		"the database": {false, func(t *testing.T, e *evolutionStore) {
			t.Helper()
			check(t, e.database.PingContext(t.Context()))
		}, "other connections use this database"},
		"the files": {false, func(t *testing.T, e *evolutionStore) {
			t.Helper()
			e.stopped()
			folders, err := os.ReadDir(e.keys)
			check(t, err)
			check(t, os.WriteFile(filepath.Join(e.keys, folders[0].Name(), "session-1.0.json"), []byte("{}"), 0o600))
		}, "was written just now"},
		"Redis": {true, func(t *testing.T, e *evolutionStore) {
			t.Helper()
			e.stopped()
			conn, err := redis.DialURLContext(t.Context(), e.redis)
			check(t, err)
			t.Cleanup(func() { _ = conn.Close() })
			_, err = conn.Do("PING")
			check(t, err)
		}, "1 other connections use this database of Redis"},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEvolution(t, c.inRedis)
			e.add("loja", stateFiles(t, "5511999990000"), false)
			c.use(t, e)
			config := e.config(configOf(t, ""))
			config.DryRun = true
			results, err := collectFrom(t, config, movein.FromEvolution)
			if inUse, ok := errors.AsType[*movein.InUseError](err); !ok || !strings.Contains(inUse.Why, c.want) || len(results) > 0 {
				t.Errorf("%v, %v; want %q", results, err, c.want)
			}
			config.Stopped = true
			if results, err := collectFrom(t, config, movein.FromEvolution); err != nil || len(results) != 1 || results[0].State() != "would come" && results[0].UnreadableSessions == 0 {
				t.Errorf("%v, %v although it is said to be stopped", results, err)
			}
		})
	}
}

// An instance that can't be read is left out, and the others come. Instances of other kinds
// are no devices.
func TestBrokenInstance(t *testing.T) {
	t.Parallel()
	for name, inRedis := range cases.Sorted(map[string]bool{"keys in files": false, "keys in Redis": true}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEvolution(t, inRedis)
			good, broken := stateFiles(t, "5511999990000"), stateFiles(t, "5511999990001")
			broken["creds.json"] = `{"noiseKey":"a secret"}`
			e.add("a broken", broken, false)
			e.add("b good", good, false)
			without := map[string]string{"creds.json": stateFiles(t, "5511999990002")["creds.json"]}
			gone := e.add("c without keys", without, false)
			check(t, os.RemoveAll(filepath.Join(e.keys, gone)))
			for n, statement := range []string{
				`INSERT INTO evolution_api."Instance" (id, name, integration) VALUES ($1, 'a cloud', 'WHATSAPP-BUSINESS')`,
				`INSERT INTO evolution_api."Instance" (id, name) VALUES ($1, 'd not linked')`,
				`INSERT INTO evolution_api."Instance" (id, name) VALUES ($1 || '*../..', 'e with another id')`,
			} {
				_, err := e.database.ExecContext(t.Context(), statement, fmt.Sprintf("0197aaaa-%d", n))
				check(t, err)
			}
			e.stopped()
			results, err := collectFrom(t, e.config(configOf(t, "")), movein.FromEvolution)
			check(t, err)
			var got []string
			for _, result := range results {
				state := result.State()
				if result.InstanceID != "" {
					state = "came"
				}
				got = append(got, result.Number+": "+state)
			}
			missing := "there is no folder " + gone + " with its keys"
			if inRedis {
				missing = "there are no keys of it in Redis: see whether the number of the database at the end of the URL is that of Evolution API"
			}
			want := []string{
				"a broken: it can't be read: read the credentials: it is not what Baileys writes", "5511999990000: came",
				"c without keys: it can't be read: " + missing, "d not linked: it can't be read: it is not linked to a phone",
				"e with another id: it can't be read: it is not linked to a phone",
			}
			if !slices.Equal(got, want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

// Credentials in two places are those of one device, or nothing is taken for the right one.
func TestTwoCredentials(t *testing.T) {
	t.Parallel()
	e := newEvolution(t, true)
	files := stateFiles(t, "5511999990000")
	same, other := e.add("loja", files, false), e.add("suporte", stateFiles(t, "5511999990001"), false)
	conn, err := redis.DialURLContext(t.Context(), e.redis)
	check(t, err)
	_, err = conn.Do("HSET", "evolution:instance:"+same, "creds", files["creds.json"])
	check(t, err)
	_, err = conn.Do("HSET", "evolution:instance:"+other, "creds", strings.Replace(files["creds.json"], `"CGwDPEDY`, `"AGwDPEDY`, 1))
	check(t, err)
	_, err = conn.Do("HSET", "other:instance:0197aaaa-bbbb-4ccc-8ddd-000000000003", "x", "{}")
	check(t, err)
	twice := e.add("vendas", stateFiles(t, "5511999990002"), false)
	check(t, conn.Close())
	e.stopped()
	results, err := collectFrom(t, e.config(configOf(t, "")), movein.FromEvolution)
	check(t, err)
	if len(results) != 3 || results[0].InstanceID == "" || !strings.Contains(results[1].Problem, "different credentials") ||
		!strings.Contains(results[2].Problem, "2 hashes") {
		t.Errorf("got %+v (%s)", results, twice)
	}
}

// What is no database of Evolution API is refused in words, without a password.
func TestWithoutEvolution(t *testing.T) {
	t.Parallel()
	e := newEvolution(t, false)
	e.stopped()
	public, err := url.Parse(e.url)
	check(t, err)
	public.RawQuery = strings.Replace(public.RawQuery, "schema=evolution_api", "", 1)
	for _, c := range []struct{ from, keys, redis, want string }{
		{"mysql://root:geheim@localhost/evolution", e.keys, "", "name the PostgreSQL database"},
		{"postgres://u:geheim@/x?host=/nowhere&schema=x", e.keys, "", "open the other program's database"},
		{"postgres://u:geheim@%zz", e.keys, "", "open the other program's database"},
		{public.String(), e.keys, "", `no tables of Evolution API in the schema "public"`},
		{e.url, filepath.Join(e.keys, "missing"), "", "read the folder of keys"},
		{e.url, "", "redis://:geheim@127.0.0.1:1", "connect to Redis"},
		{e.url, "", "redis://:geheim@%zz", "the address of Redis"},
		{e.url, e.keys, "", "no linked device"},
	} {
		config := configOf(t, c.from)
		config.Keys, config.Redis, config.DryRun = c.keys, c.redis, true
		results, err := collectFrom(t, config, movein.FromEvolution)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "geheim") || len(results) > 0 {
			t.Errorf("%s: %v, %v; want %q", c.from, results, err, c.want)
		}
	}
}
