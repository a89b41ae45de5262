// The commands that read what an instance has kept: chats and messages.

package cli

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/cli/remote"
	"github.com/recado-project/recado/internal/cli/target"
	"github.com/recado-project/recado/internal/cli/terminal"
)

// chatsCommand works on the chats of an instance.
type chatsCommand struct {
	List listChatsCommand `cmd:"" help:"List chats, the one with the newest message first."`
	Show showChatCommand  `cmd:"" help:"Show a chat."`
	remote.ChatArrangement
}

type listChatsCommand struct {
	target.InstanceFlag
	Search   string `help:"Only chats with this in their name or number." env:"-"`
	Unread   bool   `help:"Only chats with messages that were not read." env:"-"`
	Archived *bool  `negatable:"" help:"Only chats that are archived, or that are not." env:"-"`
	Label    string `help:"Only chats with the label that has this ID." env:"-"`
	Limit    int    `help:"Show this many at most." default:"100" env:"-"`
}

// Run lists the chats.
func (c listChatsCommand) Run(ctx context.Context, t terminal.Terminal) error {
	if c.Limit < 1 {
		return terminal.WrongUsage("--limit must be 1 or more")
	}
	gateway, id, err := c.Open(ctx, t)
	if err != nil {
		return err
	}
	filter := client.ListChatsParams{Search: c.Search, Archived: c.Archived, Label: c.Label}
	if c.Unread {
		filter.Unread = &c.Unread
	}
	listed := []client.ListedChat{} // never null
	var rows [][]string
	for chat, err := range gateway.Chats(ctx, id, filter) {
		if err != nil {
			return err
		}
		listed = append(listed, chat)
		rows = append(rows, chatRow(chat))
		if len(listed) == c.Limit {
			break
		}
	}
	return t.Table(listed, []string{"CHAT", "NAME", "UNREAD", "LAST ACTIVITY", "LAST MESSAGE"}, rows)
}

func chatRow(chat client.ListedChat) []string {
	name, at, last := "", "", ""
	if chat.Name != nil {
		name = *chat.Name
	}
	if chat.LastActivityAt != nil {
		at = chat.LastActivityAt.Local().Format(time.DateTime)
	}
	if chat.LastMessage != nil {
		last = summary(*chat.LastMessage)
	}
	return []string{chat.Chat, name, strconv.FormatInt(chat.UnreadCount, 10), at, last}
}

// summaryLength is how many characters of a message stand in a table.
const summaryLength = 60

// summary is a message on one line.
func summary(message client.StoredMessage) string {
	text := "[" + message.Type + "]"
	switch {
	case message.DeletedAt != nil:
		text = "[deleted]"
	case message.Text != nil:
		text = *message.Text
	case message.Caption != nil:
		text += " " + *message.Caption
	}
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > summaryLength {
		text = string(runes[:summaryLength-1]) + "…"
	}
	if message.FromMe {
		return "> " + text
	}
	return text
}

type showChatCommand struct {
	target.InstanceFlag
	Chat string `arg:"" help:"Phone number with country code, or chat ID."`
}

// Run shows the chat.
func (c showChatCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err != nil {
		return err
	}
	chat, err := gateway.GetChat(ctx, id, c.Chat)
	if err != nil {
		return err
	}
	return t.Table(chat, []string{"CHAT", "NAME", "UNREAD", "LAST ACTIVITY", "LAST MESSAGE"}, [][]string{chatRow(chat)})
}

type listMessagesCommand struct {
	target.InstanceFlag
	Chat        string   `arg:"" help:"The chat: phone number with country code, or chat ID."`
	Search      string   `help:"Only messages that have all of these words." env:"-"`
	Before      string   `help:"Only messages before this one, or before this time (2026-11-20T14:22:10Z)." env:"-"`
	After       string   `help:"Only messages after this one, or after this time." env:"-"`
	Types       []string `help:"Only messages of these types, such as image." env:"-"`
	Starred     *bool    `help:"Only messages that are starred; --no-starred: only the others." negatable:"" env:"-"`
	OldestFirst bool     `help:"List the oldest first." env:"-"`
	Limit       int      `help:"Show this many at most, 100 or less." default:"20" env:"-"`
}

// Run lists messages.
func (c listMessagesCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err != nil {
		return err
	}
	order := client.OrderDesc
	if c.OldestFirst {
		order = client.OrderAsc
	}
	page, err := gateway.ListChatMessages(ctx, id, c.Chat, client.ListChatMessagesParams{
		Before: c.Before, After: c.After, Types: strings.Join(c.Types, ","), Search: c.Search, Starred: c.Starred, Order: order,
	}, 1, c.Limit)
	if err != nil {
		return err
	}
	rows := make([][]string, 0, len(page.Data))
	for _, message := range page.Data {
		rows = append(rows, messageRow(message))
	}
	return t.Table(page.Data, messageHead(), rows)
}

func messageHead() []string { return []string{"MESSAGE", "TIME", "FROM", "STATUS", "CONTENT"} }

func messageRow(message client.StoredMessage) []string {
	from := ""
	if p := message.From; p != nil {
		for _, known := range []*string{p.Name, p.JID, p.LID} {
			if known != nil {
				from = *known
				break
			}
		}
	}
	return []string{message.MessageID, message.Timestamp.Local().Format(time.DateTime), from, message.Status, summary(message)}
}

type showMessageCommand struct{ messageFlags }

// Run shows a message.
func (c showMessageCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err != nil {
		return err
	}
	message, err := gateway.GetMessage(ctx, id, c.MessageID)
	if err != nil {
		return err
	}
	return t.Table(message, messageHead(), [][]string{messageRow(message)})
}
