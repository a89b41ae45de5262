// The table of reactions to messages: one row for each person who has reacted.

package store

import (
	"context"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/store/table"
)

//nolint:gochecknoglobals // a table, and a statement that is made of it
var (
	reactionColumns = table.Of(
		table.Text("message_id", func(r *gateway.StoredReaction) *string { return &r.MessageID }),
		table.Text("by_jid", func(r *gateway.StoredReaction) *gateway.JID { return &r.By.JID }),
		table.Text("by_lid", func(r *gateway.StoredReaction) *gateway.JID { return &r.By.LID }),
		table.Text("by_name", func(r *gateway.StoredReaction) *string { return &r.By.Name }),
		table.Text("reaction", func(r *gateway.StoredReaction) *string { return &r.Reaction }),
		table.Moment("reacted_at", func(r *gateway.StoredReaction) *time.Time { return &r.At }),
	)

	// The message may be gone, and a later reaction of the same person may be there.
	addReaction = reactionColumns.InsertIf("reactions", "EXISTS (SELECT 1 FROM messages WHERE id = "+reactionColumns.Parameter("message_id")+")"+
		" AND NOT EXISTS (SELECT 1 FROM reactions WHERE message_id = "+reactionColumns.Parameter("message_id")+" AND "+
		samePerson("by_", reactionColumns.Parameter("by_jid"), reactionColumns.Parameter("by_lid"))+")", "person")

	deleteReaction = "DELETE FROM reactions WHERE message_id = $1 AND " + samePerson("by_", "$2", "$3") + " AND reacted_at <= $4"
)

// samePerson is the condition that columns with a prefix hold somebody with these addresses. A person may be
// known by one address before the other is known.
func samePerson(prefix, jid, lid string) string {
	return "(" + prefix + "jid <> '' AND " + prefix + "jid = " + jid + " OR " + prefix + "lid <> '' AND " + prefix + "lid = " + lid + ")"
}

// KeepReaction replaces the person's reaction to a message, and appends the event of it. A reaction that is
// older than the stored one, or one to a message that is gone, changes nothing but has its event.
func (s *Store) KeepReaction(ctx context.Context, instanceID string, reaction gateway.StoredReaction, event eventlog.Event) (err error) {
	defer table.Wrap(&err, "keep reaction")
	return s.db.record(ctx, instanceID, func(ctx context.Context, r *recorder) error {
		if err := keepReaction(ctx, r, reaction); err != nil {
			return err
		}
		return r.Append(ctx, event)
	})
}

func keepReaction(ctx context.Context, r *recorder, reaction gateway.StoredReaction) error {
	by := reaction.By
	if _, err := r.ExecContext(ctx, deleteReaction, reaction.MessageID, string(by.JID), string(by.LID), table.Millis(reaction.At)); err != nil {
		return err
	}
	_, err := r.ExecContext(ctx, addReaction, reactionColumns.Values(&reaction, string(by.Key()))...)
	return err
}

// ListReactions returns the reactions to messages, given by their internal identifiers, in the order in which
// people gave them. Those that were taken back are left out.
func (s *Store) ListReactions(ctx context.Context, messageIDs []string) (_ []gateway.StoredReaction, err error) {
	defer table.Wrap(&err, "list reactions")
	return reactionColumns.Collect(ctx, s.db.Reader(), s.db.reactionsTo(), table.Texts(messageIDs))
}

func (d dialect) reactionsTo() string {
	return "FROM reactions WHERE message_id IN " + d.In(1) + " AND reaction <> '' ORDER BY reacted_at, person"
}
