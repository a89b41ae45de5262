package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/cli/remote"
	"github.com/recado-project/recado/internal/cli/terminal"
)

// messagesCommand works on a message that was sent or received.
type messagesCommand struct {
	List     listMessagesCommand `cmd:"" help:"List messages of a chat or of all chats, or search them."`
	Show     showMessageCommand  `cmd:"" help:"Show a message."`
	Edit     editCommand         `cmd:"" help:"Replace the text of a text message that the instance sent."`
	Delete   deleteCommand       `cmd:"" help:"Delete a message: of the instance for everyone, or any for the account alone."`
	Read     readCommand         `cmd:"" help:"Mark a message as read; its sender sees that."`
	Forward  forwardCommand      `cmd:"" help:"Forward a message to somebody else."`
	React    reactCommand        `cmd:"" help:"React to a message with an emoji."`
	Pin      pinCommand          `cmd:"" help:"Pin a message for everybody in its chat."`
	Unpin    unpinCommand        `cmd:"" help:"Unpin a message for everybody in its chat."`
	Star     starCommand         `cmd:"" help:"Star a message, on the devices of the account."`
	Unstar   unstarCommand       `cmd:"" help:"Take the star of a message away."`
	Cancel   cancelCommand       `cmd:"" help:"Cancel a calendar event that the instance sent."`
	Votes    votesCommand        `cmd:"" help:"Show how a poll stands."`
	Download downloadCommand     `cmd:"" help:"Save the file of a message."`
}

// messageFlags name the message.
type messageFlags struct {
	remote.InstanceFlag
	MessageID string `arg:"" name:"message-id" help:"The messageId, as printed by send and in events."`
}

// did prints what was done to the message, unless it failed.
func (f messageFlags) did(t terminal.Terminal, what string, err error) error {
	return t.Did(what, "messageId", f.MessageID, err)
}

type listMessagesCommand struct {
	remote.InstanceFlag
	Chat        string   `arg:"" optional:"" help:"The chat: phone number with country code, or chat ID. All chats if left out."`
	Search      string   `help:"Only messages that have all of these words." env:"-"`
	Before      string   `help:"Only messages before this one, or before this time (2026-11-20T14:22:10Z)." env:"-"`
	After       string   `help:"Only messages after this one, or after this time." env:"-"`
	Types       []string `help:"Only messages of these types, such as image." env:"-"`
	Starred     *bool    `help:"Only messages that are starred; --no-starred: only the others." negatable:"" env:"-"`
	OldestFirst bool     `help:"List the oldest first." env:"-"`
	Limit       int      `help:"Show this many at most, 100 or less." default:"20" env:"-"`
}

// Run lists messages.
func (c listMessagesCommand) Run(ctx context.Context, t terminal.Terminal, on remote.Instance) error {
	order := client.OrderDesc
	if c.OldestFirst {
		order = client.OrderAsc
	}
	filter := client.ListMessagesParams{
		Before: c.Before, After: c.After, Types: strings.Join(c.Types, ","), Search: c.Search, Starred: c.Starred, Order: order,
	}
	if c.Chat != "" {
		page, err := on.Gateway.ListChatMessages(ctx, on.ID, c.Chat, client.ListChatMessagesParams(filter), 1, c.Limit)
		return terminal.Rows(t.Unless(err), page.Data, messageHead(), messageRow)
	}
	page, err := on.Gateway.ListMessages(ctx, on.ID, filter, 1, c.Limit)
	return terminal.Rows(t.Unless(err), page.Data, append(messageHead(), "CHAT"), func(message client.StoredMessage) []string {
		return append(messageRow(message), message.Chat.Chat)
	})
}

func messageHead() []string { return []string{"MESSAGE", "TIME", "FROM", "STATUS", "CONTENT"} }

func messageRow(message client.StoredMessage) []string {
	from := ""
	if message.From != nil {
		from = nameOf(*message.From)
	}
	return []string{message.MessageID, terminal.Moment(message.Timestamp), from, message.Status, summary(message)}
}

// nameOf is what people call somebody: the name, or else an address.
func nameOf(person client.Person) string {
	return cmp.Or(terminal.OrNone(person.Name), terminal.OrNone(person.JID), terminal.OrNone(person.LID))
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

type showMessageCommand struct{ messageFlags }

// Run shows a message.
func (c showMessageCommand) Run(ctx context.Context, t terminal.Terminal, on remote.Instance) error {
	message, err := on.Gateway.GetMessage(ctx, on.ID, c.MessageID)
	return t.Unless(err).Table(message, messageHead(), [][]string{messageRow(message)})
}

type editCommand struct {
	messageFlags
	Message []string `arg:"" optional:"" help:"The new text, in quotes; - reads it from standard input."`
}

// Run edits the message.
func (c editCommand) Run(ctx context.Context, t terminal.Terminal) error {
	message, err := oneText(t, c.Message)
	if err != nil {
		return err
	}
	on, err := c.ProvideInstance(ctx, t)
	if err != nil {
		return err
	}
	_, err = on.Gateway.EditMessage(ctx, on.ID, client.EditMessage{MessageID: c.MessageID, Message: message})
	return c.did(t, "edited", err)
}

type deleteCommand struct {
	messageFlags
	ForMe bool `help:"Delete it from the account's own devices and the gateway alone; it may be anybody's." env:"-"`
}

// Run deletes the message.
func (c deleteCommand) Run(ctx context.Context, t terminal.Terminal, on remote.Instance) error {
	if c.ForMe {
		return c.did(t, "deleted", on.Gateway.DeleteMessageForMe(ctx, on.ID, c.MessageID))
	}
	return c.did(t, "deleted", on.Gateway.DeleteMessage(ctx, on.ID, client.DeleteMessage{MessageID: c.MessageID}))
}

type readCommand struct{ messageFlags }

// Run marks the message as read.
func (c readCommand) Run(ctx context.Context, t terminal.Terminal, on remote.Instance) error {
	_, err := on.Gateway.MarkRead(ctx, on.ID, client.MarkRead{MessageID: c.MessageID})
	return c.did(t, "read", err)
}

type forwardCommand struct {
	sendFlags
	MessageID string `arg:"" name:"message-id" help:"The messageId, as printed by send and in events."`
}

// Run forwards the message.
func (c forwardCommand) Run(ctx context.Context, t terminal.Terminal, on remote.Instance) error {
	sent, err := on.Gateway.ForwardMessage(ctx, on.ID, client.Forward{
		To: c.To, MessageID: c.MessageID,
		SendAt: c.At, IdempotencyKey: c.IdempotencyKey, Prefer: prefer(c.Later),
	})
	return printSent(t, sent, err)
}

type reactCommand struct {
	messageFlags
	Emoji string `arg:"" optional:"" help:"The emoji; without it, the reaction is removed."`
}

// Run reacts to the message.
func (c reactCommand) Run(ctx context.Context, t terminal.Terminal, on remote.Instance) error {
	err := on.Gateway.SendReaction(ctx, on.ID, client.Reaction{MessageID: c.MessageID, Reaction: c.Emoji})
	return c.did(t, map[bool]string{true: "reacted to", false: "removed the reaction from"}[c.Emoji != ""], err)
}

type pinCommand struct {
	messageFlags
	For string `help:"For how long: 24h, 7d or 30d." enum:"24h,7d,30d" default:"7d" env:"-"`
}

// Run pins the message.
func (c pinCommand) Run(ctx context.Context, t terminal.Terminal, on remote.Instance) error {
	lasts := map[string]time.Duration{"24h": 24 * time.Hour, "7d": 7 * 24 * time.Hour, "30d": 30 * 24 * time.Hour}[c.For]
	err := on.Gateway.PinMessage(ctx, on.ID, c.MessageID, client.Pin{DurationSeconds: int64(lasts / time.Second)})
	return c.did(t, "pinned", err)
}

type unpinCommand struct{ messageFlags }

// Run unpins the message.
func (c unpinCommand) Run(ctx context.Context, t terminal.Terminal, on remote.Instance) error {
	return c.did(t, "unpinned", on.Gateway.UnpinMessage(ctx, on.ID, c.MessageID))
}

type starCommand struct{ messageFlags }

// Run stars the message.
func (c starCommand) Run(ctx context.Context, t terminal.Terminal, on remote.Instance) error {
	return c.did(t, "starred", on.Gateway.StarMessage(ctx, on.ID, c.MessageID))
}

type unstarCommand struct{ messageFlags }

// Run takes the star away.
func (c unstarCommand) Run(ctx context.Context, t terminal.Terminal, on remote.Instance) error {
	return c.did(t, "unstarred", on.Gateway.UnstarMessage(ctx, on.ID, c.MessageID))
}

type votesCommand struct{ messageFlags }

// Run shows each option with its votes.
func (c votesCommand) Run(ctx context.Context, t terminal.Terminal, on remote.Instance) error {
	votes, err := on.Gateway.GetVotes(ctx, on.ID, c.MessageID)
	if err != nil || t.JSON {
		return t.Unless(err).Print(votes, "")
	}
	return terminal.Rows(t, votes.Options, []string{"OPTION", "VOTES", "WHO"}, func(option client.OptionVotes) []string {
		names := make([]string, len(option.Voters))
		for i, voter := range option.Voters {
			names[i] = cmp.Or(nameOf(voter), "?")
		}
		return []string{option.Option, strconv.FormatInt(option.Votes, 10), strings.Join(names, ", ")}
	})
}

type downloadCommand struct {
	messageFlags
	Output string `help:"File to write, - for standard output. Without it: the file's own name, in the current folder." short:"o" env:"-"`
}

// Run saves the file. It does not overwrite an existing one.
func (c downloadCommand) Run(ctx context.Context, t terminal.Terminal, on remote.Instance) error {
	link, err := on.Gateway.GetMediaDownloadLink(ctx, on.ID, c.MessageID)
	if err != nil {
		return err
	}
	content, err := c.fetch(ctx, t, link.URL)
	if err != nil {
		return err
	}
	defer func() { _ = content.Close() }() // it was read to its end
	if c.Output == "-" {
		if _, err := io.Copy(t.Out, content); err != nil {
			return fmt.Errorf("download the file: %w", err)
		}
		return nil
	}
	path := c.Output
	if path == "" {
		path = localName(link.FileName)
	}
	err = save(path, content)
	return t.Unless(err).Print(map[string]string{"file": path}, path)
}

// localName is the last part of a name that somebody else chose, so that the file is
// in the current folder.
func localName(name string) string {
	name = filepath.Base(filepath.Clean("/" + terminal.Cleaned(name)))
	if name == "/" || name == "." {
		return "file"
	}
	return name
}

// fetch opens a link, which needs no key.
func (c downloadCommand) fetch(ctx context.Context, t terminal.Terminal, address string) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("download the file: %w", err)
	}
	response, err := (&http.Client{Transport: t.Progress(http.DefaultTransport, request.URL.Host)}).Do(request)
	if err != nil {
		return nil, fmt.Errorf("download the file: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		return nil, errors.Join(fmt.Errorf("download the file: the gateway answered %s", response.Status), response.Body.Close())
	}
	return response.Body, nil
}

// save writes a new file. After an error there is none.
func save(path string, content io.Reader) (err error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the user names it, or it is localName
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s already exists; choose another with --output", path)
	}
	if err != nil {
		return fmt.Errorf("save the file: %w; choose another with --output", err)
	}
	defer func() {
		if err = errors.Join(err, file.Close()); err != nil {
			err = errors.Join(err, os.Remove(path))
		}
	}()
	if _, err := io.Copy(file, content); err != nil {
		return fmt.Errorf("download the file: %w", err)
	}
	return nil
}

type cancelCommand struct{ messageFlags }

// Run cancels the event.
func (c cancelCommand) Run(ctx context.Context, t terminal.Terminal, on remote.Instance) error {
	return c.did(t, "cancelled", on.Gateway.CancelEvent(ctx, on.ID, c.MessageID))
}
