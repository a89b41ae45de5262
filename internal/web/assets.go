// The files for browsers.

package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
)

// AssetsPath is where the files are served. Their names have a part of their hash, so
// that browsers keep each for ever and fetch a new one at once.
const AssetsPath = "/assets/"

//go:embed assets vendored/*.js vendored/*.css
var ownAssets embed.FS

// Assets are the files that pages name: scripts, styles and pictures. They are read
// only, and safe for concurrent use.
type Assets struct {
	urls  map[string]string // by the file's name
	files map[string]*asset // by the path that it is served at
}

// asset is one file.
type asset struct {
	kind    string // its content type
	content []byte
	zipped  func() []byte // made when it is first asked for
}

// assetKinds are the content types of assets by the endings of their names. The library's
// table is what the machine says, and it reads thousands of lines for it.
//
//nolint:gochecknoglobals // a table
var assetKinds = map[string]string{
	".css":         "text/css; charset=utf-8",
	".js":          "text/javascript; charset=utf-8",
	".png":         "image/png",
	".svg":         "image/svg+xml",
	".webmanifest": "application/manifest+json",
}

// NewAssets reads the files that all pages share, and those in the folder assets of each
// room, and adds the manifest, recado.webmanifest.
func NewAssets(rooms ...Files) (*Assets, error) {
	a := &Assets{urls: map[string]string{}, files: map[string]*asset{}}
	for _, room := range append([]Files{ownAssets}, rooms...) {
		for _, pattern := range []string{"assets/*", "vendored/*.js", "vendored/*.css"} {
			names, err := fs.Glob(room, pattern)
			if err != nil {
				return nil, fmt.Errorf("web: find assets: %w", err)
			}
			for _, name := range names {
				if err := a.add(room, name); err != nil {
					return nil, err
				}
			}
		}
	}
	if err := a.addManifest(); err != nil {
		return nil, err
	}
	return a, nil
}

func (a *Assets) add(room fs.FS, file string) error {
	content, err := fs.ReadFile(room, file)
	if err != nil {
		return fmt.Errorf("web: read asset: %w", err)
	}
	return a.put(path.Base(file), content)
}

// put keeps a file under its name.
func (a *Assets) put(name string, content []byte) error {
	sum := sha256.Sum256(content)
	ending := path.Ext(name)
	if _, taken := a.urls[name]; taken {
		return fmt.Errorf("web: there are two assets %s", name)
	}
	kind, ok := assetKinds[ending]
	if !ok {
		return fmt.Errorf("web: asset %s is of no kind that is known", name)
	}
	where := AssetsPath + strings.TrimSuffix(name, ending) + "-" + hex.EncodeToString(sum[:6]) + ending
	a.urls[name] = where
	a.files[where] = &asset{
		kind: kind, content: content,
		zipped: sync.OnceValue(func() []byte { return zip(content) }),
	}
	return nil
}

func zip(content []byte) []byte {
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	_, _ = w.Write(content)
	_ = w.Close()
	return zipped.Bytes()
}

// URL returns the path of a file by its name, such as app.css.
func (a *Assets) URL(name string) (string, error) {
	where, ok := a.urls[name]
	if !ok {
		return "", fmt.Errorf("web: there is no asset %s", name)
	}
	return where, nil
}

// Has reports whether there is a file at a path.
func (a *Assets) Has(where string) bool { return a.files[where] != nil }

// ServeHTTP serves the files below AssetsPath.
func (a *Assets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	file, ok := a.files[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	header := w.Header()
	header.Set("Content-Type", file.kind)
	header.Set("Cache-Control", "public, max-age=31536000, immutable")
	header.Set("Vary", "Accept-Encoding")
	content := file.content
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		header.Set("Content-Encoding", "gzip")
		content = file.zipped()
	}
	_, _ = w.Write(content)
}
