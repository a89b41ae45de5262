package cli

import (
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
	"github.com/recado-project/recado/internal/cli/target"
	"github.com/recado-project/recado/internal/cli/terminal"
)

// messagesCommand works on a message that was sent or received.
type messagesCommand struct {
	List     listMessagesCommand `cmd:"" help:"List the messages of a chat, or search them."`
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
	target.InstanceFlag
	MessageID string `arg:"" name:"message-id" help:"The messageId, as printed by send and in events."`
}

// did prints what was done to the message, unless it failed.
func (f messageFlags) did(t terminal.Terminal, what string, err error) error {
	if err != nil {
		return err
	}
	return t.Done(map[string]any{"messageId": f.MessageID, "done": what}, "%s %s", what, f.MessageID)
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
	gateway, id, err := c.Open(ctx, t)
	if err == nil {
		_, err = gateway.EditMessage(ctx, id, client.EditMessage{MessageID: c.MessageID, Message: message})
	}
	return c.did(t, "edited", err)
}

type deleteCommand struct {
	messageFlags
	ForMe bool `help:"Delete it from the account's own devices and the gateway alone; it may be anybody's." env:"-"`
}

// Run deletes the message.
func (c deleteCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	switch {
	case err != nil:
	case c.ForMe:
		err = gateway.DeleteMessageForMe(ctx, id, c.MessageID)
	default:
		err = gateway.DeleteMessage(ctx, id, client.DeleteMessage{MessageID: c.MessageID})
	}
	return c.did(t, "deleted", err)
}

type readCommand struct{ messageFlags }

// Run marks the message as read.
func (c readCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err == nil {
		_, err = gateway.MarkRead(ctx, id, client.MarkRead{MessageID: c.MessageID})
	}
	return c.did(t, "read", err)
}

type forwardCommand struct {
	sendFlags
	MessageID string `arg:"" name:"message-id" help:"The messageId, as printed by send and in events."`
}

// Run forwards the message.
func (c forwardCommand) Run(ctx context.Context, t terminal.Terminal) error {
	return c.send(ctx, t, func(gateway *client.Client, id string) (client.Sent, error) {
		return gateway.ForwardMessage(ctx, id, client.Forward{To: c.To, MessageID: c.MessageID, Prefer: prefer(c.Later), SendAt: c.At, IdempotencyKey: c.IdempotencyKey})
	})
}

type reactCommand struct {
	messageFlags
	Emoji string `arg:"" optional:"" help:"The emoji; without it, the reaction is removed."`
}

// Run reacts to the message.
func (c reactCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err == nil {
		err = gateway.SendReaction(ctx, id, client.Reaction{MessageID: c.MessageID, Reaction: c.Emoji})
	}
	return c.did(t, map[bool]string{true: "reacted to", false: "removed the reaction from"}[c.Emoji != ""], err)
}

type pinCommand struct {
	messageFlags
	For string `help:"For how long: 24h, 7d or 30d." enum:"24h,7d,30d" default:"7d" env:"-"`
}

// Run pins the message.
func (c pinCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err == nil {
		lasts := map[string]time.Duration{"24h": 24 * time.Hour, "7d": 7 * 24 * time.Hour, "30d": 30 * 24 * time.Hour}[c.For]
		err = gateway.PinMessage(ctx, id, c.MessageID, client.Pin{DurationSeconds: int64(lasts / time.Second)})
	}
	return c.did(t, "pinned", err)
}

type unpinCommand struct{ messageFlags }

// Run unpins the message.
func (c unpinCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err == nil {
		err = gateway.UnpinMessage(ctx, id, c.MessageID)
	}
	return c.did(t, "unpinned", err)
}

type starCommand struct{ messageFlags }

// Run stars the message.
func (c starCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err == nil {
		err = gateway.StarMessage(ctx, id, c.MessageID)
	}
	return c.did(t, "starred", err)
}

type unstarCommand struct{ messageFlags }

// Run takes the star away.
func (c unstarCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err == nil {
		err = gateway.UnstarMessage(ctx, id, c.MessageID)
	}
	return c.did(t, "unstarred", err)
}

type votesCommand struct{ messageFlags }

// Run shows each option with its votes.
func (c votesCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err != nil {
		return err
	}
	votes, err := gateway.GetVotes(ctx, id, c.MessageID)
	if err != nil {
		return err
	}
	rows := make([][]string, 0, len(votes.Options))
	for _, option := range votes.Options {
		names := make([]string, 0, len(option.Voters))
		for _, voter := range option.Voters {
			names = append(names, whoIs(voter))
		}
		rows = append(rows, []string{option.Option, strconv.FormatInt(option.Votes, 10), strings.Join(names, ", ")})
	}
	return t.Table(votes, []string{"OPTION", "VOTES", "WHO"}, rows)
}

// whoIs is what people call somebody: the name, or else an address.
func whoIs(person client.Person) string {
	for _, name := range []*string{person.Name, person.JID, person.LID} {
		if name != nil {
			return *name
		}
	}
	return "?"
}

type downloadCommand struct {
	messageFlags
	Output string `help:"File to write, - for standard output. Without it: the file's own name, in the current folder." short:"o" env:"-"`
}

// Run saves the file. It does not overwrite an existing one.
func (c downloadCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err != nil {
		return err
	}
	link, err := gateway.GetMediaDownloadLink(ctx, id, c.MessageID)
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
	if err := save(path, content); err != nil {
		return err
	}
	return t.Print(map[string]string{"file": path}, path)
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
func (c cancelCommand) Run(ctx context.Context, t terminal.Terminal) error {
	gateway, id, err := c.Open(ctx, t)
	if err == nil {
		err = gateway.CancelEvent(ctx, id, c.MessageID)
	}
	return c.did(t, "cancelled", err)
}
