package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"golang.org/x/term"

	"github.com/recado-project/recado/internal/cli/progress"
)

// terminal is where a command reads and writes: results go to out, everything
// else to err.
type terminal struct {
	in       io.Reader
	out, err io.Writer
	// outIsTTY and errIsTTY report whether they are shown to a person.
	outIsTTY, errIsTTY bool
	// size is the size of the window of out; 0, 0 if unknown.
	size   func() (columns, rows int)
	json   bool // results are for programs
	logger *slog.Logger
	log    logFlags
	now    func() time.Time
}

func newTerminal(stdin io.Reader, stdout, stderr io.Writer, asJSON bool) terminal {
	return terminal{
		in: stdin, out: stdout, err: &oneAtATime{to: stderr},
		outIsTTY: isTTY(stdout), errIsTTY: isTTY(stderr),
		size: func() (columns, rows int) { return sizeOf(stdout) },
		json: asJSON, now: time.Now,
	}
}

func isTTY(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

func sizeOf(w io.Writer) (columns, rows int) {
	if !isTTY(w) {
		return 0, 0
	}
	columns, rows, err := term.GetSize(int(w.(*os.File).Fd()))
	if err != nil {
		return 0, 0
	}
	return columns, rows
}

// oneAtATime is a writer for several goroutines: the command and its notes.
type oneAtATime struct {
	mu sync.Mutex
	to io.Writer
}

// Write writes.
func (w *oneAtATime) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(text)
}

// underneath is the writer below a writer of the terminal.
func underneath(w io.Writer) io.Writer {
	if one, ok := w.(*oneAtATime); ok {
		return one.to
	}
	return w
}

// printf writes a result for people. It ignores errors: they mean that the terminal is
// gone, which ends the command by its context.
func (t terminal) printf(format string, args ...any) {
	_, _ = fmt.Fprintf(t.out, format, args...)
}

// notef writes a note, which is not a result.
func (t terminal) notef(format string, args ...any) {
	_, _ = fmt.Fprintf(t.err, format+"\n", args...) // as printf
}

// print writes a result: value as one line of JSON if that is asked for, and else the
// text.
func (t terminal) print(value any, text string) error {
	if !t.json {
		t.printf("%s\n", text)
		return nil
	}
	encoder := json.NewEncoder(t.out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return fmt.Errorf("print the result: %w", err)
	}
	return nil
}

// done prints that something was done that has no result of its own.
func (t terminal) done(value map[string]any, format string, args ...any) error {
	return t.print(value, fmt.Sprintf(format, args...))
}

// table writes rows, one for each item: as a list of JSON if that is asked for, aligned
// under a head for people, and separated by tabs if the output goes to another
// program.
func (t terminal) table(items any, head []string, rows [][]string) error {
	if t.json {
		return t.print(items, "")
	}
	if !t.outIsTTY {
		for _, cells := range cleanedRows(rows) {
			t.printf("%s\n", strings.Join(cells, "\t"))
		}
		return nil
	}
	table := tabwriter.NewWriter(t.out, 0, 0, 2, ' ', 0)
	for _, cells := range append([][]string{head}, cleanedRows(rows)...) {
		_, _ = fmt.Fprintln(table, strings.Join(cells, "\t")) // an error is reported by Flush
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("print the table: %w", err)
	}
	return nil
}

// cleaned is a text from elsewhere without characters that would move the cursor,
// colour the window, or begin a new line.
func cleaned(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case r < ' ' || (r >= 0x7f && r < 0xa0):
			return -1
		default:
			return r
		}
	}, text)
}

func cleanedRows(rows [][]string) [][]string {
	all := make([][]string, 0, len(rows))
	for _, row := range rows {
		cells := make([]string, 0, len(row))
		for _, cell := range row {
			cells = append(cells, cleaned(cell))
		}
		all = append(all, cells)
	}
	return all
}

// progress carries requests to a host, and shows what a person waits for.
func (t terminal) progress(next http.RoundTripper, host string) http.RoundTripper {
	shown := progress.Transport{Next: next, Host: host, Note: t.notef}
	if t.errIsTTY {
		shown.Upload = t.err
	}
	return shown
}

// pair is a line of what fields writes.
type pair struct{ name, value string }

// fields writes one thing as lines of name and value; those without a value are left
// out.
func (t terminal) fields(value any, pairs ...pair) error {
	if t.json {
		return t.print(value, "")
	}
	width := 0
	for _, p := range pairs {
		if p.value != "" {
			width = max(width, len(p.name))
		}
	}
	for _, p := range pairs {
		if p.value != "" {
			t.printf("%-*s  %s\n", width, p.name, cleaned(p.value))
		}
	}
	return nil
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// moment is a time for people, in their own zone; a dash for never.
func moment(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format(time.DateTime)
}

// orNone is the text of the value behind a pointer; empty for nil.
func orNone[T any](value *T) string {
	if value == nil {
		return ""
	}
	return fmt.Sprint(*value)
}
