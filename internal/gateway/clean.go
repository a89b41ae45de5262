// Cleaning of data from the platform: bounds, invisible characters, impossible times.

package gateway

import (
	"crypto/sha256"
	"encoding/hex"
	"mime"
	"path"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Bounds of the data from the platform. The messenger's own clients write nothing
// longer.
const (
	MaxText = 65_536 // characters of a text, as for one that is sent
	MaxName = 256    // characters of a name: of a person, a group, a place
	MaxID   = 255    // bytes of an identifier
	// MaxListed bounds how many items of a list are read: the participants of a
	// change, the people that a message mentions, its contact cards.
	MaxListed = 1024
	// maxURL bounds the URL of a picture in characters.
	maxURL = 2048
)

// CleanText makes foreign text safe to keep and to pass on: it is valid UTF-8, it
// has no U+0000, which PostgreSQL can't hold, and at most limit characters. Clean text is
// returned as it is.
func CleanText(text string, limit int) string {
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, string(utf8.RuneError))
	}
	text = strings.ReplaceAll(text, "\x00", "")
	if len(text) <= limit {
		return text
	}
	for at := range text {
		if limit == 0 {
			return text[:at]
		}
		limit--
	}
	return text
}

// CleanName is CleanText for one line that people read. It also removes control
// characters, and those that change the direction of the text around it.
func CleanName(name string) string {
	name = CleanText(name, MaxText)
	if strings.ContainsFunc(name, isInvisible) {
		name = strings.Map(func(r rune) rune {
			if isInvisible(r) {
				return -1
			}
			return r
		}, name)
	}
	return CleanText(strings.TrimSpace(name), MaxName)
}

// HasInvisible reports whether a name has characters that CleanName removes: nobody sees them, and they
// change how the text around them looks.
func HasInvisible(name string) bool { return strings.ContainsFunc(name, isInvisible) }

func isInvisible(r rune) bool {
	return unicode.IsControl(r) || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069'
}

// CleanID makes a foreign identifier safe to keep and to look for: valid UTF-8
// without control characters, of at most MaxID bytes. A clean one is returned as it is;
// any other is replaced by a part of it and a hash of the whole, so that different
// identifiers stay different.
func CleanID(id string) string {
	if len(id) <= MaxID && utf8.ValidString(id) && !strings.ContainsFunc(id, unicode.IsControl) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	kept := strings.Map(func(r rune) rune {
		if r == utf8.RuneError || unicode.IsControl(r) {
			return -1
		}
		return r
	}, id[:min(len(id), MaxID/2)])
	return kept + "~" + hex.EncodeToString(sum[:16])
}

// maxFileName is the longest file name in bytes that file systems accept.
const maxFileName = 255

// CleanFileName makes a foreign file name safe to show and to save under: no
// folders, nothing invisible, of a length that file systems accept. It is empty if nothing
// is left.
func CleanFileName(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r == '/' || r == '\\':
			return '_'
		case r == utf8.RuneError || isInvisible(r):
			return -1
		default:
			return r
		}
	}, name)
	name = strings.TrimSpace(name)
	if name == "." || name == ".." {
		return ""
	}
	if len(name) <= maxFileName {
		return name
	}
	// The extension says what the file is, so only the rest is shortened.
	suffix := path.Ext(name)
	if len(suffix) > maxFileName/2 {
		suffix = ""
	}
	stem := name[:maxFileName-len(suffix)]
	for !utf8.ValidString(stem) {
		stem = stem[:len(stem)-1]
	}
	return stem + suffix
}

// anyFile is the media type of a file of unknown content.
const anyFile = "application/octet-stream"

// CleanMimeType returns a foreign media type with its parameters if it is valid and has
// only visible characters, else the type of a file of unknown content.
func CleanMimeType(mimeType string) string {
	base, parameters, err := mime.ParseMediaType(mimeType)
	invisible := func(r rune) bool { return r < ' ' || r > '~' }
	if err != nil || !strings.Contains(base, "/") || len(mimeType) > MaxID || strings.ContainsFunc(mimeType, invisible) {
		return anyFile
	}
	if written := mime.FormatMediaType(base, parameters); written == "" {
		return anyFile
	}
	return mimeType
}

// CleanTime returns a foreign time if it can be true: not before the messenger existed, and
// at most a day ahead of now. Otherwise it returns now.
func CleanTime(at, now time.Time) time.Time {
	if at.Year() < 2009 || at.After(now.AddDate(0, 0, 1)) {
		return now
	}
	return at
}

// CleanURL returns a foreign URL if it is short enough and clean, else none: a part
// of a URL would lead nowhere.
func CleanURL(url string) string {
	if cleaned := CleanText(url, maxURL); cleaned == url {
		return url
	}
	return ""
}

// cleaned returns somebody with a clean name. The addresses were cleaned when they were translated.
func (p Party) cleaned() Party {
	p.Name = CleanName(p.Name)
	return p
}
