// Channels: which the account follows or owns, and their posts.

package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/channel"
	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
)

type channels struct{ use *channel.Service }

// channelCodes are the refusals of every operation on one channel.
func channelCodes(more ...string) []string {
	return sessionCodes(append(more, gateway.CodeValidation, gateway.CodeChannelNotFound, gateway.CodeChannelGone, gateway.CodeChannelBlocked, gateway.CodeChannelRefused)...)
}

// ChannelPath is the path of a channel.
type ChannelPath struct {
	contract.InstancePath

	ChannelID string `path:"channelId" doc:"The channel's ID, or its invite link, escaped for a URL, or the last part of that." example:"120363144038483540@newsletter"`

	ref gateway.ChannelRef
}

// Resolve reads the channel.
func (p *ChannelPath) Resolve(huma.Context) []error {
	ref, ok := gateway.ParseChannel(p.ChannelID)
	if !ok {
		return contract.Wrong("channelId", "must be the ID of a channel ending in @"+gateway.ChannelSuffix+", or an invite link that begins with "+gateway.ChannelLink(""))
	}
	p.ref = ref
	return nil
}

// ChannelDetails are what is known about a channel.
type ChannelDetails struct {
	ID          string  `json:"id" doc:"The channel's ID." example:"120363144038483540@newsletter"`
	Name        string  `json:"name" doc:"Name of the channel." example:"News of the shop"`
	Description *string `json:"description" nullable:"true" doc:"Description of the channel; null if there is none." example:"What is new, every Friday"`
	Link        *string `json:"link" nullable:"true" doc:"The link with which anybody finds it; null if it is not known." example:"https://whatsapp.com/channel/0029VaAbCdEfGhIjKlMnOp"`
	PictureURL  *string `json:"pictureUrl" nullable:"true" doc:"Where its picture can be fetched; null if it has none."`
	Role        string  `json:"role" enum:"owner,admin,follower,guest" doc:"What this account is in it: owner and admin write, followers read, a guest does not follow it." example:"follower"`
	Muted       bool    `json:"muted" doc:"Whether this account has muted it." example:"false"`
	Verified    bool    `json:"verified" doc:"Whether the platform has verified whose it is." example:"false"`
	Followers   int64   `json:"followers" doc:"How many follow it." example:"1200"`
	Available   bool    `json:"available" doc:"Whether it can be read here: false if the platform has suspended it, everywhere or in the account's country." example:"true"`
	Creation    int64   `json:"creation" doc:"When the channel was created, Unix time in seconds; 0 if unknown." example:"1795012930"`
}

func newChannelDetails(of gateway.Channel) ChannelDetails {
	shown := ChannelDetails{
		ID: string(of.ID), Name: of.Name, Description: contract.TextOrNil(of.Description), PictureURL: contract.TextOrNil(of.PictureURL),
		Role: string(of.Role), Muted: of.Muted, Verified: of.Verified, Followers: int64(of.Followers), Available: !of.Blocked,
	}
	if of.Role == "" {
		shown.Role = string(gateway.ChannelGuest)
	}
	if of.Invite != "" {
		shown.Link = new(gateway.ChannelLink(of.Invite))
	}
	if !of.CreatedAt.IsZero() {
		shown.Creation = of.CreatedAt.Unix()
	}
	return shown
}

type listChannelsInput struct {
	contract.InstancePath
	contract.Paging

	Name string `query:"name" maxLength:"100" doc:"Only channels with this in their name. Case doesn't count." example:"news"`
	Own  bool   `query:"own" doc:"true: only channels into which this account may write." example:"false"`
}

func (r channels) list() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "listChannels", Tag: tagChannels,
		Summary: "List channels",
		Description: "Lists the channels that the account follows or owns, in the order of their names. They are asked for with one question, " +
			"and then read from memory until something changes.",
		Codes: sessionCodes(gateway.CodeValidation),
	}, func(ctx context.Context, in *listChannelsInput) (contract.Envelope[ChannelDetails], error) {
		return contract.Listed(in.Paging, newChannelDetails)(r.use.List(ctx, contract.Instance(ctx).ID, channel.Filter{Name: in.Name, Own: in.Own}, in.Request()))
	})
}

type newChannelBody struct {
	Name        string `json:"name" minLength:"1" maxLength:"100" doc:"Name of the channel, at most 100 characters." example:"News of the shop"`
	Description string `json:"description,omitempty" maxLength:"2048" doc:"Description of the channel, at most 2,048 characters." example:"What is new, every Friday"`
	Picture     string `json:"picture,omitempty" minLength:"1" format:"media" doc:"Picture of the channel: a base64 data URI, an http(s) URL, or an upload (upload:<id>). It is made small enough." sample:"-"`
}

func (r channels) create() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "createChannel", Tag: tagChannels, Status: http.StatusCreated,
		Summary: "Create a channel",
		Description: "Makes a channel that this account owns. It accepts the platform's terms for channels in the name of the account. " +
			"To write into it, send a text to its ID.",
		Codes: sessionCodes(gateway.CodeValidation, gateway.CodeMediaFetchFailed, gateway.CodeChannelRefused, gateway.CodeChannelOwner),
	}, func(ctx context.Context, in *instanceBody[newChannelBody]) (ChannelDetails, error) {
		given := in.Given()
		draft := channel.Draft{Name: given.Name, Description: given.Description, Picture: pictureIn(ctx, given.Picture)}
		return contract.Answered(newChannelDetails)(r.use.Create(ctx, contract.Instance(ctx).ID, draft))
	})
}

func (r channels) get() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "getChannel", Tag: tagChannels,
		Summary: "Get a channel", Description: "Asks the platform for a channel, by its ID or its invite link. This account need not follow it.",
		Codes: channelCodes(gateway.CodeChannelPrivate, gateway.CodeChannelOwner),
	}, func(ctx context.Context, in *ChannelPath) (ChannelDetails, error) {
		return contract.Answered(newChannelDetails)(r.use.Get(ctx, contract.Instance(ctx).ID, in.ref))
	})
}

func (r channels) follow() contract.Pair {
	return contract.Switch(contract.Operation{Tag: tagChannels, Codes: channelCodes(gateway.CodeChannelPrivate, gateway.CodeChannelOwner)},
		contract.Named{ID: "followChannel", Summary: "Follow a channel", Description: "What is written in it from now on arrives as messages. Following it again changes nothing."},
		contract.Named{ID: "unfollowChannel", Summary: "Unfollow a channel", Description: "Unfollows the channel. The owner can't unfollow it."},
		func(ctx context.Context, in *ChannelPath, on bool) error {
			return r.use.Follow(ctx, contract.Instance(ctx).ID, in.ref, on)
		})
}

func (r channels) mute() contract.Pair {
	return contract.Switch(contract.Operation{Tag: tagChannels, Codes: channelCodes(gateway.CodeChannelPrivate, gateway.CodeChannelOwner)},
		contract.Named{ID: "muteChannel", Summary: "Mute a channel", Description: "Mutes the channel's notifications on the phone. Its posts still arrive here."},
		contract.Named{ID: "unmuteChannel", Summary: "Unmute a channel", Description: "The phone tells of its posts again."},
		func(ctx context.Context, in *ChannelPath, on bool) error {
			return r.use.Mute(ctx, contract.Instance(ctx).ID, in.ref, on)
		})
}

// ChannelPost is a post of a channel.
type ChannelPost struct {
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

// ChannelPostList are posts of a channel.
type ChannelPostList struct {
	Data []ChannelPost `json:"data" nullable:"false" doc:"Posts, oldest first."`
}

func newPost(of gateway.Post) ChannelPost {
	shown := eventlog.NewMessage(of.Message, of.Message.Details)
	post := ChannelPost{
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

type channelPostsInput struct {
	ChannelPath

	Before int64 `query:"before" minimum:"1" maximum:"999999999" doc:"Only posts before the one with this serverId: the newest of them." example:"42"`
	After  int64 `query:"after" minimum:"1" maximum:"999999999" doc:"Only posts after the one with this serverId: the oldest of them." example:"12"`
	Limit  int64 `query:"limit" default:"50" minimum:"1" maximum:"100" doc:"How many posts at most." example:"50"`
}

func (r channels) posts() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "listChannelPosts", Tag: tagChannels,
		Summary: "Read a channel",
		Description: "Asks the platform for posts of a channel, oldest first: the newest ones, or those before or after a post. " +
			"For the page before, ask with `before` and the `serverId` of the first. This account need not follow the channel.",
		Codes: channelCodes(gateway.CodeChannelPrivate, gateway.CodeChannelOwner),
	}, func(ctx context.Context, in *channelPostsInput) (ChannelPostList, error) {
		posts, err := r.use.Posts(ctx, contract.Instance(ctx).ID, in.ref, gateway.PostQuery{
			Before: int(in.Before), After: int(in.After), Limit: int(in.Limit),
		})
		if err != nil {
			return ChannelPostList{}, err
		}
		list := ChannelPostList{Data: make([]ChannelPost, len(posts))}
		for n, post := range posts {
			list.Data[n] = newPost(post)
		}
		return list, nil
	})
}

type channelReactionBody struct {
	Reaction string `json:"reaction" format:"emoji" doc:"One emoji; empty removes the reaction." example:"👍"`
}

type reactInput struct {
	ChannelPath

	MessageID string `path:"messageId" maxLength:"255" doc:"The post: its serverId, or its platform identifier if it is one of the newest 300." example:"42"`
	contract.JSON[channelReactionBody]
}

func (r channels) react() contract.Endpoint {
	return contract.Do(contract.Operation{
		ID: "reactToPost", Tag: tagChannels,
		Summary: "React to a post", Description: "Sets the reaction of this account to a post of a channel that it follows. It replaces the one before.",
		Codes: channelCodes(gateway.CodeChannelPrivate, gateway.CodeChannelOwner, gateway.CodeMessageNotFound),
	}, func(ctx context.Context, in *reactInput) error {
		return r.use.React(ctx, contract.Instance(ctx).ID, in.ref, in.MessageID, in.Given().Reaction)
	})
}
