// The settings: whether a gateway starts with them, and which of them are risky.

package doctor

import (
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/recado-project/recado/internal/messaging"
)

func (e *examination) settings() []Finding {
	const name = "settings"
	findings := slices.Clone(e.config.Settings)
	s := e.config.Server
	if s.KeepMessages != 0 && s.KeepMessages < messaging.MinKeepMessages {
		findings = append(findings, wrong(name, "use 25h or more, or 0 for ever", "--keep-messages is %s", s.KeepMessages))
	}
	if s.Listen != "" && s.Listen == s.AdminListen {
		findings = append(findings, wrong(name, "give them different ports", "--listen and --admin-listen are both %s", s.Listen))
	}
	for _, doubt := range []struct {
		is        bool
		found, do string
	}{
		{
			!s.BehindProxy && !IsLoopback(s.Listen),
			"--listen " + s.Listen + " is reachable from other machines, without TLS", "put a proxy in front and set --behind-proxy, or listen at 127.0.0.1",
		},
		{
			!IsLoopback(s.AdminListen),
			"--admin-listen " + s.AdminListen + " is reachable from other machines, and asks for no password", "keep strangers away from it with a firewall, or listen at 127.0.0.1",
		},
		{
			s.BehindProxy && s.PublicURL == "",
			"--behind-proxy without --public-url: links in answers begin with the Host that a request names", "set --public-url to the address of the proxy",
		},
		{
			strings.HasPrefix(s.PublicURL, "http://") && !isLocal(s.PublicURL),
			"--public-url begins with http://: API keys and messages go over the network for everybody to read", "let a proxy provide TLS, and write https://",
		},
		{
			s.AllowPrivateURLs,
			"--allow-private-urls: whoever has an API key can make the gateway talk to machines of your network", "leave it out, except on a machine for trying things out",
		},
	} {
		if doubt.is {
			findings = append(findings, warning(name, doubt.do, "%s", doubt.found))
		}
	}
	if len(findings) == 0 {
		findings = append(findings, ok(name, "they are valid, and none is risky"))
	}
	return findings
}

// IsLoopback reports whether only this machine can reach a listening address. It returns true for one that is
// wrong or not set, which nobody can reach.
func IsLoopback(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	if err != nil || host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// isLocal reports whether a web address is one of this machine.
func isLocal(address string) bool {
	parsed, err := url.Parse(address)
	return err == nil && IsLoopback(net.JoinHostPort(parsed.Hostname(), "80"))
}
