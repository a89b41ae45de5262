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
)

type linkInstanceCommand struct {
	instanceArgument
	Phone string `help:"Show the characters to type on the phone of this number, instead of a code to scan." env:"-"`
}

// codeCheck is how often the gateway is asked whether the code was used.
const codeCheck = time.Second

// linking is the wait for a phone.
type linking struct {
	t       terminal
	gateway *client.Client
	id      string
	byPhone bool

	shown    int  // the number of the code that was shown last
	tooSmall bool // whether it was said that the window is too small
}

// Run shows codes until the instance is linked.
func (c linkInstanceCommand) Run(ctx context.Context, t terminal) error {
	gateway, id, err := c.open(ctx, t)
	if err != nil {
		return err
	}
	l := &linking{t: t, gateway: gateway, id: id, byPhone: c.Phone != ""}
	t.notef("asking for a code …")
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
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// look asks how the linking stands, and shows the code that is current.
func (l *linking) look(ctx context.Context) (linked bool, err error) {
	instance, err := findInstance(ctx, l.gateway, l.id)
	if err != nil {
		return false, err
	}
	switch {
	case instance.Status == client.StatusConnected:
		return true, l.t.tell(instance, cleaned(fmt.Sprintf("Linked to %s (%s).", instance.MessengerID, instance.MessengerName)))
	case l.shown > 0 && (instance.Status == client.StatusQRTimeout || instance.Status == client.StatusError):
		return false, errors.New("nobody used the code in time, or the platform refused: run the command again")
	case !l.byPhone && (l.shown == 0 || instance.Status == client.StatusPendingQR):
		return false, l.showCode(ctx)
	}
	return false, nil
}

// showCharacters prints what is typed on the phone, as the phone shows it.
func (l *linking) showCharacters(ctx context.Context, phone string) error {
	code, err := l.gateway.PairingCode(ctx, l.id, phone)
	if err != nil {
		return err
	}
	l.shown = 1
	if l.t.json {
		return l.t.tell(code, "")
	}
	characters := code.PairingCode
	if half := len(characters) / 2; half > 0 && !strings.Contains(characters, "-") {
		characters = characters[:half] + "-" + characters[half:]
	}
	l.t.printf("On the phone: Linked devices, Link with phone number instead.\nType: %s   %s\n", characters, l.expiry(code.ExpiresAt))
	return nil
}

// showCode prints the code that is current, unless it was shown already.
func (l *linking) showCode(ctx context.Context) error {
	code, err := l.gateway.RawQRCode(ctx, l.id)
	if client.IsCode(err, client.CodeAlreadyConnected) {
		l.shown = max(l.shown, 1) // it was scanned in this moment
		return nil
	}
	if err != nil || code.Attempt == l.shown {
		return err
	}
	if l.t.json {
		l.shown = code.Attempt
		return l.t.tell(code, "")
	}
	lines := qrLines(code.QRCode)
	if !l.fits(lines) {
		return nil // the window may grow until the next look
	}
	l.shown = code.Attempt
	l.t.printf("On the phone: Linked devices, Link a device. Code %d, %s:\n", code.Attempt, l.expiry(code.ExpiresAt))
	for _, line := range lines {
		if l.t.outIsTTY {
			line = blackOnWhite + line + plain
		}
		l.t.printf("%s\n", line)
	}
	return nil
}

// expiry says until when a code can be used.
func (l *linking) expiry(at int64) string {
	expires := time.UnixMilli(at)
	return fmt.Sprintf("valid until %s (%.0f s)", expires.Local().Format(time.TimeOnly), expires.Sub(l.t.now()).Seconds())
}

// fits reports whether the window shows a code as a whole, and says once where it
// does not: a code without its top can't be scanned.
func (l *linking) fits(lines []string) bool {
	const around = 3 // the caption, the cursor, and a note
	columns, rows := l.t.size()
	needColumns, needRows := utf8.RuneCountInString(lines[0]), len(lines)+around
	if columns == 0 || (columns >= needColumns && rows >= needRows) {
		return true
	}
	if !l.tooSmall {
		l.tooSmall = true
		l.t.notef("The code needs a window of %d columns and %d lines; this one has %d and %d. Enlarge it, or use --phone.",
			needColumns, needRows, columns, rows)
	}
	return false
}

// The half blocks of a code paint its light half; on these colours, of the 256
// that no theme changes, it is black on white in every terminal.
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
