// Status posts: what people show to their contacts for a day.

package phone

import (
	"context"
	"slices"

	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/chat"
	"github.com/recado-project/recado/internal/sandbox/content"
	"github.com/recado-project/recado/internal/sandbox/refusal"
)

// isStatus reports whether a caller names the status posts.
func isStatus(name string) bool { return name == types.StatusBroadcastJID.String() }

// distributeStatus sends a status post, or a change of one, to every device of those who may
// see it. Each device gets the key with it: whom a post is shown to may be others each time.
func (p *phone) distributeStatus(ctx context.Context, out phoneMessage) error {
	people, err := p.s.config.Audience(ctx, p.Account)
	if err != nil {
		return err
	}
	people = slices.DeleteFunc(people, func(of *account.Account) bool { return of.Blocks(p.Account) })
	_, err = p.distributeShared(ctx, out, append(people, p.Account), nil)
	return err
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
