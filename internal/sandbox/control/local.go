// The guard that keeps web pages of other origins away.

package control

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
)

// platformOrigin is the origin that clients of the protocol send, because it is the
// real platform's.
const platformOrigin = "https://web.whatsapp.com"

// Local protects a handler that asks for no key from web pages. A page in a browser
// can send requests to every address of its machine, under the machine's own name,
// or under a name of its author's that resolves to that address.
type Local struct {
	names   []string // in lower case, without a port
	anyIP   bool     // the server listens on every address of the machine
	origins *http.CrossOriginProtection
	now     func() time.Time
	next    http.Handler
}

// NewLocal wraps a handler that is served at listen, a host and a port. names are
// more hosts under which it is reached. Requests for another Host are refused with
// 403, and so are requests from pages of another origin unless they only read.
func NewLocal(next http.Handler, listen string, names []string, now func() time.Time) *Local {
	l := &Local{origins: http.NewCrossOriginProtection(), now: now, next: next}
	if err := l.origins.AddTrustedOrigin(platformOrigin); err != nil {
		panic(err) // it is a constant
	}
	for _, name := range names {
		l.names = append(l.names, strings.ToLower(name))
	}
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		host = listen
	}
	ip, err := netip.ParseAddr(host)
	if l.anyIP = host == "" || err == nil && ip.IsUnspecified(); !l.anyIP {
		l.names = append(l.names, strings.ToLower(host))
	}
	return l
}

// ServeHTTP passes allowed requests on and refuses others.
func (l *Local) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case !l.isOurs(r.Host), isPlatform(hostOf(r.Host)) && !isProtocol(r.URL.Path):
		l.refuse(w, r, "the request is for another host; a name under which this server is reached "+
			"has to be given to it with --allow-host")
	case l.origins.Check(r) != nil, isWebsocket(r) && !l.mayOpen(r):
		l.refuse(w, r, "pages of another origin may not do this")
	default:
		l.next.ServeHTTP(w, r)
	}
}

// isOurs reports whether a Host names this server. Addresses are always its own if
// it listens on all of them, because a page's author controls names but not
// addresses.
func (l *Local) isOurs(hostPort string) bool {
	host := hostOf(hostPort)
	if ip, err := netip.ParseAddr(host); err == nil {
		return l.anyIP || ip.IsLoopback() || slices.Contains(l.names, host)
	}
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || isPlatform(host) || slices.Contains(l.names, host)
}

// hostOf returns the host of a Host header, in lower case.
func hostOf(hostPort string) string {
	host := hostPort
	if name, _, err := net.SplitHostPort(hostPort); err == nil {
		host = name
	}
	return strings.TrimSuffix(strings.ToLower(strings.Trim(host, "[]")), ".")
}

// isProtocol reports whether clients of the protocol use the path.
func isProtocol(path string) bool {
	return path != "/sandbox" && !strings.HasPrefix(path, "/sandbox/") && !strings.HasPrefix(path, "/api/")
}

// isPlatform reports whether a host is the real platform's. Clients of the protocol
// ask for it wherever they are sent, and no web page has this name.
func isPlatform(host string) bool {
	for _, domain := range []string{"whatsapp.com", "whatsapp.net"} {
		if host == domain || strings.HasSuffix(host, "."+domain) {
			return true
		}
	}
	return false
}

// mayOpen reports whether the sender may open a websocket. Browsers send the origin
// of their page.
func (l *Local) mayOpen(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" || origin == platformOrigin {
		return true
	}
	from, err := url.Parse(origin)
	return err == nil && strings.EqualFold(from.Host, r.Host)
}

func isWebsocket(r *http.Request) bool {
	return strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
}

// refuse answers with 403.
func (l *Local) refuse(w http.ResponseWriter, r *http.Request, why string) {
	writeFailure(w, r.URL.Path, l.now(), &failure{status: http.StatusForbidden, code: "FORBIDDEN", message: why})
}
