// What requests say outside of their bodies.

package client

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// query is the query of a request. Its methods leave out what is zero.
type query url.Values

func (q query) setText(name, value string) {
	if value != "" {
		url.Values(q).Set(name, value)
	}
}

func (q query) setNumber(name string, value int64) {
	if value != 0 {
		url.Values(q).Set(name, strconv.FormatInt(value, 10))
	}
}

func (q query) setBoolean(name string, value *bool) {
	if value != nil {
		url.Values(q).Set(name, strconv.FormatBool(*value))
	}
}

func (q query) setList(name string, values []string) { q.setText(name, strings.Join(values, ",")) }

// page adds which page of a list is asked for.
func (q query) page(page, limit int) query {
	q.setNumber("page", int64(page))
	q.setNumber("limit", int64(limit))
	return q
}

// Values of Prefer, which may be joined by commas.
const (
	RespondAsync         = "respond-async"         // leaves a message in the queue
	ReturnRepresentation = "return=representation" // has the answer of a send hold the message
)

// headers makes a header of names and values, without those that are empty.
func headers(namesAndValues ...string) http.Header {
	header := http.Header{}
	for i := 0; i+1 < len(namesAndValues); i += 2 {
		if value := namesAndValues[i+1]; value != "" {
			header.Set(namesAndValues[i], value)
		}
	}
	return header
}
