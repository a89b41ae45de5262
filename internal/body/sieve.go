// The sieve takes media out of a JSON body while it is read.

package body

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"strings"
)

const (
	// besideMedia is how many bytes a body may have beside its media.
	besideMedia = 1 << 20
	// maxDataHead bounds the part of a data URI before its data; a data URI with a
	// longer one is left in the JSON.
	maxDataHead = 1 << 10

	// bareHead is how many characters of base64 make a value media without the head of a data URI. A URL
	// and a data URI have a colon before that; what is shorter is no file.
	bareHead = 64

	dataScheme = "data:"
	dataMarker = ";base64"
)

// sieve takes the media out of a JSON body while it comes in, so that a file of
// many megabytes is never a string in memory. Where the one field that may hold
// media has a data URI in base64, its data is decoded into a temporary file and
// replaced by its hash. Everything else passes unchanged: the parser finds out
// whether it is JSON.
type sieve struct {
	field string
	bare  bool // base64 alone is media too
	out   *bytes.Buffer
	temp  string // folder of temporary files

	offset int64 // of the current byte, in the body
	depth  int
	place  sievePlace
	text   unescaper
	key    []byte // the raw text of the last key of the body's object
	ours   bool   // that key is the field's
	head   []byte // of a value of the field, without escapes

	media *inlineMedia // nil: the field holds none
	cuts  []cut
	began int64 // where the current data began
	wrong int64 // number of the first byte of the data that JSON forbids; 0 for none
}

// sievePlace is what the next byte belongs to.
type sievePlace int

const (
	betweenTokens sievePlace = iota
	inText                   // a string that passes
	inKey                    // a key of the body's object
	inHead                   // the field's value, before its data
	inData                   // the data
)

// cut is a place in the JSON where something was taken out.
type cut struct {
	at      int64 // the JSON goes on here
	removed int64 // bytes that are missing before it
}

func newSieve(field string, out *bytes.Buffer, temp string) *sieve {
	return &sieve{field: field, out: out, temp: temp}
}

// write takes the next piece of the body. Its error is TooLarge where too much is
// left beside the media, or one of the temporary file.
func (s *sieve) write(piece []byte) error {
	for len(piece) > 0 {
		n := 1
		var err error
		if s.place == inData {
			n, err = s.data(piece)
		} else {
			err = s.pass(piece[0])
		}
		if err != nil {
			return err
		}
		piece = piece[n:]
		s.offset += int64(n)
	}
	if beside := s.out.Len() - len(s.cuts)*2*sha256.Size; beside > besideMedia {
		return besideTooLarge()
	}
	return nil
}

// pass lets a byte through, and follows the structure of the JSON.
func (s *sieve) pass(c byte) error {
	s.out.WriteByte(c)
	switch s.place {
	case betweenTokens:
		return s.between(c)
	case inKey:
		// Longer than the field with every character escaped: it is another one.
		if s.key = append(s.key, c); len(s.key) > 6*len(s.field)+2 {
			s.key = s.key[:0]
			s.place = inText
		}
		if _, kind := s.text.next(c); kind == textEnd {
			s.place = betweenTokens
			var name string
			s.ours = json.Unmarshal(s.key, &name) == nil && name == s.field
		}
	case inHead:
		return s.headByte(c)
	default:
		if _, kind := s.text.next(c); kind == textEnd {
			s.place = betweenTokens
		}
	}
	return nil
}

// between follows a byte outside of strings.
func (s *sieve) between(c byte) error {
	switch c {
	case '{', '[':
		s.depth++
		s.key = s.key[:0]
	case '}', ']':
		s.depth--
	case ',':
		if s.depth == 1 {
			s.key, s.ours = s.key[:0], false
		}
	case '"':
		s.text = unescaper{}
		switch {
		case s.depth != 1:
			s.place = inText
		case len(s.key) == 0:
			s.key = append(s.key, c)
			s.place = inKey
		case s.ours:
			s.head = s.head[:0]
			s.place = inHead
			return s.drop() // if a name is there twice, the last value counts
		default:
			s.place = inText
		}
	}
	return nil
}

// headByte finds out whether a value of the field is a data URI.
func (s *sieve) headByte(c byte) error {
	char, kind := s.text.next(c)
	switch kind {
	case textEnd:
		s.place = betweenTokens
		return nil
	case textMore:
		return nil
	case textChar:
	case textWrong:
		s.place = inText
		return nil
	}
	if char != ',' {
		if s.head = append(s.head, char); len(s.head) > maxDataHead {
			s.place = inText
		}
		if s.bare && len(s.head) == bareHead && isBase64(s.head) {
			return s.beginBare()
		}
		return nil
	}
	declared, ok := parseDataHead(string(s.head))
	if !ok {
		s.place = inText
		return nil
	}
	s.place, s.began = inData, s.offset+1
	var err error
	s.media, err = newInlineMedia(s.temp, declared)
	return err
}

// beginBare begins data whose first characters are in the head.
func (s *sieve) beginBare() (err error) {
	s.place, s.began = inData, s.offset+1
	if s.media, err = newInlineMedia(s.temp, ""); err != nil {
		return err
	}
	for _, c := range s.head {
		if err := s.media.add(c); err != nil {
			return err
		}
	}
	return nil
}

// isBase64 reports whether a text has only characters of base64, without those of its end.
func isBase64(text []byte) bool {
	return !bytes.ContainsFunc(text, func(r rune) bool {
		return (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '+' && r != '/'
	})
}

// parseDataHead reads the part of a data URI before its comma: the declared type, and
// whether base64 follows.
func parseDataHead(head string) (declared string, ok bool) {
	end := len(head) - len(dataMarker)
	if end < len(dataScheme) || !strings.EqualFold(head[:len(dataScheme)], dataScheme) || !strings.EqualFold(head[end:], dataMarker) {
		return "", false
	}
	return head[len(dataScheme):end], true
}

// data takes the data at the beginning of a piece out of the JSON, and returns how
// many bytes that was.
func (s *sieve) data(piece []byte) (int, error) {
	for i, c := range piece {
		char, kind := s.text.next(c)
		switch kind {
		case textChar:
			if err := s.media.add(char); err != nil {
				return 0, err
			}
		case textMore:
		case textWrong:
			if s.wrong == 0 {
				s.wrong = s.offset + int64(i) + 1
			}
		case textEnd:
			s.place = betweenTokens
			sum, err := s.media.finish()
			if err != nil {
				return 0, err
			}
			s.out.WriteString(sum)
			s.cuts = append(s.cuts, cut{at: int64(s.out.Len()), removed: s.offset + int64(i) - s.began - int64(len(sum))})
			s.out.WriteByte(c)
			return i + 1, nil
		}
	}
	return len(piece), nil
}

// drop removes the media that were taken out.
func (s *sieve) drop() error {
	if s.media == nil {
		return nil
	}
	err := s.media.close()
	s.media = nil
	return err
}

// inBody is the offset in the body of a byte of the JSON.
func (s *sieve) inBody(offset int64) int64 {
	at := offset
	for _, cut := range s.cuts {
		if cut.at < offset {
			at += cut.removed
		}
	}
	if s.place == inData {
		at = s.offset // it ends within the data
	}
	return at
}
