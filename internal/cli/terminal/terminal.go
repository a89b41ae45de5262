// Package terminal is where a command reads and writes: results for people or for
// programs, notes, and the log. It knows no command. All rooms of the command line use it.
package terminal

import (
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"golang.org/x/term"
)

// Terminal is where a command reads and writes: results go to out, everything
// else to err.
type Terminal struct {
	In       io.Reader
	Out, Err io.Writer
	// OutIsTTY and ErrIsTTY report whether they are shown to a person.
	OutIsTTY, ErrIsTTY bool
	// Size is the size of the window of Out; 0, 0 if unknown.
	Size   func() (columns, rows int)
	JSON   bool // results are for programs
	Logger *slog.Logger
	Log    Log
	// Level is that of the Logger; it can be changed.
	Level *slog.LevelVar
	// Gone reports whether the window that one of the streams belonged to has been closed since.
	Gone func() bool
	Now  func() time.Time
	// Version is that of the program.
	Version string

	failed error // why there is no result
}

// New makes a terminal of a program's three streams. Its log is written to stderr, as log
// says. Several goroutines may write to its Err at the same time.
func New(stdin io.Reader, stdout, stderr io.Writer, asJSON bool, log Log) Terminal {
	notes := &oneAtATime{to: stderr}
	windows := slices.DeleteFunc([]any{stdin, stdout, stderr}, func(stream any) bool { return !isTTY(stream) })
	level := new(slog.LevelVar)
	level.Set(log.Least())
	return Terminal{
		In: stdin, Out: stdout, Err: notes,
		OutIsTTY: isTTY(stdout), ErrIsTTY: isTTY(stderr),
		Size: func() (columns, rows int) { return sizeOf(stdout) },
		JSON: asJSON, Logger: log.logger(notes, isTTY(stderr), level), Log: log, Level: level,
		Now: time.Now, Version: Version(),
		Gone: func() bool { return slices.ContainsFunc(windows, func(stream any) bool { return !isTTY(stream) }) },
	}
}

func isTTY(stream any) bool {
	file, ok := stream.(*os.File)
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

// Printf writes a result for people. It ignores errors: they mean that the terminal is
// gone, which ends the command by its context.
func (t Terminal) Printf(format string, args ...any) {
	_, _ = fmt.Fprintf(t.Out, format, args...)
}

// Notef writes a note, which is not a result.
func (t Terminal) Notef(format string, args ...any) {
	_, _ = fmt.Fprintf(t.Err, format+"\n", args...) // as Printf
}

// Unless returns a terminal for the result of a call that may have failed with err. If it has, Print and what is built
// on it write nothing and return err.
func (t Terminal) Unless(err error) Terminal {
	t.failed = err
	return t
}

// Print writes a result: value as one line of JSON if that is asked for, and else the
// text.
func (t Terminal) Print(value any, text string) error {
	switch {
	case t.failed != nil:
		return t.failed
	case !t.JSON:
		t.Printf("%s\n", text)
		return nil
	}
	encoder := json.NewEncoder(t.Out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return fmt.Errorf("print the result: %w", err)
	}
	return nil
}

// Did prints what was done to a thing with a name, unless err says that it failed. The JSON has the name as the
// noun.
func (t Terminal) Did(what, noun, name string, err error) error {
	return t.Unless(err).Done(map[string]any{noun: name, "done": what}, "%s %s", what, name)
}

// Done prints that something was done that has no result of its own.
func (t Terminal) Done(value map[string]any, format string, args ...any) error {
	return t.Print(value, fmt.Sprintf(format, args...))
}

// Table writes rows, one for each item: as a list of JSON if that is asked for, aligned
// under a head for people, and separated by tabs if the output goes to another
// program.
func (t Terminal) Table(items any, head []string, rows [][]string) error {
	if t.JSON || t.failed != nil {
		return t.Print(items, "")
	}
	if !t.OutIsTTY {
		for _, cells := range cleanedRows(rows) {
			t.Printf("%s\n", strings.Join(cells, "\t"))
		}
		return nil
	}
	table := tabwriter.NewWriter(t.Out, 0, 0, 2, ' ', 0)
	for _, cells := range append([][]string{head}, cleanedRows(rows)...) {
		_, _ = fmt.Fprintln(table, strings.Join(cells, "\t")) // an error is reported by Flush
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("print the table: %w", err)
	}
	return nil
}

// Rows writes a table with a row for each item.
func Rows[T any](t Terminal, items []T, head []string, row func(T) []string) error {
	rows := make([][]string, len(items))
	for i, item := range items {
		rows[i] = row(item)
	}
	return t.Table(items, head, rows)
}

// List writes a table with a row for each of the items that a client lists, unless that fails.
func List[T any](t Terminal, items iter.Seq2[T, error], head []string, row func(T) []string) error {
	all := []T{} // never null
	for item, err := range items {
		if err != nil {
			return err
		}
		all = append(all, item)
	}
	return Rows(t, all, head, row)
}

// Cleaned is a text from elsewhere without characters that would move the cursor,
// colour the window, or begin a new line.
func Cleaned(text string) string {
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
			cells = append(cells, Cleaned(cell))
		}
		all = append(all, cells)
	}
	return all
}

// Pair is a line of what Fields writes: a name and a value.
type Pair [2]string

// Fields writes one thing as lines of name and value; those without a value are left
// out.
func (t Terminal) Fields(value any, pairs ...Pair) error {
	if t.JSON || t.failed != nil {
		return t.Print(value, "")
	}
	width := 0
	for _, p := range pairs {
		if p[1] != "" {
			width = max(width, len(p[0]))
		}
	}
	for _, p := range pairs {
		if p[1] != "" {
			t.Printf("%-*s  %s\n", width, p[0], Cleaned(p[1]))
		}
	}
	return nil
}

// YesNo is a bool for people.
func YesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// Moment is a time for people, in their own zone; a dash for never.
func Moment(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format(time.DateTime)
}

// MomentOrNever is Moment of the time behind a pointer; a dash for nil.
func MomentOrNever(t *time.Time) string {
	if t == nil {
		return Moment(time.Time{})
	}
	return Moment(*t)
}

// OrNone is the text of the value behind a pointer; empty for nil.
func OrNone[T any](value *T) string {
	if value == nil {
		return ""
	}
	return fmt.Sprint(*value)
}

// Version is that of this program, as the modules say; 0.0.0-dev for one that was built from
// a checkout.
func Version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "0.0.0-dev"
}
