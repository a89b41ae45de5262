// Files that a client asks the phone to upload again.

package phone

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/proto/waMmsRetry"
	"go.mau.fi/whatsmeow/util/gcmutil"
	"go.mau.fi/whatsmeow/util/hkdfutil"
	"google.golang.org/protobuf/proto"

	"github.com/recado-project/recado/internal/sandbox/content"
	"github.com/recado-project/recado/internal/sandbox/wire"
)

// codeNoMedia says that the phone does not have the file either.
const codeNoMedia = 2

// putMediaAgain uploads the file of a message again, and answers the device that
// asked for it.
func (p *phone) putMediaAgain(ctx context.Context, n waBinary.Node) error {
	linked := p.Account.Companion(wire.AttrJID(n, "from").Device)
	if linked == nil {
		return nil
	}
	id := wire.AttrString(n, "id")
	about, _ := wire.Child(n, "rmr")
	kept, err := p.s.findAnyMessage(ctx, p.Account, id)
	if err != nil {
		return err
	}
	answer := []waBinary.Node{{Tag: "error", Attrs: waBinary.Attrs{"code": codeNoMedia}}}
	if kept != nil && !kept.deleted && !kept.forgotten && kept.file.sha256 != "" {
		encrypt, _ := wire.Child(n, "encrypt")
		again, err := p.uploadAgain(ctx, kept, wire.ChildContent(encrypt, "enc_p"), wire.ChildContent(encrypt, "enc_iv"))
		if err != nil {
			return err
		}
		if again != nil {
			answer = again
		}
	}
	return p.u.ToDevice(linked, waBinary.Node{
		Tag:     "notification",
		Attrs:   waBinary.Attrs{"from": p.Account.PN(), "type": "mediaretry", "id": id, "t": p.s.now().Unix()},
		Content: append([]waBinary.Node{about}, answer...),
	})
}

// uploadAgain puts the file on the media host again, under the message's own key,
// and builds the answer. It returns nil if the file is gone, or if the request was
// not encrypted with the message's key.
func (p *phone) uploadAgain(ctx context.Context, kept *storedMessage, request, iv []byte) ([]waBinary.Node, error) {
	message, err := kept.message()
	if err != nil {
		return nil, err
	}
	part, kind := content.MediaOf(message)
	if part == nil {
		return nil, nil
	}
	key := hkdfutil.SHA256(part.GetMediaKey(), nil, []byte("WhatsApp Media Retry Notification"), 32)
	if len(iv) != nonceSize {
		return nil, nil
	}
	if _, err := gcmutil.Decrypt(key, iv, request, []byte(kept.id)); err != nil {
		p.s.config.Logger.LogAttrs(ctx, slog.LevelWarn, "a request for a file was not encrypted with the message's key", slog.Any("error", err))
		return nil, nil
	}
	plain, err := p.s.config.Files.Get(kept.file.sha256)
	if err != nil || plain == nil {
		return nil, err
	}
	pointer, err := p.s.config.Media.PutAgain("", kind, part.GetMediaKey(), plain)
	if err != nil {
		return nil, fmt.Errorf("phone: %w", err)
	}
	payload, err := proto.Marshal(&waMmsRetry.MediaRetryNotification{
		StanzaID: &kept.id, DirectPath: &pointer.DirectPath, Result: waMmsRetry.MediaRetryNotification_SUCCESS.Enum(),
	})
	if err != nil {
		return nil, fmt.Errorf("phone: encode media retry: %w", err)
	}
	nonce := make([]byte, nonceSize)
	if _, err := rand.Read(nonce); err != nil {
		return nil, fmt.Errorf("phone: draw nonce: %w", err)
	}
	ciphertext, err := gcmutil.Encrypt(key, nonce, payload, []byte(kept.id))
	if err != nil {
		return nil, fmt.Errorf("phone: encrypt media retry: %w", err)
	}
	return []waBinary.Node{{Tag: "encrypt", Content: []waBinary.Node{
		{Tag: "enc_p", Content: ciphertext}, {Tag: "enc_iv", Content: nonce},
	}}}, nil
}

const nonceSize = 12
