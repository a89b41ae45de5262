// A browser of its own, with an extension.

package browser

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

const extensionScheme = "chrome-extension://"

// Extension is an extension of the browser, and the stand-in for the site that it is for.
type Extension struct {
	Folder      string            // the unpacked extension's
	Host        string            // the site's name, which leads to Address
	Address     string            // host and port on this machine
	Certificate *x509.Certificate // whose key the browser takes for every name
}

// ID is what the browser calls the extension.
func (e Extension) ID() string {
	sum := sha256.Sum256([]byte(filepath.Clean(e.Folder)))
	id := make([]byte, 0, 32)
	for _, b := range sum[:16] {
		id = append(id, 'a'+b>>4, 'a'+b&15)
	}
	return string(id)
}

// Page is the address of a page of the extension.
func (e Extension) Page(name string) string { return extensionScheme + e.ID() + "/" + name }

// WithExtension is New in a browser of its own that has the extension, and is ended with the
// test. Its tabs share their cookies: extensions are not in separate sessions.
func WithExtension(tb testing.TB, base string, extension Extension) *Page {
	tb.Helper()
	program := find(tb)
	key := sha256.Sum256(extension.Certificate.RawSubjectPublicKeyInfo)
	own := &chromium{}
	tb.Cleanup(own.end)
	own.once.Do(func() {
		own.err = own.start(program,
			chromedp.Flag("disable-extensions", false),
			chromedp.Flag("load-extension", extension.Folder), chromedp.Flag("disable-extensions-except", extension.Folder),
			// Chromium still takes the flag above; browsers that are made of it may have to
			// be told so.
			chromedp.Flag("disable-features", "DisableLoadExtensionCommandLineSwitch"),
			chromedp.Flag("host-resolver-rules", "MAP "+extension.Host+":443 "+extension.Address+", "+nothingOutside),
			chromedp.Flag("ignore-certificate-errors-spki-list", base64.StdEncoding.EncodeToString(key[:])),
		)
	})
	if own.err != nil {
		tb.Fatal(own.err)
	}
	p := own.open(tb, base, "")
	p.Allow(extensionScheme + extension.ID())
	p.Allow("https://" + extension.Host)
	return p
}

// EvalInBackground evaluates an expression in the background of the extension, which must be
// awake: it is for some seconds after a page of the extension has asked it for something.
func (p *Page) EvalInBackground(expression string) {
	p.tb.Helper()
	var worker target.ID
	if err := p.browser.ask(func(ctx context.Context) error {
		all, err := target.GetTargets().Do(ctx)
		for _, one := range all {
			if one.Type == "service_worker" && strings.HasPrefix(one.URL, extensionScheme) {
				worker = one.TargetID
			}
		}
		return err
	}); err != nil || worker == "" {
		p.tb.Fatalf("the extension's background %q is not there (%v)", worker, err)
	}
	ctx, leave := chromedp.NewContext(p.browser.ctx, chromedp.WithTargetID(worker))
	p.tb.Cleanup(leave) // it ends the background, which may still be at work
	if err := chromedp.Run(ctx, chromedp.Evaluate(expression, nil, awaited)); err != nil {
		p.fail("the background of the extension", err.Error())
	}
}

// InExtension returns the same tab, as the extension's own script in the page sees it.
// Selectors find what is in root, an expression of its JavaScript.
func (p *Page) InExtension(root string) *Page {
	same := *p
	same.root, same.extension = root, true
	return &same
}
