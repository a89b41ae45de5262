package cli

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// row writes a row of a table. Its writer keeps it in memory and tells at the
// flush what went wrong.
func row(w io.Writer, cells ...string) {
	_, _ = fmt.Fprintln(w, strings.Join(cells, "\t"))
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
