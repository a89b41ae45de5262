// The database: whether it can be used, whether it fits this program, and whether it is whole.

package doctor

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/recado-project/recado/internal/server"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/store/claim"
	"github.com/recado-project/recado/internal/store/readonly"
)

// databaseItself says whether the database can be used.
func (e *examination) databaseItself(ctx context.Context) []Finding {
	const name = "database"
	switch {
	case e.opening != nil && e.isPostgres():
		if errors.Is(e.opening, claim.ErrPooler) {
			return []Finding{wrong("pooler", "let --database-url name the server itself", "there is a pooler, such as pgbouncer, in front of PostgreSQL: the gateway refuses to start")}
		}
		return []Finding{wrong(name, "see whether the server runs, and whether --database-url has the right host, name and password", "PostgreSQL at %s can't be used: %s", e.where(), e.opening)}
	case e.opening != nil:
		return []Finding{wrong(name, "run recado doctor as the gateway's user; if the file is damaged, restore a backup", "%s can't be used: %s", e.where(), e.opening)}
	case e.database == nil:
		return e.missing()
	}
	var findings []Finding
	if e.isPostgres() {
		findings = e.postgres(ctx)
	} else {
		findings = e.sqlite(ctx)
	}
	return append(findings, e.tables()...)
}

// where is the database, without a password.
func (e *examination) where() string {
	if !e.isPostgres() {
		return e.file()
	}
	address, err := url.Parse(e.config.Server.DatabaseURL)
	if err != nil {
		return "--database-url"
	}
	host := address.Host
	if named := address.Query().Get("host"); named != "" {
		host = named
	}
	return host + address.Path
}

func (e *examination) file() string {
	return server.StoreConfig(e.config.Server.DataDir, "", nil).Path
}

// missing is the finding if there is no SQLite file.
func (e *examination) missing() []Finding {
	const name = "database"
	if _, err := os.Stat(e.file() + store.MovedSuffix); err == nil {
		return []Finding{wrong(name, "name the database with --database-url", "the data in %s were moved to PostgreSQL", e.config.Server.DataDir)}
	}
	return []Finding{ok(name, "there is none yet; a gateway makes %s at its start", e.file())}
}

// tables says whether the tables are those of this program.
func (e *examination) tables() []Finding {
	const name = "tables"
	known, err := e.migrations()
	switch {
	case err != nil:
		return []Finding{wrong(name, "", "%s", err)}
	case e.version == 0:
		return []Finding{ok(name, "there are none yet; a gateway makes them at its start")}
	case e.version > len(known):
		return []Finding{wrong(name, "start the newer program again: this one refuses the database", "they have version %d, and this program knows version %d", e.version, len(known))}
	case e.version < len(known):
		return []Finding{warning(name, "make a backup; the next start of the gateway, or `recado migrate`, brings them up to date",
			"they have version %d, and %d migrations wait: %s", e.version, len(known)-e.version, strings.Join(known[e.version:], ", "))}
	}
	return []Finding{ok(name, "they have version %d, which is this program's", e.version)}
}

// bigLog is a size that SQLite's log only reaches while a reader does not end.
const bigLog = 256 << 20

func (e *examination) sqlite(ctx context.Context) []Finding {
	const name = "database"
	engine, err := e.database.Value(ctx, "SELECT sqlite_version()")
	if err != nil {
		return []Finding{wrong(name, "restore a backup", "%s can't be read: %s", e.file(), err)}
	}
	findings := []Finding{ok(name, "SQLite %s, which this program has built in", engine)}
	if log, err := os.Stat(e.file() + "-wal"); err == nil && log.Size() > bigLog {
		findings = append(findings, warning(name, "see whether a backup hangs, or another program has the file open; it gets small again after that",
			"its log has %s: something has been reading for long", bytesText(log.Size())))
	}
	return append(findings, e.whole(ctx))
}

// whole checks whether SQLite finds its file undamaged. It checks twice before it reports damage: a gateway
// may have begun to write while the file was read.
func (e *examination) whole(ctx context.Context) Finding {
	const name = "integrity"
	said, err := quickCheck(ctx, e.database)
	if err == nil && said != intact && ctx.Err() == nil {
		var again *readonly.Database
		if again, err = readonly.Open(ctx, e.file(), ""); err == nil {
			said, err = quickCheck(ctx, again)
			err = errors.Join(err, again.Close())
		}
	}
	switch {
	case ctx.Err() != nil:
		return ok(name, "the file is too large to be read whole in a few seconds; `recado backup --verify` reads everything")
	case err != nil:
		return wrong(name, damaged, "the file can't be read: %s", err)
	case said != intact:
		return wrong(name, damaged, "the file is damaged: %s", said)
	}
	return ok(name, "every page of the file is as it should be")
}

const (
	intact  = "ok" // what SQLite says
	damaged = "stop the gateway, copy the folder, and restore the newest backup; then look for the cause in the disk and in the system's log"
)

func quickCheck(ctx context.Context, database *readonly.Database) (string, error) {
	lines, err := database.Lines(ctx, "PRAGMA quick_check(3)")
	return strings.Join(lines, "; "), err
}

const (
	// oldestPostgres is the oldest major version that its makers still keep up.
	oldestPostgres = 14
	tenThousand    = 10_000 // of server_version_num, for a major version
	// connsOfNode is how many connections a node opens: the pool's and the claim's.
	connsOfNode = 17
	// connsSpare should be left for backups, commands and people.
	connsSpare = 3
)

func (e *examination) postgres(ctx context.Context) []Finding {
	const name = "database"
	var findings []Finding
	version, err := e.database.Number(ctx, "SELECT current_setting('server_version_num')::bigint")
	if err != nil {
		return []Finding{wrong(name, "see whether the server works", "PostgreSQL at %s does not answer: %s", e.where(), err)}
	}
	major := version / tenThousand
	if major < oldestPostgres {
		findings = append(findings, wrong(name, "move to a newer version", "PostgreSQL %d is no longer kept up by its makers, and is not tried with this program", major))
	} else {
		findings = append(findings, ok(name, "PostgreSQL %d at %s, without a pooler in between", major, e.where()))
	}
	if encoding, err := e.database.Value(ctx, "SELECT current_setting('server_encoding')"); err == nil && encoding != "UTF8" {
		findings = append(findings, wrong(name, "make a database with ENCODING 'UTF8'", "its encoding is %s, which can't hold every message", encoding))
	}
	return append(findings, e.connections(ctx)...)
}

// connections says whether the server has room for the connections of all nodes.
func (e *examination) connections(ctx context.Context) []Finding {
	const name = "connections"
	figures := map[string]int64{}
	for what, query := range map[string]string{
		"max":      "SELECT current_setting('max_connections')::bigint",
		"reserved": "SELECT current_setting('superuser_reserved_connections')::bigint",
		"used":     "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'",
		"role":     "SELECT rolconnlimit::bigint FROM pg_roles WHERE rolname = current_user",
		"database": "SELECT datconnlimit::bigint FROM pg_database WHERE datname = current_database()",
	} {
		figure, err := e.database.Number(ctx, query)
		if err != nil {
			return []Finding{warning(name, "look at max_connections and pg_stat_activity yourself", "they can't be counted: %s", err)}
		}
		figures[what] = figure
	}
	nodes := int64(max(1, e.alive()))
	need := nodes * connsOfNode
	most, by := figures["max"]-figures["reserved"], "max_connections"
	for limit, of := range map[string]string{"role": "the role's CONNECTION LIMIT", "database": "the database's CONNECTION LIMIT"} {
		if figure := figures[limit]; figure >= 0 && figure < most {
			most, by = figure, of
		}
	}
	switch text := strconv.FormatInt(most, 10) + " by " + by; {
	case most < need:
		return []Finding{wrong(name, fmt.Sprintf("raise %s to %d or more", by, need+connsSpare), "%d nodes open up to %d, and the server allows %s", nodes, need, text)}
	case figures["max"]-figures["reserved"]-figures["used"] < connsSpare:
		return []Finding{warning(name, "raise max_connections, or see who has them: SELECT application_name, count(*) FROM pg_stat_activity GROUP BY 1",
			"%d of %d are in use", figures["used"], figures["max"])}
	default:
		return []Finding{ok(name, "%d are in use; %d nodes open up to %d, and the server allows %s", figures["used"], nodes, need, text)}
	}
}

// alive is how many nodes there are.
func (e *examination) alive() int {
	alive := 0
	for _, node := range e.nodes {
		if node.Lease > 0 {
			alive++
		}
	}
	return alive
}

// durability says whether what is committed is still there after a crash.
func (e *examination) durability(ctx context.Context) []Finding {
	const name = "durability"
	switch {
	case e.database == nil:
		return e.unopened(name)
	case !e.isPostgres():
		return e.journal(ctx)
	}
	var findings []Finding
	for _, one := range []struct{ setting, bad, found, do string }{
		{"fsync", "off", "a crash of the server's machine can break the database beyond repair", "set fsync = on in postgresql.conf, and restart the server"},
		{"full_page_writes", "off", "a crash can leave half-written pages", "set full_page_writes = on, except on a file system that never tears a page, such as ZFS"},
		{"synchronous_commit", "off", "what was acknowledged in the last moments is lost in a crash", "set synchronous_commit = on, for the role and the database as well"},
	} {
		value, err := e.database.Value(ctx, "SELECT current_setting('"+one.setting+"')")
		switch {
		case err != nil:
			findings = append(findings, warning(name, "look at it yourself: SHOW "+one.setting, "%s can't be read: %s", one.setting, err))
		case value == one.bad:
			findings = append(findings, wrong(name, one.do, "%s is %s: %s", one.setting, value, one.found))
		}
	}
	if value, err := e.database.Value(ctx, "SELECT current_setting('synchronous_commit') || ' ' || current_setting('synchronous_standby_names')"); err == nil {
		if commit, standbys, _ := strings.Cut(value, " "); standbys != "" && (commit == "local" || commit == "remote_write") {
			findings = append(findings, warning(name, "set synchronous_commit = on", "there are synchronous standbys, but synchronous_commit is %s: they may lack what was acknowledged", commit))
		}
	}
	if standby, err := e.database.Value(ctx, "SELECT pg_is_in_recovery()::text"); err == nil && standby == "true" {
		findings = append(findings, wrong("standby", "let --database-url name the primary, or both with target_session_attrs=read-write",
			"this server is a standby, which nobody can write to"))
	}
	if len(findings) == 0 {
		findings = append(findings, ok(name, "fsync, full_page_writes and synchronous_commit are on, and this is the primary"))
	}
	return findings
}

// journal checks the journal mode of SQLite. Each connection of a gateway sets synchronous itself, and a
// gateway that can't does not start.
func (e *examination) journal(context.Context) []Finding {
	const name = "durability"
	file, err := os.Open(e.file())
	if err != nil {
		return []Finding{wrong(name, "run recado doctor as the gateway's user", "%s", err)}
	}
	defer func() { _ = file.Close() }()
	// The bytes 18 and 19 of the file say 2 for a write-ahead log.
	var head [20]byte
	if _, err := file.ReadAt(head[:], 0); err != nil {
		return []Finding{wrong(name, damaged, "the beginning of the file can't be read: %s", err)}
	}
	if head[18] != 2 || head[19] != 2 {
		return []Finding{warning(name, "start the gateway; if it stays so, the file system can't keep a write-ahead log", "the file has no write-ahead log; a gateway changes that at its start")}
	}
	return []Finding{ok(name, "write-ahead log; each commit waits for the disk (synchronous=FULL)")}
}

// unopened is the finding of a check that needs the database and does not have it.
func (e *examination) unopened(name string) []Finding {
	if e.opening != nil {
		return []Finding{warning(name, "see to the database first", "not looked at: the database can't be opened")}
	}
	return []Finding{ok(name, "there are no data yet")}
}

// migrations returns the names of the migrations that this program knows.
func (e *examination) migrations() ([]string, error) {
	names, err := store.MigrationNames(server.StoreConfig(e.config.Server.DataDir, e.config.Server.DatabaseURL, nil))
	if err != nil {
		return nil, fmt.Errorf("doctor: %w", err)
	}
	return names, nil
}
