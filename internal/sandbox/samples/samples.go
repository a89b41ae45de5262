// Package samples has a small file of each kind to try out sending. The files were
// made for this purpose and everybody may use them.
package samples

import (
	"embed"
	"io"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
)

// Prefix is the path below which Handler serves the files.
const Prefix = "/sandbox/files/"

//go:embed files
var files embed.FS

// maxPosted bounds how much of a posted body is read.
const maxPosted = 1 << 20

// Read returns a file by its URL path, and its media type. found is false if there
// is none.
func Read(urlPath string) (content []byte, mimeType string, found bool) {
	name, ours := strings.CutPrefix(urlPath, Prefix)
	if !ours || name == "" || path.Base(name) != name {
		return nil, "", false
	}
	content, err := files.ReadFile("files/" + name)
	if err != nil {
		return nil, "", false
	}
	return content, typeOf(name), true
}

// typeOf returns the media type of a file, whatever types the machine knows.
func typeOf(name string) string {
	switch path.Ext(name) {
	case ".ogg":
		return "audio/ogg; codecs=opus"
	case ".mp3":
		return "audio/mpeg"
	case ".mp4":
		return "video/mp4"
	default:
		return mime.TypeByExtension(path.Ext(name))
	}
}

// Handler serves the files. It answers a POST to any path with 204 and discards the
// body, so that webhooks have a place to go.
func Handler(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		_, _ = io.Copy(io.Discard, http.MaxBytesReader(w, r.Body, maxPosted)) // it is discarded
		w.WriteHeader(http.StatusNoContent)
		return
	}
	content, mimeType, found := Read(r.URL.Path)
	if !found || r.Method != http.MethodGet && r.Method != http.MethodHead {
		http.Error(w, "there is no such file", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", mimeType)
	w.Header().Set("Content-Length", strconv.Itoa(len(content)))
	_, _ = w.Write(content) //nolint:gosec // a file of the program's own; the client may be gone
}
