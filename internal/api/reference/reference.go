// Package reference serves the reference page of the API, which is made of the
// OpenAPI document. The package api adds it to its routes.
package reference

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/http"

	"github.com/recado-project/recado/internal/api/contract"
)

// files are the page's template, its style and its script. The page loads nothing
// from other hosts, so it works offline.
//
//go:embed page.html page.js style.css
var files embed.FS

// policy lets the page load its own style and script, and nothing else.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// address is where the page is.
const address = "/docs/api"

// Serve adds the reference page to an API.
func Serve(api *contract.API) {
	api.Handle(http.MethodGet, address+"/{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", address)
		w.WriteHeader(http.StatusFound)
	})
	serveText(api, address, "text/html; charset=utf-8", func() ([]byte, error) { return writePage(api) })
	for _, file := range []struct {
		path, contentType, name string
	}{
		{address + "/style.css", "text/css; charset=utf-8", "style.css"},
		{address + "/page.js", "text/javascript; charset=utf-8", "page.js"},
	} {
		serveText(api, file.path, file.contentType, func() ([]byte, error) { return files.ReadFile(file.name) })
	}
}

// writePage writes the reference page.
func writePage(api *contract.API) ([]byte, error) {
	parsed, err := template.New("page.html").Funcs(template.FuncMap{"prose": prose}).ParseFS(files, "page.html")
	if err != nil {
		return nil, fmt.Errorf("reference: parse reference page: %w", err)
	}
	content, err := newPage(api.NewDocument())
	if err != nil {
		return nil, err
	}
	var shown bytes.Buffer
	if err := parsed.Execute(&shown, content); err != nil {
		return nil, fmt.Errorf("reference: write reference page: %w", err)
	}
	return shown.Bytes(), nil
}

// serveText serves a text of the page.
func serveText(api *contract.API, path, contentType string, write func() ([]byte, error)) {
	text := api.Text(contentType, write)
	api.Handle(http.MethodGet, path, func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", policy)
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Cache-Control", "no-cache") // another version of the program has another page
		text(w, r)
	})
}
