// Package mediahost is the platform's media host: it takes encrypted files from
// clients, gives them back under the path it told, and lets the simulated phones
// do the same with the real media crypto. It never sees a key of a client; a
// phone's it only uses in passing.
//
// The sandbox is its only caller.
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

// maxFile bounds an upload: larger than anything a gateway sends.
const maxFile = 256 << 20

const (
	uploadPath   = "/mms/"
	downloadPath = "/v/"
)

// Host keeps encrypted files in a folder. It is safe for concurrent use.
type Host struct {
	root *os.Root

	getting sync.Mutex // a file, see Get
}

// New opens the host on a folder, which is created (0700) where it is missing.
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

// Close closes the folder; files stay.
func (h *Host) Close() error { return h.root.Close() }

// Owns reports whether a path is the media host's.
func Owns(path string) bool {
	return strings.HasPrefix(path, uploadPath) || strings.HasPrefix(path, downloadPath)
}

// ServeHTTP takes uploads (POST /mms/{type}/{token}), downloads (GET /v/{name})
// and deletions (DELETE /mms/{type}/{token}). What it does not have is a 404, as
// for media that the platform has dropped.
func (h *Host) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodPost && strings.HasPrefix(r.URL.Path, uploadPath):
		h.upload(w, r)
	case r.Method == http.MethodDelete && strings.HasPrefix(r.URL.Path, uploadPath):
		w.WriteHeader(http.StatusOK) // clients clean up what they have read; here nothing has to go
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
}

func (h *Host) upload(w http.ResponseWriter, r *http.Request) {
	token := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	// Not every client fills up the last group.
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
	w.Header().Set("Content-Type", "application/json")
	// The client that is gone by now hears nothing; the file stays.
	_ = json.NewEncoder(w).Encode(uploaded{URL: "https://" + r.Host + path, DirectPath: path})
}

var errHash = errors.New("mediahost: the content has another hash than its token says")

// store writes a file aside, checks its hash, and gives it its name.
func (h *Host) store(content io.Reader, hash [sha256.Size]byte) (err error) {
	name := fileName(hash)
	aside := name + "." + rand.Text() + ".part" // two may bring the same file at once
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

// Drop removes what lies under a direct path, as the platform does with media
// that is old. What is not there is no error.
func (h *Host) Drop(path string) error {
	if err := h.root.Remove(nameOf(path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("mediahost: drop: %w", err)
	}
	return nil
}

// directPath is where a file is fetched; clients put further parameters behind
// its question mark.
func directPath(hash [sha256.Size]byte) string { return downloadPath + fileName(hash) + "?ccb=1" }

func fileName(hash [sha256.Size]byte) string { return hex.EncodeToString(hash[:]) + ".enc" }

func nameOf(path string) string {
	path, _, _ = strings.Cut(path, "?")
	return filepath.Base(path)
}
