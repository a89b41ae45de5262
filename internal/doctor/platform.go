// The way to the platform, directly and through the proxies of instances.

package doctor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/outbound"
	"github.com/recado-project/recado/internal/store/readonly"
	"github.com/recado-project/recado/internal/whatsapp"
	"github.com/recado-project/recado/internal/whatsapp/transport"
)

// platform says whether the platform can be reached, and passes its clock on.
func (e *examination) platform(ctx context.Context) []Finding {
	const name = "platform"
	var told clocked
	defer func() { e.platformClock <- told }()
	address := e.config.Server.Platform.PlatformURL
	client, err := transport.NewClient(address)
	if err != nil {
		return []Finding{wrong(name, "correct --platform-url", "%s", err)}
	}
	defer client.CloseIdleConnections()
	if address == "" {
		address = "the messenger's own"
	}
	clock, err := transport.Handshake(ctx, client)
	told = clocked{there: clock, here: e.config.Now(), known: !clock.IsZero()}
	if err != nil {
		do := "let this machine make connections to web.whatsapp.com and *.whatsapp.net, port 443; see whether names are resolved and whether a firewall is in between"
		if e.config.Server.Platform.PlatformURL != "" {
			do = "see whether it runs there, and whether --platform-url is right"
		}
		if through := os.Getenv("HTTPS_PROXY") + os.Getenv("https_proxy"); through != "" && e.config.Server.Platform.PlatformURL == "" {
			do += "; HTTPS_PROXY is set, and connections go through that"
		}
		return []Finding{wrong(name, do, "%s can't be reached: %s", address, err)}
	}
	root := whatsapp.TrustedRoot(e.config.Server.Platform)
	switch err := transport.Prove(ctx, client, root); {
	case errors.Is(err, transport.ErrOtherRoot):
		return []Finding{wrong(name, "give --platform-key the key that this platform signs with; recado sandbox prints its own, and the messenger's needs none",
			"%s answers, and its certificate is signed with another key than --platform-key: no session connects", address)}
	case err != nil:
		return []Finding{wrong(name, "see whether a proxy or a firewall in between lets websockets through", "%s answers, and the handshake does not go on: %s", address, err)}
	}
	return []Finding{ok(name, "%s answers, and has proven that it is the platform; nobody was logged in", address)}
}

const (
	// maxProxies is how many proxies are tried, proxiesAtOnce how many at a time.
	maxProxies, proxiesAtOnce = 200, 32
	// maxNamed is how many of a kind are named one by one.
	maxNamed = 10
)

// proxies says whether the platform can be reached through the proxies of instances.
func (e *examination) proxies(ctx context.Context) []Finding {
	const name = "proxies"
	switch {
	case e.database == nil || e.version == 0:
		return e.unopened(name)
	case e.vault == nil:
		return []Finding{warning(name, "see to the master key first", "not looked at: their addresses are sealed")}
	}
	found, err := e.database.Proxies(ctx, e.vault)
	if err != nil {
		return []Finding{warning(name, "see to the database first", "not looked at: %s", err)}
	}
	if len(found) == 0 {
		return []Finding{ok(name, "no instance has one")}
	}
	tried := found[:min(len(found), maxProxies)]
	failures := e.tryProxies(ctx, tried)
	var findings []Finding
	failed := 0
	for i, failure := range failures {
		if failure == nil {
			continue
		}
		failed++
		if failed <= maxNamed {
			findings = append(findings, wrong(name, proxyAdvice(failure), "%s, of %d instances: %s", tried[i].Proxy.Masked(), tried[i].Instances, proxyFailure(failure)))
		}
	}
	if failed > maxNamed {
		findings = append(findings, wrong(name, "", "%d more fail", failed-maxNamed))
	}
	rest := ""
	if len(found) > len(tried) {
		rest = fmt.Sprintf("; %d more were not tried", len(found)-len(tried))
	}
	if good := len(tried) - failed; good > 0 {
		findings = append(findings, ok(name, "%d of %d lead to the platform%s", good, len(tried), rest))
	}
	return findings
}

// tryProxies returns why each proxy does not lead to the platform; nil if it does.
func (e *examination) tryProxies(ctx context.Context, tried []readonly.Through) []error {
	var guard transport.Guard
	if !e.config.Server.AllowPrivateURLs {
		guard = outbound.NewGuard(e.config.Server.DenyFetch).Control
	}
	failures := make([]error, len(tried))
	places := make(chan struct{}, proxiesAtOnce)
	var group sync.WaitGroup
	for i, one := range tried {
		places <- struct{}{}
		group.Go(func() {
			defer func() { <-places }()
			failures[i] = tryProxy(ctx, e.config.Server.Platform.PlatformURL, one.Proxy, guard)
		})
	}
	group.Wait()
	return failures
}

func tryProxy(ctx context.Context, platform string, proxy gateway.Proxy, guard transport.Guard) error {
	var client *http.Client
	client, err := transport.NewProxyClient(platform, proxy, guard)
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	_, err = transport.Handshake(ctx, client)
	return err
}

func proxyFailure(err error) string {
	failed, ok := errors.AsType[*gateway.ProxyError](err)
	switch {
	case errors.Is(err, gateway.ErrProxyForbidden):
		return "its address is a private one, which is not allowed"
	case !ok:
		return "the platform does not answer through it: " + err.Error()
	case failed.Reason == gateway.ReasonProxyAuth:
		return "it refuses the user name or the password"
	case failed.Reason == gateway.ReasonProxyPlatform:
		return "it does not reach the platform: " + failed.Err.Error()
	}
	return "it can't be reached: " + failed.Err.Error()
}

func proxyAdvice(err error) string {
	if errors.Is(err, gateway.ErrProxyForbidden) {
		return "set --allow-private-urls, or give the instances a proxy with a public address"
	}
	return "ask who runs the proxy, or give the instances another: recado instances set --proxy"
}
