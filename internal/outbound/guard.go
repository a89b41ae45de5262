// Package outbound is shared by all requests to addresses that others have chosen, such
// as the URLs of webhooks and media: the guard that keeps them out of private networks,
// and the explanation of why a request failed.
package outbound

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"syscall"

	"code.dny.dev/ssrf"
)

// cloudPrefixes are public addresses at which a cloud gives its own machines services
// and secrets. Most clouds use private addresses for that, which are denied anyway.
func cloudPrefixes() []netip.Prefix {
	return []netip.Prefix{
		netip.MustParsePrefix("168.63.129.16/32"), // Azure: the host of the virtual machine
		netip.MustParsePrefix("161.26.0.0/16"),    // IBM Cloud: services of the infrastructure
		netip.MustParsePrefix("166.8.0.0/14"),     // IBM Cloud: endpoints of services
	}
}

// ErrForbidden is the error for an address that the guard does not allow.
var ErrForbidden = errors.New("outbound: the address is not allowed")

// Guard decides to which addresses the program may connect. It is safe for concurrent
// use. A nil guard allows all addresses.
type Guard struct {
	guardian *ssrf.Guardian
}

// NewGuard makes a guard that allows public addresses except those in denied, and also
// the IPv4 addresses in allowed, whether they are public or not.
func NewGuard(denied []netip.Prefix, allowed ...netip.Prefix) *Guard {
	denied = slices.Concat(cloudPrefixes(), denied)
	v4 := func(p netip.Prefix) bool { return p.Addr().Is4() }
	v6 := func(p netip.Prefix) bool { return !v4(p) }
	return &Guard{guardian: ssrf.New(
		ssrf.WithAnyPort(),
		ssrf.WithDeniedV4Prefixes(slices.DeleteFunc(slices.Clone(denied), v6)...),
		ssrf.WithDeniedV6Prefixes(slices.DeleteFunc(slices.Clone(denied), v4)...),
		ssrf.WithAllowedV4Prefixes(allowed...),
	)}
}

// Control is the Control function of a net.Dialer. It sees the address that is dialled,
// so a name can't resolve to another address afterwards, and redirects are checked too.
// Its error is ErrForbidden.
func (g *Guard) Control(network, address string, conn syscall.RawConn) error {
	if g == nil {
		return nil
	}
	if err := g.guardian.Safe(network, address, conn); err != nil {
		return fmt.Errorf("%w: %w", ErrForbidden, err)
	}
	return nil
}

// Allows reports whether an address may be connected to.
func (g *Guard) Allows(address netip.Addr) bool {
	return g == nil || g.guardian.SafeAddr(address) == nil
}

// ParsePrefixes reads prefixes (203.0.113.0/24) and single addresses. Its error quotes
// the text that is neither.
func ParsePrefixes(texts []string) ([]netip.Prefix, error) {
	prefixes := make([]netip.Prefix, 0, len(texts))
	for _, text := range texts {
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			address, addressErr := netip.ParseAddr(text)
			if addressErr != nil {
				return nil, fmt.Errorf("%q is neither an address nor a prefix such as 203.0.113.0/24", text)
			}
			prefix = netip.PrefixFrom(address, address.BitLen())
		}
		prefixes = append(prefixes, prefix.Masked())
	}
	return prefixes, nil
}
