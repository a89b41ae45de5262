package cli

import (
	"fmt"
	"io"
	"strings"
)

// row writes a row of a table. Its writer keeps it in memory and tells at the
// flush what went wrong.
func row(w io.Writer, cells ...string) {
	_, _ = fmt.Fprintln(w, strings.Join(cells, "\t"))
}
