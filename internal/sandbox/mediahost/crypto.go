package mediahost

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.mau.fi/whatsmeow/util/cbcutil"
	"go.mau.fi/whatsmeow/util/hkdfutil"
)

// Kind is the kind of a file. Each kind derives other keys for the encryption.
type Kind string

// The kinds of files. Stickers are images and voice notes are audio.
const (
	Image    Kind = "WhatsApp Image Keys"
	Video    Kind = "WhatsApp Video Keys"
	Audio    Kind = "WhatsApp Audio Keys"
	Document Kind = "WhatsApp Document Keys"
	History  Kind = "WhatsApp History Keys"
)

const (
	keySize = 32
	macSize = 10
)

// Pointer has the fields of a message that point to its file, as the control API answers
// them.
type Pointer struct {
	URL             string `json:"-"` // clients may reach the host under another name
	DirectPath      string `json:"directPath"`
	Key             []byte `json:"mediaKey"`
	SHA256          []byte `json:"fileSha256"` // of the plain file
	EncryptedSHA256 []byte `json:"fileEncSha256"`
	Size            uint64 `json:"fileLength"` // of the plain file
}

// ErrGone says that the host does not have a file, or has it no longer.
var ErrGone = errors.New("mediahost: the file is gone")

// Put encrypts a file and keeps it. host is the host name in the URL.
func (h *Host) Put(host string, kind Kind, plain []byte) (Pointer, error) {
	key := make([]byte, keySize)
	if _, err := rand.Read(key); err != nil {
		return Pointer{}, fmt.Errorf("mediahost: draw key: %w", err)
	}
	return h.PutAgain(host, kind, key, plain)
}

// PutAgain is Put with the key of a message that already points to the file, so
// that the message's pointer is valid again. key has 32 bytes.
func (h *Host) PutAgain(host string, kind Kind, key, plain []byte) (Pointer, error) {
	if len(key) != keySize {
		return Pointer{}, errors.New("mediahost: the key has a wrong size")
	}
	keys := derive(key, kind)
	ciphertext, err := cbcutil.Encrypt(keys.cipher, keys.iv, plain)
	if err != nil {
		return Pointer{}, fmt.Errorf("mediahost: encrypt: %w", err)
	}
	body := slices.Concat(ciphertext, keys.mac(ciphertext))
	hash, plainHash := sha256.Sum256(body), sha256.Sum256(plain)
	if err := h.store(strings.NewReader(string(body)), hash); err != nil {
		return Pointer{}, err
	}
	path := directPath(hash)
	return Pointer{
		URL: "https://" + host + path, DirectPath: path, Key: key,
		SHA256: plainHash[:], EncryptedSHA256: hash[:], Size: uint64(len(plain)),
	}, nil
}

// PutOpen keeps a file for a channel, which is not encrypted.
func (h *Host) PutOpen(host string, _ Kind, plain []byte) (Pointer, error) {
	hash := sha256.Sum256(plain)
	if err := h.store(strings.NewReader(string(plain)), hash); err != nil {
		return Pointer{}, err
	}
	path := directPath(hash)
	return Pointer{URL: "https://" + host + path, DirectPath: path, SHA256: hash[:], Size: uint64(len(plain))}, nil
}

// GetOpen is Get for the file of a post, which is not encrypted.
func (h *Host) GetOpen(pointer Pointer) ([]byte, error) {
	h.getting.Lock()
	defer h.getting.Unlock()
	if len(pointer.Key) > 0 || len(pointer.EncryptedSHA256) > 0 {
		return nil, errors.New("mediahost: the post has a key, and a file in a channel is not encrypted")
	}
	plain, err := h.read(nameOf(pointer.DirectPath))
	if err != nil {
		return nil, err
	}
	hash := sha256.Sum256(plain)
	if !hmac.Equal(hash[:], pointer.SHA256) || uint64(len(plain)) != pointer.Size {
		return nil, errors.New("mediahost: the file has another hash or another size than the post says")
	}
	return plain, nil
}

// Get returns the decrypted file of a message, after it has checked it against all
// that the message says. It returns ErrGone if the host does not have the file.
//
// Files are decrypted in memory, and one at a time, because phones that fetched
// large ones at the same time would need gigabytes.
func (h *Host) Get(kind Kind, pointer Pointer) ([]byte, error) {
	h.getting.Lock()
	defer h.getting.Unlock()
	body, err := h.read(nameOf(pointer.DirectPath))
	if err != nil {
		return nil, err
	}
	hash := sha256.Sum256(body)
	if !hmac.Equal(hash[:], pointer.EncryptedSHA256) {
		return nil, errors.New("mediahost: the encrypted file has another hash than the message says")
	}
	if len(body) < macSize || len(pointer.Key) != keySize {
		return nil, errors.New("mediahost: the file or its key is too short")
	}
	keys := derive(pointer.Key, kind)
	ciphertext, mac := body[:len(body)-macSize], body[len(body)-macSize:]
	if !hmac.Equal(mac, keys.mac(ciphertext)) {
		return nil, errors.New("mediahost: the file was not encrypted with the message's key")
	}
	plain, err := cbcutil.Decrypt(keys.cipher, keys.iv, ciphertext)
	if err != nil {
		return nil, fmt.Errorf("mediahost: decrypt: %w", err)
	}
	plainHash := sha256.Sum256(plain)
	if !hmac.Equal(plainHash[:], pointer.SHA256) {
		return nil, errors.New("mediahost: the file has another hash than the message says")
	}
	return plain, nil
}

// read returns an encrypted file.
func (h *Host) read(name string) ([]byte, error) {
	file, err := h.root.Open(name)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrGone, err)
	}
	var body []byte
	about, err := file.Stat()
	if err == nil && about.Mode().IsRegular() {
		body = make([]byte, min(about.Size(), maxFile))
		_, err = io.ReadFull(file, body)
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return nil, fmt.Errorf("mediahost: read: %w", err)
	}
	return body, nil
}

// keys are the keys that the key of a message is expanded to.
type keys struct {
	iv, cipher, macKey []byte
}

func derive(key []byte, kind Kind) keys {
	const ivEnd, cipherEnd, macEnd, length = 16, 48, 80, 112
	expanded := hkdfutil.SHA256(key, nil, []byte(kind), length)
	return keys{iv: expanded[:ivEnd], cipher: expanded[ivEnd:cipherEnd], macKey: expanded[cipherEnd:macEnd]}
}

func (k keys) mac(ciphertext []byte) []byte {
	sum := hmac.New(sha256.New, k.macKey)
	sum.Write(k.iv)
	sum.Write(ciphertext)
	return sum.Sum(nil)[:macSize]
}
