package api

import (
	"encoding/base64"
	"io"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/recado-project/recado/internal/gateway"
)

// Formats of strings in the document that are checked here.
const (
	formatRecipient = "recipient"
	formatPhone     = "phone"
	formatNumber    = "number"
	formatMedia     = "media"
	formatEmoji     = "emoji"
)

// ownFormat explains a format to people and programs.
type ownFormat struct {
	words   string // what it is called on the reference page
	meaning string
	pattern string // what every text of it matches; empty for none
}

// formats explains the formats that no specification of OpenAPI names.
func formats() map[string]ownFormat {
	return map[string]ownFormat{
		formatRecipient: {
			"phone number or chat ID",
			"a phone number with country code, 7 to 15 digits that don't begin with 0 (blanks, dots, dashes, parentheses and a leading + are dropped; " +
				"a Brazilian mobile number of 11 digits gets its 55), or a chat ID ending in @s.whatsapp.net, @g.us or @lid.", `[0-9]`,
		},
		formatPhone: {
			"phone number",
			"a phone number with country code, 7 to 15 digits that don't begin with 0; blanks, dots, dashes, parentheses and a leading + are dropped.", `^[^@]*[0-9][^@]*$`,
		},
		formatNumber: {
			"phone number or personal chat ID",
			"a phone number with country code, 7 to 15 digits that don't begin with 0, or a personal chat ID ending in @s.whatsapp.net.", `[0-9]`,
		},
		formatMedia: {
			"data URI or URL",
			"`data:<type>;base64,<data>`, or an http(s) URL that the gateway fetches.", `^([Dd][Aa][Tt][Aa]:|[Hh][Tt][Tt][Pp][Ss]?://)`,
		},
		formatEmoji: {"one emoji", "one emoji, with its skin tone or joined parts, or nothing.", ""},
	}
}

// checkFormat says what is wrong with a text of the format, if anything.
func checkFormat(format, text string) string {
	switch format {
	case formatRecipient:
		if _, err := gateway.ParseRecipient(text); err != nil {
			return err.Error()
		}
	case formatPhone:
		if _, ok := gateway.ParseNumber(text); !ok {
			return explainNumber(text, "must be a phone number with country code (7 to 15 digits)")
		}
	case formatNumber:
		if _, ok := parseCheckedNumber(text); !ok {
			return explainNumber(text, "must be a phone number with country code (7 to 15 digits) or a personal chat ID ending in @"+gateway.PersonalSuffix)
		}
	case formatMedia:
		return checkMedia(text)
	case formatEmoji:
		if text != "" && !isEmoji(text) {
			return "must be one emoji, or empty"
		}
	}
	return ""
}

// explainNumber says why a text is no number: what is usual, unless the text is a
// number as it is dialled within a country.
func explainNumber(text, usual string) string {
	if _, err := gateway.ParseRecipient(text); err != nil && err.Error() != gateway.ErrRecipient.Error() {
		return err.Error()
	}
	return usual
}

// parseCheckedNumber reads a number to be looked up: a phone number or a
// personal chat ID, into digits.
func parseCheckedNumber(text string) (string, bool) {
	recipient, err := gateway.ParseRecipient(text)
	if err != nil {
		return "", false
	}
	if recipient.Chat == "" {
		return recipient.Number, true
	}
	return recipient.Chat.User(), recipient.Chat.IsPersonal()
}

// checkMedia says what is wrong with a media input as it stands: whether the file
// behind it can be had, and is of the right kind, is for the use case to say.
func checkMedia(text string) string {
	const scheme = "data:"
	if len(text) >= len(scheme) && strings.EqualFold(text[:len(scheme)], scheme) {
		return checkDataURI(text[len(scheme):])
	}
	address, err := url.Parse(text)
	if err != nil || address.Scheme != "http" && address.Scheme != "https" || address.Hostname() == "" {
		return "must be a data URI (data:<type>;base64,<data>) or an http(s) URL"
	}
	return ""
}

// checkDataURI says what is wrong with what follows "data:".
func checkDataURI(rest string) string {
	const marker = ";base64"
	head, data, found := strings.Cut(rest, ",")
	cut := len(head) - len(marker)
	if !found || cut < 0 || !strings.EqualFold(head[cut:], marker) {
		return "must be a data URI in base64 (data:<type>;base64,<data>)"
	}
	for range 2 { // padding may be left out
		data = strings.TrimSuffix(data, "=")
	}
	if data == "" {
		return "must not be empty"
	}
	// Streamed: the text may be as long as the body limit allows.
	if _, err := io.Copy(io.Discard, base64.NewDecoder(base64.RawStdEncoding, strings.NewReader(data))); err != nil {
		return "must be a data URI whose data is valid base64"
	}
	return ""
}

// checkSegment says what is wrong with a text in a path, if anything: what no
// database can hold, and what names nothing.
func checkSegment(text string) string {
	switch {
	case !utf8.ValidString(text):
		return "must be UTF-8"
	case strings.IndexByte(text, 0) >= 0:
		return "must not contain U+0000"
	case strings.TrimSpace(text) == "":
		return "must not be blank"
	}
	return ""
}
