// How every page looks: its console, its width, its colours, its language, its weight.

package browsertest_test

import (
	"encoding/json"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/e2e/browsertest/browser"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// look is a page in one state.
type look struct {
	name, path string
	act        func(p *browser.Page) // what somebody does there first; may be nil
	status     string                // of the page, if it is not 200: the console tells it
}

// maxWeight is what the first visit of a page may fetch, in bytes.
const maxWeight = 150_000

// Every page that has nothing to show looks right.
func TestEmptyPagesLookRight(t *testing.T) {
	t.Parallel()
	w := start(t, testkit.Options{})
	made, err := w.Partner.CreateInstance(t.Context(), client.NewInstance{Name: "Padaria"})
	if err != nil {
		t.Fatal(err)
	}
	nothing := start(t, testkit.Options{})
	one := "/instances/" + made.InstanceID
	w.looks(t, "of an instance", w.owner(), []look{
		{name: "an instance", path: one},
		{name: "no chats", path: one + "/chats"},
		{name: "no groups", path: one + "/groups"},
		{name: "no contacts", path: one + "/contacts"},
		{name: "channels of an instance that is not connected", path: one + "/channels"},
		{name: "the account of an instance that is not connected", path: one + "/account"},
		{name: "an empty queue", path: one + "/queue"},
		{name: "no webhook", path: one + "/webhook"},
		{name: "no deliveries", path: one + "/webhook/deliveries"},
		{name: "no events", path: one + "/events"},
		{name: "no event of a kind", path: one + "/events?kind=message.received"},
		{name: "a code to scan", path: one, act: func(p *browser.Page) {
			if p.Count(".qr") == 0 {
				p.Click(`[hx-post$="/link"]`)
			}
			p.Await(".qr img")
			p.Click("#typing summary")
		}},
	})
	w.looks(t, "of the gateway", w.owner(), []look{
		{name: "nothing found", path: "/instances?search=nada"},
		{name: "no more keys", path: "/keys?page=9"},
		{name: "no webhooks of the account", path: "/webhooks"},
		{name: "a new webhook of the account", path: "/webhooks/new"},
		{name: "no more users", path: "/users?page=9"},
		{name: "no more of the audit", path: "/audit?page=9"},
		{name: "profile", path: "/profile"},
		{name: "not there", path: "/instances/01a1fa84-de19-7bc8-9e51-c104e24cd85b", status: "404"},
	})
	nothing.looks(t, "of a new gateway", nothing.owner(), []look{
		{name: "no instances", path: "/instances"},
		{name: "a new instance", path: "/instances", act: opening(".empty [data-dialog=create]")},
	})
	documents := []look{
		{name: "docs", path: "/docs"},
		{name: "a long document", path: "/docs/guide"},
		{name: "a document of tables", path: "/docs/config"},
		{name: "a document of figures", path: "/docs/performance"},
		{name: "no such document", path: "/docs/nope", status: "404"},
		{name: "a search in the docs", path: "/docs/search?search=webhook"},
		{name: "the list of operations", path: "/docs/api"},
		{name: "an operation", path: "/docs/api/sendText"},
		{name: "an operation with many fields", path: "/docs/api/changeInstance", act: func(p *browser.Page) { p.Await("#try-form") }},
		{name: "an operation that asks first", path: "/docs/api/deleteInstance", act: func(p *browser.Page) {
			p.Click("#try-send")
			p.Await("dialog[open] h2")
		}},
		{name: "the errors of the API", path: "/docs/api/errors"},
		{name: "a search as one types", path: "/docs/webhooks", act: func(p *browser.Page) {
			p.Fill("#docs-search", "message.received")
			p.Await("#docs-found mark")
		}},
	}
	nothing.looks(t, "of documents, inside the dashboard", nothing.owner(), documents)
	nothing.looks(t, "of documents, for strangers", nothing.stranger(), documents)
	nothing.looks(t, "of strangers", nothing.stranger(), []look{
		{name: "sign-in", path: "/signin"},
		{name: "an old link", path: "/welcome?token=old", status: "410"},
		{name: "no phones", path: "/sandbox"},
		{name: "no such phone", path: "/sandbox?left=5511999990102"},
		{name: "a new phone", path: "/sandbox", act: opening(".bar .first")},
	})
}

// Every page that has a thousand things to show looks right.
func TestFullPagesLookRight(t *testing.T) {
	t.Parallel()
	browser.Need(t)
	w, busyID, shopID := full(t)
	busy, shop := "/instances/"+busyID, "/instances/"+shopID
	group := w.Phones.CreateGroup(t, longWord[:100], customerNumber, shopNumber, "5511900001010")
	w.Phones.SendText(t, customerNumber, group.ID, "Bom dia, gente!")
	const chat = customerNumber + "@s.whatsapp.net"
	w.Phones.SetLabel(t, shopNumber, "1", longWord[:100], 3)
	w.Phones.LabelChat(t, shopNumber, chat, "1", true)
	w.Phones.ChangeChat(t, shopNumber, chat, map[string]any{"pinned": true})
	everywhere := w.everywhere(t, "https://"+longWord[:60]+".example.org/"+longWord)
	followed := w.Phones.CreateChannel(t, customerNumber, longWord[:100], "Bom dia, gente!", longWord).ID
	w.Phones.FollowChannel(t, shopNumber, followed, true)
	phone := chatOf(customerNumber, shopNumber)
	inGroup := "/sandbox?" + url.Values{"left": {customerNumber}, "leftChat": {group.ID}}.Encode()
	quick := chatOf(shopNumber, customerNumber) // has few chats
	w.looks(t, "of instances", w.owner(), []look{
		{name: "instances", path: "/instances"},
		{name: "more instances", path: "/instances?page=3"},
		{name: "an instance", path: shop},
		{name: "the actions of an instance", path: shop, act: func(p *browser.Page) { p.Click(".menu summary") }},
		{name: "deleting an instance", path: shop, act: func(p *browser.Page) {
			p.Click(".menu summary")
			p.Click("[data-dialog=delete]")
			p.Await("dialog[open]")
		}},
		{name: "a busy instance", path: busy},
		{name: "chats", path: busy + "/chats"},
		{name: "a chat", path: busy + "/chats?chat=" + customerNumber + "@s.whatsapp.net"},
		{name: "a chat of every kind", path: shop + "/chats?chat=" + customerNumber + "@s.whatsapp.net"},
		{name: "a chat that is arranged", path: shop + "/chats?chat=" + chat, act: func(p *browser.Page) {
			p.Await("#inbox-chats .marks .muted")
			p.Await("#inbox-chats .tag.cut")
			openAbout(p)
			p.Click("#muting summary")
			p.Click("#choosing summary")
		}},
		{name: "groups", path: shop + "/groups", act: func(p *browser.Page) { p.Await("tbody tr") }},
		{name: "a group", path: shop + "/groups/" + group.ID, act: func(p *browser.Page) { p.Await("#members") }},
		{name: "contacts", path: shop + "/contacts", act: func(p *browser.Page) { p.Await("tbody tr") }},
		{name: "a contact", path: shop + "/contacts/" + customerNumber, act: func(p *browser.Page) { p.Await("#contact") }},
		{name: "channels", path: shop + "/channels", act: func(p *browser.Page) { p.Await("tbody tr") }},
		{name: "a channel", path: shop + "/channels/" + followed, act: func(p *browser.Page) { p.Await("#posts") }},
		{name: "the account", path: shop + "/account", act: func(p *browser.Page) { p.Await("#privacy") }},
		{name: "a place to send", path: shop + "/chats", act: func(p *browser.Page) {
			p.Click("[data-dialog=new-message]")
			p.Choose("#kind", "location")
		}},
	})
	w.looks(t, "of events", w.owner(), []look{
		{name: "the queue", path: busy + "/queue"},
		{name: "the end of the queue", path: busy + "/queue?page=40"},
		{name: "cancelling the queue", path: busy + "/queue", act: opening("[data-dialog=cancel-all]")},
		{name: "webhook", path: busy + "/webhook"},
		{name: "one of several webhooks", path: busy + "/webhook", act: func(p *browser.Page) {
			p.ClickText(".flush a.name", "crm.example.org")
			p.AwaitText("dd", "Authorization")
			p.Choose("#headers", "these")
		}},
		{name: "deliveries", path: busy + "/webhook/deliveries", act: func(p *browser.Page) { p.Click("tbody details summary") }},
		{name: "replay", path: busy + "/webhook/deliveries", act: opening("[data-dialog=replay]")},
		{name: "events", path: busy + "/events", act: func(p *browser.Page) {
			p.Click(".events summary")
			p.Await(".events pre")
		}},
		{name: "older events", path: busy + "/events?at=500"},
		{name: "code", path: shop + "/code"},
	})
	w.looks(t, "of the gateway", w.owner(), []look{
		{name: "keys", path: "/keys"},
		{name: "revoking a key", path: "/keys", act: opening("[data-dialog^=revoke]")},
		{name: "a new key", path: "/keys/new", act: func(p *browser.Page) { p.Choose("#scope", "some") }},
		{name: "webhooks of the account", path: "/webhooks", act: func(p *browser.Page) { p.Await("tbody tr") }},
		{name: "a webhook of the account", path: everywhere, act: func(p *browser.Page) { p.Choose("#headers", "these") }},
		{name: "deleting a webhook of the account", path: everywhere, act: opening("[data-dialog=delete]")},
		{name: "users", path: "/users"},
		{name: "a user", path: "/users", act: opening("[data-dialog^=user]")},
		{name: "a new user", path: "/users/new"},
		{name: "audit", path: "/audit"},
		{name: "health", path: "/health"},
	})
	w.looks(t, "of phones", w.stranger(), []look{
		{name: "phones", path: "/sandbox"},
		{name: "phones found", path: "/sandbox", act: func(p *browser.Page) {
			p.Fill("#search", shopNumber)
			p.AwaitTrue("one phone", `document.querySelectorAll(".strip li").length === 1`)
		}},
		{name: "a phone", path: "/sandbox?left=" + customerNumber},
		{name: "a chat on the phone", path: phone},
		{name: "two phones", path: phone + "&right=" + shopNumber + "&rightChat=" + customerNumber + "@s.whatsapp.net"},
		{name: "a group on the phone", path: inGroup},
	})
	w.looks(t, "of dialogs", w.stranger(), []look{
		{name: "sign-in", path: "/signin"},
		{name: "about the group", path: strings.Replace(inGroup, customerNumber, shopNumber, 1), act: opening("#left-chat [data-dialog]")},
		{name: "about the chat", path: quick, act: opening("#left-chat [data-dialog]")},
		{name: "settings of the phone", path: quick, act: opening(`#left-head [hx-get$="` + shopNumber + `"]`)},
		{name: "scanning", path: quick, act: opening(`#left-head [hx-get$="/scan"]`)},
		{name: "a new chat", path: quick, act: opening(`#left-chats .over [hx-get*="/chats/new"]`)},
		{name: "something else", path: quick, act: func(p *browser.Page) {
			opening(`#left-write [hx-get$="/more"]`)(p)
			p.Eval(`document.querySelectorAll("dialog details").forEach((d) => { d.open = true; })`, nil)
		}},
		{name: "a message", path: quick, act: opening("#left-log .tools [hx-get]")},
		{name: "faults", path: "/sandbox", act: opening(`.bar [hx-get$="/faults"]`)},
	})
}

// everywhere makes a webhook of the account, which hears nothing yet, and returns its page.
func (w *world) everywhere(t *testing.T, address string) (path string) {
	t.Helper()
	made, err := w.Partner.CreateAccountWebhook(t.Context(), client.NewWebhook{
		URL: address, IsActive: new(false), Events: []string{"message.received"}, Headers: map[string]string{"Authorization": "Bearer 7f3a"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return "/webhooks/" + made.ID
}

// opening opens a dialog and waits for it.
func opening(selector string) func(p *browser.Page) {
	return func(p *browser.Page) {
		p.Click(selector)
		p.Await("dialog[open] h2")
	}
}

// looks looks at pages in one tab after the other: the browser then knows their scripts.
func (w *world) looks(t *testing.T, name string, p *browser.Page, looks []look) {
	t.Helper()
	english := englishTexts(t)
	translations := slices.Sorted(maps.Keys(english))
	p.WithoutCache()
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		for _, one := range looks {
			t.Run(one.name, func(t *testing.T) { // they have the same tab
				p := p.For(t)
				p.Language("en")
				p.SetSize(1440, 900)
				one.open(t, p)
				weigh(t, p)
				one.look(t, p)
				for _, lang := range translations {
					p.Language(lang)
					p.SetSize(1440, 900)
					one.open(t, p)
					for _, text := range english[lang].left(p, lang) {
						t.Errorf("in %s: %s", lang, text)
					}
					for _, width := range []int64{1440, 820, 390} {
						fits(t, p, width)
					}
				}
			})
		}
	})
}

// weigh fails the test if the page was heavy. The files of messages are as large as people
// have made them. What the page's stream has brought until now is a matter of chance: it
// does not count.
func weigh(t *testing.T, p *browser.Page) {
	t.Helper()
	weight := int64(0)
	for _, request := range p.Requests() {
		if request.Kind != "Media" && request.Kind != "EventSource" && (request.Kind != "Image" || !strings.Contains(request.URL, "/file")) {
			weight += request.Bytes
		}
	}
	if weight > maxWeight || weight < 10_000 {
		t.Errorf("the first visit fetches %d bytes, want %d at most", weight, maxWeight)
	}
	t.Logf("the first visit fetches %d bytes", weight)
}

// open opens the page as it is looked at.
func (l look) open(t *testing.T, p *browser.Page) {
	t.Helper()
	p.Open(l.path)
	if l.act != nil {
		l.act(p)
	}
	for _, problem := range p.Problems() {
		if l.status == "" || !strings.Contains(problem, "status of "+l.status) {
			t.Errorf("in the browser: %s", problem)
		}
	}
}

// look looks at the page in all sizes and colours.
func (l look) look(t *testing.T, p *browser.Page) {
	t.Helper()
	rules := []string{"wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"}
	check := func(how string) {
		t.Helper()
		for _, violation := range p.Violations(rules...) {
			t.Errorf("%s: %s", how, violation)
		}
	}
	fits(t, p, 1440)
	check("light and large")
	names(t, p)
	fits(t, p, 820)
	fits(t, p, 390)
	p.Dark()
	check("dark and small")
	p.Light()
}

// names fails the test if two parts of the page have the same id, or if something names a part
// that is not there: a label that way has no control, or another one's.
func names(t *testing.T, p *browser.Page) {
	t.Helper()
	var wrong []string
	p.Eval(`(() => {
		const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
		const twice = new Set(ids.filter((id, n) => ids.indexOf(id) !== n));
		const lost = [...document.querySelectorAll("label[for]")].filter((label) => !label.control);
		const named = (e, by) => (e.getAttribute(by) ?? "").split(" ").filter((id) => id && !document.getElementById(id));
		const nowhere = ["aria-labelledby", "aria-describedby"].flatMap((by) => [...document.querySelectorAll("[" + by + "]:not(dialog:not([open]))")].flatMap((e) => named(e, by)));
		return [...[...twice].map((id) => "two parts have the id " + id), ...lost.map((label) => "no control for " + label.outerHTML), ...nowhere.map((id) => "no part has the id " + id)];
	})()`, &wrong)
	for _, one := range wrong {
		t.Error(one)
	}
}

// fits fails the test if the page has to be scrolled sideways, and says what sticks out.
func fits(t *testing.T, p *browser.Page, width int64) {
	t.Helper()
	p.SetSize(width, 900)
	var out []string
	p.Eval(`(() => {
		const root = document.documentElement;
		if (root.scrollWidth <= root.clientWidth) return [];
		const cut = (e) => { for (let up = e.parentElement; up && up !== document.body; up = up.parentElement) if (getComputedStyle(up).overflowX !== "visible") return true; return false; };
		return [root.scrollWidth + " > " + root.clientWidth, ...[...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > root.clientWidth + 0.5 && !cut(e)).slice(0, 5).map((e) => e.outerHTML.slice(0, 160))];
	})()`, &out)
	if len(out) > 0 {
		t.Errorf("at %d pixels the page scrolls sideways: %s", width, strings.Join(out, "\n    "))
	}
}

// english are the texts of the pages that have a translation.
type english struct {
	whole   map[string]bool
	pattern []*regexp.Regexp // of those with places for arguments
}

// englishTexts reads the translations of all rooms, and returns what is English by the language it is translated to.
func englishTexts(t *testing.T) map[string]*english {
	t.Helper()
	all := map[string]*english{}
	words := map[string][]string{} // that a language has itself: "Status" is Portuguese, too
	err := filepath.WalkDir(filepath.Join("..", "..", "internal"), func(path string, _ fs.DirEntry, err error) error {
		lang, translation := strings.CutSuffix(filepath.Base(path), ".json")
		if err != nil || !translation || filepath.Base(filepath.Dir(path)) != "locale" {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var texts map[string]string
		if err := json.Unmarshal(content, &texts); err != nil {
			return err
		}
		if all[lang] == nil {
			all[lang] = &english{whole: map[string]bool{}}
		}
		for text, translated := range cases.Sorted(texts) {
			words[lang] = append(words[lang], translated)
			switch {
			case text == translated:
			case strings.Contains(text, "%"):
				places := regexp.MustCompile(`%[sd]`).ReplaceAllString(regexp.QuoteMeta(text), `.+`)
				all[lang].pattern = append(all[lang].pattern, regexp.MustCompile(`^`+places+`$`))
			default:
				all[lang].whole[text] = true
			}
		}
		return nil
	})
	if err != nil || len(all) < 2 {
		t.Fatalf("%d languages: %v", len(all), err)
	}
	for lang, own := range cases.Sorted(words) {
		for _, word := range own {
			delete(all[lang].whole, word)
		}
	}
	return all
}

// left returns the English texts on a page in another language. What an endpoint, the platform or
// the program's own refusals say is marked as English, and may be, and so may the program's words in code.
func (e *english) left(p *browser.Page, lang string) (found []string) {
	var page struct {
		Lang  string
		Texts []string
	}
	p.Eval(`(() => {
		const texts = document.querySelector("main [lang=en]") ? [] : [document.title.split(" · ")[0]];
		const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT, (n) =>
			n.nodeType === Node.ELEMENT_NODE && n.matches("script, pre, code, [lang=en]") ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT);
		while (walker.nextNode()) {
			const n = walker.currentNode;
			if (n.nodeType === Node.TEXT_NODE) texts.push(n.data.trim());
			else for (const name of ["aria-label", "title", "placeholder", "alt", "data-text"]) if (n.hasAttribute(name)) texts.push(n.getAttribute(name).trim());
		}
		return { Lang: document.documentElement.lang, Texts: texts.filter((text) => text) };
	})()`, &page)
	if page.Lang != lang {
		found = append(found, "the page says that it is in "+page.Lang)
	}
	for _, text := range page.Texts {
		if text == firstUser { // the name of a person, who has the name of a role
			continue
		}
		is := e.whole[text]
		for _, pattern := range e.pattern {
			is = is || pattern.MatchString(text)
		}
		if is {
			found = append(found, text)
		}
	}
	return found
}

// firstUser is the name of the first user.
const firstUser = "owner"

// A chart is painted anew when the colours of the page change.
func TestChartFollowsTheColours(t *testing.T) {
	t.Parallel()
	w := start(t, testkit.Options{})
	id := w.Link(t, shopNumber)
	w.Phones.SendText(t, customerNumber, shopNumber, "Oi!")
	p := w.owner()
	p.Open("/instances/" + id)
	p.Await(".chart canvas")
	p.Eval(`void (window.painted = () => document.querySelector(".chart canvas")?.toDataURL())`, nil)
	p.Eval(`void (window.before = painted())`, nil)
	p.Dark()
	p.AwaitTrue("another picture of the chart", `painted() && painted() !== window.before`)
}

// Words that a page says are those of its language, also where something goes wrong.
func TestRefusalsAreTranslated(t *testing.T) {
	t.Parallel()
	w := start(t, testkit.Options{})
	p := w.stranger()
	p.Language("pt-BR")
	p.Open(w.ownersLink())
	p.AwaitPath("/instances")
	p.Open("/instances/" + w.Link(t, shopNumber) + "/chats")
	p.Click("[data-dialog=new-message]")
	p.Fill("#to", "nobody")
	p.Fill("#text", "Oi")
	p.ClickText("#new-message button", "Enviar")
	p.AwaitText("#to + .wrong", "Deve ser um número")
	for _, problem := range p.Problems() {
		if !strings.Contains(problem, http.StatusText(http.StatusBadRequest)) && !strings.Contains(problem, "Response Status Error Code 400") {
			t.Errorf("in the browser: %s", problem)
		}
	}
}
