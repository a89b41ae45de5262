// The table of votes in polls: one row for each person who has voted.

package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"slices"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/sqlerror"
	"github.com/recado-project/recado/internal/store/table"
)

//nolint:gochecknoglobals // a table that never changes
var voteColumns = table.Of(
	table.Text("voter_jid", func(v *gateway.StoredVote) *gateway.JID { return &v.By.JID }),
	table.Text("voter_lid", func(v *gateway.StoredVote) *gateway.JID { return &v.By.LID }),
	table.Text("voter_name", func(v *gateway.StoredVote) *string { return &v.By.Name }),
	table.Custom("choices", func(v *gateway.StoredVote) any { return choices(v.Choices).joined() }, func(v *gateway.StoredVote) any { return (*choices)(&v.Choices) }),
	table.Moment("voted_at", func(v *gateway.StoredVote) *time.Time { return &v.At }),
)

const listVotes = "FROM poll_votes WHERE message_id = $1 ORDER BY voted_at, voter"

// KeepVote replaces the person's vote in a poll, and appends the event that report makes of all
// votes. answers says that it is the person's first answer to the poll, if that has a menu. A vote that is older than the stored one changes nothing, and has no event. An error of report is returned as it is, and nothing is
// written. If the poll is gone, the error is a gateway.NotFound.
func (s *Store) KeepVote(
	ctx context.Context, poll gateway.Message, vote gateway.StoredVote,
	report func(votes []gateway.StoredVote, answers bool) (eventlog.Event, error),
) error {
	refused, err := s.db.recordOr(ctx, poll.InstanceID, func(ctx context.Context, r *recorder) (refused, err error) {
		votes, err := voteColumns.Collect(ctx, r, listVotes, poll.ID)
		if err != nil {
			return nil, err
		}
		before := slices.IndexFunc(votes, func(v gateway.StoredVote) bool { return v.By.Is(vote.By.JID) || v.By.Is(vote.By.LID) })
		if before >= 0 {
			if votes[before].At.After(vote.At) {
				return nil, nil
			}
			votes = slices.Delete(votes, before, before+1)
		}
		answers, err := isAnswer(ctx, r, poll, vote)
		if err != nil {
			return nil, err
		}
		event, refused := report(append(votes, vote), answers)
		if refused != nil {
			return refused, nil
		}
		if before >= 0 {
			if _, err := r.ExecContext(ctx, "DELETE FROM poll_votes WHERE message_id = $1 AND "+samePerson("voter_", "$2", "$3"), poll.ID, string(vote.By.JID), string(vote.By.LID)); err != nil {
				return nil, err
			}
		}
		if _, err := r.ExecContext(ctx, voteColumns.Insert("poll_votes", "message_id", "voter"),
			voteColumns.Values(&vote, poll.ID, string(vote.By.Key()))...); err != nil {
			return nil, err
		}
		if answers {
			if err := addAnswer(ctx, r, poll.ID, vote.By, poll.ID); err != nil {
				return nil, err
			}
		}
		return nil, r.Append(ctx, event)
	})
	if sqlerror.IsOrphan(err) {
		return gateway.Errorf(gateway.NotFound, gateway.CodeMessageNotFound, "the poll is gone")
	}
	table.Wrap(&err, "keep vote")
	return cmp.Or(refused, err)
}

// ListVotes returns the votes in a poll, oldest first, including those that were withdrawn, which have no
// choice.
func (s *Store) ListVotes(ctx context.Context, messageID string) (_ []gateway.StoredVote, err error) {
	defer table.Wrap(&err, "list votes")
	return voteColumns.Collect(ctx, s.db.Reader(), listVotes, messageID)
}

// choices are what somebody has voted for. Their column has one after another.
type choices [][sha256.Size]byte

func (c choices) joined() []byte {
	all := make([]byte, 0, len(c)*sha256.Size)
	for _, choice := range c {
		all = append(all, choice[:]...)
	}
	return all
}

// Scan reads the column.
func (c *choices) Scan(source any) error {
	joined, err := table.Stored(source)
	*c = nil
	for choice := range slices.Chunk(joined, sha256.Size) {
		if len(choice) == sha256.Size {
			*c = append(*c, [sha256.Size]byte(choice))
		}
	}
	return err
}

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
