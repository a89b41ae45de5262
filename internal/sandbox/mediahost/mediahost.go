// Package mediahost is the platform's media host. It takes encrypted files from
// clients and serves them under the path that it has returned, and lets phones
// upload and fetch files with the real encryption of media. It never sees the keys
// of clients, and does not keep those of phones. Files of channels are not encrypted.
package mediahost

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// maxFile bounds an upload in bytes. Gateways send smaller files.
const maxFile = 256 << 20

const (
	uploadPath   = "/mms/"
	openPath     = "/newsletter/" // uploads of files that are not encrypted, for channels
	downloadPath = "/v/"
)

// Host keeps files in a folder. It is safe for concurrent use.
type Host struct {
	root *os.Root

	getting sync.Mutex // a file, see Get
}

// New opens the host on a folder. It creates the folder (0700) if it does not
// exist.
func New(folder string) (*Host, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("mediahost: create folder: %w", err)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, fmt.Errorf("mediahost: open folder: %w", err)
	}
	return &Host{root: root}, nil
}

// Close closes the folder. The files stay.
func (h *Host) Close() error { return h.root.Close() }

// Owns reports whether the media host serves a path.
func Owns(path string) bool {
	return strings.HasPrefix(path, uploadPath) || strings.HasPrefix(path, openPath) || strings.HasPrefix(path, downloadPath)
}

// ServeHTTP serves uploads (POST /mms/{type}/{token}, or /newsletter/{type}/{token} of files
// for channels), downloads (GET /v/{name}) and deletions (DELETE /mms/{type}/{token}). It answers 404 for a file that it
// does not have, as the platform does for files that it has dropped.
func (h *Host) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodPost && strings.HasPrefix(r.URL.Path, uploadPath):
		h.upload(w, r, false)
	case r.Method == http.MethodPost && strings.HasPrefix(r.URL.Path, openPath):
		h.upload(w, r, true)
	case r.Method == http.MethodDelete && strings.HasPrefix(r.URL.Path, uploadPath):
		w.WriteHeader(http.StatusOK) // clients delete files that they have read, but here they may stay
	case (r.Method == http.MethodGet || r.Method == http.MethodHead) && strings.HasPrefix(r.URL.Path, downloadPath):
		h.download(w, r)
	default:
		http.Error(w, "no such media", http.StatusNotFound)
	}
}

// uploaded is the answer to an upload.
type uploaded struct {
	URL        string `json:"url"`
	DirectPath string `json:"direct_path"` //nolint:tagliatelle // the protocol's name
	Handle     string `json:"handle,omitempty"`
}

// upload takes a file. With open it is for a channel: then the answer has its handle.
func (h *Host) upload(w http.ResponseWriter, r *http.Request, open bool) {
	token := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	// Not every client pads the last group of the token.
	hash, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(token, "="))
	if err != nil || len(hash) != sha256.Size {
		http.Error(w, "the token is no hash", http.StatusBadRequest)
		return
	}
	if err := h.store(http.MaxBytesReader(w, r.Body, maxFile), [sha256.Size]byte(hash)); err != nil {
		status := http.StatusInternalServerError
		if errors.Is(err, errHash) {
			status = http.StatusBadRequest
		}
		http.Error(w, err.Error(), status)
		return
	}
	path := directPath([sha256.Size]byte(hash))
	answer := uploaded{URL: "https://" + r.Host + path, DirectPath: path}
	if open {
		answer.Handle = HandleOf(path)
	}
	w.Header().Set("Content-Type", "application/json")
	// If the client has disconnected, the file stays.
	_ = json.NewEncoder(w).Encode(answer)
}

var errHash = errors.New("mediahost: the content has another hash than its token says")

// store writes a file under a temporary name, checks its hash, and renames it.
func (h *Host) store(content io.Reader, hash [sha256.Size]byte) (err error) {
	name := fileName(hash)
	aside := name + "." + rand.Text() + ".part" // two clients may upload the same file at the same time
	file, err := h.root.OpenFile(aside, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("mediahost: store: %w", err)
	}
	sum := sha256.New()
	_, err = io.Copy(io.MultiWriter(file, sum), content)
	err = errors.Join(err, file.Sync(), file.Close())
	if err == nil && [sha256.Size]byte(sum.Sum(nil)) != hash {
		err = errHash
	}
	if err == nil {
		err = h.root.Rename(aside, name)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("mediahost: store: %w", err), h.root.Remove(aside))
	}
	return nil
}

func (h *Host) download(w http.ResponseWriter, r *http.Request) {
	name := filepath.Base(r.URL.Path)
	file, err := h.root.Open(name)
	if err != nil {
		http.Error(w, "no such media", http.StatusNotFound)
		return
	}
	defer func() { _ = file.Close() }() // it was only read
	about, err := file.Stat()
	if err != nil {
		http.Error(w, "no such media", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	http.ServeContent(w, r, "", about.ModTime(), file)
}

// Drop deletes the file under a direct path, as the platform does with old media.
// It is no error if there is none.
func (h *Host) Drop(path string) error {
	if err := h.root.Remove(nameOf(path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("mediahost: drop: %w", err)
	}
	return nil
}

// directPath is the path under which a file is fetched. Clients append further
// parameters after its question mark.
func directPath(hash [sha256.Size]byte) string { return downloadPath + fileName(hash) + "?ccb=1" }

// HandleOf is the handle that the upload of a file for a channel was answered with. A post that
// points to the file has to name it.
func HandleOf(path string) string {
	sum := sha256.Sum256([]byte("handle of " + nameOf(path)))
	return "4:" + base64.RawURLEncoding.EncodeToString(sum[:])
}

func fileName(hash [sha256.Size]byte) string { return hex.EncodeToString(hash[:]) + ".enc" }

func nameOf(path string) string {
	path, _, _ = strings.Cut(path, "?")
	return filepath.Base(path)
}
