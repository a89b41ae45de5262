package platform

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
)

// codeNoMedia tells a client that the phone does not have the file either.
const codeNoMedia = 2

// askForMedia passes on that the media host does not have the file of a message:
// to the own phone, which puts it there again.
func (c *connection) askForMedia(u *unit, n waBinary.Node) error {
	request := n
	request.Attrs = waBinary.Attrs{"from": c.device.jid(), "id": attrString(n, "id"), "type": receiptServerError}
	return u.toPhone(c.device.account, request)
}

// putMediaAgain puts the file of a message on the media host again, from what
// the phone has kept, and tells the device that asked for it.
func (p *phone) putMediaAgain(ctx context.Context, n waBinary.Node) error {
	linked := p.companion(attrJID(n, "from").Device)
	if linked == nil {
		return nil
	}
	id := attrString(n, "id")
	about, _ := child(n, "rmr")
	kept, err := p.s.findAnyMessage(ctx, p.account, id)
	if err != nil {
		return err
	}
	answer := []waBinary.Node{{Tag: "error", Attrs: waBinary.Attrs{"code": codeNoMedia}}}
	if kept != nil && !kept.deleted && !kept.forgotten && kept.file.sha256 != "" {
		encrypt, _ := child(n, "encrypt")
		again, err := p.uploadAgain(ctx, kept, childContent(encrypt, "enc_p"), childContent(encrypt, "enc_iv"))
		if err != nil {
			return err
		}
		if again != nil {
			answer = again
		}
	}
	return p.u.toDevice(linked, waBinary.Node{
		Tag:     "notification",
		Attrs:   waBinary.Attrs{"from": p.pn(), "type": "mediaretry", "id": id, "t": p.s.now().Unix()},
		Content: append([]waBinary.Node{about}, answer...),
	})
}

// uploadAgain puts the file on the media host, under the message's own key, and
// builds the answer; nil where the request was not made by somebody who has the
// message, or the file is gone.
func (p *phone) uploadAgain(ctx context.Context, kept *keptMessage, request, iv []byte) ([]waBinary.Node, error) {
	message, err := kept.message()
	if err != nil {
		return nil, err
	}
	part, kind := mediaOf(message)
	if part == nil {
		return nil, nil
	}
	key := hkdfutil.SHA256(part.GetMediaKey(), nil, []byte("WhatsApp Media Retry Notification"), 32)
	if len(iv) != nonceSize {
		return nil, nil
	}
	if _, err := gcmutil.Decrypt(key, iv, request, []byte(kept.id)); err != nil {
		p.s.logger.LogAttrs(ctx, slog.LevelWarn, "a request for a file was not encrypted with the message's key", slog.Any("error", err))
		return nil, nil
	}
	plain, err := p.s.files.get(kept.file.sha256)
	if err != nil || plain == nil {
		return nil, err
	}
	pointer, err := p.s.media.PutAgain("", kind, part.GetMediaKey(), plain)
	if err != nil {
		return nil, fmt.Errorf("platform: %w", err)
	}
	payload, err := proto.Marshal(&waMmsRetry.MediaRetryNotification{
		StanzaID: &kept.id, DirectPath: &pointer.DirectPath, Result: waMmsRetry.MediaRetryNotification_SUCCESS.Enum(),
	})
	if err != nil {
		return nil, fmt.Errorf("platform: encode media retry: %w", err)
	}
	nonce := make([]byte, nonceSize)
	if _, err := rand.Read(nonce); err != nil {
		return nil, fmt.Errorf("platform: draw nonce: %w", err)
	}
	ciphertext, err := gcmutil.Encrypt(key, nonce, payload, []byte(kept.id))
	if err != nil {
		return nil, fmt.Errorf("platform: encrypt media retry: %w", err)
	}
	return []waBinary.Node{{Tag: "encrypt", Content: []waBinary.Node{
		{Tag: "enc_p", Content: ciphertext}, {Tag: "enc_iv", Content: nonce},
	}}}, nil
}

const nonceSize = 12
