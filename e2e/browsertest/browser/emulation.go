// What the browser pretends to be: its size, its colours, its language, its key ring.

package browser

import (
	"context"
	"fmt"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"
)

// prepare makes a tab the same on every machine. It has the focus, as the only tab of a
// person would, and may use the clipboard.
func (c *chromium) prepare(session cdp.BrowserContextID) chromedp.Action {
	return chromedp.Tasks{
		network.Enable(),
		emulation.SetFocusEmulationEnabled(true),
		emulation.SetTimezoneOverride("America/Sao_Paulo"),
		emulation.SetDeviceMetricsOverride(1440, 900, 1, false),
		emulation.SetUserAgentOverride(c.agent).WithAcceptLanguage("en"),
		colours("light"),
		chromedp.ActionFunc(func(ctx context.Context) error {
			return browser.GrantPermissions([]browser.PermissionType{browser.PermissionTypeClipboardReadWrite, browser.PermissionTypeClipboardSanitizedWrite}).
				WithBrowserContextID(session).Do(cdp.WithExecutor(ctx, chromedp.FromContext(ctx).Browser))
		}),
	}
}

func colours(scheme string) chromedp.Action {
	// Without motion, a picture or a look at colours never catches a page on its way.
	return emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	})
}

// SetSize makes the tab as large as that, in CSS pixels, and waits until the page has
// arranged itself.
func (p *Page) SetSize(width, height int64) {
	p.tb.Helper()
	p.run("the size", emulation.SetDeviceMetricsOverride(width, height, 1, false))
	p.AwaitTrue(fmt.Sprintf("a width of %d", width), fmt.Sprintf("innerWidth === %d", width))
	// What watches sizes is told with a frame, and draws with the next one.
	p.Eval(`new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`, nil)
}

// Light makes pages light, as they are at first.
func (p *Page) Light() {
	p.tb.Helper()
	p.run("light colours", colours("light"))
}

// Dark makes pages dark.
func (p *Page) Dark() {
	p.tb.Helper()
	p.run("dark colours", colours("dark"))
}

// Language makes the browser ask for pages in that language; English at first.
func (p *Page) Language(tag string) {
	p.tb.Helper()
	p.run("the language", emulation.SetUserAgentOverride(p.browser.agent).WithAcceptLanguage(tag))
}

// AddAuthenticator gives the tab a device that keeps passkeys and says yes to everything.
func (p *Page) AddAuthenticator() {
	p.tb.Helper()
	p.run("a device for passkeys", webauthn.Enable(), chromedp.ActionFunc(func(ctx context.Context) (err error) {
		p.authenticator, err = webauthn.AddVirtualAuthenticator(&webauthn.VirtualAuthenticatorOptions{
			Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportInternal,
			HasResidentKey: true, HasUserVerification: true, IsUserVerified: true, AutomaticPresenceSimulation: true,
		}).Do(ctx)
		return err
	}))
}

// Verifies lets the person at the tab's device be the one that it belongs to, as at first,
// or somebody else, whom it refuses.
func (p *Page) Verifies(verifies bool) {
	p.tb.Helper()
	p.run("a device for passkeys", webauthn.SetUserVerified(p.authenticator, verifies))
}

// WithoutCache makes every visit the first one: nothing that was fetched before is used
// again.
func (p *Page) WithoutCache() {
	p.tb.Helper()
	p.run("an empty cache", network.SetCacheDisabled(true))
}
