// Short words that a page shows beside what it has: that something was done, or why not.

package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Notice adds a text to an answer, before its body: the page's script shows it for a moment.
func Notice(w http.ResponseWriter, text string) {
	var header strings.Builder // in ASCII, as headers are: JSON writes everything else as UTF-16
	header.WriteString(`{"toast":"`)
	for _, unit := range utf16.Encode([]rune(text)) {
		if unit >= ' ' && unit <= '~' && unit != '"' && unit != '\\' {
			header.WriteByte(byte(unit))
		} else {
			fmt.Fprintf(&header, `\u%04x`, unit)
		}
	}
	header.WriteString(`"}`)
	w.Header().Set("HX-Trigger", header.String())
}

// WrongField is what is wrong with a field of a form, by the name of the field.
type WrongField struct {
	Field string `json:"field"`
	Text  string `json:"text"`
}

// Refuse answers the page's script with a status and the text that the page shows, and with what
// is wrong with which field of the form: the page shows that at the field, and the text only
// where it has no such field.
func Refuse(w http.ResponseWriter, status int, text string, wrong ...WrongField) {
	w.Header().Set("X-Problem", url.PathEscape(text))
	if len(wrong) > 0 {
		fields, err := json.Marshal(wrong)
		if err == nil { // texts
			w.Header().Set("X-Fields", url.PathEscape(string(fields)))
		}
	}
	http.Error(w, text, status)
}

// Sentence makes a sentence of an error's message.
func Sentence(message string) string {
	first, size := utf8.DecodeRuneInString(message)
	if size == 0 {
		return ""
	}
	message = string(unicode.ToUpper(first)) + message[size:]
	if strings.HasSuffix(message, ".") {
		return message
	}
	return message + "."
}
