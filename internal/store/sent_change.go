// The table of changes that this account has sent.

package store

import (
	"context"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/store/chattable"
	"github.com/recado-project/recado/internal/store/table"
)

//nolint:gochecknoglobals // a table that never changes
var sentChangeColumns = table.Of(
	table.Text("instance_id", func(c *gateway.SentChange) *string { return &c.InstanceID }),
	table.Text("platform_id", func(c *gateway.SentChange) *string { return &c.PlatformID }),
	table.Text("message_id", func(c *gateway.SentChange) *string { return &c.MessageID }),
	table.Number("kind", func(c *gateway.SentChange) *gateway.ChangeKind { return &c.Kind }),
	table.Text("by_jid", func(c *gateway.SentChange) *gateway.JID { return &c.By.JID }),
	table.Text("by_lid", func(c *gateway.SentChange) *gateway.JID { return &c.By.LID }),
	table.Text("by_name", func(c *gateway.SentChange) *string { return &c.By.Name }),
	table.Text("text", func(c *gateway.SentChange) *string { return &c.Text }),
	table.Bytes("payload", func(c *gateway.SentChange) *[]byte { return &c.Payload }),
	table.Moment("at", func(c *gateway.SentChange) *time.Time { return &c.At }),
	table.Flag("settled", func(c *gateway.SentChange) *bool { return &c.Confirmed }),
)

const (
	findSentChange = "FROM sent_changes WHERE instance_id = $1 AND platform_id = $2"
	messageByID    = "FROM messages WHERE id = $1"
)

// AcceptChange adds a change that is about to be sent to the platform, or that this
// account's phone has sent. A change that exists already stays as it is. It returns a
// gateway.NotFound if the instance is gone.
func (s *Store) AcceptChange(ctx context.Context, change gateway.SentChange) error {
	_, err := s.db.ExecOf(ctx, change.InstanceID, sentChangeColumns.Insert("sent_changes")+" ON CONFLICT DO NOTHING", sentChangeColumns.Values(&change)...)
	return ofInstance(markUnstorable(err), "accept change")
}

// FindChange returns the change with the platform's identifier, and whether there is one.
func (s *Store) FindChange(ctx context.Context, instanceID, platformID string) (_ gateway.SentChange, found bool, err error) {
	change, found, err := sentChangeColumns.Find(ctx, s.db.Reader(), findSentChange, instanceID, platformID)
	err = markUnstorable(err)
	table.Wrap(&err, "find change")
	return change, found, err
}

// ConfirmChange marks the change with the platform's identifier as confirmed, writes the
// message that confirm returns and the reaction, if it is one, and appends its events. It reports whether there is such
// a change. A change that is confirmed already stays as it is. An error of confirm is
// returned as it is, and nothing is written. confirm may run again.
func (s *Store) ConfirmChange(
	ctx context.Context, instanceID, platformID string,
	confirm func(change gateway.SentChange, message gateway.Message) (gateway.Message, []eventlog.Event, error),
) (known bool, err error) {
	refused, err := s.db.recordOr(ctx, instanceID, func(ctx context.Context, r *recorder) (refused, err error) {
		var change gateway.SentChange
		if change, known, err = sentChangeColumns.Find(ctx, r, findSentChange, instanceID, platformID); err != nil || !known || change.Confirmed {
			return nil, err
		}
		before, found, err := chattable.MessageColumns.Find(ctx, r, messageByID, change.MessageID)
		if err != nil || !found {
			return nil, err
		}
		after, events, refused := confirm(change, before)
		if refused != nil {
			return refused, nil
		}
		if _, err := r.ExecContext(ctx, "UPDATE sent_changes SET settled = TRUE WHERE instance_id = $1 AND platform_id = $2", instanceID, platformID); err != nil {
			return nil, err
		}
		r.recent.Touched(before.PlatformID)
		if err := writeMessage(ctx, r, before, after); err != nil {
			return nil, err
		}
		if change.Kind == gateway.ChangeReaction {
			if err := keepReaction(ctx, r, gateway.StoredReaction{MessageID: before.ID, By: change.By, Reaction: change.Text, At: change.At}); err != nil {
				return nil, err
			}
		}
		return nil, r.Append(ctx, events...)
	})
	table.Wrap(&err, "confirm change")
	if err != nil {
		return false, err
	}
	return known, refused
}

// DropChange removes a change that the platform has refused. A confirmed change stays,
// because the platform has it after all.
func (s *Store) DropChange(ctx context.Context, instanceID, platformID string) (err error) {
	defer table.Wrap(&err, "drop change")
	_, err = s.db.ExecOf(ctx, instanceID, "DELETE FROM sent_changes WHERE instance_id = $1 AND platform_id = $2 AND NOT settled",
		instanceID, platformID)
	return err
}

// DeleteChanges removes the changes from before that time, confirmed or not, and
// returns how many there were. It uses several transactions, so those before an error
// remain done.
func (s *Store) DeleteChanges(ctx context.Context, before time.Time) (_ int64, err error) {
	defer table.Wrap(&err, "delete changes")
	return s.deleteInSlices(ctx, `DELETE FROM sent_changes WHERE (instance_id, platform_id) IN
		(SELECT instance_id, platform_id FROM sent_changes WHERE at < $1 ORDER BY at LIMIT $2 + 0)`, table.Millis(before))
}
