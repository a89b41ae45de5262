// The extension: linking an account that asks for its passkey, from the messenger's own page.

package browsertest_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/e2e/browsertest/browser"
	"github.com/recado-project/recado/internal/access"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/whatsapp"
)

const (
	platformHost = "web.whatsapp.com"
	platformPage = "https://" + platformHost
)

// extended is a browser with the extension, and a program whose accounts have passkeys for
// the messenger's page.
type extended struct {
	*world

	page      *browser.Page
	extension browser.Extension
}

// startExtended starts both. The extension is the one in the folder of the repository, but
// for one line of its manifest: nobody can answer the browser's own window, which asks for the
// permission to reach the gateway, so it has been granted already. And it has the texts of
// one language alone, because the browser may know no other than English.
func startExtended(t *testing.T, language string, options testkit.Options) *extended {
	t.Helper()
	options.PasskeyName = platformHost
	w := start(t, options)
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS(extensionFolder)); err != nil {
		t.Fatal(err)
	}
	manifest := readManifest(t)
	for _, lang := range languages(t) {
		if lang == language {
			continue
		}
		if err := os.RemoveAll(filepath.Join(folder, "_locales", lang)); err != nil {
			t.Fatal(err)
		}
	}
	manifest["default_locale"] = language
	manifest["host_permissions"] = []string{"http://127.0.0.1/*"}
	content, err := json.Marshal(manifest)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "manifest.json"), content, 0o600); err != nil {
		t.Fatal(err)
	}
	platform := httptest.NewTLSServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/html; charset=utf-8")
		// As strict as the real one may be.
		rw.Header().Set("Content-Security-Policy", "default-src 'self'; require-trusted-types-for 'script'")
		_, _ = rw.Write([]byte("<!doctype html><html lang=en><title>Messenger</title><h1>The messenger's page</h1></html>"))
	}))
	t.Cleanup(platform.Close)
	e := &extended{world: w, extension: browser.Extension{
		Folder: folder, Host: platformHost, Address: platform.Listener.Addr().String(), Certificate: platform.Certificate(),
	}}
	e.page = browser.WithExtension(t, w.BaseURL, e.extension)
	return e
}

// set fills in the settings, and awaits what they say.
func (e *extended) set(url, key, says string) {
	e.t.Helper()
	e.page.Visit(e.extension.Page("options.html"))
	e.page.Await("#form")
	e.page.Fill("#url", url)
	e.page.Fill("#key", key)
	e.page.Click("button.first")
	e.page.AwaitText("#said", says)
}

// key makes an API key for one instance.
func (e *extended) key(id string) string {
	e.t.Helper()
	_, secret, err := e.Server.Access().CreateKey(e.t.Context(), access.KeyParams{AccountID: e.accountID(), Name: "extension", InstanceIDs: []string{id}})
	if err != nil {
		e.t.Fatal(err)
	}
	return secret
}

// wanting creates an instance, and lets the shop's phone have a passkey that the browser
// makes on the messenger's page.
func (e *extended) wanting(rule any) (id string) {
	e.t.Helper()
	made, err := e.Partner.CreateInstance(e.t.Context(), client.NewInstance{Name: "Padaria"})
	if err != nil {
		e.t.Fatal(err)
	}
	e.Phones.Update(e.t, shopNumber, map[string]any{"passkey": rule})
	e.page.AddAuthenticator()
	e.page.Visit(platformPage + "/")
	e.Phones.AddPasskey(e.t, shopNumber, platformPage, func(options json.RawMessage) (credential json.RawMessage) {
		e.page.Eval(`navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(`+string(options)+`) }).then((made) => made.toJSON())`, &credential)
		return credential
	})
	return made.InstanceID
}

// panel is what the extension shows on the messenger's page.
func (e *extended) panel() *browser.Page { return e.page.InExtension("shadow") }

// An instance whose account asks for its passkey is linked from the messenger's page. The
// person cancels once, and tries again.
func TestExtensionLinks(t *testing.T) {
	t.Parallel()
	e := startExtended(t, "en", testkit.Options{})
	id := e.wanting(true)
	e.set(e.BaseURL, e.key(id), "takes the key")
	e.scan(id)
	e.AwaitPasskey(t, id, gateway.PasskeyRequested)

	e.page.Visit(platformPage + "/")
	panel := e.panel()
	panel.AwaitText("li", "Padaria")
	e.page.Verifies(false)
	panel.ClickText("li button", "Sign")
	panel.AwaitText("li .bad", "it was cancelled")
	e.AwaitPasskey(t, id, gateway.PasskeyRequested)
	e.page.Verifies(true)
	panel.ClickText("li button", "Sign")
	panel.AwaitText("li .good", "Linked.")
	e.AwaitStatus(t, id, gateway.StatusConnected)

	var key string
	panel.Eval(`chrome.storage.local.get("gateway").then((found) => JSON.stringify(found), () => "refused")`, &key)
	if key != "refused" {
		t.Errorf("the platform's page reads the settings: %s", key)
	}
	e.page.Visit(e.extension.Page("options.html"))
	e.page.ClickText("button", "Forget")
	e.page.AwaitText("#said", "are gone")
}

// The code is compared in the panel; one that nobody confirms on the phone is over in time.
func TestExtensionComparesCodes(t *testing.T) {
	t.Parallel()
	e := startExtended(t, "en", testkit.Options{Platform: whatsapp.Config{ComparePasskeys: true}})
	id := e.wanting(map[string]any{"compare": true, "seconds": 5})
	e.set(e.BaseURL, e.key(id), "takes the key")
	e.scan(id)
	e.AwaitPasskey(t, id, gateway.PasskeyRequested)
	e.page.Visit(platformPage + "/")
	panel := e.panel()
	panel.ClickText("li button", "Sign")
	panel.AwaitText("li", "Does the phone show the same code?")
	panel.ClickText("li button", "It is the same code")
	panel.AwaitText("li", "Confirmed here")
	panel.AwaitText("li .bad", "not confirmed on the phone in time")

	e.Phones.Update(t, shopNumber, map[string]any{"passkey": map[string]any{"compare": true}})
	e.scan(id)
	panel.ClickText("li button", "Sign")
	shown := e.AwaitPasskey(t, id, gateway.PasskeyConfirm)
	panel.AwaitText("li .code", shown.Code)
	e.Phones.Do(t, shopNumber, "passkey/confirm")
	panel.ClickText("li button", "It is the same code")
	panel.AwaitText("li .good", "Linked.")
	e.AwaitStatus(t, id, gateway.StatusConnected)
}

// press presses the extension's button while the messenger's page is shown, as far as a test
// can: the browser would tell the background of it in the same way.
func (e *extended) press() {
	e.t.Helper()
	e.page.EvalInBackground(`chrome.tabs.query({ active: true }).then((tabs) => chrome.action.onClicked.dispatch(tabs.at(-1)))`)
}

// What is wrong with the settings is said where they are, and in the panel.
func TestExtensionSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	e := startExtended(t, "en", testkit.Options{})
	e.page.Visit(platformPage + "/")
	panel := e.panel()
	panel.AwaitTrue("the extension's script", `typeof openPanel === "function"`)
	panel.Eval(`void openPanel()`, nil) // as the extension's button does
	panel.AwaitText("p", "Name your gateway in the settings first")

	endless := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		for {
			if _, err := rw.Write(bytes.Repeat([]byte(" "), 1<<16)); err != nil {
				return // the extension has hung up
			}
		}
	}))
	t.Cleanup(endless.Close)
	e.set(endless.URL, "key", "no Recado gateway")
	e.set("http://example.org", "key", "begins with https://")
	e.set(e.BaseURL, "not a key", "does not take the API key")
	e.page.Visit(platformPage + "/")
	panel.AwaitTrue("the extension's script", `typeof openPanel === "function"`)
	e.press()
	panel.AwaitText("p", "does not take the API key")

	id := e.wanting(true)
	e.set(e.BaseURL, e.key(id), "takes the key")
	e.page.Visit(platformPage + "/")
	panel.AwaitTrue("the extension's script", `typeof openPanel === "function"`)
	panel.Eval(`void openPanel()`, nil)
	panel.AwaitText("p", "No instance waits for a passkey")
	e.Stop()
	panel.AwaitText("p", "can't be reached")
}

// The extension speaks Portuguese too.
func TestExtensionSpeaksPortuguese(t *testing.T) {
	t.Parallel()
	e := startExtended(t, "pt_BR", testkit.Options{})
	e.page.Visit(e.extension.Page("options.html"))
	e.page.AwaitText("label", "Chave de API")
	e.page.Visit(platformPage + "/")
	panel := e.panel()
	panel.AwaitTrue("the extension's script", `typeof openPanel === "function"`)
	panel.Eval(`void openPanel()`, nil)
	panel.AwaitText("p", "Primeiro informe o seu gateway")
}

// A gateway that is not what it should be shows nothing but text, gets nothing signed for
// another page, and asks for nothing beside the signature.
func TestExtensionDoesNotTrustTheGateway(t *testing.T) {
	t.Parallel()
	e := startExtended(t, "en", testkit.Options{})
	const ids = "01a1fa84-de19-7bc8-9e51-c104e24cd85"
	questions := map[string]string{
		ids + "1": `{"state":"requested","request":{"challenge":"AAAA","rpId":"evil.example"}}`,
		ids + "2": `{"state":"requested","request":{"challenge":{"toString":1},"rpId":"web.whatsapp.com"}}`,
		ids + "3": `{"state":"requested","expiresAt":"soon","request":{"challenge":"AAAA","rpId":"web.whatsapp.com","timeout":1e99,` +
			`"extensions":{"prf":{"eval":{"first":"AAAA"}}},"allowCredentials":[{"id":7},{"id":"AAAA","type":"other","transports":[1]}]}}`,
		ids + "4": `{"state":"<b>","reason":"x"}`,
	}
	stranger := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		for id, question := range cases.Sorted(questions) {
			if r.URL.Path == "/api/instances/"+id+"/passkey" {
				_, _ = rw.Write([]byte(question))
				return
			}
		}
		list := []map[string]any{{"instanceId": "../../secrets", "name": "a path", "status": "pending_qr_code_scan"}}
		for id := range questions {
			list = append(list, map[string]any{"instanceId": id, "name": hostile, "status": "pending_qr_code_scan"})
		}
		_ = json.NewEncoder(rw).Encode(map[string]any{"data": list, "isLastPage": true})
	}))
	t.Cleanup(stranger.Close)
	e.set(stranger.URL, "key", "takes the key")
	e.page.Visit(platformPage + "/")
	panel := e.panel()
	panel.AwaitText("li b", hostile)
	panel.AwaitText("li .bad", "for another page than this one")
	if shown, signs := panel.Count("li"), panel.Count("li button"); shown != 2 || signs != 1 {
		t.Errorf("%d instances are shown, and %d can be signed for", shown, signs)
	}
	harmless(t, e.page)
	if images := panel.Count("img, script"); images != 0 {
		t.Error("a name has become a part of the panel")
	}
	var asked string
	panel.Eval(`tell({ do: "waiting", watched: ["x", 7] }).then((all) => JSON.stringify(all.find((one) => one.request.rpId === "web.whatsapp.com").request))`, &asked)
	const want = `{"allowCredentials":[{"id":"AAAA","transports":[],"type":"public-key"}],"challenge":"AAAA","rpId":"web.whatsapp.com","timeout":600000,"userVerification":"required"}`
	if !sameJSON(t, asked, want) {
		t.Errorf("the browser is asked %s", asked)
	}
}

func sameJSON(t *testing.T, one, other string) bool {
	t.Helper()
	var first, second any
	if err := json.Unmarshal([]byte(one), &first); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(other), &second); err != nil {
		t.Fatal(err)
	}
	return reflect.DeepEqual(first, second)
}
