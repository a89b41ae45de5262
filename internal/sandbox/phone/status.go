// Status posts: what people show to their contacts for a day.

package phone

import (
	"context"
	"fmt"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/chat"
	"github.com/recado-project/recado/internal/sandbox/content"
	"github.com/recado-project/recado/internal/sandbox/refusal"
	"github.com/recado-project/recado/internal/sandbox/signal"
)

// isStatus reports whether a caller names the status posts.
func isStatus(name string) bool { return name == types.StatusBroadcastJID.String() }

// distributeStatus sends a status post, or a change of one, to every device of those who may
// see it. It is encrypted once, and each device gets the key with it: whom a post is shown to
// may be others each time.
func (p *phone) distributeStatus(ctx context.Context, out phoneMessage) error {
	people, err := p.s.config.Audience(ctx, p.Account)
	if err != nil {
		return err
	}
	where := out.chat.JID().String()
	key, err := p.distribution(ctx, where)
	if err != nil {
		return err
	}
	plaintext, err := out.plaintext()
	if err != nil {
		return err
	}
	ciphertext, err := p.signal.GroupEncrypt(ctx, where, p.self(), signal.Pad(plaintext))
	if err != nil {
		return fmt.Errorf("phone: encrypt a status post: %w", err)
	}
	common := waBinary.Node{Tag: "enc", Attrs: waBinary.Attrs{"v": "2", "type": "skmsg"}, Content: ciphertext}
	for _, of := range append([]*account.Account{p.Account}, people...) {
		if of != p.Account && of.Blocks(p.Account) {
			continue
		}
		for _, linked := range of.Companions() {
			enc, err := p.encryptPairwise(ctx, linked, &waE2E.Message{SenderKeyDistributionMessage: key})
			if err != nil {
				return err
			}
			if enc == nil {
				continue // it was removed a moment ago
			}
			if err := p.u.ToDevice(linked, p.stanza(out, of == p.Account, *enc, common)); err != nil {
				return err
			}
		}
		if of == p.Account {
			continue
		}
		if err := p.deliverToPhone(of, out); err != nil {
			return err
		}
	}
	return nil
}

// holding returns where a caller sends a message to: a chat, or the status posts.
func (s *Service) holding(ctx context.Context, field, name string) (chat.Chat, error) {
	if isStatus(name) {
		return chat.Chat{Status: true}, nil
	}
	return s.config.Chats.Named(ctx, field, name)
}

// checkPost refuses what phones do not show as a status post.
func checkPost(to chat.Chat, m content.Outgoing) error {
	if !to.Status {
		return nil
	}
	switch m.Type {
	case "text", "image", "video", "voice":
	default:
		return refusal.Invalidf("type", "must be text, image, video or voice in a status post")
	}
	if m.QuotedMessageID != "" || m.ViewOnce || len(m.Mentions) > 0 {
		return refusal.Invalidf("", "a status post answers nothing, mentions nobody, and can be opened again")
	}
	return nil
}
