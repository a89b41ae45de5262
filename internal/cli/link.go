// The command that links an instance: it shows the codes until a phone has used one.

package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mdp/qrterminal/v3"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/cli/remote"
	"github.com/recado-project/recado/internal/cli/terminal"
)

type linkInstanceCommand struct {
	remote.InstanceArgument
	Phone string `help:"Number of the phone: show characters to type on it, instead of a code to scan." env:"-"`
}

// codeCheck is how often the gateway is asked whether a phone has used the code.
const codeCheck = time.Second

// linking waits until a phone has used a code.
type linking struct {
	t       terminal.Terminal
	gateway *client.Client
	id      string
	byPhone bool

	shown    int64 // number of the last code that was shown
	tooSmall bool  // whether the note about a small window was printed

	passkey client.Passkey // as it was shown last
	typed   <-chan string  // lines that somebody types; nil until one is needed
}

// Run shows codes until the instance is linked.
func (c linkInstanceCommand) Run(ctx context.Context, t terminal.Terminal, on remote.Instance) error {
	l := &linking{t: t, gateway: on.Gateway, id: on.ID, byPhone: c.Phone != ""}
	t.Notef("asking for a code …")
	if l.byPhone {
		if err := l.showCharacters(ctx, c.Phone); err != nil {
			return err
		}
	}
	ticker := time.NewTicker(codeCheck)
	defer ticker.Stop()
	for {
		linked, err := l.look(ctx)
		if linked || err != nil {
			return err
		}
		select {
		case <-ticker.C:
		case line := <-l.typed:
			l.reply(ctx, line)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// look asks for the state of the linking, and shows the current code.
func (l *linking) look(ctx context.Context) (linked bool, err error) {
	instance, err := remote.FindInstance(ctx, l.gateway, l.id)
	if err != nil {
		return false, err
	}
	switch {
	case instance.Status == client.StatusConnected:
		return true, l.t.Print(instance, terminal.Cleaned(fmt.Sprintf("Linked to %s (%s).", instance.MessengerID, instance.MessengerName)))
	case l.shown > 0 && (instance.Status == client.StatusQRTimeout || instance.Status == client.StatusError):
		return false, errors.New("no phone used the code in time, or the platform refused: run the command again")
	case l.shown > 0 && instance.Status == client.StatusPendingQRCodeScan:
		if open, err := l.askPasskey(ctx); open || l.byPhone || err != nil {
			return false, err
		}
		return false, l.showCode(ctx)
	case l.shown == 0:
		return false, l.showCode(ctx)
	}
	return false, nil
}

// showCharacters prints the characters to type, grouped as on the phone.
func (l *linking) showCharacters(ctx context.Context, phone string) error {
	code, err := l.gateway.GetPairingCode(ctx, l.id, client.NewPairingCode{Phone: phone})
	if err != nil {
		return err
	}
	l.shown = 1
	if l.t.JSON {
		return l.t.Print(code, "")
	}
	characters := code.PairingCode
	if half := len(characters) / 2; half > 0 && !strings.Contains(characters, "-") {
		characters = characters[:half] + "-" + characters[half:]
	}
	l.t.Printf("On the phone: Linked devices, Link with phone number instead.\nType: %s   %s\n", characters, l.expiry(code.ExpiresAt))
	return nil
}

// showCode prints the current code, unless it was shown already.
func (l *linking) showCode(ctx context.Context) error {
	code, err := l.gateway.GetQRCode(ctx, l.id, client.GetQRCodeParams{Format: client.FormatRaw})
	if client.IsCode(err, client.CodeInstanceAlreadyConnected) {
		l.shown = max(l.shown, 1) // it was scanned just now
		return nil
	}
	if err != nil || code.Attempt == l.shown {
		return err
	}
	if l.t.JSON {
		l.shown = code.Attempt
		return l.t.Print(code, "")
	}
	lines := qrLines(code.QRCode)
	if !l.fits(lines) {
		return nil // the window may grow until the next look
	}
	l.shown = code.Attempt
	l.t.Printf("On the phone: Linked devices, Link a device. Code %d, %s:\n", code.Attempt, l.expiry(code.ExpiresAt))
	for _, line := range lines {
		if l.t.OutIsTTY {
			line = blackOnWhite + line + plain
		}
		l.t.Printf("%s\n", line)
	}
	return nil
}

// expiry says how long a code is valid.
func (l *linking) expiry(at int64) string {
	expires := time.UnixMilli(at)
	return fmt.Sprintf("valid until %s (%.0f s)", expires.Local().Format(time.TimeOnly), expires.Sub(l.t.Now()).Seconds())
}

// fits reports whether the window can show a whole code, and prints a note once if it
// can't: half a code can't be scanned.
func (l *linking) fits(lines []string) bool {
	const around = 3 // the caption, the cursor, and a note
	columns, rows := l.t.Size()
	needColumns, needRows := utf8.RuneCountInString(lines[0]), len(lines)+around
	if columns == 0 || (columns >= needColumns && rows >= needRows) {
		return true
	}
	if !l.tooSmall {
		l.tooSmall = true
		l.t.Notef("The code needs a window of %d columns and %d lines; this one has %d and %d. Enlarge it, or use --phone.",
			needColumns, needRows, columns, rows)
	}
	return false
}

// The half blocks of a code paint its light parts. These two of the 256 colours are
// not changed by themes, so the code is black on white in every terminal.
const (
	blackOnWhite = "\x1b[38;5;231;48;5;16m"
	plain        = "\x1b[0m"
)

// qrLines are the lines of a code, without colours.
func qrLines(text string) []string {
	var code bytes.Buffer
	qrterminal.GenerateHalfBlock(text, qrterminal.L, &code)
	return strings.Split(strings.TrimRight(code.String(), "\n"), "\n")
}
