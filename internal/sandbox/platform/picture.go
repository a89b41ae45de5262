package platform

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"path"
	"time"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"
)

// PicturePath is where profile pictures are served, by the hash of their files.
const PicturePath = "/sandbox/pictures/"

// iqPicture answers where the picture of somebody, or of a group, is.
func iqPicture(ctx context.Context, c *connection, iq waBinary.Node) ([]waBinary.Node, error) {
	target := attrJID(iq, "target")
	if target.IsEmpty() {
		target = c.device.account.pn()
	}
	picture, err := c.pictureOf(ctx, target)
	if err != nil {
		return nil, err
	}
	if picture == "" {
		return nil, errItemNotFound
	}
	asked, _ := child(iq, "picture")
	if attrString(asked, "id") == picture {
		return nil, nil // the client has it
	}
	kind := attrString(asked, "type")
	if kind == "" {
		kind = "image"
	}
	return []waBinary.Node{{Tag: "picture", Attrs: waBinary.Attrs{
		"id": picture, "type": kind, "url": c.web.plain + PicturePath + picture, "direct_path": PicturePath + picture,
	}}}, nil
}

// pictureOf returns the picture that the client may see; "" for none.
func (c *connection) pictureOf(ctx context.Context, target types.JID) (string, error) {
	if target.Server == types.GroupServer {
		found, err := c.s.groups.find(ctx, target.User)
		if err != nil || found == nil || !found.has(c.device.account) {
			return "", err
		}
		return found.Picture, nil
	}
	of, err := c.s.directory.byJID(ctx, target)
	if err != nil || of == nil || of.blocks(c.device.account) {
		return "", err
	}
	return of.pictureID(), nil
}

func (a *account) pictureID() string {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.picture
}

// keepPicture keeps the file of a picture and returns its hash; "" for none.
func (s *Server) keepPicture(file []byte) (string, error) {
	if len(file) == 0 {
		return "", nil
	}
	sum := sha256.Sum256(file)
	hash := hex.EncodeToString(sum[:])
	return hash, s.files.put(hash, file)
}

// pictureNotification says that a picture was changed, or taken away.
func pictureNotification(of, by types.JID, hash string, at int64) waBinary.Node {
	change := waBinary.Node{Tag: "set", Attrs: waBinary.Attrs{"jid": of, "id": hash, "author": by}}
	if hash == "" {
		change = waBinary.Node{Tag: "delete", Attrs: waBinary.Attrs{"jid": of, "author": by}}
	}
	return waBinary.Node{
		Tag:     "notification",
		Attrs:   waBinary.Attrs{"from": of, "type": "picture", "id": newID(), "t": at},
		Content: []waBinary.Node{change},
	}
}

// setPicture adds the change of a profile picture to the unit, none where the
// file is empty. The account's own devices are told, and those of everybody with
// whom it has a chat.
func (u *unit) setPicture(ctx context.Context, of *account, file []byte) error {
	hash, err := u.s.keepPicture(file)
	if err != nil {
		return err
	}
	told, err := u.s.chatPartners(ctx, of)
	if err != nil {
		return err
	}
	for _, who := range append(told, of) {
		for _, linked := range who.companions() {
			if err := u.toDevice(linked, pictureNotification(of.lidJID(), of.lidJID(), hash, u.s.now().Unix())); err != nil {
				return err
			}
		}
	}
	u.exec("UPDATE accounts SET picture = $1 WHERE number = $2", hash, of.number)
	u.then(func() {
		of.mu.Lock()
		of.picture = hash
		of.mu.Unlock()
	})
	return nil
}

// chatPartners returns the people with whom an account has a chat.
func (s *Server) chatPartners(ctx context.Context, of *account) ([]*account, error) {
	chats, err := queryStrings(ctx, s.db.Reader(), "SELECT DISTINCT chat FROM messages WHERE number = $1", of.number)
	if err != nil {
		return nil, fmt.Errorf("platform: list chats: %w", err)
	}
	var partners []*account
	for _, chat := range chats {
		jid, err := types.ParseJID(chat)
		if err != nil {
			return nil, fmt.Errorf("platform: read chat: %w", err)
		}
		with, err := s.directory.byJID(ctx, jid) // nil for a group
		if err != nil {
			return nil, err
		}
		if with != nil && with != of && !of.blocks(with) {
			partners = append(partners, with)
		}
	}
	return partners, nil
}

// ServePicture serves a profile picture. Only files that somebody shows as one
// are found: the media of messages are not.
func (s *Server) ServePicture(w http.ResponseWriter, r *http.Request) {
	hash := path.Base(r.URL.Path)
	shown, err := queryStrings(r.Context(), s.db.Reader(),
		"SELECT number FROM accounts WHERE picture = $1 UNION ALL SELECT id FROM groups WHERE state ->> 'picture' = $1 LIMIT 1", hash)
	if err != nil {
		http.Error(w, "the picture could not be looked for", http.StatusInternalServerError)
		return
	}
	var file []byte
	if len(shown) > 0 {
		file, err = s.files.get(hash)
	}
	if err != nil || file == nil || (r.Method != http.MethodGet && r.Method != http.MethodHead) {
		http.Error(w, "no such picture", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", http.DetectContentType(file))
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(file))
}
