package body

// textKind says what a byte of a JSON string is.
type textKind int

const (
	textChar  textKind = iota // a character, or the last byte of an escape for one
	textMore                  // a part of an escape
	textEnd                   // the closing quote
	textWrong                 // a byte that no JSON string has
)

// unescaper reads the bytes of a JSON string after its opening quote. The zero
// value is ready.
type unescaper struct {
	escape int // 0: none; 1: after the backslash; 2 to 5: before digits of \u
	code   rune
}

// next takes a byte, and returns the character that ends with it. An escaped
// character beyond ASCII is returned as 0xff, which no text in UTF-8 has.
func (u *unescaper) next(c byte) (byte, textKind) {
	switch {
	case u.escape == 0 && c == '"':
		return 0, textEnd
	case u.escape == 0 && c == '\\':
		u.escape = 1
		return 0, textMore
	case u.escape == 0 && c < ' ':
		return 0, textWrong
	case u.escape == 0:
		return c, textChar
	case u.escape == 1:
		return u.short(c)
	}
	digit := hexDigit(c)
	if digit < 0 {
		u.escape = 0
		return 0, textWrong
	}
	u.code = u.code<<4 | digit
	u.escape++
	if u.escape <= 5 {
		return 0, textMore
	}
	u.escape = 0
	if u.code > 0x7f {
		return 0xff, textChar
	}
	return byte(u.code), textChar //nolint:gosec // it is ASCII
}

// short takes the byte after a backslash.
func (u *unescaper) short(c byte) (byte, textKind) {
	u.escape = 0
	switch c {
	case '"', '\\', '/':
		return c, textChar
	case 'b':
		return '\b', textChar
	case 'f':
		return '\f', textChar
	case 'n':
		return '\n', textChar
	case 'r':
		return '\r', textChar
	case 't':
		return '\t', textChar
	case 'u':
		u.escape, u.code = 2, 0
		return 0, textMore
	}
	return 0, textWrong
}

func hexDigit(c byte) rune {
	switch {
	case '0' <= c && c <= '9':
		return rune(c - '0')
	case 'a' <= c && c <= 'f':
		return rune(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return rune(c-'A') + 10
	}
	return -1
}
