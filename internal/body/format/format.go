// Package format holds the formats of strings that are this API's own: it checks
// texts of a format, and explains the formats in the OpenAPI document and on the
// reference page. It knows nothing of requests.
package format

import (
	"encoding/base64"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/recado-project/recado/internal/gateway"
)

// The names of the formats, as the tag "format" of a field gives them.
const (
	Recipient = "recipient"
	Phone     = "phone"
	Number    = "number"
	Media     = "media"
	Emoji     = "emoji"
)

// Explanation explains a format to people and programs.
type Explanation struct {
	Words   string // its name on the reference page
	Meaning string
	Pattern string // what every text of the format matches; empty for none
}

// Explain returns the explanation of a format, and whether it is one of this API's
// own: the others are explained by the specification of OpenAPI.
func Explain(name string) (Explanation, bool) {
	explanation, own := explanations()[name]
	return explanation, own
}

func explanations() map[string]Explanation {
	return map[string]Explanation{
		Recipient: {
			"phone number or chat ID",
			"a phone number with country code, 7 to 15 digits that don't begin with 0 (blanks, dots, dashes, parentheses and a leading + are dropped; " +
				"a Brazilian mobile number of 11 digits gets its 55), or a chat ID ending in @s.whatsapp.net, @g.us, @newsletter or @lid.", `[0-9]`,
		},
		Phone: {
			"phone number",
			"a phone number with country code, 7 to 15 digits that don't begin with 0; blanks, dots, dashes, parentheses and a leading + are dropped.", `^[^@]*[0-9][^@]*$`,
		},
		Number: {
			"phone number or personal chat ID",
			"a phone number with country code, 7 to 15 digits that don't begin with 0, or a personal chat ID ending in @s.whatsapp.net.", `[0-9]`,
		},
		Media: {
			"data URI, URL or upload",
			"`data:<type>;base64,<data>`, an http(s) URL that the gateway fetches, or `upload:<id>`, a file that was uploaded before.",
			`^([Dd][Aa][Tt][Aa]:|[Uu][Pp][Ll][Oo][Aa][Dd]:|\W*[Hh][Tt][Tt][Pp][Ss]?://)`,
		},
		Emoji: {"one emoji", "one emoji, with its skin tone or joined parts, or nothing.", ""},
	}
}

// Check says what is wrong with a text of the format; empty means nothing is.
func Check(format, text string) string {
	switch format {
	case Recipient:
		if _, err := gateway.ParseRecipient(text); err != nil {
			return err.Error()
		}
	case Phone:
		if _, ok := gateway.ParseNumber(text); !ok {
			return explainNumber(text, "must be a phone number with country code (7 to 15 digits)")
		}
	case Number:
		if _, ok := ParseNumber(text); !ok {
			return explainNumber(text, "must be a phone number with country code (7 to 15 digits) or a personal chat ID ending in @"+gateway.PersonalSuffix)
		}
	case Media:
		return checkMedia(text)
	case Emoji:
		if text != "" && !isEmoji(text) {
			return "must be one emoji, or empty"
		}
	}
	return ""
}

// explainNumber says why a text is no number. A number as it is dialled within a
// country gets an explanation of its own, everything else the usual one.
func explainNumber(text, usual string) string {
	if _, err := gateway.ParseRecipient(text); err != nil && err.Error() != gateway.ErrRecipient.Error() {
		return err.Error()
	}
	return usual
}

// ParseNumber reads a text of the format Number: it returns the digits of a phone
// number or of a personal chat ID, and whether the text is one of these.
func ParseNumber(text string) (string, bool) {
	recipient, err := gateway.ParseRecipient(text)
	if err != nil {
		return "", false
	}
	if recipient.Chat == "" {
		return recipient.Number, true
	}
	return recipient.Chat.User(), recipient.Chat.IsPersonal()
}

// checkMedia says what is wrong with a media input as a text. The use case finds out
// whether the file can be fetched and is of the right kind.
func checkMedia(text string) string {
	const scheme = "data:"
	if len(text) >= len(scheme) && strings.EqualFold(text[:len(scheme)], scheme) {
		return checkDataURI(text[len(scheme):])
	}
	if _, is := gateway.UploadID(text); is {
		return ""
	}
	if _, ok := gateway.ParseURL(text); !ok {
		return "must be a data URI (data:<type>;base64,<data>), an http(s) URL or an upload (upload:<id>)"
	}
	return ""
}

// checkDataURI says what is wrong with the part of a data URI after "data:".
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

// CheckSegment says what is wrong with a segment of a path that is an identifier:
// it must be a text that a database can hold, and not blank. Empty means nothing is.
func CheckSegment(text string) string {
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
