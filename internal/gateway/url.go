package gateway

import (
	"net/url"
	"strings"
	"unicode"
)

// ParseURL reads the address of something in the web as people write it: blanks and characters that
// can't be seen around it are dropped, and what an address can't have, such as blanks, letters with
// accents and a percent sign that escapes nothing, is escaped. It reports whether text is an absolute
// http or https address with a host.
func ParseURL(text string) (address *url.URL, ok bool) {
	host, rest := afterHost(trimURL(text))
	address, err := url.Parse(host + escapedPercents(rest))
	if err != nil || address.Scheme != "http" && address.Scheme != "https" || address.Hostname() == "" {
		return nil, false
	}
	EscapeURL(address)
	return address, true
}

// EscapeURL escapes what the query of an address can't have, as ParseURL does. Those that come from
// others, such as where a server redirects to, need it.
func EscapeURL(address *url.URL) {
	address.RawQuery = escapedPercents(escapedQuery(address.RawQuery))
}

// trimURL drops what is around an address that was copied from somewhere.
func trimURL(text string) string {
	return strings.TrimFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) })
}

// afterHost returns the two parts of an address: up to its host, and what follows.
func afterHost(text string) (host, rest string) {
	begin := strings.Index(text, "://") + len("://")
	if end := strings.IndexAny(text[min(begin, len(text)):], "/?#"); end >= 0 {
		return text[:begin+end], text[begin+end:]
	}
	return text, ""
}

// escapedPercents escapes every percent sign that begins no escape.
func escapedPercents(text string) string {
	var written strings.Builder
	for n, part := range strings.Split(text, "%") {
		switch {
		case n == 0:
		case len(part) >= 2 && isHex(part[0]) && isHex(part[1]):
			written.WriteString("%")
		default:
			written.WriteString("%25")
		}
		written.WriteString(part)
	}
	return written.String()
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// escapedQuery escapes what a query can't have (RFC 3986, section 3.4) and leaves the rest as it is:
// it may be signed.
func escapedQuery(query string) string {
	const hex = "0123456789ABCDEF"
	var escaped strings.Builder
	for _, c := range []byte(query) {
		if c > ' ' && c < 0x7f && !strings.ContainsRune("\"<>\\^`{|}#", rune(c)) {
			escaped.WriteByte(c)
			continue
		}
		escaped.Write([]byte{'%', hex[c>>4], hex[c&15]})
	}
	return escaped.String()
}

// uploadScheme begins a text that names an upload.
const uploadScheme = "upload:"

// UploadID returns the ID in a text that names an upload, upload:<id>, and whether it does.
func UploadID(text string) (id string, is bool) {
	if len(text) < len(uploadScheme) || !strings.EqualFold(text[:len(uploadScheme)], uploadScheme) {
		return "", false
	}
	return text[len(uploadScheme):], true
}
