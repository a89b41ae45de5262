// Posts of channels, and reactions to them.

package channels

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"go.mau.fi/whatsmeow"
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/whatsapp/wire"
)

const (
	// maxReactions bounds how many emoji of a post are told.
	maxReactions = 32
	// maxReaction bounds an emoji in bytes.
	maxReaction = 64
)

// Posts asks for posts of a channel (gateway.ChannelPosts).
func (c *Channels) Posts(ctx context.Context, id gateway.JID, query gateway.PostQuery) ([]gateway.Post, error) {
	jid, err := wire.ToJID(id)
	if err != nil {
		return nil, err
	}
	attrs := waBinary.Attrs{"type": "jid", "jid": jid, "count": query.Limit}
	if query.Before > 0 {
		attrs["before"] = query.Before
	}
	if query.After > 0 {
		attrs["after"] = query.After
	}
	ctx, cancel := context.WithTimeout(ctx, c.line.Wait)
	defer cancel()
	inside := c.line.Client().DangerousInternals() //nolint:staticcheck // the library can't ask for what came after a post; the version is pinned
	answer, err := inside.SendIQ(ctx, whatsmeow.DangerousInfoQuery{
		Namespace: "newsletter", Type: whatsmeow.DangerousInfoQueryType("get"), To: types.ServerJID,
		Content: []waBinary.Node{{Tag: "messages", Attrs: attrs}},
	})
	if err != nil {
		return nil, mayRead(Failure(err))
	}
	messages := answer.GetChildByTag("messages")
	said := inside.ParseNewsletterMessages(&messages)
	posts := make([]gateway.Post, 0, min(len(said), query.Limit))
	for _, one := range said[:min(len(said), query.Limit)] {
		if post, ok := c.postOf(jid, one); ok {
			posts = append(posts, post)
		}
	}
	slices.SortStableFunc(posts, func(a, b gateway.Post) int { return cmp.Compare(a.ServerID, b.ServerID) })
	return posts, nil
}

// mayRead says of a refusal to read that the channel is private.
func mayRead(err error) error {
	if refusal, ok := gateway.AsError(err); ok && refusal.Code == gateway.CodeChannelOwner {
		return gateway.Errorf(gateway.Forbidden, gateway.CodeChannelPrivate, "the channel is private: only who follows it may read it")
	}
	return err
}

// postOf translates a post; false for one without a number.
func (c *Channels) postOf(channel types.JID, said *types.NewsletterMessage) (gateway.Post, bool) {
	now := c.line.Now()
	event := &events.Message{RawMessage: said.Message, Info: types.MessageInfo{
		MessageSource: types.MessageSource{Chat: channel, Sender: channel},
		ID:            said.MessageID, ServerID: said.MessageServerID, Timestamp: said.Timestamp, Type: said.Type,
	}}
	post := gateway.Post{ServerID: said.MessageServerID, Views: max(said.ViewsCount, 0)}
	for reaction, count := range said.ReactionCounts {
		if reaction != "" && len(reaction) <= maxReaction && count > 0 {
			post.Reactions = append(post.Reactions, gateway.PostReaction{Reaction: gateway.CleanName(reaction), Count: count})
		}
	}
	slices.SortFunc(post.Reactions, func(a, b gateway.PostReaction) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Reaction, b.Reaction))
	})
	post.Reactions = post.Reactions[:min(len(post.Reactions), maxReactions)]
	if said.Message != nil {
		wire.CleanContent(said.Message)
		event.UnwrapRaw()
		message, ok, err := wire.MessageOf(event, gateway.Party{}, now, func(types.JID) types.JID { return types.EmptyJID })
		if cleaned, isMessage := message.Cleaned(now.UTC()).(gateway.Message); err == nil && ok && isMessage {
			post.Message = cleaned
			return post, post.ServerID > 0
		}
	}
	post.Deleted = said.Message == nil
	post.Message = gateway.Message{
		PlatformID: gateway.CleanID(said.MessageID), Type: gateway.TypeUnsupported, SentAt: gateway.CleanTime(said.Timestamp.UTC(), now.UTC()),
	}
	return post, post.ServerID > 0
}

// ReactToPost sets the account's reaction to a post (gateway.ChannelPosts). The library would
// not wait for the platform's answer.
func (c *Channels) ReactToPost(ctx context.Context, id gateway.JID, serverID int, reaction string) error {
	jid, err := wire.ToJID(id)
	if err != nil {
		return err
	}
	client := c.line.Client()
	messageID := client.GenerateMessageID()
	attrs := waBinary.Attrs{"to": jid, "id": messageID, "server_id": serverID, "type": "reaction"}
	content := waBinary.Node{Tag: "reaction", Attrs: waBinary.Attrs{"code": reaction}}
	if reaction == "" {
		attrs["edit"], content.Attrs = string(types.EditAttributeSenderRevoke), waBinary.Attrs{}
	}
	ctx, cancel := context.WithTimeout(ctx, c.line.Wait)
	defer cancel()
	inside := client.DangerousInternals() //nolint:staticcheck // see above; the version is pinned
	answers := inside.WaitResponse(messageID)
	if err := inside.SendNode(ctx, waBinary.Node{Tag: "message", Attrs: attrs, Content: []waBinary.Node{content}}); err != nil {
		inside.CancelResponse(messageID, answers)
		return Failure(err)
	}
	select {
	case answer := <-answers:
		code, _ := strconv.Atoi(answer.AttrGetter().OptionalString("error"))
		if answer.Tag != "ack" { // the connection was lost
			return Failure(context.DeadlineExceeded)
		}
		if code != 0 {
			return Failure(&whatsmeow.IQError{Code: code})
		}
		return nil
	case <-ctx.Done():
		inside.CancelResponse(messageID, answers)
		return Failure(context.DeadlineExceeded)
	}
}
