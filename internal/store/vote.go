// The table of votes in polls: one row for each person who has voted.

package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/sqlerror"
	"github.com/recado-project/recado/internal/store/table"
)

const (
	voteColumns = "voter_jid, voter_lid, voter_name, choices, voted_at"

	listVotes = "SELECT " + voteColumns + " FROM poll_votes WHERE message_id = $1 ORDER BY voted_at, voter"

	// Somebody may have voted under one address before the other became known.
	deleteVote = "DELETE FROM poll_votes WHERE message_id = $1 AND (voter_jid <> '' AND voter_jid = $2 OR voter_lid <> '' AND voter_lid = $3)"

	addVote = "INSERT INTO poll_votes (message_id, voter, " + voteColumns + ") VALUES ($1, $2, $3, $4, $5, $6, $7)"
)

// KeepVote replaces the person's vote in a poll, and appends the event that report makes of all
// votes. A vote that is older than the stored one changes nothing, and has no event. An error of report is returned as it is, and nothing is
// written. If the poll is gone, the error is a gateway.NotFound.
func (s *Store) KeepVote(
	ctx context.Context, poll gateway.Message, vote gateway.KeptVote,
	report func(votes []gateway.KeptVote) (eventlog.Event, error),
) error {
	var refused error
	err := s.db.record(ctx, poll.InstanceID, func(ctx context.Context, r *recorder) error {
		refused = nil
		votes, err := table.Collect(ctx, r, scanVote, listVotes, poll.ID)
		if err != nil {
			return err
		}
		before := slices.IndexFunc(votes, func(v gateway.KeptVote) bool { return v.By.Is(vote.By.JID) || v.By.Is(vote.By.LID) })
		if before >= 0 {
			if votes[before].At.After(vote.At) {
				return nil
			}
			votes = slices.Delete(votes, before, before+1)
		}
		var event eventlog.Event
		// A refusal must not be an error of the transaction: that would make the writes that
		// share its commit run again.
		if event, refused = report(append(votes, vote)); refused != nil {
			return nil //nolint:nilerr // it is returned below
		}
		jid, lid := string(vote.By.JID), string(vote.By.LID)
		if before >= 0 {
			if _, err := r.ExecContext(ctx, deleteVote, poll.ID, jid, lid); err != nil {
				return err
			}
		}
		if _, err := r.ExecContext(ctx, addVote, poll.ID, string(vote.By.Key()), jid, lid, vote.By.Name,
			joinChoices(vote.Choices), table.Millis(vote.At)); err != nil {
			return err
		}
		return r.Append(ctx, event)
	})
	switch {
	case refused != nil:
		return refused
	case sqlerror.IsOrphan(err):
		return gateway.Errorf(gateway.NotFound, gateway.CodeMessageNotFound, "the poll is gone")
	case err != nil:
		return fmt.Errorf("store: keep vote: %w", err)
	}
	return nil
}

// ListVotes returns the votes in a poll, the oldest first. Those that were taken back are
// among them, without a choice.
func (s *Store) ListVotes(ctx context.Context, messageID string) ([]gateway.KeptVote, error) {
	votes, err := table.Collect(ctx, s.db.Reader(), scanVote, listVotes, messageID)
	if err != nil {
		return nil, fmt.Errorf("store: list votes: %w", err)
	}
	return votes, nil
}

func scanVote(row table.Scanner) (gateway.KeptVote, error) {
	var vote gateway.KeptVote
	var choices []byte
	var at int64
	err := row.Scan(&vote.By.JID, &vote.By.LID, &vote.By.Name, &choices, &at)
	for choice := range slices.Chunk(choices, sha256.Size) {
		if len(choice) == sha256.Size {
			vote.Choices = append(vote.Choices, [sha256.Size]byte(choice))
		}
	}
	vote.At = table.Time(at)
	return vote, err
}

// joinChoices is the value of the column: the choices one after another.
func joinChoices(choices [][sha256.Size]byte) []byte {
	var all bytes.Buffer
	for _, choice := range choices {
		all.Write(choice[:])
	}
	return table.NotNull(all.Bytes())
}
