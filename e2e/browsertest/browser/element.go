// What a person does with the mouse and the keyboard.

package browser

import (
	"context"
	"fmt"

	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// findElement is a function of JavaScript that returns where to click on an element, or why that
// is impossible. The element is the first one that can be seen and has the text. Scripts that
// listen to it are there once the page is loaded.
const findElement = `(root, selector, text) => {
  if (document.readyState !== "complete") return { why: "the page is loading" };
  const all = [...root.querySelectorAll(selector)].filter((e) => e.checkVisibility({ visibilityProperty: true }) && e.innerText.includes(text));
  if (!all.length) return { why: "it can't be seen" };
  const e = all[0];
  if (e.disabled) return { why: "it is disabled" };
  // A part that was exchanged a moment ago is not listened to yet: then a form would leave the
  // page. No person is as fast.
  const heard = window.htmx && e.closest("[hx-get], [hx-post]");
  if (heard && !heard["htmx-internal-data"]?.initHash) return { why: "the page's script does not know it yet" };
  e.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
  const box = e.getClientRects()[0];
  if (!box) return { why: "it has no place" };
  const x = box.left + box.width / 2, y = box.top + box.height / 2;
  const hit = root.elementFromPoint(x, y);
  if (!hit || !(e.contains(hit) || hit.contains(e) && hit.matches("label"))) return { why: "it is covered by " + (hit ? hit.outerHTML.slice(0, 120) : "nothing") };
  window.clickArrived = false;
  root.addEventListener("click", (event) => { window.clickArrived = e.contains(event.target) || event.target.contains(e); }, { once: true, capture: true });
  return { x, y };
}`

// place is what findElement answers.
type place struct {
	X, Y float64
	Why  string
}

// Click clicks on the first visible element that the selector finds.
func (p *Page) Click(selector string) {
	p.tb.Helper()
	p.ClickText(selector, "")
}

// DoubleClick clicks twice on the first visible element that the selector finds, as fast as a hand.
func (p *Page) DoubleClick(selector string) {
	p.tb.Helper()
	p.click(selector, "", 2)
}

// ClickText clicks on the first visible element that the selector finds with the text in it.
func (p *Page) ClickText(selector, text string) {
	p.tb.Helper()
	p.click(selector, text, 1)
}

func (p *Page) click(selector, text string, times int) {
	p.tb.Helper()
	p.retry(fmt.Sprintf("a click on %s %q", selector, text), func(ctx context.Context) (string, error) {
		var at place
		if err := p.evaluate(`(`+findElement+`)(`+p.root+`, `+quoted(selector)+`, `+quoted(text)+`)`, &at).Do(ctx); err != nil || at.Why != "" {
			return at.Why, err
		}
		for n := range times {
			if err := chromedp.MouseClickXY(at.X, at.Y, chromedp.ClickCount(n+1)).Do(ctx); err != nil {
				return "", err
			}
		}
		// A live part may have moved just now: then the click went elsewhere. On the page
		// that a click leads to, nobody has asked for one.
		missed := false
		if err := p.evaluate(`window.clickArrived === false`, &missed).Do(ctx); err == nil && missed {
			return "the click went elsewhere", nil
		}
		return "", nil
	})
}

// Fill puts a text in the place of what is in the field that the selector finds.
func (p *Page) Fill(selector, text string) {
	p.tb.Helper()
	p.retry("the field "+selector, func(ctx context.Context) (string, error) {
		var why string
		err := p.evaluate(`((selector) => {
			const field = `+p.root+`.querySelector(selector);
			if (!field || !field.checkVisibility()) return "it can't be seen";
			if (field.disabled || field.readOnly) return "it can't be written in";
			field.focus();
			field.select();
			return document.activeElement === field ? "" : "it does not take the keys";
		})(`+quoted(selector)+`)`, &why).Do(ctx)
		if err != nil || why != "" {
			return why, err
		}
		if err := input.InsertText(text).Do(ctx); err != nil {
			return "", err
		}
		var is bool
		if err := p.evaluate(p.root+`.querySelector(`+quoted(selector)+`).value === `+quoted(text), &is).Do(ctx); err != nil || !is {
			return "it has another text", err
		}
		return "", nil
	})
}

// Press presses a key, such as "\r" for the one that ends a line.
func (p *Page) Press(key string) {
	p.tb.Helper()
	p.run("the key", chromedp.KeyEvent(key))
}

// Escape is the key that closes what is open.
const Escape = kb.Escape

// Choose chooses the option with that value in the list that the selector finds.
func (p *Page) Choose(selector, value string) {
	p.tb.Helper()
	p.Await(selector)
	p.AwaitTrue(fmt.Sprintf("the option %q of %s", value, selector), `((list, value) => {
		list.focus();
		list.value = value;
		if (list.value !== value) return false;
		list.dispatchEvent(new Event("input", { bubbles: true }));
		list.dispatchEvent(new Event("change", { bubbles: true }));
		return true;
	})(document.querySelector(`+quoted(selector)+`), `+quoted(value)+`)`)
}

// Upload chooses files of this machine in the field that the selector finds.
func (p *Page) Upload(selector string, files ...string) {
	p.tb.Helper()
	p.retry("the file field "+selector, func(ctx context.Context) (string, error) {
		// The object of the page keeps its name. A number of a node loses its meaning whenever
		// chromedp reads the document again, which it does on its own while a page settles.
		var field *runtime.RemoteObject
		if err := p.evaluate(p.root+`.querySelector(`+quoted(selector)+`)`, &field).Do(ctx); err != nil {
			return "", err
		}
		if field.ObjectID == "" {
			return "there is none", nil
		}
		return "", dom.SetFileInputFiles(files).WithObjectID(field.ObjectID).Do(ctx)
	})
}

// awaited waits for a promise.
func awaited(params *runtime.EvaluateParams) *runtime.EvaluateParams {
	return params.WithAwaitPromise(true)
}
