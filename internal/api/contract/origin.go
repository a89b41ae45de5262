// The address under which clients reach the API, for links in answers.

package contract

import (
	"bytes"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
)

const (
	// OriginMark stands for the API's own address in content that is made once and
	// served to everybody; Origin.Insert replaces it.
	OriginMark = "https://gateway.invalid"
	// usualOrigin is the address for a request that names no usable one.
	usualOrigin = "http://127.0.0.1:8080"
)

// Origin is the address where clients reach the API.
type Origin struct {
	// PublicURL is the address, "https://messages.example.org"; empty means that of
	// each request.
	PublicURL string
	// BehindProxy says that a proxy in front may be trusted about the scheme of a
	// request (X-Forwarded-Proto) and the address of its client (the last of X-Forwarded-For).
	BehindProxy bool
}

// BaseURL returns the address without a slash at the end, and whether links can begin
// with it: a request may name anything as its host.
func (o Origin) BaseURL(request *http.Request) (string, bool) {
	if o.PublicURL != "" {
		return strings.TrimRight(o.PublicURL, "/"), true
	}
	scheme := "http"
	if request.TLS != nil {
		scheme = "https"
	}
	if o.BehindProxy {
		// Of several proxies the client has reached the first.
		first, _, _ := strings.Cut(request.Header.Get("X-Forwarded-Proto"), ",")
		switch forwarded := strings.ToLower(strings.TrimSpace(first)); forwarded {
		case "http", "https":
			scheme = forwarded
		}
	}
	return scheme + "://" + request.Host, isHost(request.Host)
}

// Client is the IP address of who has made a request; empty if it is not known.
func (o Origin) Client(request *http.Request) string {
	if o.BehindProxy {
		// The proxy in front appends whom it talks to; what stands before comes from there.
		all := strings.Split(strings.Join(request.Header.Values("X-Forwarded-For"), ","), ",")
		if last, err := netip.ParseAddr(strings.TrimSpace(all[len(all)-1])); err == nil {
			return last.String()
		}
	}
	host, _, err := net.SplitHostPort(request.RemoteAddr)
	if err != nil {
		return ""
	}
	return host
}

// hostPattern matches a host with or without a port: a name, an IPv4 address, or an
// IPv6 address in brackets. How long it is is counted, which takes a pattern much memory.
var hostPattern = regexp.MustCompile(`^(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9.])?|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?$`)

const maxHost = 253 + len(":65535")

// isHost reports whether a request's Host can stand in a link.
func isHost(host string) bool { return len(host) <= maxHost && hostPattern.MatchString(host) }

// Insert puts the address in the place of every OriginMark.
func (o Origin) Insert(request *http.Request, content []byte) []byte {
	return bytes.ReplaceAll(content, []byte(OriginMark), []byte(o.escaped(request)))
}

// escaped is the address without characters that mean something in HTML, JSON or
// YAML.
func (o Origin) escaped(request *http.Request) string {
	base, usable := o.BaseURL(request)
	if !usable {
		return usualOrigin
	}
	address, err := url.Parse(base)
	if err != nil || !isHost(address.Host) || address.Scheme != "http" && address.Scheme != "https" {
		return usualOrigin
	}
	return address.Scheme + "://" + address.Host + (&url.URL{Path: address.Path}).EscapedPath()
}
