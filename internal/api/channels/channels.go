// Package channels holds the resource of channels in the HTTP API. The table of routes is in the
// room api.
package channels

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/channel"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media"
)

// Tag groups the operations in the document and on the reference page.
const Tag = "Channels"

// UseCases are the use cases of channels.
type UseCases interface {
	Own
	Reading
}

// Own are the use cases of the channels that the account has.
type Own interface {
	List(ctx context.Context, instanceID string, filter channel.Filter, page gateway.PageRequest) (gateway.Page[gateway.Channel], error)
	Get(ctx context.Context, instanceID string, ref gateway.ChannelRef) (gateway.Channel, error)
	Create(ctx context.Context, instanceID string, draft channel.Draft) (gateway.Channel, error)
	Follow(ctx context.Context, instanceID string, ref gateway.ChannelRef, follow bool) error
	Mute(ctx context.Context, instanceID string, ref gateway.ChannelRef, muted bool) error
}

// Reading are the use cases of what is written in channels.
type Reading interface {
	Posts(ctx context.Context, instanceID string, ref gateway.ChannelRef, query gateway.PostQuery) ([]gateway.Post, error)
	React(ctx context.Context, instanceID string, ref gateway.ChannelRef, post, reaction string) error
}

type resource struct{ use UseCases }

// Routes are the operations, in the order in which the reference page shows them.
func Routes(use UseCases) []contract.Route {
	r := resource{use}
	const channels, one = "/api/instances/{instanceId}/channels", "/api/instances/{instanceId}/channels/{channelId}"
	return []contract.Route{
		contract.Get(channels, r.list()),
		contract.Post(channels, r.create()),
		contract.Get(one, r.get()),
		contract.Post(one+"/follow", r.follow(true)),
		contract.Delete(one+"/follow", r.follow(false)),
		contract.Post(one+"/mute", r.mute(true)),
		contract.Delete(one+"/mute", r.mute(false)),
		contract.Get(one+"/messages", r.posts()),
		contract.Post(one+"/messages/{messageId}/reaction", r.react()),
	}
}

// sessionCodes are the refusals of every operation that needs the platform.
func sessionCodes(more ...string) []string {
	return append([]string{
		gateway.CodePaymentRequired, gateway.CodeNotConnected, gateway.CodeRateLimited,
		gateway.CodePlatformError, gateway.CodePlatformTimeout, gateway.CodeUnavailable, gateway.CodeValidation,
	}, more...)
}

// codes are the refusals of every operation on one channel.
func codes(more ...string) []string {
	return sessionCodes(append(more, gateway.CodeChannelNotFound, gateway.CodeChannelGone, gateway.CodeChannelBlocked, gateway.CodeChannelRefused)...)
}

// Path is the path of a channel.
type Path struct {
	contract.InstancePath

	ChannelID string `path:"channelId" doc:"The channel's ID, or its invite link, escaped for a URL, or the last part of that." example:"120363144038483540@newsletter"`

	ref gateway.ChannelRef
}

// Resolve reads the channel.
func (p *Path) Resolve(huma.Context) []error {
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

type listInput struct {
	contract.InstancePath
	contract.Paging

	Name string `query:"name" maxLength:"100" doc:"Only channels with this in their name. Case doesn't count." example:"news"`
	Own  bool   `query:"own" doc:"true: only channels into which this account may write." example:"false"`
}

func (r resource) list() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "listChannels", Tag: Tag,
		Summary: "List channels",
		Description: "Lists the channels that the account follows or owns, in the order of their names. They are asked for with one question, " +
			"and then read from memory until something changes.",
		Codes: sessionCodes(),
	}, func(ctx context.Context, in *listInput) (*contract.Answer[contract.Envelope[ChannelDetails]], error) {
		page, err := r.use.List(ctx, contract.Instance(ctx).ID, channel.Filter{Name: in.Name, Own: in.Own}, in.Request())
		if err != nil {
			return nil, err
		}
		return &contract.Answer[contract.Envelope[ChannelDetails]]{Body: contract.NewEnvelope(in.Paging, page, newChannelDetails)}, nil
	})
}

type createChannelBody struct {
	Name        string `json:"name" minLength:"1" maxLength:"100" doc:"Name of the channel, at most 100 characters." example:"News of the shop"`
	Description string `json:"description,omitempty" maxLength:"2048" doc:"Description of the channel, at most 2,048 characters." example:"What is new, every Friday"`
	Picture     string `json:"picture,omitempty" minLength:"1" format:"media" doc:"Picture of the channel: a base64 data URI, or an http(s) URL. It is made small enough." sample:"-"`
}

type createInput struct {
	contract.InstancePath
	contract.JSON[createChannelBody]
}

func (r resource) create() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "createChannel", Tag: Tag, Status: http.StatusCreated,
		Summary: "Create a channel",
		Description: "Makes a channel that this account owns. It accepts the platform's terms for channels in the name of the account. " +
			"To write into it, send a text to its ID.",
		Codes: sessionCodes(gateway.CodeMediaFetchFailed, gateway.CodeChannelRefused, gateway.CodeChannelOwner),
	}, func(ctx context.Context, in *createInput) (*contract.Answer[ChannelDetails], error) {
		given := in.Given()
		draft := channel.Draft{Name: given.Name, Description: given.Description}
		if inline := contract.Media(ctx); inline != nil || given.Picture != "" {
			draft.Picture = &channel.Picture{Input: given.Picture, Hints: media.Hints{Field: "picture", Decoded: inline}}
		}
		created, err := r.use.Create(ctx, contract.Instance(ctx).ID, draft)
		if err != nil {
			return nil, err
		}
		return &contract.Answer[ChannelDetails]{Body: newChannelDetails(created)}, nil
	})
}

func (r resource) get() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "getChannel", Tag: Tag,
		Summary: "Get a channel", Description: "Asks the platform for a channel, by its ID or its invite link. This account need not follow it.",
		Codes: codes(gateway.CodeChannelPrivate, gateway.CodeChannelOwner),
	}, func(ctx context.Context, in *Path) (*contract.Answer[ChannelDetails], error) {
		found, err := r.use.Get(ctx, contract.Instance(ctx).ID, in.ref)
		if err != nil {
			return nil, err
		}
		return &contract.Answer[ChannelDetails]{Body: newChannelDetails(found)}, nil
	})
}

func (r resource) follow(wanted bool) contract.Endpoint {
	op := contract.Operation{
		ID: "followChannel", Tag: Tag, Status: http.StatusNoContent,
		Summary: "Follow a channel", Description: "What is written in it from now on arrives as messages. Following it again changes nothing.",
		Codes: codes(gateway.CodeChannelPrivate, gateway.CodeChannelOwner),
	}
	if !wanted {
		op.ID, op.Summary, op.Description = "unfollowChannel", "Unfollow a channel", "Follows the channel no more. Whoever owns it can't do this."
	}
	return contract.Handle(op, func(ctx context.Context, in *Path) (*struct{}, error) {
		return nil, r.use.Follow(ctx, contract.Instance(ctx).ID, in.ref, wanted)
	})
}

func (r resource) mute(wanted bool) contract.Endpoint {
	op := contract.Operation{
		ID: "muteChannel", Tag: Tag, Status: http.StatusNoContent,
		Summary: "Mute a channel", Description: "The phone says nothing of its posts any more. They arrive here all the same.",
		Codes: codes(gateway.CodeChannelPrivate, gateway.CodeChannelOwner),
	}
	if !wanted {
		op.ID, op.Summary, op.Description = "unmuteChannel", "Unmute a channel", "The phone tells of its posts again."
	}
	return contract.Handle(op, func(ctx context.Context, in *Path) (*struct{}, error) {
		return nil, r.use.Mute(ctx, contract.Instance(ctx).ID, in.ref, wanted)
	})
}
