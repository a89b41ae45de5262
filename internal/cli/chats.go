// Chats, and how they are arranged.

package cli

import (
	"context"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/cli/remote"
	"github.com/recado-project/recado/internal/cli/terminal"
)

// chatsCommand works on the chats of an instance.
type chatsCommand struct {
	List   listChatsCommand  `cmd:"" help:"List chats, the one with the newest message first."`
	Show   showChatCommand   `cmd:"" help:"Show a chat."`
	Set    setChatCommand    `cmd:"" help:"Archive, pin or mute a chat, or mark it as read or unread."`
	Older  olderCommand      `cmd:"" help:"Ask the phone for older messages of a chat."`
	Delete deleteChatCommand `cmd:"" help:"Delete a chat, with its messages."`
}

// chatFlags name the chat.
type chatFlags struct {
	remote.InstanceFlag
	Chat string `arg:"" help:"Phone number with country code, or chat ID."`
}

type listChatsCommand struct {
	remote.InstanceFlag
	Search   string `help:"Only chats with this in their name or number." env:"-"`
	Unread   bool   `help:"Only chats with messages that were not read." env:"-"`
	Archived *bool  `negatable:"" help:"Only chats that are archived, or that are not." env:"-"`
	Label    string `help:"Only chats with the label that has this ID." env:"-"`
	limitFlag
}

// Run lists the chats.
func (c listChatsCommand) Run(ctx context.Context, t terminal.Terminal, on remote.Instance) error {
	filter := client.ListChatsParams{Search: c.Search, Archived: c.Archived, Label: c.Label}
	if c.Unread {
		filter.Unread = &c.Unread
	}
	return terminal.List(t, first(c.Limit, on.Gateway.Chats(ctx, on.ID, filter)), chatHead(), chatRow)
}

// limitFlag bounds a list.
type limitFlag struct {
	Limit int `help:"Show this many at most." default:"100" env:"-"`
}

// AfterApply refuses a list that shows nothing.
func (f limitFlag) AfterApply() error {
	if f.Limit < 1 {
		return terminal.WrongUsage("--limit must be 1 or more")
	}
	return nil
}

// first ends items after a number of them.
func first[T any](most int, items iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		n := 0
		for item, err := range items {
			n++
			if !yield(item, err) || n == most {
				return
			}
		}
	}
}

func chatHead() []string { return []string{"CHAT", "NAME", "UNREAD", "LAST ACTIVITY", "LAST MESSAGE"} }

func chatRow(chat client.ListedChat) []string {
	at, last := "", ""
	if chat.LastActivityAt != nil {
		at = terminal.Moment(*chat.LastActivityAt)
	}
	if chat.LastMessage != nil {
		last = summary(*chat.LastMessage)
	}
	return []string{chat.Chat, terminal.OrNone(chat.Name), strconv.FormatInt(chat.UnreadCount, 10), at, last}
}

type showChatCommand struct{ chatFlags }

// Run shows the chat.
func (c showChatCommand) Run(ctx context.Context, t terminal.Terminal, on remote.Instance) error {
	chat, err := on.Gateway.GetChat(ctx, on.ID, c.Chat)
	return t.Unless(err).Table(chat, chatHead(), [][]string{chatRow(chat)})
}

type setChatCommand struct {
	chatFlags
	Archived     *bool  `negatable:"" help:"Archive the chat, or no longer." env:"-"`
	Pinned       *bool  `negatable:"" help:"Pin the chat, or no longer." env:"-"`
	Read         *bool  `negatable:"" help:"Mark the chat as read, or as unread." env:"-"`
	Mute         string `help:"Mute the chat: for a time (8h), until a time (2026-12-24T18:00:00Z), forever, or off." env:"-"`
	Disappearing *int64 `help:"Seconds after which new messages disappear: 0 (never), 86400, 604800 or 7776000." env:"-"`
}

// Run arranges the chat.
func (c setChatCommand) Run(ctx context.Context, t terminal.Terminal, on remote.Instance) error {
	chat, err := on.Gateway.ChangeChat(ctx, on.ID, c.Chat, client.ChatChange{
		Archived: c.Archived, Pinned: c.Pinned, Read: c.Read, MutedUntil: mutedUntil(c.Mute, t.Now()), DisappearingSeconds: c.Disappearing,
	})
	return t.Unless(err).Table(chat, []string{"CHAT", "STATE"}, [][]string{{chat.Chat, state(chat)}})
}

// mutedUntil is the end of a mute in a request.
func mutedUntil(asked string, now time.Time) client.Nullable[string] {
	switch asked {
	case "":
		return client.Nullable[string]{}
	case "off":
		return client.Null[string]()
	}
	if length, err := time.ParseDuration(asked); err == nil {
		return client.Set(now.Add(length).UTC().Format(time.RFC3339))
	}
	return client.Set(asked)
}

// state says in words how a chat is arranged.
func state(chat client.ListedChat) string {
	var words []string
	for word, applies := range map[string]bool{"archived": chat.Archived, "pinned": chat.Pinned, "marked as unread": chat.MarkedUnread} {
		if applies {
			words = append(words, word)
		}
	}
	slices.Sort(words)
	if chat.MutedUntil != nil {
		words = append(words, "muted until "+*chat.MutedUntil)
	}
	if chat.DisappearingSeconds > 0 {
		words = append(words, "messages disappear after "+(time.Duration(chat.DisappearingSeconds)*time.Second).String())
	}
	return strings.Join(words, ", ")
}

type olderCommand struct {
	chatFlags
	Count int64 `help:"How many messages; 50 at most." default:"50" env:"-"`
}

// Run asks for older messages.
func (c olderCommand) Run(ctx context.Context, t terminal.Terminal, on remote.Instance) error {
	asked, err := on.Gateway.RequestHistory(ctx, on.ID, c.Chat, client.RequestHistory{Count: c.Count})
	return t.Unless(err).Done(
		map[string]any{"requestId": asked.RequestID, "chat": asked.Chat, "before": asked.Before, "count": asked.Count},
		"asked the phone for %d messages before %s; the event chat.history says what came", asked.Count, asked.Before)
}

type deleteChatCommand struct{ chatFlags }

// Run deletes the chat.
func (c deleteChatCommand) Run(ctx context.Context, t terminal.Terminal, on remote.Instance) error {
	return t.Did("deleted", "chat", c.Chat, on.Gateway.DeleteChat(ctx, on.ID, c.Chat))
}
