// The index of words in PostgreSQL. A message is indexed in the transaction that stores it,
// without a round trip of its own; those from before the index, by and by.

package chattable

import (
	"context"
	"strings"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/store/table"
)

// postgresBatch is how many messages from before the index are put into it at once.
const postgresBatch = 500

// A message that was not added, because it was there already, has no words.
const insertWords = `INSERT INTO message_words (message_id, words)
	SELECT $1, array_to_tsvector(string_to_array($2, ' ')) WHERE EXISTS (SELECT 1 FROM messages WHERE id = $1)
	ON CONFLICT (message_id) DO UPDATE SET words = EXCLUDED.words`

type postgresWords struct{ db Database }

func (p postgresWords) add(ctx context.Context, q table.Querier, chatID string, message gateway.Message) error {
	return p.insert(ctx, q, chatID, message.ID, message.Text)
}

func (postgresWords) insert(ctx context.Context, q table.Querier, chatID, messageID, text string) error {
	entries := entriesOf(chatID, text)
	if len(entries) == 0 {
		return nil
	}
	_, err := q.ExecContext(ctx, insertWords, messageID, strings.Join(entries, " "))
	return err
}

func (p postgresWords) replace(ctx context.Context, q table.Querier, chatID, messageID, text string) error {
	if _, err := q.ExecContext(ctx, "DELETE FROM message_words WHERE message_id = $1", messageID); err != nil {
		return err
	}
	return p.insert(ctx, q, chatID, messageID, text)
}

func (postgresWords) remove(context.Context, table.Querier, []string) error { return nil }

func (postgresWords) matching() string {
	return "FROM message_words JOIN messages ON messages.id = message_words.message_id WHERE words @@ $1::tsquery"
}

func (postgresWords) matches() string { return "FROM message_words WHERE words @@ $1::tsquery" }

func (postgresWords) query(entries []string) string {
	return "'" + strings.Join(entries, "':* & '") + "':*"
}

func (postgresWords) fresh(context.Context, string, []string) ([]string, error) { return nil, nil }

func (p postgresWords) catchUp(ctx context.Context) (more bool, err error) {
	err = p.db.Write(ctx, func(ctx context.Context, q table.Querier) error {
		more = false
		// Another node that does the same has the row.
		before, free, err := table.Find(ctx, q, table.Value[string], "SELECT before_id FROM search_progress FOR UPDATE SKIP LOCKED")
		if err != nil || !free || before == "" {
			return err
		}
		found, err := table.Collect(ctx, q, scanWorded,
			"SELECT 0, id, chat_id, text FROM messages WHERE id < $1 ORDER BY id DESC LIMIT $2", before, postgresBatch)
		if err != nil {
			return err
		}
		before = ""
		for _, message := range found {
			if err := p.insert(ctx, q, message.chatID, message.id, message.text); err != nil {
				return err
			}
			before = message.id
		}
		if more = len(found) == postgresBatch; !more {
			before = ""
		}
		_, err = q.ExecContext(ctx, "UPDATE search_progress SET before_id = $1", before)
		return err
	})
	table.Wrap(&err, "index the words of messages")
	return more, err
}
