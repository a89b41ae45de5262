package sandbox_test

import (
	"encoding/hex"
	"errors"
	"net/http"
	"testing"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/sandbox/channel"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// A client sees the channels that its phone follows, and their posts as they are written; it has
// one of its own, into which it alone may write.
func TestChannels(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	c := w.newClient().link(gateway)
	var news channel.Info
	w.do(http.MethodPost, "/channels", map[string]any{"owner": friend, "name": "News", "posts": []string{"one", "two", "three"}}, &news)
	jid, err := types.ParseJID(news.ID)
	if err != nil {
		t.Fatal(err)
	}
	w.do(http.MethodPut, "/phones/"+gateway+"/channels/"+news.ID, map[string]any{"muted": true}, nil)
	if joined := expect[*events.NewsletterJoin](c, nil); joined.ID != jid || joined.ThreadMeta.Name.Text != "News" {
		t.Errorf("joined %+v", joined)
	}
	if muted := expect[*events.NewsletterMuteChange](c, nil); muted.ID != jid || muted.Mute != types.NewsletterMuteOn {
		t.Errorf("muted %+v", muted)
	}
	list, err := c.GetSubscribedNewsletters(ctx)
	if err != nil || len(list) != 1 || list[0].ID != jid || list[0].ViewerMeta.Mute != types.NewsletterMuteOn || list[0].ViewerMeta.Role != types.NewsletterRoleSubscriber {
		t.Fatalf("the list is %+v, %v", list, err)
	}
	invited, err := c.GetNewsletterInfoWithInvite(ctx, news.Invite)
	if err != nil || invited.ID != jid || invited.ThreadMeta.SubscriberCount != 1 {
		t.Errorf("the invitation leads to %+v, %v", invited, err)
	}
	posts, err := c.GetNewsletterMessages(ctx, jid, &whatsmeow.GetNewsletterMessagesParams{Count: 1, Before: 3})
	if err != nil || len(posts) != 1 || posts[0].MessageServerID != 2 || posts[0].Message.GetExtendedTextMessage().GetText() != "two" {
		t.Errorf("the posts are %+v, %v", posts, err)
	}

	// A post comes once; a reaction is counted.
	var written channel.Post
	w.do(http.MethodPost, "/channels/"+news.ID+"/posts", map[string]any{"text": "four"}, &written)
	arrived := expect(c, func(m *events.Message) bool { return m.Info.Chat.Server == types.NewsletterServer })
	if arrived.Info.Chat != jid || arrived.Info.ServerID != written.ServerID || arrived.Message.GetExtendedTextMessage().GetText() != "four" {
		t.Errorf("arrived %+v", arrived.Info)
	}
	if err := c.NewsletterSendReaction(ctx, jid, 4, "👍", ""); err != nil {
		t.Fatal(err)
	}
	w.until("the reaction", func() bool {
		w.do(http.MethodGet, "/channels/"+news.ID, nil, &news)
		return news.Posts[3].Reactions["👍"] == 1
	}, func() any { return news.Posts })
	_, err = c.SendMessage(ctx, jid, &waE2E.Message{Conversation: new("mine?")})
	if !errors.Is(err, whatsmeow.ErrServerReturnedError) {
		t.Errorf("a follower wrote: %v", err)
	}

	// One of its own.
	own, err := c.CreateNewsletter(ctx, whatsmeow.CreateNewsletterParams{Name: "Mine", Description: "of mine"})
	if err != nil || own.ViewerMeta.Role != types.NewsletterRoleOwner || own.ThreadMeta.Description.Text != "of mine" {
		t.Fatalf("made %+v, %v", own, err)
	}
	sent, err := c.SendMessage(ctx, own.ID, &waE2E.Message{Conversation: new("first")})
	if err != nil || sent.ServerID != 1 {
		t.Fatalf("sent %+v, %v", sent, err)
	}
	if _, err := c.SendMessage(ctx, own.ID, c.BuildEdit(own.ID, sent.ID, &waE2E.Message{Conversation: new("second")})); err != nil {
		t.Fatal(err)
	}
	var shown channel.Info
	w.do(http.MethodGet, "/channels/"+own.ID.String(), nil, &shown)
	if len(shown.Posts) != 1 || shown.Posts[0].Text != "second" {
		t.Errorf("the channel shows %+v", shown.Posts)
	}
	if err := c.UnfollowNewsletter(ctx, own.ID); err == nil {
		t.Error("the owner has left")
	}

	// Files: not encrypted, and named by the handle of their upload.
	up, err := c.UploadNewsletter(ctx, []byte("a picture"), whatsmeow.MediaImage)
	if err != nil || up.Handle == "" {
		t.Fatalf("uploaded %+v, %v", up, err)
	}
	image := func() *waE2E.Message {
		return &waE2E.Message{ImageMessage: &waE2E.ImageMessage{
			Mimetype: new("image/png"), Caption: new("mugs"), DirectPath: &up.DirectPath, FileSHA256: up.FileSHA256, FileLength: &up.FileLength,
		}}
	}
	if _, err := c.SendMessage(ctx, own.ID, image(), whatsmeow.SendRequestExtra{MediaHandle: up.Handle}); err != nil {
		t.Fatal(err)
	}
	w.do(http.MethodGet, "/channels/"+own.ID.String(), nil, &shown)
	if len(shown.Posts) != 2 ||
		shown.Posts[1].Caption != "mugs" || shown.Posts[1].MediaSHA256 != hex.EncodeToString(up.FileSHA256) {
		t.Errorf("the channel shows %+v", shown.Posts)
	}
	for name, lie := range cases.Sorted(map[string]func(m *waE2E.ImageMessage, extra *whatsmeow.SendRequestExtra){
		"no handle":          func(_ *waE2E.ImageMessage, extra *whatsmeow.SendRequestExtra) { extra.MediaHandle = "" },
		"another handle":     func(_ *waE2E.ImageMessage, extra *whatsmeow.SendRequestExtra) { extra.MediaHandle = "4:x" },
		"another size":       func(m *waE2E.ImageMessage, _ *whatsmeow.SendRequestExtra) { m.FileLength = new(uint64(1)) },
		"another hash":       func(m *waE2E.ImageMessage, _ *whatsmeow.SendRequestExtra) { m.FileSHA256 = make([]byte, 32) },
		"a key":              func(m *waE2E.ImageMessage, _ *whatsmeow.SendRequestExtra) { m.MediaKey = make([]byte, 32) },
		"a file that is not": func(m *waE2E.ImageMessage, _ *whatsmeow.SendRequestExtra) { m.DirectPath = new("/v/none.enc") },
	}) {
		message, extra := image(), whatsmeow.SendRequestExtra{MediaHandle: up.Handle}
		lie(message.ImageMessage, &extra)
		if _, err := c.SendMessage(ctx, own.ID, message, extra); !errors.Is(err, whatsmeow.ErrServerReturnedError) {
			t.Errorf("a post with %s: %v", name, err)
		}
	}
	w.do(http.MethodPost, "/channels/"+news.ID+"/posts", map[string]any{
		"type": "image", "media": "data:image/png;base64,YSBwaWN0dXJl", "caption": "on the phone",
	}, &written)
	arrived = expect(c, func(m *events.Message) bool { return m.Info.ServerID == written.ServerID && m.Info.Chat == jid })
	if file, err := c.Download(ctx, arrived.Message.GetImageMessage()); err != nil || string(file) != "a picture" {
		t.Errorf("a follower fetches %q, %v", file, err)
	}

	// What the platform refuses has a code.
	refused := func(code int) {
		t.Helper()
		err := c.FollowNewsletter(ctx, jid)
		if refusal, ok := errors.AsType[types.GraphQLError](err); !ok || refusal.Extensions.ErrorCode != code {
			t.Errorf("refused with %v, not %d", err, code)
		}
	}
	w.do(http.MethodPatch, "/channels/"+news.ID, map[string]any{"blocked": true}, nil)
	refused(451)
	w.do(http.MethodDelete, "/channels/"+news.ID, nil, nil)
	refused(410)
}
