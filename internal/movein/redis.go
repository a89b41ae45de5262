// Keys of Evolution API on a Redis server.

package movein

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/recado-project/recado/internal/whatsapp/baileys"
)

const (
	redisTimeout = 30 * time.Second // of a connection, and of each answer
	// scanBatch is how many entries a scan asks for at once. The server may return more.
	scanBatch = 500
)

// credsEntry is the name of the credentials among the entries.
const credsEntry = "creds"

// redisKeys has a hash for each instance, whose fields are named as Baileys names its
// entries (keyStore). It is used by one goroutine.
type redisKeys struct {
	conn  redis.Conn
	names map[string]string // of the hashes, by the id of the instance
}

var _ keyStore = (*redisKeys)(nil)

func (s *source) openRedis(ctx context.Context, address string) (*redisKeys, error) {
	if _, err := url.Parse(address); err != nil || !strings.Contains(address, "://") {
		return nil, errors.New("the address of Redis is none: write redis://host:6379/0") // err may hold a password
	}
	conn, err := redis.DialURLContext(ctx, address,
		redis.DialConnectTimeout(redisTimeout), redis.DialReadTimeout(redisTimeout), redis.DialWriteTimeout(redisTimeout))
	if err != nil {
		return nil, fmt.Errorf("connect to Redis: %w", err)
	}
	s.closers = append(s.closers, conn.Close)
	r := &redisKeys{conn: conn, names: map[string]string{}}
	if _, err := redis.DoContext(conn, ctx, "PING"); err != nil {
		return nil, fmt.Errorf("ask Redis: %w", err)
	}
	return r, nil
}

// scan calls take for what a command of the family SCAN finds. arguments makes those of
// the command that follows a cursor.
func (r *redisKeys) scan(ctx context.Context, command string, arguments func(cursor string) []any, take func(values [][]byte) error) error {
	cursor := "0"
	for {
		answer, err := redis.Values(redis.DoContext(r.conn, ctx, command, append(arguments(cursor), "COUNT", scanBatch)...))
		if err != nil {
			return fmt.Errorf("ask Redis: %w", err)
		}
		var values [][]byte
		if _, err := redis.Scan(answer, &cursor, &values); err != nil {
			return errors.New("another answer came from Redis")
		}
		if err := take(values); err != nil {
			return err
		}
		if cursor == "0" {
			return nil
		}
	}
}

// instanceID is what Evolution API makes: a UUID, or an id of Prisma's. No such text has
// a meaning in a pattern.
var instanceID = regexp.MustCompile(`^[A-Za-z0-9-]{8,}$`)

const maxInstanceID = 64

// name finds the hash of an instance: evolution:instance:ID, with the prefix that is set.
func (r *redisKeys) name(ctx context.Context, instance string) (string, error) {
	if name, ok := r.names[instance]; ok {
		return name, nil
	}
	if len(instance) > maxInstanceID || !instanceID.MatchString(instance) {
		return "", errors.New("its id is none of Evolution API's")
	}
	found := map[string]bool{}
	pattern := func(cursor string) []any { return []any{cursor, "MATCH", "*:" + instance, "TYPE", "hash"} }
	err := r.scan(ctx, "SCAN", pattern, func(values [][]byte) error {
		for _, name := range values {
			found[string(name)] = true
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	if len(found) > 1 {
		return "", fmt.Errorf("there are %d hashes with its keys in Redis: remove those that Evolution API does not use", len(found))
	}
	for name := range found {
		r.names[instance] = name
		return name, nil
	}
	return "", errors.New("there are no keys of it in Redis: see whether the number of the database at the end of the URL is that of Evolution API")
}

func (r *redisKeys) entries(ctx context.Context, instance string, _ func(name string) bool) iter.Seq2[baileys.Entry, error] {
	return func(yield func(baileys.Entry, error) bool) {
		name, err := r.name(ctx, instance)
		if err != nil {
			yield(baileys.Entry{}, err)
			return
		}
		total := 0
		err = r.scan(ctx, "HSCAN", func(cursor string) []any { return []any{name, cursor} }, func(values [][]byte) error {
			for n := 0; n+1 < len(values); n += 2 {
				entry := baileys.Entry{Name: string(values[n]), Value: values[n+1]}
				if total += len(entry.Value); total > maxFolderBytes {
					return fmt.Errorf("its keys have more than %d bytes", maxFolderBytes)
				}
				if entry.Name != credsEntry && !yield(entry, nil) {
					return errStop
				}
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStop) {
			yield(baileys.Entry{}, err)
		}
	}
}

// errStop ends a scan that has found what it looked for.
var errStop = errors.New("it is enough")

func (r *redisKeys) creds(ctx context.Context, instance string) ([]byte, error) {
	name, err := r.name(ctx, instance)
	if err != nil {
		return nil, nil //nolint:nilerr // entries says so, of an instance that is linked
	}
	length, err := redis.Int(redis.DoContext(r.conn, ctx, "HSTRLEN", name, credsEntry))
	if err != nil {
		return nil, fmt.Errorf("ask Redis: %w", err)
	}
	if length == 0 || length > maxFileBytes {
		return nil, nil
	}
	creds, err := redis.Bytes(redis.DoContext(r.conn, ctx, "HGET", name, credsEntry))
	if err != nil {
		return nil, fmt.Errorf("ask Redis: %w", err)
	}
	return creds, nil
}

// check fails if another client is connected to the same database of the server, as far as it is allowed
// to see that.
func (r *redisKeys) check(ctx context.Context, _ []string) error {
	list, err := redis.String(redis.DoContext(r.conn, ctx, "CLIENT", "LIST"))
	if err != nil {
		return nil //nolint:nilerr // the user may not ask
	}
	own, err := redis.Int64(redis.DoContext(r.conn, ctx, "CLIENT", "ID"))
	if err != nil {
		return nil //nolint:nilerr // as above
	}
	var database string
	others := map[string]int{}
	for line := range strings.Lines(list) {
		fields := map[string]string{}
		for field := range strings.FieldsSeq(line) {
			name, value, _ := strings.Cut(field, "=")
			fields[name] = value
		}
		if fields["id"] == fmt.Sprint(own) {
			database = fields["db"]
		} else {
			others[fields["db"]]++
		}
	}
	if count := others[database]; count > 0 {
		return &InUseError{fmt.Sprintf("%d other connections use this database of Redis", count)}
	}
	return nil
}

// checkUnchanged does nothing: check has seen that no other client was connected.
func (r *redisKeys) checkUnchanged(string) error { return nil }
