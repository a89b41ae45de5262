// The channels that an instance's account follows or owns. They are read when a page is opened, and do
// not change by themselves: the platform would be asked at each event.

package dashboard

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"

	"github.com/recado-project/recado/internal/channel"
	"github.com/recado-project/recado/internal/dashboard/frame"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/web"
)

const (
	// channelsAtOnce is how many channels a page of the list has, postsAtOnce how many posts
	// of one.
	channelsAtOnce = 25
	postsAtOnce    = 25

	// maxServerID is the largest number of a post.
	maxServerID = 999_999_999
)

// channelsView is the list.
type channelsView struct {
	instanceHead

	Channels      []channelLine
	Total         int
	Search        string // in the names; empty for all
	Before, After string // the first page and the next one; empty for none
}

// channelLine is one line of the list.
type channelLine struct{ gateway.Channel }

// Mine is what the account is in the channel.
func (l channelLine) Mine() web.Word {
	switch l.Role {
	case gateway.ChannelOwner:
		return web.Word("Owner")
	case gateway.ChannelAdmin:
		return web.Word("Administrator")
	case gateway.ChannelFollower:
		return web.Word("Follower")
	default:
		return web.Word("Not following")
	}
}

// Follows reports whether the account follows the channel, or owns it.
func (l channelLine) Follows() bool { return l.Role != gateway.ChannelGuest }

// Writes reports whether the account may write into the channel.
func (l channelLine) Writes() bool {
	return l.Role == gateway.ChannelOwner || l.Role == gateway.ChannelAdmin
}

// Link is the address that invites to the channel; empty if it is not known.
func (l channelLine) Link() string {
	if l.Invite == "" {
		return ""
	}
	return gateway.ChannelLink(l.Invite)
}

// showChannels shows the channels that the account follows or owns.
func (p *pages) showChannels(r *frame.Request, found gateway.Instance) error {
	page, query := frame.PageOf(r.URL.Query()), url.Values{}
	view := channelsView{instanceHead: headOf(found, "channels", r.Visitor.Actor.Role)}
	if view.Search = r.Search(); view.Search != "" {
		query.Set("search", view.Search)
	}
	listed, err := p.Channels.List(r.Context(), found.ID, channel.Filter{Name: view.Search}, gateway.PageRequest{Page: page, Limit: channelsAtOnce})
	if view.Refused, err = frame.ForNow(err); err != nil {
		return err
	}
	for _, one := range listed.Items {
		view.Channels = append(view.Channels, channelLine{one})
	}
	view.Total = listed.Total
	view.Before, view.After = frame.Around("/instances/"+found.ID+"/channels", query, page, channelsAtOnce, listed.Total)
	return r.Page("channels", frame.View{Title: found.Name, Section: "instances", Body: view})
}

// channelView is the page of one channel.
type channelView struct {
	instanceHead
	channelLine

	Posts   []gateway.Post // oldest first
	NoPosts string         // why they can't be read; empty if they can
	Older   string         // where the posts before these are; empty for none
	Newest  string         // where the newest ones are; empty if these are they
}

// Path is where the channel's page is.
func (v channelView) Path() string { return channelPath(v.Instance.ID, v.ID) }

func channelPath(instanceID string, id gateway.JID) string {
	return "/instances/" + instanceID + "/channels/" + url.PathEscape(string(id))
}

// showChannel shows one channel with its newest posts, or with those before one of them.
func (p *pages) showChannel(r *frame.Request, found gateway.Instance) error {
	ref, err := channelIn(r)
	if err != nil {
		return err
	}
	view := channelView{instanceHead: headOf(found, "channels", r.Visitor.Actor.Role)}
	view.Channel, err = p.Channels.Get(r.Context(), found.ID, ref)
	if view.Refused, err = frame.ForNow(err); err != nil {
		return err
	}
	if view.Refused == "" {
		before, err := strconv.Atoi(r.URL.Query().Get("before"))
		if err != nil || before < 1 || before > maxServerID {
			before = 0
		}
		if err := p.postsOf(r, &view, before); err != nil {
			return err
		}
	}
	return r.Page("channel", frame.View{Title: cmp.Or(view.Name, found.Name), Section: "instances", Body: view})
}

// postsOf asks for the newest posts before one, or for the newest of all (0).
func (p *pages) postsOf(r *frame.Request, view *channelView, before int) error {
	posts, err := p.Channels.Posts(r.Context(), view.Instance.ID, gateway.ChannelRef{ID: view.ID}, gateway.PostQuery{Before: before, Limit: postsAtOnce})
	if refusal, ok := gateway.AsError(err); ok { // the rest of the page is there all the same
		view.NoPosts = web.Sentence(refusal.Message)
		return nil
	}
	if err != nil {
		return err
	}
	if len(posts) > 0 && posts[0].ServerID > 1 {
		view.Older = view.Path() + "?before=" + strconv.Itoa(posts[0].ServerID)
	}
	if before > 0 {
		view.Newest = view.Path()
	}
	slices.Reverse(posts)
	view.Posts = posts
	return nil
}

// channelIn returns the channel of a request's path.
func channelIn(r *frame.Request) (gateway.ChannelRef, error) {
	ref, ok := gateway.ParseChannel(r.PathValue("channelId"))
	if !ok {
		return ref, gateway.Errorf(gateway.NotFound, gateway.CodeChannelNotFound, "there is no such channel")
	}
	return ref, nil
}

// followChannel follows the channel to which a link leads.
func (p *pages) followChannel(r *frame.Request, found gateway.Instance) error {
	ref, ok := gateway.ParseChannel(r.FormValue("channel"))
	if !ok {
		return gateway.InvalidField("channel", "must be the link of a channel, or its ID")
	}
	of, err := p.Channels.Get(r.Context(), found.ID, ref)
	if err != nil {
		return err
	}
	if err := p.Channels.Follow(r.Context(), found.ID, gateway.ChannelRef{ID: of.ID}, true); err != nil {
		return err
	}
	r.Entry.Detail = "follow " + string(of.ID)
	return r.Go(channelPath(found.ID, of.ID))
}

// changeChannel does with a channel what a button is for.
func (p *pages) changeChannel(r *frame.Request, found gateway.Instance) error {
	ref, err := channelIn(r)
	if err != nil {
		return err
	}
	button := r.FormValue("change")
	switch button {
	case "follow", "unfollow":
		err = p.Channels.Follow(r.Context(), found.ID, ref, button == "follow")
	case "mute", "unmute":
		err = p.Channels.Mute(r.Context(), found.ID, ref, button == "mute")
	default:
		err = gateway.InvalidField("change", "is nothing that can be done with a channel")
	}
	if err != nil {
		return err
	}
	r.Entry.Detail = button + " " + cmp.Or(string(ref.ID), ref.Invite)
	return r.Go("/instances/" + found.ID + "/channels/" + url.PathEscape(cmp.Or(string(ref.ID), ref.Invite)))
}
