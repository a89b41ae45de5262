// Menus: what a vote, or a text, chooses of a poll whose options have IDs.

package messaging

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
)

// votedOn is what a vote chooses of a menu; nil for something else.
func votedOn(menu gateway.Menu, choices [][sha256.Size]byte) *eventlog.MessageSelection {
	for _, option := range menu.Options {
		for _, choice := range choices {
			if sha256.Sum256([]byte(option.Text)) == choice {
				return eventlog.NewMessageSelection(selected(menu, option))
			}
		}
	}
	return nil
}

func selected(menu gateway.Menu, option gateway.MenuOption) gateway.Selection {
	return gateway.Selection{ID: option.ID, Text: option.Text, Reference: menu.Reference}
}

// maxAnswer is how long a text that answers a menu may be, in characters: an option and some space around it.
const maxAnswer = 200

// mayAnswer reports whether a message can answer a menu, by what can be seen of it alone.
func mayAnswer(message gateway.Message) bool {
	return message.Type == gateway.TypeText && !message.FromMe && message.WireKey != "" && message.Details.Selection == nil &&
		len(message.Text) <= maxAnswer*utf8.UTFMax && strings.TrimSpace(message.Text) != ""
}

// keepText keeps a text that may answer a menu.
func (r receiver) keepText(ctx context.Context, message gateway.Message, event eventlog.Event) error {
	_, err := r.config.Store.AddText(ctx, message, event, func(poll gateway.Message) (eventlog.Event, bool, error) {
		if message.QuotedID != "" && message.QuotedID != poll.PlatformID || poll.Status == gateway.MessageFailed || !poll.DeletedAt.IsZero() {
			return eventlog.Event{}, false, nil
		}
		option, ok := chosenBy(message.Text, poll.Menu)
		if !ok {
			return eventlog.Event{}, false, nil
		}
		answer := message
		answer.QuotedID, answer.Details.Selection = poll.PlatformID, new(selected(poll.Menu, option))
		made, err := receivedEvent(answer)
		return made, err == nil, err
	})
	if err != nil {
		return fmt.Errorf("messaging: keep a text: %w", err)
	}
	return nil
}

// chosenBy returns the option of a menu that a text names: by what is written on it, without regard to case, accents and
// the space around it, or else by its number, from 1.
func chosenBy(text string, menu gateway.Menu) (option gateway.MenuOption, ok bool) {
	text = strings.TrimSpace(text)
	for _, same := range []func(string) bool{
		func(written string) bool { return strings.TrimSpace(written) == text },
		func(written string) bool { return plain(written) != "" && plain(written) == plain(text) },
	} {
		for _, option := range menu.Options {
			if same(option.Text) {
				return option, true
			}
		}
	}
	if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= len(menu.Options) && text == strconv.Itoa(n) {
		return menu.Options[n-1], true
	}
	return option, false
}

// plain writes a text so that case, accents and the space around it don't count.
func plain(text string) string {
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFKD.String(text))), " ")
}
