// Whether a text is one emoji.

package format

import (
	"unicode"

	"github.com/rivo/uniseg"
	"go.mau.fi/util/emojirunes"
)

// Characters that emoji are built with.
const (
	joiner       = '\u200d'
	emojiStyle   = '\ufe0f' // "show it as an emoji"
	keycap       = '\u20e3'
	blackFlag    = '\U0001f3f4' // of England, Scotland, Wales, by tags
	firstTag     = '\U000e0020'
	lastTag      = '\U000e007e'
	endOfTags    = '\U000e007f'
	firstSkin    = '\U0001f3fb'
	lastSkin     = '\U0001f3ff'
	firstCountry = '\U0001f1e6' // regional indicators: two make a flag
	lastCountry  = '\U0001f1ff'
)

// isEmoji reports whether text is one emoji, as Unicode's technical standard 51
// builds them: a character, perhaps with a skin tone or the emoji style; several
// of them joined; a flag; a keycap.
func isEmoji(text string) bool {
	// A bound before the text is parsed; the longest emoji have about ten
	// characters.
	const maxBytes = 128
	if len(text) > maxBytes || uniseg.GraphemeClusterCount(text) != 1 {
		return false
	}
	for _, form := range []func(*emojiParser) bool{(*emojiParser).flag, (*emojiParser).keycap, (*emojiParser).joined} {
		p := emojiParser{rest: []rune(text)}
		if form(&p) && len(p.rest) == 0 {
			return true
		}
	}
	return false
}

// emojiParser reads an emoji from its start. Each method takes one part from the
// beginning of the rest, and reports whether it was there.
type emojiParser struct {
	rest []rune
}

func (p *emojiParser) next(in func(rune) bool) bool {
	if len(p.rest) == 0 || !in(p.rest[0]) {
		return false
	}
	p.rest = p.rest[1:]
	return true
}

func (p *emojiParser) take(r rune) bool {
	return p.next(func(c rune) bool { return c == r })
}

func (p *emojiParser) between(first, last rune) bool {
	return p.next(func(c rune) bool { return first <= c && c <= last })
}

func (p *emojiParser) flag() bool {
	for range 2 {
		if !p.between(firstCountry, lastCountry) {
			return false
		}
	}
	return true
}

func (p *emojiParser) keycap() bool {
	if !p.next(isKey) {
		return false
	}
	p.take(emojiStyle)
	return p.take(keycap)
}

func (p *emojiParser) joined() bool {
	for p.element() {
		if !p.take(joiner) {
			return true
		}
	}
	return false
}

// element reads one of the emoji that can be joined.
func (p *emojiParser) element() bool {
	if len(p.rest) == 0 {
		return false
	}
	base := p.rest[0]
	if !p.next(isEmojiCharacter) {
		return false
	}
	switch {
	case unicode.Is(skinned, base) && p.between(firstSkin, lastSkin):
	case base == blackFlag && p.between(firstTag, lastTag):
		for p.between(firstTag, lastTag) {
			continue // the condition has taken it
		}
		return p.take(endOfTags)
	default:
		p.take(emojiStyle)
	}
	return true
}

func isKey(c rune) bool { return '0' <= c && c <= '9' || c == '#' || c == '*' }

// isEmojiCharacter reports whether a character is an emoji by itself. The library has the parts of emoji as
// well, and lacks two signs that are older than emoji.
func isEmojiCharacter(c rune) bool {
	switch {
	case c == '©', c == '®':
		return true
	case c == joiner, c == emojiStyle, c == keycap, c >= firstTag, firstCountry <= c && c <= lastCountry:
		return false
	default:
		return emojirunes.Is(c)
	}
}
