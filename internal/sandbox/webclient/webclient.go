// Package webclient is the web page of the messenger as far as clients of the protocol read
// it: it names the newest version of the web client, which they claim to be.
package webclient

import (
	"cmp"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"go.mau.fi/whatsmeow/store"
)

// host is the page's own, which clients ask for wherever they are sent.
const host = "web.whatsapp.com"

// first and second are the numbers that all versions begin with. The page does not name them.
const first, second = 2, 3000

// Version is a version of the web client. The zero value is older than any other.
type Version [3]uint32

// Newest returns the version that the page names if nobody sets another one: that of the
// client library.
func Newest() Version { return Version(store.GetWAVersion()) }

// Parse reads a version: 2.3000. and a number, or nothing for the zero value.
func Parse(text string) (Version, error) {
	if text == "" {
		return Version{}, nil
	}
	number, found := strings.CutPrefix(text, fmt.Sprintf("%d.%d.", first, second))
	revision, err := strconv.ParseUint(number, 10, 32)
	if !found || err != nil {
		return Version{}, fmt.Errorf("must be %d.%d. and a number", first, second)
	}
	return Version{first, second, uint32(revision)}, nil
}

// Less reports whether the version is older than another one.
func (v Version) Less(other Version) bool { return slices.Compare(v[:], other[:]) < 0 }

// String writes the version as Parse reads it; the zero value is empty.
func (v Version) String() string {
	if v == (Version{}) {
		return ""
	}
	return fmt.Sprintf("%d.%d.%d", v[0], v[1], v[2])
}

// Failure is a way in which the page fails.
type Failure string

// The failures. The zero value is none.
const (
	Down    Failure = "down"    // is answered 503
	Garbage Failure = "garbage" // names no version
	Huge    Failure = "huge"    // is 100 MB long, and names the version at its end
	Endless Failure = "endless" // begins and never ends
)

// Failures returns the names of the failures.
func Failures() []string {
	return []string{string(Down), string(Garbage), string(Huge), string(Endless)}
}

// Owns reports whether a request is for the page.
func Owns(r *http.Request) bool {
	name := r.Host
	if bare, _, err := net.SplitHostPort(name); err == nil {
		name = bare
	}
	return strings.EqualFold(name, host) && r.URL.Path == "/"
}

// Serve answers with the page that names the version, or fails to; a zero version means
// Newest. hold keeps the connection of an endless answer open; it is called last.
func Serve(w http.ResponseWriter, version Version, failure Failure, hold func()) {
	version = cmp.Or(version, Newest())
	if failure == Down {
		http.Error(w, "the page is down", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = io.WriteString(w, "<!DOCTYPE html><title>Web client of the sandbox</title>")
	switch failure {
	case Down: // answered above
	case Garbage:
		_, _ = io.WriteString(w, `<script>{"client_revision":"none"}</script>`)
		return
	case Huge:
		filler := []byte("<p>" + strings.Repeat("long ", 20_000))
		for range 1_000 {
			if _, err := w.Write(filler); err != nil {
				return // the client has had enough
			}
		}
	case Endless:
		_ = http.NewResponseController(w).Flush()
		hold()
		return
	}
	_, _ = fmt.Fprintf(w, `<script>{"server_revision":%d,"client_revision":%[1]d,"tier":"sandbox"}</script>`, version[2])
}
