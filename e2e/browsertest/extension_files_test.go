// What the extension's files may ask for and say.

package browsertest_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/testkit/cases"
)

// extensionFolder is where the extension is.
const extensionFolder = "../../extension"

// readManifest reads the extension's manifest.
func readManifest(t *testing.T) map[string]any {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(extensionFolder, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var manifest map[string]any
	if err := json.Unmarshal(content, &manifest); err != nil {
		t.Fatal(err)
	}
	return manifest
}

// The extension asks for what docs/extension.md gives a reason for, and for nothing else: who
// adds a permission changes this list, and that page.
func TestExtensionAsksForNoMore(t *testing.T) {
	t.Parallel()
	manifest := readManifest(t)
	for name, want := range cases.Sorted(map[string]any{
		"permissions":               []any{"storage"},
		"optional_host_permissions": []any{"https://*/*", "http://localhost/*", "http://127.0.0.1/*"},
		"content_scripts":           []any{map[string]any{"matches": []any{"https://web.whatsapp.com/*"}, "js": []any{"panel.js"}}},
		"background":                map[string]any{"service_worker": "worker.js"},
	}) {
		if !reflect.DeepEqual(manifest[name], want) {
			t.Errorf("%s is %v, want %v", name, manifest[name], want)
		}
	}
	known := []string{
		"action", "background", "content_scripts", "content_security_policy", "default_locale", "description", "icons",
		"manifest_version", "minimum_chrome_version", "name", "optional_host_permissions", "options_ui", "permissions", "version",
	}
	if keys := slices.Sorted(maps.Keys(manifest)); !slices.Equal(keys, known) {
		t.Errorf("the manifest has %v, want %v", keys, known)
	}
	page, err := os.ReadFile("../../docs/extension.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, asked := range []string{"storage", "https://web.whatsapp.com/*", "https://*/*", "http://localhost/*", "http://127.0.0.1/*"} {
		if !strings.Contains(string(page), "`"+asked+"`") {
			t.Errorf("docs/extension.md gives no reason for %s", asked)
		}
	}
}

// languages returns the languages that the extension has, as browsers write them.
func languages(t *testing.T) (all []string) {
	t.Helper()
	folders, err := os.ReadDir(filepath.Join(extensionFolder, "_locales"))
	if err != nil || len(folders) < 3 {
		t.Fatalf("the extension has %d languages: %v", len(folders), err)
	}
	for _, folder := range folders {
		all = append(all, folder.Name())
	}
	return all
}

// Every text of the extension is in all languages, with the same places for arguments, and
// is used. Nothing is written as HTML, and no script comes from elsewhere.
func TestExtensionsWords(t *testing.T) {
	t.Parallel()
	texts := map[string]map[string]string{}
	for _, lang := range languages(t) {
		content, err := os.ReadFile(filepath.Join(extensionFolder, "_locales", lang, "messages.json"))
		if err != nil {
			t.Fatal(err)
		}
		var messages map[string]struct {
			Message string `json:"message"`
		}
		if err := json.Unmarshal(content, &messages); err != nil {
			t.Fatal(err)
		}
		texts[lang] = map[string]string{}
		for key, message := range messages {
			texts[lang][key] = message.Message
		}
	}
	used := map[string]bool{}
	words := regexp.MustCompile(`__MSG_(\w+)__|\bt\("(\w+)"|\bt\(one\.confirmed \? "(\w+)" : "(\w+)"|data-text="(\w+)"`)
	files, err := filepath.Glob(filepath.Join(extensionFolder, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		switch filepath.Ext(file) {
		case ".js", ".html", ".json":
		default:
			continue
		}
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range words.FindAllStringSubmatch(string(content), -1) {
			for _, key := range match[1:] {
				used[key] = used[key] || key != ""
			}
		}
		for _, never := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "eval(", "importScripts", "document.write"} {
			if strings.Contains(string(content), never) {
				t.Errorf("%s uses %s", file, never)
			}
		}
	}
	delete(used, "")
	places := regexp.MustCompile(`\$\d`)
	for key := range cases.Sorted(used) {
		for lang, messages := range cases.Sorted(texts) {
			if messages[key] == "" {
				t.Errorf("there is no text %s in %s", key, lang)
			}
			if !slices.Equal(places.FindAllString(texts["en"][key], -1), places.FindAllString(messages[key], -1)) {
				t.Errorf("the text %s has other places for arguments in %s", key, lang)
			}
		}
	}
	for lang, messages := range cases.Sorted(texts) {
		for key := range cases.Sorted(messages) {
			if !used[key] {
				t.Errorf("%s has a text %s, which nothing uses", lang, key)
			}
		}
	}
}
