// The pages of channels.

package browsertest_test

import (
	"fmt"
	"testing"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit"
)

// A channel is followed by its link, read, muted and unfollowed. Into one of its own the
// account writes.
func TestChannelsAreFollowed(t *testing.T) {
	t.Parallel()
	w := start(t, testkit.Options{})
	id := w.Link(t, shopNumber)
	var posts []string
	for n := range 30 {
		posts = append(posts, fmt.Sprintf("novidade %d", n+1))
	}
	news := w.Phones.CreateChannel(t, customerNumber, "Novidades", posts...)
	w.Phones.ReactToPost(t, customerNumber, news.ID, 30, "👍")
	own := w.Phones.CreateChannel(t, shopNumber, "Padaria")
	p := w.owner()
	p.Open("/instances/" + id + "/channels")
	p.AwaitText("tbody tr", "Padaria")
	p.AwaitText("tbody tr", "Owner")
	p.Fill("#link", gateway.ChannelLink(news.Invite))
	p.ClickText("form button", "Follow")
	p.AwaitText("#channel", "Novidades")
	p.AwaitText(".facts", "Follower")
	p.AwaitText("#invite", gateway.ChannelLink(news.Invite))
	p.AwaitText("tbody tr", "novidade 30") // the newest is the first
	p.AwaitText("tbody tr", "👍 1")
	p.Click(`[value=mute]`)
	p.Await(`[value=unmute]`)
	if followers := w.Phones.Channel(t, news.ID).Followers; len(followers) != 1 || followers[0].Number != shopNumber || !followers[0].Muted {
		t.Errorf("the channel has the followers %+v", followers)
	}
	p.ClickText("main a", "Older posts")
	p.AwaitText("tbody tr", "novidade 5")
	if n := p.Count("tbody tr"); n != 5 {
		t.Errorf("the page has %d older posts, want 5", n)
	}
	p.ClickText("main a", "Newest posts")
	p.AwaitText("tbody tr", "novidade 30")
	p.Click(`[value=unfollow]`)
	p.Await(`[value=follow]`)
	if followers := w.Phones.Channel(t, news.ID).Followers; len(followers) != 0 {
		t.Errorf("the channel has the followers %+v", followers)
	}

	p.Open("/instances/" + id + "/channels/" + own.ID)
	p.AwaitText("#channel", "Padaria")
	p.AwaitText("main", "No posts yet")
	if n := p.Count(`[value=unfollow]`); n != 0 {
		t.Error("the owner of a channel is asked whether to follow it no more")
	}
	p.ClickText("main a", "Write")
	p.AwaitPath("/instances/" + id + "/chats")
}
