// The proxy of an instance: its URL, and why a connection through it failed.

package gateway

import (
	"errors"
	"log/slog"
	"net"
	"net/url"
	"strconv"
	"strings"
	"unicode"
)

// Proxy is the URL of the proxy through which an instance reaches the platform, with its
// credentials; empty where there is none. ParseProxy makes one. Printed and logged it is
// masked.
type Proxy string

const (
	maxProxy = 2_048
	// maxCredential is the longest user name or password of SOCKS.
	maxCredential = 255
	// hidden stands where the password is.
	hidden = "***"
)

// The schemes of proxies. With socks5 names are looked up here, with all others by the
// proxy.
const (
	ProxySOCKS      = "socks5"
	ProxySOCKSNames = "socks5h"
	ProxyHTTP       = "http"
	ProxyHTTPS      = "https"
)

// proxyPort is the port of a URL that names none; false for a scheme that no proxy has.
func proxyPort(scheme string) (string, bool) {
	switch scheme {
	case ProxySOCKS, ProxySOCKSNames:
		return "1080", true
	case ProxyHTTP:
		return "80", true
	case ProxyHTTPS:
		return "443", true
	default:
		return "", false
	}
}

// ParseProxy reads the URL of a proxy: socks5, socks5h, http or https, a host, and at most
// a port, a user name and a password beside it. The result names its port. The error says
// what is wrong in words that follow the name of the field, and holds nothing of the text.
func ParseProxy(text string) (Proxy, error) {
	if len(text) > maxProxy {
		return "", errors.New("is too long")
	}
	text = trimURL(text)
	address, err := url.Parse(text)
	if err != nil { // which quotes the text, with its password
		return "", errors.New("must be a URL such as socks5h://user:password@proxy.example.org:1080; write special characters of the password as %XX")
	}
	standard, known := proxyPort(address.Scheme)
	host, port := address.Hostname(), address.Port()
	switch {
	case !known:
		return "", errors.New("must begin with socks5://, socks5h://, http:// or https://")
	case address.Opaque != "" || !isHost(host):
		return "", errors.New("must name the host of the proxy")
	case address.Path != "" && address.Path != "/", address.RawQuery != "", address.ForceQuery, address.Fragment != "", strings.Contains(text, "#"):
		return "", errors.New("must have nothing after the host and the port")
	}
	if port == "" {
		port = standard
	}
	if number, err := strconv.ParseUint(port, 10, 16); err != nil || number == 0 {
		return "", errors.New("must name a port from 1 to 65535")
	}
	if err := checkCredentials(address); err != nil {
		return "", err
	}
	made := url.URL{Scheme: address.Scheme, User: address.User, Host: net.JoinHostPort(host, port)}
	return Proxy(made.String()), nil
}

// isHost reports whether text can be the name of a host, or is an address.
func isHost(text string) bool {
	if strings.Contains(text, ":") {
		return net.ParseIP(text) != nil
	}
	return text != "" && !strings.ContainsFunc(text, isUnfitForHost)
}

// isUnfitForHost reports whether no host name and no address has that character.
func isUnfitForHost(r rune) bool {
	return r > unicode.MaxASCII || unicode.IsControl(r) || unicode.IsSpace(r) || strings.ContainsRune(`/\?#@"<>|^{}`+"`%", r)
}

// checkCredentials refuses those that the protocol of the proxy can't carry.
func checkCredentials(address *url.URL) error {
	if address.User == nil {
		return nil
	}
	name := address.User.Username()
	password, _ := address.User.Password()
	switch {
	case name == "":
		return errors.New("must have a user name before the password")
	case password == hidden:
		return errors.New("must hold the password itself, not " + hidden)
	case len(name) > maxCredential || len(password) > maxCredential:
		return errors.New("must have a user name and a password of 255 bytes at most")
	case strings.ContainsFunc(name+password, unicode.IsControl):
		return errors.New("must have no control characters in the user name and the password")
	case (address.Scheme == ProxyHTTP || address.Scheme == ProxyHTTPS) && strings.Contains(name, ":"):
		return errors.New("must have no colon in the user name: HTTP can't tell it from the one before the password")
	default:
		return nil
	}
}

// URL is the proxy's URL with its credentials; nil where there is none.
func (p Proxy) URL() *url.URL {
	address, err := url.Parse(string(p))
	if p == "" || err != nil {
		return nil
	}
	return address
}

// Masked is the URL with *** in place of the password; empty where there is no proxy.
func (p Proxy) Masked() string {
	address := p.URL()
	if address == nil {
		return ""
	}
	password, set := address.User.Password()
	if !set || password == "" {
		return string(p)
	}
	user := url.User(address.User.Username()).String()
	return address.Scheme + "://" + user + ":" + hidden + "@" + address.Host
}

// String is Masked, so that no text that is made of an instance has the password.
func (p Proxy) String() string { return p.Masked() }

// LogValue hides the password.
func (p Proxy) LogValue() slog.Value { return slog.StringValue(p.Masked()) }

// ProxyError says at which step a connection through the proxy of an instance failed.
type ProxyError struct {
	Reason Reason // ReasonProxyUnreachable, ReasonProxyAuth or ReasonProxyPlatform
	Err    error  // holds no credentials
}

// Error returns the step and its cause.
func (e *ProxyError) Error() string { return string(e.Reason) + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *ProxyError) Unwrap() error { return e.Err }

// ErrProxyForbidden is in the chain of an error if the proxy has an address to which the
// gateway does not connect: a private one, unless the operator allows them.
var ErrProxyForbidden = errors.New("gateway: the proxy's address is not allowed")

// IsProxy reports whether the reason is that the proxy of the instance fails.
func (r Reason) IsProxy() bool {
	return r == ReasonProxyUnreachable || r == ReasonProxyAuth || r == ReasonProxyPlatform
}
