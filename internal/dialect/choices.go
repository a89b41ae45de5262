// Choices: what other tools send as buttons or as a list.

package dialect

import (
	"cmp"
	"context"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/gateway"
)

// Form is how a tool wanted its choices to be shown, and in whose words it is told of the answer.
type Form string

// The forms of choices. They come back as the reference of the poll.
const (
	FormButtons Form = "buttons"
	FormList    Form = "list"
)

// FormOf is the form of the choices that a selection answers. What other devices send as buttons or as a list is not
// told apart: it counts as buttons.
func FormOf(selection client.MessageSelection) Form {
	if selection.Reference != nil && Form(*selection.Reference) == FormList {
		return FormList
	}
	return FormButtons
}

// Choices are a question with answers to choose from. Phones show no buttons and no lists of a linked device, so they
// become a poll with one choice.
type Choices struct {
	To, Quote, Key string // Key is the Idempotency-Key; empty for none
	Data           string // what the client calls all messages that they become
	Form           Form
	Text           []string // the paragraphs of the question; empty ones are left out
	Prompt         string   // what stands on the button of a list; empty for none
	Options        []Choice
	// Above sends what stands above them, such as a file, as an answer to a message; nil: nothing does.
	Above func(quote string) error
}

// Choice is an answer to choose.
type Choice struct{ ID, Label, Description string }

// label is what is written on it, in one line; the ID where there is nothing.
func (c Choice) label() string {
	return valid(strings.Join(strings.Fields(cmp.Or(strings.TrimSpace(c.Label), c.ID)), " "))
}

// valid is a text as JSON has it. What differs in bytes alone that are no text would be the same there.
func valid(text string) string { return strings.ToValidUTF8(text, "�") }

// The bounds of a poll, as the API has them.
const (
	maxQuestion = 255 // characters
	maxOption   = 100 // characters
	leastInPoll = 2   // options
	mostInPoll  = 12  // options
	maxID       = 256 // characters
	maxText     = 65_536
	maxKey      = 255 // characters of an Idempotency-Key
)

// pointer stands for a question that is in the text above the poll, or before the only choice that there is.
const pointer = "👇"

// Send sends them, and returns the message that asks. A question that is too long for a poll goes first, as a text. A
// single choice, of which no poll can be made, is a line of a text that can be answered with it; without a choice everything
// is a text. The first message of all is the one that answers another. What the API refuses is not half sent: the part
// that it refuses is asked for alone, so that it says why.
func (c Choices) Send(ctx context.Context, api *client.Client, instanceID string) (sent client.Sent, err error) {
	text, poll := c.messages()
	if poll != nil && !pollFits(poll) {
		return api.SendPoll(ctx, instanceID, *poll)
	}
	if c.Above != nil && (text == nil || textFits(text)) {
		if err := c.Above(c.Quote); err != nil {
			return sent, err
		}
		c.Quote = ""
	}
	if text != nil {
		text.QuoteMessageID = c.Quote
		sent, err = api.SendText(ctx, instanceID, *text)
		if err != nil || poll == nil {
			return sent, err
		}
		c.Quote = ""
	}
	poll.QuoteMessageID = c.Quote
	return api.SendPoll(ctx, instanceID, *poll)
}

// messages are the text and the poll that choices become; nil if there is none.
func (c Choices) messages() (text *client.Text, poll *client.Poll) {
	var parts []string
	for _, part := range c.Text {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	text = &client.Text{To: c.To, LinkPreview: true, ClientData: c.Data, IdempotencyKey: c.Key}
	if len(c.Options) < leastInPoll {
		for _, option := range c.Options {
			label := shortened(option.label(), maxOption)
			parts = append(parts, pointer+" "+label)
			text.Options, text.OptionIDs, text.Reference = []string{label}, []string{cmp.Or(option.ID, label)}, string(c.Form)
		}
		text.Message = strings.Join(parts, "\n\n")
		return text, nil
	}
	poll = &client.Poll{To: c.To, ClientData: c.Data, IdempotencyKey: c.Key, Reference: string(c.Form)}
	taken := map[string]bool{}
	var described []string
	// The API refuses one too many as it does a thousand, which would be compared with each other here.
	for _, option := range c.Options[:min(len(c.Options), mostInPoll+1)] {
		label := option.label()
		if description := strings.TrimSpace(option.Description); description != "" {
			described = append(described, label+": "+description)
		}
		label = distinct(label, taken)
		taken[label] = true
		poll.Options = append(poll.Options, label)
		poll.OptionIDs = append(poll.OptionIDs, cmp.Or(valid(option.ID), label))
	}
	if len(described) > 0 {
		parts = append(parts, strings.Join(described, "\n"))
	}
	poll.Question = strings.Join(parts, "\n\n")
	if utf8.RuneCountInString(poll.Question) > maxQuestion {
		text.Message, poll.Question = poll.Question, shortened(cmp.Or(strings.TrimSpace(c.Prompt), pointer), maxQuestion)
		if c.Key != "" { // that of the request goes with what is sent first: where another request had it, nothing is sent
			poll.IdempotencyKey += "/poll"
		}
	} else {
		text = nil
	}
	poll.Question = cmp.Or(poll.Question, shortened(strings.TrimSpace(c.Prompt), maxQuestion), pointer)
	return text, poll
}

// textFits reports whether the API takes a text.
func textFits(text *client.Text) bool {
	return utf8.RuneCountInString(text.Message) <= maxText && !strings.Contains(text.Message, "\x00") && optionsFit(text.Options, text.OptionIDs)
}

// pollFits reports whether the API takes a poll.
func pollFits(poll *client.Poll) bool {
	to, err := gateway.ParseRecipient(poll.To)
	return err == nil && !to.Chat.IsChannel() && !strings.Contains(poll.Question, "\x00") && utf8.RuneCountInString(poll.IdempotencyKey) <= maxKey &&
		optionsFit(poll.Options, poll.OptionIDs)
}

// optionsFit reports whether the API takes options with their IDs.
func optionsFit(options, optionIDs []string) bool {
	if len(options) > mostInPoll {
		return false
	}
	ids := map[string]bool{}
	for n, id := range optionIDs {
		if strings.TrimSpace(options[n]) == "" || strings.Contains(options[n], "\x00") ||
			strings.TrimSpace(id) == "" || utf8.RuneCountInString(id) > maxID || strings.ContainsFunc(id, unicode.IsControl) {
			return false
		}
		ids[id] = true
	}
	return len(ids) == len(optionIDs)
}

// distinct is a label within the bounds of an option, with a number where others are the same.
func distinct(label string, taken map[string]bool) string {
	made := shortened(label, maxOption)
	for n := 2; taken[made]; n++ {
		number := " (" + strconv.Itoa(n) + ")"
		made = shortened(label, maxOption-utf8.RuneCountInString(number)) + number
	}
	return made
}

// shortened is a text of at most so many characters; one that is cut ends with an ellipsis.
func shortened(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}
