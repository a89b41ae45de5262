// Package labeltable has the tables of labels: which there are, and which chats and messages
// have them.
package labeltable

import (
	"context"
	"fmt"
	"strconv"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/store/table"
)

// Database runs the statements of these tables.
type Database interface {
	table.Database

	// In is the set of texts in a parameter that holds a JSON array.
	In(parameter int) string
}

// Tables are the tables in one database. They are safe for concurrent use.
type Tables struct{ db Database }

// New makes the tables' access to a database that has them.
func New(db Database) *Tables { return &Tables{db} }

// maxLabelled bounds what labels are on, in an instance: somebody's phone may say anything.
const maxLabelled = 100_000

const (
	labelColumns = "id, name, color"

	findLabel = "SELECT " + labelColumns + " FROM labels WHERE instance_id = $1 AND id = $2"

	// The oldest client counts, so labels with numbers stand in the order of these.
	labelOrder = "length(id), id"

	addLabel = "INSERT INTO labels (instance_id, id, name, color) SELECT $1, $2, $3, $4" +
		" WHERE (SELECT count(*) FROM labels WHERE instance_id = $1) < $5"

	putLabel = "INSERT INTO labelled (instance_id, chat_id, platform_id, label_id) SELECT $1, $2, $3, $4" +
		" WHERE EXISTS (SELECT 1 FROM labels WHERE instance_id = $1 AND id = $4)" +
		" AND (SELECT count(*) FROM labelled WHERE instance_id = $1) < $5 ON CONFLICT DO NOTHING"

	takeLabel = "DELETE FROM labelled WHERE instance_id = $1 AND chat_id = $2 AND platform_id = $3 AND label_id = $4"
)

//nolint:gochecknoglobals // a function
var scanLabel = table.Into(func(l *gateway.Label) []any { return []any{&l.ID, &l.Name, &l.Color} })

// Change carries out a change of an instance's labels. chatID is the chat that it names. It
// returns the label as it is then, or as it was if it is gone, and whether anything is
// different: nothing is if the label is not known, or if there are too many.
func Change(ctx context.Context, q table.Querier, instanceID, chatID string, change gateway.LabelChange) (label gateway.Label, changed bool, err error) {
	label, known, err := table.Find(ctx, q, scanLabel, findLabel, instanceID, change.Label.ID)
	if err != nil {
		return label, false, err
	}
	var statement string
	args := []any{instanceID}
	switch {
	case change.Act == gateway.LabelSet && label == change.Label, change.Act != gateway.LabelSet && !known:
		return label, false, nil
	case change.Act == gateway.LabelSet && known:
		label = change.Label
		statement, args = "UPDATE labels SET name = $3, color = $4 WHERE instance_id = $1 AND id = $2", append(args, label.ID, label.Name, label.Color)
	case change.Act == gateway.LabelSet:
		label = change.Label
		statement, args = addLabel, append(args, label.ID, label.Name, label.Color, gateway.MaxLabels)
	case change.Act == gateway.LabelDeleted:
		statement, args = "DELETE FROM labels WHERE instance_id = $1 AND id = $2", append(args, label.ID)
	case change.Act == gateway.LabelPut:
		statement, args = putLabel, append(args, chatID, change.MessageID, label.ID, maxLabelled)
	default:
		statement, args = takeLabel, append(args, chatID, change.MessageID, label.ID)
	}
	result, err := q.ExecContext(ctx, statement, args...)
	if err != nil {
		return label, false, err
	}
	n, err := result.RowsAffected()
	return label, n > 0, err
}

// Move gives one chat the labels of another, which was the same person's all along.
func Move(ctx context.Context, q table.Querier, instanceID, from, to string) error {
	if _, err := q.ExecContext(ctx, "INSERT INTO labelled (instance_id, chat_id, platform_id, label_id)"+
		" SELECT instance_id, $1, platform_id, label_id FROM labelled WHERE instance_id = $2 AND chat_id = $3 ON CONFLICT DO NOTHING",
		to, instanceID, from); err != nil {
		return err
	}
	_, err := q.ExecContext(ctx, "DELETE FROM labelled WHERE instance_id = $1 AND chat_id = $2", instanceID, from)
	return err
}

// Leave takes all labels from messages that are about to be removed. set is a query for their
// internal identifiers, with its parameters.
func Leave(ctx context.Context, q table.Querier, set string, args ...any) error {
	_, err := q.ExecContext(ctx, "DELETE FROM labelled WHERE platform_id <> '' AND EXISTS (SELECT 1 FROM messages AS m WHERE m.id IN ("+set+")"+
		" AND m.instance_id = labelled.instance_id AND m.chat_id = labelled.chat_id AND m.platform_id = labelled.platform_id)", args...)
	return err
}

// ListLabels returns a page of the labels of an instance, in the order of their IDs.
func (t *Tables) ListLabels(ctx context.Context, instanceID string, request gateway.PageRequest) (page gateway.Page[gateway.Label], err error) {
	all, err := table.Collect(ctx, t.db.Reader(), scanLabel, "SELECT "+labelColumns+" FROM labels WHERE instance_id = $1 ORDER BY "+labelOrder, instanceID)
	if err != nil {
		return page, fmt.Errorf("store: list labels: %w", err)
	}
	return gateway.PageOf(all, request), nil
}

// FindLabel returns a label of an instance, and whether there is one with the ID.
func (t *Tables) FindLabel(ctx context.Context, instanceID, id string) (_ gateway.Label, found bool, err error) {
	defer table.Wrap(&err, "find a label")
	return table.Find(ctx, t.db.Reader(), scanLabel, findLabel, instanceID, id)
}

// FreeLabelID returns an ID that no label of the instance has: a number above those that are
// taken, as phones choose them. The first five are those that phones begin with.
func (t *Tables) FreeLabelID(ctx context.Context, instanceID string) (string, error) {
	taken, err := table.Collect(ctx, t.db.Reader(), table.Value[string], "SELECT id FROM labels WHERE instance_id = $1", instanceID)
	if err != nil {
		return "", fmt.Errorf("store: choose the ID of a label: %w", err)
	}
	highest := 5
	for _, id := range taken {
		if n, err := strconv.Atoi(id); err == nil && n < 1<<31 {
			highest = max(highest, n)
		}
	}
	return strconv.Itoa(highest + 1), nil
}

func (t *Tables) labels(ctx context.Context, query, instanceID string, ids []string) (labels map[string][]string, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	defer table.Wrap(&err, "labels")
	labels = map[string][]string{}
	err = table.Each(ctx, t.db.Reader(), func(row table.Scanner) error {
		var of, label string
		err := row.Scan(&of, &label)
		labels[of] = append(labels[of], label)
		return err
	}, query+t.db.In(2)+" ORDER BY length(l.label_id), l.label_id", instanceID, table.Texts(ids))
	return labels, err
}

// LabelsOfChats returns the IDs of the labels of chats, by the internal identifiers of these.
func (t *Tables) LabelsOfChats(ctx context.Context, instanceID string, chatIDs []string) (map[string][]string, error) {
	return t.labels(ctx, "SELECT l.chat_id, l.label_id FROM labelled AS l WHERE l.instance_id = $1 AND l.platform_id = '' AND l.chat_id IN ", instanceID, chatIDs)
}

// LabelsOfMessages returns the IDs of the labels of messages, by the internal identifiers of
// these.
func (t *Tables) LabelsOfMessages(ctx context.Context, instanceID string, messageIDs []string) (map[string][]string, error) {
	return t.labels(ctx, "SELECT m.id, l.label_id FROM messages AS m JOIN labelled AS l ON l.instance_id = $1 AND l.chat_id = m.chat_id"+
		" AND l.platform_id = m.platform_id AND l.platform_id <> '' WHERE m.instance_id || '' = $1 AND m.id IN ", instanceID, messageIDs)
}
