// How chats and messages are arranged.

package remote

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/cli/target"
	"github.com/recado-project/recado/internal/cli/terminal"
)

// ChatArrangement are the commands that arrange a chat.
type ChatArrangement struct {
	Set    setChatCommand    `cmd:"" help:"Archive, pin or mute a chat, or mark it as read or unread."`
	Older  olderCommand      `cmd:"" help:"Ask the phone for older messages of a chat."`
	Delete deleteChatCommand `cmd:"" help:"Delete a chat, with its messages."`
}

type setChatCommand struct {
	target.InstanceFlag
	Chat         string `arg:"" help:"Phone number with country code, or chat ID."`
	Archived     *bool  `negatable:"" help:"Archive the chat, or no longer." env:"-"`
	Pinned       *bool  `negatable:"" help:"Pin the chat, or no longer." env:"-"`
	Read         *bool  `negatable:"" help:"Mark the chat as read, or as unread." env:"-"`
	Mute         string `help:"Mute the chat: for a time (8h), until a time (2026-12-24T18:00:00Z), forever, or off." env:"-"`
	Disappearing *int64 `help:"Seconds after which new messages disappear: 0 (never), 86400, 604800 or 7776000." env:"-"`
}

// Run arranges the chat.
func (c setChatCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err != nil {
		return err
	}
	chat, err := gateway.ChangeChat(ctx, id, c.Chat, client.ChatChange{
		Archived: c.Archived, Pinned: c.Pinned, Read: c.Read, MutedUntil: mutedUntil(c.Mute, t.Now()), DisappearingSeconds: c.Disappearing,
	})
	if err != nil {
		return err
	}
	return t.Table(chat, []string{"CHAT", "STATE"}, [][]string{{chat.Chat, state(chat)}})
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
	for word, holds := range map[string]bool{"archived": chat.Archived, "pinned": chat.Pinned, "marked as unread": chat.MarkedUnread} {
		if holds {
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
	target.InstanceFlag
	Chat  string `arg:"" help:"Phone number with country code, or chat ID."`
	Count int64  `help:"How many messages; 50 at most." default:"50" env:"-"`
}

// Run asks for older messages.
func (c olderCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err != nil {
		return err
	}
	asked, err := gateway.RequestHistory(ctx, id, c.Chat, client.RequestHistory{Count: c.Count})
	if err != nil {
		return err
	}
	return t.Done(map[string]any{"requestId": asked.RequestID, "chat": asked.Chat, "before": asked.Before, "count": asked.Count},
		"asked the phone for %d messages before %s; the event chat.history says what came", asked.Count, asked.Before)
}

type deleteChatCommand struct {
	target.InstanceFlag
	Chat string `arg:"" help:"Phone number with country code, or chat ID."`
}

// Run deletes the chat.
func (c deleteChatCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err != nil {
		return err
	}
	if err := gateway.DeleteChat(ctx, id, c.Chat); err != nil {
		return err
	}
	return t.Done(map[string]any{"chat": c.Chat, "done": "deleted"}, "deleted %s", c.Chat)
}
