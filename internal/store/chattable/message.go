// Rows of the table of messages.

package chattable

import (
	"encoding/json"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/store/table"
)

//nolint:gochecknoglobals // tables that never change
var (
	// MessageColumns are the columns of a message that is read.
	MessageColumns = table.Of(
		table.Text("id", func(m *gateway.Message) *string { return &m.ID }),
		table.Text("instance_id", func(m *gateway.Message) *string { return &m.InstanceID }),
		table.Text("platform_id", func(m *gateway.Message) *string { return &m.PlatformID }),
		table.Text("chat_jid", func(m *gateway.Message) *gateway.JID { return &m.Chat.JID }),
		table.Text("chat_lid", func(m *gateway.Message) *gateway.JID { return &m.Chat.LID }),
		table.Text("chat_name", func(m *gateway.Message) *string { return &m.Chat.Name }),
		table.Text("sender_jid", func(m *gateway.Message) *gateway.JID { return &m.Sender.JID }),
		table.Text("sender_lid", func(m *gateway.Message) *gateway.JID { return &m.Sender.LID }),
		table.Text("sender_name", func(m *gateway.Message) *string { return &m.Sender.Name }),
		table.Flag("from_me", func(m *gateway.Message) *bool { return &m.FromMe }),
		table.Text("source", func(m *gateway.Message) *gateway.Source { return &m.Source }),
		table.Text("type", func(m *gateway.Message) *gateway.MessageType { return &m.Type }),
		table.Text("text", func(m *gateway.Message) *string { return &m.Text }),
		table.Text("quoted_id", func(m *gateway.Message) *string { return &m.QuotedID }),
		table.Number("status", func(m *gateway.Message) *gateway.MessageStatus { return &m.Status }),
		table.Moment("status_at", func(m *gateway.Message) *time.Time { return &m.StatusAt }),
		table.Moment("sent_at", func(m *gateway.Message) *time.Time { return &m.SentAt }),
		table.Bytes("payload", func(m *gateway.Message) *[]byte { return &m.Payload }),
		table.TextOrNull("wire_key", func(m *gateway.Message) *string { return &m.WireKey }),
		table.Moment("created_at", func(m *gateway.Message) *time.Time { return &m.CreatedAt }),
		table.Moment("edited_at", func(m *gateway.Message) *time.Time { return &m.EditedAt }),
		table.Moment("deleted_at", func(m *gateway.Message) *time.Time { return &m.DeletedAt }),
		table.Moment("pinned_until", func(m *gateway.Message) *time.Time { return &m.PinnedUntil }),
		table.Custom("menu", func(m *gateway.Message) any { return MenuText(m.Menu) }, func(m *gateway.Message) any { return (*MenuColumn)(&m.Menu) }),
		table.TextOrNull("client_data", func(m *gateway.Message) *string { return &m.ClientData }),
		table.Flag("starred", func(m *gateway.Message) *bool { return &m.Starred }),
	)

	// AddedColumns are those of a message that is added: the others are only known later.
	AddedColumns = MessageColumns.Without("pinned_until", "starred")
)

// AsRead returns a message as it will be read again.
func AsRead(message gateway.Message) gateway.Message {
	message.Details, message.Payload = gateway.Details{}, table.OrNil(message.Payload)
	for _, at := range []*time.Time{&message.StatusAt, &message.SentAt, &message.CreatedAt, &message.EditedAt, &message.DeletedAt, &message.PinnedUntil} {
		*at = table.Time(table.Millis(*at))
	}
	return message
}

// MenuText is a menu as its column has it; empty for none.
func MenuText(menu gateway.Menu) string {
	if !menu.Exists() {
		return ""
	}
	text, err := json.Marshal(menu)
	if err != nil {
		panic(err) // texts alone
	}
	return string(text)
}

// MenuColumn reads the column of a menu.
type MenuColumn gateway.Menu

// Scan reads it.
func (m *MenuColumn) Scan(source any) error {
	text, err := table.Stored(source)
	*m = MenuColumn{}
	if err != nil || len(text) == 0 {
		return err
	}
	return json.Unmarshal(text, m)
}
