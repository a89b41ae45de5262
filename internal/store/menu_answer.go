// The table of answers to menus: one row for each person who has answered one.

package store

import (
	"context"

	"github.com/recado-project/recado/internal/gateway"
)

//nolint:gochecknoglobals // statements that are made of others once
var (
	findAnswer = "SELECT EXISTS (SELECT 1 FROM menu_answers WHERE message_id = $1 AND " + samePerson("by_", "$2", "$3") + ")"

	// What a text answers is only noted with the text, which may be there already.
	insertAnswer = "INSERT INTO menu_answers (message_id, person, by_jid, by_lid) SELECT $1, $2, $3, $4" +
		" WHERE EXISTS (SELECT 1 FROM messages WHERE id = $5) ON CONFLICT DO NOTHING"
)

// hasAnswered reports whether somebody has answered the menu of a message.
func hasAnswered(ctx context.Context, r *recorder, messageID string, by gateway.Party) (done bool, err error) {
	err = r.QueryRowContext(ctx, findAnswer, messageID, string(by.JID), string(by.LID)).Scan(&done)
	return done, err
}

// isAnswer reports whether a vote is its author's first answer to the menu of a poll.
func isAnswer(ctx context.Context, r *recorder, poll gateway.Message, vote gateway.StoredVote) (bool, error) {
	if !poll.Menu.Exists() || len(vote.Choices) == 0 {
		return false, nil
	}
	done, err := hasAnswered(ctx, r, poll.ID, vote.By)
	return !done, err
}

// addAnswer notes that somebody has answered the menu of a message, if another message is there.
func addAnswer(ctx context.Context, r *recorder, messageID string, by gateway.Party, with string) error {
	_, err := r.ExecContext(ctx, insertAnswer, messageID, string(by.Key()), string(by.JID), string(by.LID), with)
	return err
}
