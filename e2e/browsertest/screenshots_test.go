//go:build screenshots

// Pictures of all pages, with the data of a street of shops in Brazil.

package browsertest_test

import (
	"bytes"
	"encoding/base64"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"net/url"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/e2e/browsertest/browser"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
)

//nolint:gochecknoglobals // flags are
var (
	screenshots = flag.String("screenshots", "", "folder to write the pictures of all pages into")
	language    = flag.String("language", "en", "language of the pages in the pictures")
	pages       = flag.String("pages", "", "regular expression of the names of the pages to take; all, where it is empty")
	whole       = flag.Bool("whole", false, "show pages to their end, for people who look them over")
)

// Customers of the shop.
const (
	anaNumber    = "5511988887766"
	brunoNumber  = "5511977776664"
	celiaNumber  = "5511966665552"
	danielNumber = "5511955554448"
)

// shot is a page to be taken.
type shot struct {
	name, path string
	act        func(p *browser.Page) // may be nil
}

// Pictures of all pages are taken, light and dark: large, small, and as the README shows them.
func TestScreenshots(t *testing.T) {
	t.Parallel()
	if *screenshots == "" {
		t.Fatal("say where the pictures go: -screenshots FOLDER")
	}
	w := start(t, testkit.Options{})
	shop, waiting := w.street(t)
	one := "/instances/" + shop
	group := w.arranged(t)
	everywhere := w.everywhere(t, "https://crm.padaria.example/recado")
	empty, err := w.Partner.CreateInstance(t.Context(), client.NewInstance{Name: "Floricultura Ipê"})
	if err != nil {
		t.Fatal(err)
	}
	none := "/instances/" + empty.InstanceID
	chat := one + "/chats?chat=" + anaNumber + "@s.whatsapp.net"
	row := func(p *browser.Page) { p.Await("tbody tr") }
	p := w.owner()
	w.take(t, p, []shot{
		{"instances", "/instances", nil},
		{"instances-nothing-found", "/instances?search=nada", nil},
		{"instance-new", "/instances", opening("[data-dialog=create]")},
		{"instance", one, func(p *browser.Page) { p.Await(".chart canvas") }},
		{"instance-menu", one, func(p *browser.Page) { p.Click(".menu summary") }},
		{"instance-delete", one, func(p *browser.Page) {
			p.Click(".menu summary")
			p.Click("[data-dialog=delete]")
			p.Await("dialog[open]")
		}},
		{"instance-empty", none, nil},
		{"linking", "/instances/" + waiting, func(p *browser.Page) { p.Await(".qr img") }},
		{"chats", chat, awaitPictures("#inbox-log .picture img")},
		{"chats-message", chat, opening("#inbox-log li:not(.mine) [data-dialog]")},
		{"chats-about", chat, func(p *browser.Page) {
			openAbout(p)
			p.Await("#choosing summary")
			p.Click("#muting summary")
			p.Click("#choosing summary")
		}},
		{"chats-none-open", one + "/chats", nil},
		{"chats-new", one + "/chats", func(p *browser.Page) { p.Click("[data-dialog=new-message]") }},
		{"chats-empty", none + "/chats", nil},
	})
	w.take(t, p, []shot{
		{"contacts", one + "/contacts", row},
		{"contacts-empty", none + "/contacts", nil},
		{"contact", one + "/contacts/" + anaNumber, nil},
		{"account", one + "/account", func(p *browser.Page) { p.Await("#privacy") }},
		{"account-empty", none + "/account", nil},
		{"privacy", one + "/account", func(p *browser.Page) {
			p.Await("#blocks")
			p.Eval(`document.querySelector("#who").scrollIntoView({ block: "end", behavior: "instant" })`, nil)
		}},
		{"groups", one + "/groups", row},
		{"groups-empty", none + "/groups", nil},
		{"group", one + "/groups/" + group, func(p *browser.Page) { p.Await("#members") }},
		{"channels", one + "/channels", row},
		{"channels-empty", none + "/channels", nil},
		{"channel", one + "/channels/" + w.followed(t), row},
		{"queue", one + "/queue", row},
		{"queue-empty", none + "/queue", nil},
		{"webhook", one + "/webhook", nil},
		{"webhook-empty", none + "/webhook", nil},
		{"deliveries", one + "/webhook/deliveries", row},
		{"deliveries-open", one + "/webhook/deliveries", func(p *browser.Page) { p.Click("tbody details summary") }},
		{"deliveries-replay", one + "/webhook/deliveries", opening("[data-dialog=replay]")},
		{"deliveries-empty", none + "/webhook/deliveries", nil},
		{"events", one + "/events", func(p *browser.Page) { p.Await(".events li") }},
		{"events-open", one + "/events", func(p *browser.Page) {
			p.Click(".events summary")
			p.Await(".events pre")
		}},
		{"events-empty", none + "/events?kind=message.received", nil},
		{"code", one + "/code", nil},
		{"keys", "/keys", nil},
		{"keys-revoke", "/keys", opening("[data-dialog^=revoke]")},
		{"key", "/keys/new", nil},
		{"key-some", "/keys/new", func(p *browser.Page) { p.Choose("#scope", "some") }},
		{"webhooks", "/webhooks", row},
		{"account-webhook", everywhere, nil},
		{"account-webhook-new", "/webhooks/new", nil},
		{"users", "/users", nil},
		{"user", "/users", opening("[data-dialog^=user]")},
		{"user-new", "/users/new", nil},
		{"audit", "/audit", nil},
		{"health", "/health", nil},
		{"profile", "/profile", nil},
		{"not-there", "/instances/01a1fa84-de19-7bc8-9e51-c104e24cd85b", nil},
		{"docs", "/docs", nil},
		{"docs-guide", "/docs/guide", nil},
		{"docs-config", "/docs/config", nil},
		{"docs-found", "/docs/search?search=webhook", nil},
		{"api", "/docs/api", nil},
		{"api-operation", "/docs/api/sendText", func(p *browser.Page) { p.Await("#try-form") }},
		{"api-errors", "/docs/api/errors", nil},
		{"phone", chatOf(anaNumber, shopNumber), awaitPictures(".log img")},
		{"phone-settings", chatOf(anaNumber, shopNumber), opening(`#left-head [hx-get$="` + anaNumber + `"]`)},
		{"phone-new", "/sandbox", opening(".bar .first")},
		{"phone-more", chatOf(anaNumber, shopNumber), opening(`#left-write [hx-get$="/more"]`)},
		{"phone-message", chatOf(anaNumber, shopNumber), opening("#left-log .tools [hx-get]")},
		{"phones", chatOf(anaNumber, shopNumber) + "&" + url.Values{"right": {shopNumber}, "rightChat": {anaNumber + "@s.whatsapp.net"}}.Encode(), awaitPictures(".log img")},
		{"phones-none-open", "/sandbox", nil},
		{"faults", "/sandbox", opening(`.bar [hx-get$="/faults"]`)},
	})
	w.take(t, w.stranger(), []shot{
		{"signin", "/signin", nil},
		{"signin-old-link", "/welcome?token=old", nil},
		{"docs-public", "/docs", nil},
	})
	nothing := start(t, testkit.Options{})
	nothing.take(t, nothing.owner(), []shot{
		{"instances-none", "/instances", nil},
		{"webhooks-none", "/webhooks", nil},
		{"phones-none", "/sandbox", nil},
	})
}

// readme are the pages that the README shows, in a size of their own.
func readme(page string) bool { return page == "instances" || page == "chats" || page == "phones" }

// take takes pictures of pages in one tab.
func (w *world) take(t *testing.T, p *browser.Page, shots []shot) {
	t.Helper()
	wanted, err := regexp.Compile(*pages)
	if err != nil {
		t.Fatal(err)
	}
	p.Language(*language)
	p.Forgive("status of 404")
	p.Forgive("status of 410")
	for _, one := range shots {
		if !wanted.MatchString(one.name) {
			continue
		}
		for _, size := range [][2]int64{{1440, 900}, {1200, 750}, {820, 1180}, {390, 844}} {
			if size[0] == 1200 && !readme(one.name) {
				continue
			}
			p.SetSize(size[0], size[1])
			p.Light()
			p.Open(one.path)
			if one.act != nil {
				one.act(p)
			}
			if *whole {
				height := size[1]
				p.Eval(`document.documentElement.scrollHeight`, &height)
				p.SetSize(size[0], min(max(height, size[1]), 4000))
			}
			for scheme, set := range cases.Sorted(map[string]func(){"light": p.Light, "dark": p.Dark}) {
				set()
				p.Screenshot(filepath.Join(*screenshots, fmt.Sprintf("%s-%d-%s.png", one.name, size[0], scheme)))
			}
		}
	}
}

// loaf is a picture of a loaf on a table, as a data URI.
func loaf(t *testing.T) string {
	t.Helper()
	picture := image.NewRGBA(image.Rect(0, 0, 640, 480))
	for y := range 480 {
		for x := range 640 {
			across, down := float64(x-320)/230, float64(y-250)/120
			shade := uint8(y / 6)
			colour := color.RGBA{236 - shade/2, 214 - shade, 178 - shade, 255}
			switch cut := math.Mod(float64(x+y/2), 110); {
			case across*across+down*down > 1:
			case cut < 14 && down > -0.7 && down < 0.3 && math.Abs(across) < 0.8:
				colour = color.RGBA{245, 215, 160, 255}
			default:
				colour = color.RGBA{196 - shade, 128 - shade, 62 - shade/2, 255}
			}
			picture.SetRGBA(x, y, colour)
		}
	}
	var content bytes.Buffer
	if err := png.Encode(&content, picture); err != nil {
		t.Fatal(err)
	}
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(content.Bytes())
}

// awaitPictures waits until all pictures of a chat are there, wherever it is scrolled to,
// and goes to its end.
func awaitPictures(selector string) func(p *browser.Page) {
	return func(p *browser.Page) {
		p.Await(selector)
		p.Eval(`document.querySelectorAll("`+selector+`").forEach((img) => { img.loading = "eager"; })`, nil)
		p.AwaitTrue("the pictures", `[...document.querySelectorAll("`+selector+`")].every((img) => img.complete && img.naturalWidth > 0)`)
	}
}

// street makes the shops of a street, the first of which has customers. It returns that one,
// and one that waits for a scan.
func (w *world) street(t *testing.T) (shop, waiting string) {
	t.Helper()
	for number, name := range cases.Sorted(map[string]string{
		shopNumber: "Padaria da Conceição", "5511999990200": "Farmácia São Bento", "5511999990300": "Livraria Aurora", "5511999990400": "Oficina do Zé",
		anaNumber: "Ana Lima", brunoNumber: "Bruno Castro", celiaNumber: "Célia Duarte", danielNumber: "Daniel Rocha",
	}) {
		w.Phones.Update(t, number, map[string]any{"name": name})
	}
	made := map[string]string{}
	for _, name := range []string{"Pet shop da Vila", "Oficina do Zé", "Livraria Aurora", "Farmácia São Bento", "Padaria da Conceição"} {
		instance, err := w.Partner.CreateInstance(t.Context(), client.NewInstance{Name: name})
		if err != nil {
			t.Fatal(err)
		}
		made[name] = instance.InstanceID
	}
	shop, waiting = made["Padaria da Conceição"], made["Pet shop da Vila"]
	w.Scan(t, shop, shopNumber)
	w.Scan(t, made["Farmácia São Bento"], "5511999990200")
	w.Scan(t, made["Livraria Aurora"], "5511999990300")
	w.Scan(t, made["Oficina do Zé"], "5511999990400")
	w.Phones.Do(t, "5511999990400", "unlink")
	w.AwaitStatus(t, made["Oficina do Zé"], gateway.StatusStopped)
	if _, err := w.Client.GetQRCode(t.Context(), waiting, client.GetQRCodeParams{}); err != nil {
		t.Fatal(err)
	}
	w.endpoint(t, shop)
	w.customers(t, shop)
	return shop, waiting
}

// arranged labels and arranges chats of the shop, and returns one of its groups.
func (w *world) arranged(t *testing.T) (groupID string) {
	t.Helper()
	for n, name := range []string{"Aguarda pagamento", "Encomenda", "Entregue"} {
		w.Phones.SetLabel(t, shopNumber, fmt.Sprint(n+1), name, n)
	}
	for number, label := range cases.Sorted(map[string]string{anaNumber: "2", celiaNumber: "3", brunoNumber: "1"}) {
		w.Phones.LabelChat(t, shopNumber, number+"@s.whatsapp.net", label, true)
	}
	w.Phones.ChangeChat(t, shopNumber, anaNumber+"@s.whatsapp.net", map[string]any{"pinned": true})
	w.Phones.ChangeChat(t, shopNumber, danielNumber+"@s.whatsapp.net", map[string]any{"mutedUntil": "forever"})
	w.Phones.Block(t, shopNumber, "5511944443336", true)
	w.Phones.CreateGroup(t, "Fornecedores", danielNumber, shopNumber)
	return w.Phones.CreateGroup(t, "Equipe da padaria", shopNumber, anaNumber, brunoNumber, celiaNumber).ID
}

// followed lets the shop follow a channel with posts, beside one of its own, and returns it.
func (w *world) followed(t *testing.T) (channelID string) {
	t.Helper()
	w.Phones.CreateChannel(t, shopNumber, "Padaria da Praça", "Hoje tem pão de queijo recheado!")
	made := w.Phones.CreateChannel(t, anaNumber, "Eventos do bairro", "Feira na praça no sábado, das 8 às 13.", "Quem traz o som?", "Choveu: fica para o domingo.")
	w.Phones.FollowChannel(t, shopNumber, made.ID, false)
	w.Phones.ReactToPost(t, shopNumber, made.ID, 1, "🎉")
	return made.ID
}

// endpoint gives the shop a webhook whose endpoint works.
func (w *world) endpoint(t *testing.T, shop string) {
	t.Helper()
	p := w.owner()
	p.Open("/instances/" + shop + "/webhook")
	p.Fill("#url", testkit.NewSink(t).URL)
	p.ClickText("form button", "Save")
	p.AwaitText("#delivery", "Delivering")
	p.Open("/keys/new")
	p.Fill("#name", "Caixa da padaria")
	p.ClickText("form button", "Create")
	p.Await("#secret")
	p.Open("/users/new")
	p.Fill("#name", "bia@padaria.example")
	p.ClickText("form button", "Create")
	p.Await("#link")
}

// customers write to the shop, and it answers.
func (w *world) customers(t *testing.T, shop string) {
	t.Helper()
	file := func(name string) string { return w.BaseURL + "/sandbox/files/" + name }
	says := func(from string, message map[string]any) {
		t.Helper()
		message["to"] = shopNumber
		w.Phones.AwaitMessage(t, shopNumber, w.Phones.Send(t, from, message))
	}
	text := func(line string) map[string]any { return map[string]any{"type": "text", "text": line} }
	answer := func(to, line string) {
		t.Helper()
		sent, err := w.Client.SendText(t.Context(), shop, client.Text{To: to, Message: line})
		if err != nil {
			t.Fatal(err)
		}
		w.Phones.AwaitMessage(t, to, sent.MessageID)
	}
	says(danielNumber, text("Vocês abrem no feriado?"))
	answer(danielNumber, "Abrimos das 7h ao meio-dia.")
	says(celiaNumber, map[string]any{"type": "voice", "media": file("voice.ogg")})
	answer(celiaNumber, "Combinado, Dona Célia! Separei duas broas.")
	says(brunoNumber, map[string]any{"type": "document", "media": file("invoice.pdf"), "fileName": "nota fiscal.pdf"})
	says(anaNumber, text("Bom dia! Ainda tem pão de queijo?"))
	answer(anaNumber, "Bom dia, Ana! Saiu uma fornada agora. Quantos?")
	says(anaNumber, text("Uma dúzia, por favor. E um bolo como este:"))
	says(anaNumber, map[string]any{"type": "image", "media": loaf(t), "caption": "O da vitrine de ontem"})
	answer(anaNumber, "Temos! Fica pronto às 15h.")
	says(anaNumber, map[string]any{"type": "voice", "media": file("voice.ogg")})
	says(anaNumber, map[string]any{"type": "location", "latitude": -23.561414, "longitude": -46.655881, "name": "MASP", "address": "Av. Paulista, 1578, São Paulo"})
	answer(anaNumber, "Entregamos aí até as 16h. O total é R$ 87,50.\nObrigada!")
	for n, line := range []string{"Bom dia, Dona Célia! Sua encomenda está pronta.", "Oi, Bruno! Amanhã tem sonho de creme."} {
		if _, err := w.Client.SendText(t.Context(), shop, client.Text{
			To: []string{celiaNumber, brunoNumber}[n], Message: line, SendAt: time.Now().Add(time.Duration(n+1) * 10 * time.Hour),
		}); err != nil {
			t.Fatal(err)
		}
	}
}
