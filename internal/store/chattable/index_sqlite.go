// The index of words in a SQLite file. Messages are indexed some moments after they are stored: to do
// so at once would cost as much again as the message.

package chattable

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/store/table"
)

// sqliteBatch is how many messages are put into the index at once, while other writes wait.
const sqliteBatch = 100

// sqliteWords is the index. The number of a row is made from the identifier of its message, a
// UUID whose first 60 bits besides its version are a time that the process gives once.
type sqliteWords struct{ db Database }

// numberOf makes the number of a message; false for an identifier that is no UUID of this kind.
func numberOf(id string) (int64, bool) {
	if len(id) != 36 || id[8] != '-' || id[13] != '-' || id[14] != '7' || id[18] != '-' {
		return 0, false
	}
	number, err := strconv.ParseInt(id[:8]+id[9:13]+id[15:18], 16, 64)
	return number, err == nil
}

// firstWithNumber is the expression for the beginning of the identifiers that have a number.
const firstWithNumber = "printf('%08x-%04x-7%03x', message_words.rowid >> 28, (message_words.rowid >> 12) & 65535, message_words.rowid & 4095)"

func (sqliteWords) add(context.Context, table.Querier, string, gateway.Message) error { return nil }

func (sqliteWords) replace(ctx context.Context, q table.Querier, chatID, messageID, text string) error {
	number, ok := numberOf(messageID)
	if !ok {
		return nil
	}
	entries := entriesOf(chatID, text)
	if len(entries) == 0 {
		_, err := q.ExecContext(ctx, "DELETE FROM message_words WHERE rowid = $1", number)
		return err
	}
	_, err := q.ExecContext(ctx, "INSERT OR REPLACE INTO message_words (rowid, words) VALUES ($1, $2)",
		number, strings.Join(entries, " "))
	return err
}

func (sqliteWords) remove(ctx context.Context, q table.Querier, messageIDs []string) error {
	numbers := make([]int64, 0, len(messageIDs))
	for _, id := range messageIDs {
		if number, ok := numberOf(id); ok {
			numbers = append(numbers, number)
		}
	}
	set, err := json.Marshal(numbers)
	if err != nil {
		return err
	}
	if _, err = q.ExecContext(ctx, "DELETE FROM message_words WHERE rowid IN (SELECT value FROM json_each($1))", string(set)); err != nil {
		return err
	}
	// The rowids of the newest ones are given again.
	_, err = q.ExecContext(ctx, "UPDATE search_progress SET through = newest.number "+
		"FROM (SELECT COALESCE(MAX(rowid), 0) AS number FROM messages) AS newest WHERE through > newest.number")
	return err
}

func (sqliteWords) matching() string {
	return "FROM message_words CROSS JOIN messages ON messages.id >= " + firstWithNumber + " AND messages.id < " + firstWithNumber +
		" || '~' WHERE message_words MATCH $1"
}

func (sqliteWords) matches() string { return "FROM message_words WHERE message_words MATCH $1" }

func (sqliteWords) query(entries []string) string {
	return `"` + strings.Join(entries, `"* AND "`) + `"*`
}

// freshMessages is how many messages that were stored of late a search looks through by itself.
const freshMessages = 2_000

func (s sqliteWords) fresh(ctx context.Context, chatID string, words []string) (ids []string, err error) {
	found, err := table.Collect(ctx, s.db.Reader(), scanWorded, `SELECT messages.rowid, id, chat_id, text FROM search_progress
		CROSS JOIN messages ON messages.rowid > through AND messages.rowid <= through + $1
		WHERE chat_id || '' = $2 AND text <> ''`, freshMessages, chatID)
	for _, message := range found {
		if says(message.text, words) {
			ids = append(ids, message.id)
		}
	}
	return ids, err
}

func (s sqliteWords) catchUp(ctx context.Context) (more bool, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, q table.Querier) error {
		more = false
		var through, last int64
		if err := q.QueryRowContext(ctx, "SELECT through, COALESCE((SELECT MAX(rowid) FROM messages), 0) FROM search_progress").Scan(&through, &last); err != nil {
			return err
		}
		if last < through {
			through = 0 // the rows were numbered anew
		}
		found, err := table.Collect(ctx, q, scanWorded,
			"SELECT rowid, id, chat_id, text FROM messages WHERE rowid > $1 ORDER BY rowid LIMIT $2 + 0", through, sqliteBatch)
		if err != nil || len(found) == 0 {
			return err
		}
		for _, message := range found {
			if err := s.replace(ctx, q, message.chatID, message.id, message.text); err != nil {
				return err
			}
		}
		more = len(found) == sqliteBatch
		_, err = q.ExecContext(ctx, "UPDATE search_progress SET through = $1", found[len(found)-1].row)
		return err
	})
	table.Wrap(&err, "index the words of messages")
	return more, err
}
