// Posts of channels: reading them, and reacting.

package channels

import (
	"context"
	"net/http"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
)

// Post is a post of a channel.
type Post struct {
	ServerID  int64              `json:"serverId" doc:"Its number in the channel." example:"42"`
	MessageID string             `json:"messageId" doc:"The platform's identifier." example:"3EB0C431C26A1916E07A"`
	Timestamp contract.Timestamp `json:"timestamp" doc:"When it was written."`
	Type      string             `json:"type" doc:"What it is, as in the events of messages." example:"text"`
	Text      *string            `json:"text" nullable:"true" doc:"The text; null for other types." example:"New this week: mugs"`
	Caption   *string            `json:"caption" nullable:"true" doc:"What is written under a file, the question of a poll, or the name of a calendar event; null if nothing is."`
	MimeType  *string            `json:"mimeType" nullable:"true" doc:"Media type of the file; null if it has none."`
	Views     int64              `json:"views" doc:"How many have seen it." example:"310"`
	Reactions []PostReaction     `json:"reactions" nullable:"false" doc:"How many have reacted, by emoji, the most frequent first."`
	Deleted   bool               `json:"deleted" doc:"Whether it was deleted; then nothing is left of it." example:"false"`
}

// PostReaction is how many have reacted to a post with an emoji.
type PostReaction struct {
	Reaction string `json:"reaction" doc:"The emoji." example:"👍"`
	Count    int64  `json:"count" doc:"How many." example:"12"`
}

// PostList are posts of a channel.
type PostList struct {
	Data []Post `json:"data" nullable:"false" doc:"Posts, oldest first."`
}

func newPost(of gateway.Post) Post {
	shown := eventlog.NewMessage(of.Message, of.Message.Details)
	post := Post{
		ServerID: int64(of.ServerID), MessageID: shown.MessageID, Timestamp: contract.Timestamp(shown.Timestamp), Type: shown.Type,
		Text: shown.Text, Caption: shown.Caption, Views: int64(of.Views), Reactions: []PostReaction{}, Deleted: of.Deleted,
	}
	if shown.Media != nil {
		post.MimeType = contract.TextOrNil(shown.Media.MimeType)
	}
	for _, one := range of.Reactions {
		post.Reactions = append(post.Reactions, PostReaction{one.Reaction, int64(one.Count)})
	}
	return post
}

type postsInput struct {
	Path

	Before int64 `query:"before" minimum:"1" maximum:"999999999" doc:"Only posts before the one with this serverId: the newest of them." example:"42"`
	After  int64 `query:"after" minimum:"1" maximum:"999999999" doc:"Only posts after the one with this serverId: the oldest of them." example:"12"`
	Limit  int64 `query:"limit" default:"50" minimum:"1" maximum:"100" doc:"How many posts at most." example:"50"`
}

func (r resource) posts() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "listChannelMessages", Tag: Tag,
		Summary: "Read a channel",
		Description: "Asks the platform for posts of a channel, oldest first: the newest ones, or those before or after a post. " +
			"For the page before, ask with `before` and the `serverId` of the first. This account need not follow the channel.",
		Codes: codes(gateway.CodeChannelPrivate, gateway.CodeChannelOwner),
	}, func(ctx context.Context, in *postsInput) (*contract.Answer[PostList], error) {
		posts, err := r.use.Posts(ctx, contract.Instance(ctx).ID, in.ref, gateway.PostQuery{
			Before: int(in.Before), After: int(in.After), Limit: int(in.Limit),
		})
		if err != nil {
			return nil, err
		}
		list := PostList{Data: make([]Post, len(posts))}
		for n, post := range posts {
			list.Data[n] = newPost(post)
		}
		return &contract.Answer[PostList]{Body: list}, nil
	})
}

type postReactionBody struct {
	Reaction string `json:"reaction" format:"emoji" doc:"One emoji; empty removes the reaction." example:"👍"`
}

type reactInput struct {
	Path

	MessageID string `path:"messageId" maxLength:"255" doc:"The post: its serverId, or its platform identifier if it is one of the newest 300." example:"42"`
	contract.JSON[postReactionBody]
}

func (r resource) react() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "reactToChannelMessage", Tag: Tag, Status: http.StatusNoContent,
		Summary: "React to a post", Description: "Sets the reaction of this account to a post of a channel that it follows. It replaces the one before.",
		Codes: codes(gateway.CodeChannelPrivate, gateway.CodeChannelOwner, gateway.CodeMessageNotFound),
	}, func(ctx context.Context, in *reactInput) (*struct{}, error) {
		return nil, r.use.React(ctx, contract.Instance(ctx).ID, in.ref, in.MessageID, in.Given().Reaction)
	})
}
