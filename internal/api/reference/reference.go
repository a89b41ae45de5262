// Package reference serves the reference page of the API, which is made of the
// OpenAPI document, and the guides. The package api adds it to its routes.
package reference

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"

	"github.com/recado-project/recado/docs"
	"github.com/recado-project/recado/internal/api/contract"
)

// files are the page's template, its style and its script. The page loads nothing
// from other hosts, so it works offline.
//
//go:embed page.html page.js style.css
var files embed.FS

// policy lets the page load its own style and script, and nothing else.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Serve adds the reference page and the guides to an API.
func Serve(api *contract.API) error {
	parsed, err := template.New("page.html").Funcs(template.FuncMap{"prose": prose}).ParseFS(files, "page.html")
	if err != nil {
		return fmt.Errorf("reference: parse reference page: %w", err)
	}
	content, err := newPage(api)
	if err != nil {
		return err
	}
	var shown bytes.Buffer
	if err := parsed.Execute(&shown, content); err != nil {
		return fmt.Errorf("reference: write reference page: %w", err)
	}
	for path, to := range map[string]string{
		"/{$}": "/docs", "/docs/{$}": "/docs", // the addresses that people try first
		"/docs/openapi.yaml": "/openapi.yaml", // the guides' links lead here
	} {
		api.Handle(http.MethodGet, path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusFound)
		})
	}
	serveStatic(api, "/docs", "text/html; charset=utf-8", shown.Bytes())
	for _, file := range []struct {
		path, contentType, name string
	}{
		{"/docs/style.css", "text/css; charset=utf-8", "style.css"},
		{"/docs/page.js", "text/javascript; charset=utf-8", "page.js"},
	} {
		content, err := files.ReadFile(file.name)
		if err != nil {
			return fmt.Errorf("reference: read page: %w", err)
		}
		serveStatic(api, file.path, file.contentType, content)
	}
	return serveGuides(api)
}

// serveGuides serves the guides for users and the files that they show, so that the
// links between them work.
func serveGuides(api *contract.API) error {
	err := fs.WalkDir(docs.Guides, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := docs.Guides.ReadFile(name)
		if err == nil {
			serveStatic(api, "/docs/"+name, plainType, content)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("reference: read guides: %w", err)
	}
	return nil
}

// plainType is the type of files that browsers show as text.
const plainType = "text/plain; charset=utf-8"

// serveStatic serves the same content to everybody, except for the gateway's own
// address.
func serveStatic(api *contract.API, path, contentType string, content []byte) {
	api.Handle(http.MethodGet, path, func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Type", contentType)
		header.Set("Content-Security-Policy", policy)
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Cache-Control", "no-cache")         // another version of the program has another page
		_, _ = w.Write(api.Origin().Insert(r, content)) //nolint:gosec // the origin is escaped; an error means that the client has gone
	})
}
