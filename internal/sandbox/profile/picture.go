// Profile pictures.

package profile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"strings"
	"time"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/database"
	"github.com/recado-project/recado/internal/sandbox/wire"
)

// PicturePath is the path under which pictures are served. The hash of the file
// follows it.
const PicturePath = "/sandbox/pictures/"

// iqPicture answers where the picture of a person or a group can be fetched.
func (s *Service) iqPicture(ctx context.Context, c account.Asker, iq waBinary.Node) ([]waBinary.Node, error) {
	target := wire.AttrJID(iq, "target")
	if target.IsEmpty() {
		target = c.Device.Account.PN()
	}
	picture, err := s.pictureOf(ctx, c, target)
	if err != nil {
		return nil, err
	}
	if picture == "" {
		return nil, wire.ErrItemNotFound
	}
	asked, _ := wire.Child(iq, "picture")
	if wire.AttrString(asked, "id") == picture {
		return nil, nil // the client has it
	}
	kind := wire.AttrString(asked, "type")
	if kind == "" {
		kind = "image"
	}
	return []waBinary.Node{{Tag: "picture", Attrs: waBinary.Attrs{
		"id": picture, "type": kind, "url": c.Origin.Plain + PicturePath + picture, "direct_path": PicturePath + picture,
	}}}, nil
}

// iqSetPicture sets the picture of the client's own account, or of a group.
func (s *Service) iqSetPicture(ctx context.Context, c account.Asker, iq waBinary.Node) ([]waBinary.Node, error) {
	if wire.AttrJID(iq, "target").Server == types.GroupServer {
		return s.config.Groups.ChangePicture(ctx, c, iq)
	}
	if target := wire.AttrJID(iq, "target"); !target.IsEmpty() {
		if of, err := s.config.Accounts.ByJID(ctx, target); err != nil || of != c.Device.Account {
			return nil, errors.Join(err, wire.ErrForbidden)
		}
	}
	file := wire.ChildContent(iq, "picture")
	if len(file) > 0 && http.DetectContentType(file) != "image/jpeg" {
		return nil, wire.ErrNotAcceptable
	}
	u := s.config.Accounts.NewUnit()
	if err := s.setPicture(ctx, u, c.Device.Account, c.Device, file); err != nil {
		return nil, err
	}
	if err := u.Commit(ctx); err != nil || len(file) == 0 {
		return nil, err
	}
	return []waBinary.Node{{Tag: "picture", Attrs: waBinary.Attrs{"id": c.Device.Account.PictureID()}}}, nil
}

// pictureOf returns the hash of the picture that the client may see, or "".
func (s *Service) pictureOf(ctx context.Context, c account.Asker, target types.JID) (string, error) {
	if target.Server == types.GroupServer {
		found, err := s.config.Groups.Find(ctx, target.User)
		if err != nil || found == nil || !found.Has(c.Device.Account) {
			return "", err
		}
		return found.Picture, nil
	}
	of, err := s.config.Accounts.ByJID(ctx, target)
	if err != nil || of == nil || of.Blocks(c.Device.Account) {
		return "", err
	}
	shown, err := s.config.Accounts.Lets(ctx, of, account.PrivacyPicture, c.Device.Account)
	switch {
	case err != nil:
		return "", err
	case !shown:
		return "", wire.ErrNotAuthorized
	}
	return of.PictureID(), nil
}

// setPicture adds to the unit that an account's picture changes. An empty file
// removes it. The account's devices are notified, but the one that has made the change, and
// those of the people with whom it has a chat and who may see it.
func (s *Service) setPicture(ctx context.Context, u *account.Unit, of *account.Account, by *account.Device, file []byte) error {
	hash, err := s.config.Files.KeepPicture(file)
	if err != nil {
		return err
	}
	partners, err := s.chatPartners(ctx, of)
	if err != nil {
		return err
	}
	for _, who := range append(partners, of) {
		shown, err := s.config.Accounts.Lets(ctx, of, account.PrivacyPicture, who)
		if err != nil {
			return err
		}
		for _, linked := range who.Companions() {
			if linked == by || !shown {
				continue
			}
			if err := u.ToDevice(linked, account.PictureNotification(of.LIDJID(), of.LIDJID(), hash, s.now().Unix())); err != nil {
				return err
			}
		}
	}
	u.Exec("UPDATE accounts SET picture = $1 WHERE number = $2", hash, of.Number)
	u.Then(func() { of.SetPicture(hash) })
	// The picture stands in the chats of other phones too.
	u.Then(s.config.Accounts.Bell.RingAll)
	return nil
}

// chatPartners returns the people with whom an account has a chat.
func (s *Service) chatPartners(ctx context.Context, of *account.Account) ([]*account.Account, error) {
	chats, err := database.Strings(ctx, s.db.Reader(), "SELECT DISTINCT chat FROM messages WHERE number = $1", of.Number)
	if err != nil {
		return nil, fmt.Errorf("profile: list chats: %w", err)
	}
	var partners []*account.Account
	for _, chat := range chats {
		jid, err := types.ParseJID(chat)
		if err != nil {
			return nil, fmt.Errorf("profile: read chat: %w", err)
		}
		with, err := s.config.Accounts.ByJID(ctx, jid) // nil for a group
		if err != nil {
			return nil, err
		}
		if with != nil && with != of && !of.Blocks(with) {
			partners = append(partners, with)
		}
	}
	return partners, nil
}

// ServePicture serves the picture of an account or a group. Media of messages,
// which are kept in the same folder, are not found.
func (s *Service) ServePicture(w http.ResponseWriter, r *http.Request) {
	hash := path.Base(r.URL.Path)
	shown, err := database.Strings(r.Context(), s.db.Reader(),
		"SELECT number FROM accounts WHERE picture = $1 UNION ALL SELECT id FROM groups WHERE state ->> 'picture' = $1 LIMIT 1", hash)
	if err != nil {
		http.Error(w, "the picture could not be looked for", http.StatusInternalServerError)
		return
	}
	var file []byte
	if len(shown) > 0 {
		file, err = s.config.Files.Get(hash)
	}
	if err != nil || file == nil || (r.Method != http.MethodGet && r.Method != http.MethodHead) {
		http.Error(w, "no such picture", http.StatusNotFound)
		return
	}
	// Everybody chooses their picture: what is none must not become a page.
	kind := http.DetectContentType(file)
	if !strings.HasPrefix(kind, "image/") {
		kind = "application/octet-stream"
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Content-Security-Policy", "sandbox; default-src 'none'")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(file))
}
