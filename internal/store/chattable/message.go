// Rows of the table of messages.

package chattable

import (
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/store/table"
)

// ReadColumns are the columns that ScanMessage reads. What is only known of messages that are
// stored is not among MessageColumns.
const ReadColumns = MessageColumns + ", pinned_until, starred"

// MessageColumns are the columns that MessageValues has values for.
const MessageColumns = "id, instance_id, platform_id, chat_jid, chat_lid, chat_name, sender_jid, sender_lid, sender_name, " +
	"from_me, source, type, text, quoted_id, status, status_at, sent_at, payload, wire_key, created_at, edited_at, deleted_at"

// AsRead returns a message as it will be read again.
func AsRead(message gateway.Message) gateway.Message {
	message.Details, message.Payload = gateway.Details{}, table.OrNil(message.Payload)
	for _, at := range []*time.Time{&message.StatusAt, &message.SentAt, &message.CreatedAt, &message.EditedAt, &message.DeletedAt, &message.PinnedUntil} {
		*at = table.Time(table.Millis(*at))
	}
	return message
}

// MessageValues are the values of a message in the order of MessageColumns.
func MessageValues(message gateway.Message) []any {
	var wireKey any
	if message.WireKey != "" {
		wireKey = message.WireKey
	}
	return []any{
		message.ID, message.InstanceID, message.PlatformID,
		string(message.Chat.JID), string(message.Chat.LID), message.Chat.Name,
		string(message.Sender.JID), string(message.Sender.LID), message.Sender.Name,
		message.FromMe, string(message.Source), string(message.Type), message.Text, message.QuotedID,
		int64(message.Status), table.Millis(message.StatusAt), table.Millis(message.SentAt), table.NotNull(message.Payload), wireKey,
		table.Millis(message.CreatedAt), table.Millis(message.EditedAt), table.Millis(message.DeletedAt),
	}
}

// ScanMessage reads a row of ReadColumns.
func ScanMessage(row table.Scanner) (gateway.Message, error) {
	var message gateway.Message
	var wireKey *string
	var statusAt, sentAt, createdAt, editedAt, deletedAt, pinnedUntil int64
	err := row.Scan(&message.ID, &message.InstanceID, &message.PlatformID,
		&message.Chat.JID, &message.Chat.LID, &message.Chat.Name,
		&message.Sender.JID, &message.Sender.LID, &message.Sender.Name,
		&message.FromMe, &message.Source, &message.Type, &message.Text, &message.QuotedID,
		&message.Status, &statusAt, &sentAt, &message.Payload, &wireKey, &createdAt, &editedAt, &deletedAt, &pinnedUntil, &message.Starred)
	if wireKey != nil {
		message.WireKey = *wireKey
	}
	message.Payload = table.OrNil(message.Payload)
	message.StatusAt, message.SentAt, message.CreatedAt = table.Time(statusAt), table.Time(sentAt), table.Time(createdAt)
	message.EditedAt, message.DeletedAt, message.PinnedUntil = table.Time(editedAt), table.Time(deletedAt), table.Time(pinnedUntil)
	return message, err
}
