package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/cli/remote"
	"github.com/recado-project/recado/internal/cli/terminal"
)

// sendCommand sends one message through a running gateway, and prints its
// identifiers.
type sendCommand struct {
	Text      sendTextCommand      `cmd:"" help:"Send a text."`
	Image     sendImageCommand     `cmd:"" help:"Send an image."`
	Video     sendVideoCommand     `cmd:"" help:"Send a video."`
	VideoNote sendVideoNoteCommand `cmd:"" name:"video-note" help:"Send a video that phones show round."`
	Voice     sendVoiceCommand     `cmd:"" help:"Send audio as a voice message."`
	Audio     sendAudioCommand     `cmd:"" help:"Send audio as a file that can be played."`
	Document  sendDocumentCommand  `cmd:"" help:"Send a file of any kind."`
	Album     sendAlbumCommand     `cmd:"" help:"Send several pictures and videos as an album."`
	Location  sendLocationCommand  `cmd:"" help:"Send a place."`
	Contact   sendContactCommand   `cmd:"" help:"Send a contact card, or several in one message."`
	Poll      sendPollCommand      `cmd:"" help:"Send a poll."`
	Event     sendEventCommand     `cmd:"" help:"Send a calendar event."`
	Sticker   sendStickerCommand   `cmd:"" help:"Send a picture as a sticker."`
}

// sendFlags name the instance and the recipient of a message.
type sendFlags struct {
	remote.InstanceFlag
	To             string    `help:"Phone number with country code, or chat ID; required." env:"-"`
	Later          bool      `help:"Leave the message in the instance's queue, and don't wait until it is sent." env:"-"`
	At             time.Time `help:"Leave the message in the queue until this time: 2026-12-24T09:00:00-03:00." env:"-"`
	IdempotencyKey string    `help:"Key of your choice that makes it safe to repeat the command: a repeat sends nothing." name:"idempotency-key" env:"-"`
}

// AfterApply refuses a command line without a recipient. Kong calls the AfterApply of an embedded struct if no other
// struct that the command embeds has one.
func (f sendFlags) AfterApply() error {
	if f.To == "" {
		return terminal.WrongUsage("--to is missing: a phone number with country code, or a chat ID")
	}
	return nil
}

// prefer is the preference of a request: with later, that it does not wait for the platform.
func prefer(later bool) string {
	if later {
		return client.RespondAsync
	}
	return ""
}

// printSent prints the identifiers of a message, unless err says that it was not sent: both for people, and for
// scripts the one that other commands take.
func printSent(t terminal.Terminal, sent client.Sent, err error) error {
	if err != nil {
		return err
	}
	if sent.IdempotencyReplayed {
		t.Notef("This message was sent before with the same key: nothing was sent now.")
	}
	if sent.Accepted && !t.JSON {
		t.Notef("The message is in the queue: recado queue list shows it until it is sent.")
	}
	if !t.OutIsTTY && !t.JSON {
		return t.Print(sent, sent.MessageID)
	}
	return t.Fields(sent, terminal.Pair{"id", sent.ID}, terminal.Pair{"messageId", sent.MessageID})
}

// quoteFlag makes a message a reply.
type quoteFlag struct {
	Quote string `help:"Message to reply to." env:"-"`
}

// mentionFlags say whom a text mentions.
type mentionFlags struct {
	Mention         []string `help:"Person whom the text mentions, where it says @ and the number; may be repeated." env:"-" sep:"none"`
	MentionEveryone bool     `help:"Mention all members of the group." env:"-"`
}

type captionFlag struct {
	Caption string `help:"Text below the media." env:"-"`
}

type viewOnceFlag struct {
	ViewOnce bool `help:"The recipient can open the media only once." env:"-"`
}

type sendTextCommand struct {
	sendFlags
	quoteFlag
	mentionFlags
	LinkPreview bool `help:"Show title, description and picture of the page behind the first link." env:"-"`
	textArgument
}

// Run sends the text.
func (c sendTextCommand) Run(ctx context.Context, t terminal.Terminal, message messageText, on remote.Instance) error {
	sent, err := on.Gateway.SendText(ctx, on.ID, client.Text{
		To: c.To, Message: string(message), QuoteMessageID: c.Quote,
		Mentions: c.Mention, MentionEveryone: c.MentionEveryone, LinkPreview: c.LinkPreview,
		SendAt: c.At, IdempotencyKey: c.IdempotencyKey, Prefer: prefer(c.Later),
	})
	return printSent(t, sent, err)
}

// maxText bounds a text from standard input, in bytes; the gateway accepts 65,536
// characters.
const maxText = 4 * 65_536

// textArgument is the text of a message.
type textArgument struct {
	Message []string `arg:"" optional:"" help:"The text, in quotes; - reads it from standard input."`
}

// messageText is the text that a textArgument names.
type messageText string

// ProvideText reads the text. Kong calls it for a Run method that takes one.
func (a textArgument) ProvideText(t terminal.Terminal) (messageText, error) {
	given, err := oneText(t, a.Message)
	return messageText(given), err
}

// oneText is the text that the command line gives.
func oneText(t terminal.Terminal, words []string) (string, error) {
	switch {
	case len(words) == 0:
		return "", terminal.WrongUsage("the message is missing: put it at the end, in quotes, or - to read it from standard input")
	case len(words) > 1:
		return "", terminal.WrongUsage("put the message in quotes: \"%s\"", strings.Join(words, " "))
	case words[0] != "-":
		return words[0], nil
	}
	text, err := io.ReadAll(io.LimitReader(t.In, maxText+1))
	if err != nil {
		return "", fmt.Errorf("read the message from standard input: %w", err)
	}
	if len(text) > maxText {
		return "", errors.New("standard input is too long for a text: a message has at most 65536 characters")
	}
	return strings.TrimRight(string(text), "\r\n"), nil
}

type sendLocationCommand struct {
	sendFlags
	Latitude  float64 `help:"Degrees north, for example -23.56." required:"" env:"-"`
	Longitude float64 `help:"Degrees east, for example -46.65." required:"" env:"-"`
	Name      string  `help:"Name of the place." env:"-"`
	Address   string  `help:"Address of the place." env:"-"`
}

// Run sends the place.
func (c sendLocationCommand) Run(ctx context.Context, t terminal.Terminal, on remote.Instance) error {
	sent, err := on.Gateway.SendLocation(ctx, on.ID, client.Location{
		To: c.To, Latitude: c.Latitude, Longitude: c.Longitude, Name: c.Name, Address: c.Address,
		SendAt: c.At, IdempotencyKey: c.IdempotencyKey, Prefer: prefer(c.Later),
	})
	return printSent(t, sent, err)
}

type sendContactCommand struct {
	sendFlags
	Name         []string `help:"Full name of the contact. For several contacts in one message, repeat the flags." required:"" env:"-" sep:"none"`
	Phone        []string `help:"Number of the contact, with country code; one for each name." required:"" env:"-" sep:"none"`
	Organization []string `help:"Where the contact works; empty for none. Of several contacts, in the order of their names." env:"-" sep:"none"`
}

// AfterApply refuses a command line that does not have a number for each name.
func (c sendContactCommand) AfterApply() error {
	if len(c.Phone) != len(c.Name) || len(c.Organization) > len(c.Name) {
		return terminal.WrongUsage("%d names need as many numbers, and at most as many organizations: repeat --name and --phone for each contact", len(c.Name))
	}
	return c.sendFlags.AfterApply()
}

// Run sends the card, or the cards.
func (c sendContactCommand) Run(ctx context.Context, t terminal.Terminal, on remote.Instance) error {
	cards := make([]client.Card, len(c.Name))
	for n, name := range c.Name {
		cards[n] = client.Card{FullName: name, PhoneNumber: c.Phone[n]}
		if n < len(c.Organization) {
			cards[n].Organization = c.Organization[n]
		}
	}
	contact := client.Contact{To: c.To, Contacts: cards, Prefer: prefer(c.Later), SendAt: c.At, IdempotencyKey: c.IdempotencyKey}
	if len(cards) == 1 {
		contact.Contact, contact.Contacts = cards[0], nil
	}
	sent, err := on.Gateway.SendContact(ctx, on.ID, contact)
	return printSent(t, sent, err)
}

type sendPollCommand struct {
	sendFlags
	quoteFlag
	Question   string   `arg:"" help:"What is asked, in quotes."`
	Options    []string `arg:"" help:"The answers to choose from, each in quotes: 2 to 12."`
	MaxAnswers int64    `help:"How many answers somebody may choose; 0 is any number." default:"1" env:"-"`
	OptionIDs  []string `name:"option-ids" help:"What events call the options: an ID for each, with commas between them." env:"-"`
	Reference  string   `help:"Comes back with the IDs, such as a step of a flow." env:"-"`
}

// Run sends the poll.
func (c sendPollCommand) Run(ctx context.Context, t terminal.Terminal, on remote.Instance) error {
	sent, err := on.Gateway.SendPoll(ctx, on.ID, client.Poll{
		To: c.To, Question: c.Question, Options: c.Options, MaxAnswers: &c.MaxAnswers, OptionIDs: c.OptionIDs, Reference: c.Reference, QuoteMessageID: c.Quote,
		SendAt: c.At, IdempotencyKey: c.IdempotencyKey, Prefer: prefer(c.Later),
	})
	return printSent(t, sent, err)
}

type sendEventCommand struct {
	sendFlags
	quoteFlag
	Name        string    `arg:"" help:"What it is called, in quotes."`
	Start       time.Time `help:"When it begins: 2026-12-24T09:00:00-03:00." required:"" env:"-"`
	End         time.Time `help:"When it ends." env:"-"`
	Description string    `help:"What else people should know." env:"-"`
	Place       string    `help:"Name of the place." env:"-"`
	Address     string    `help:"Address of the place." env:"-"`
	JoinLink    string    `help:"Link to its call or meeting." env:"-"`
	ExtraGuests bool      `help:"People may bring others." env:"-"`
}

// Run sends the event.
func (c sendEventCommand) Run(ctx context.Context, t terminal.Terminal, on remote.Instance) error {
	sent, err := on.Gateway.SendEvent(ctx, on.ID, client.CalendarEvent{
		To: c.To, Name: c.Name, Start: c.Start, End: c.End, Description: c.Description, JoinLink: c.JoinLink,
		Location: client.EventLocation{Name: c.Place, Address: c.Address}, ExtraGuestsAllowed: c.ExtraGuests,
		QuoteMessageID: c.Quote, SendAt: c.At, IdempotencyKey: c.IdempotencyKey, Prefer: prefer(c.Later),
	})
	return printSent(t, sent, err)
}
