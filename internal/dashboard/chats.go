// The chats of an instance, and one of them open.

package dashboard

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/chat"
	"github.com/recado-project/recado/internal/dashboard/frame"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/web"
)

const (
	// chatsAtOnce is how many chats the list has.
	chatsAtOnce = 30
	// chatPage is how many messages of a chat are shown at once.
	chatPage = 30
	// folderInbox and folderArchived are the two parts of the list, as phones have them.
	folderInbox, folderArchived = "inbox", "archived"
)

// chatsView is the page of an instance's chats, with one of them open.
type chatsView struct {
	instanceHead

	Chats   []chatLine
	Search  string // in the names and numbers; empty for all chats
	Folder  string // archived for those that are, inbox for the others; empty for both
	Label   string // the ID of one that they have; empty for all chats
	Labels  []labelLine
	Chat    string // the address of the one that is open; empty for none
	Open    []bubble
	Name    string // of the one that is open
	Is      arranged
	Known   bool        // the one that is open is there
	Choices []labelLine // all labels, with a mark at those of the one that is open
	Older   string      // the link to older messages; empty for none
	Newest  string      // the link back to the newest; empty where they are shown
	LiveURL string
	Kinds   []messageKind
	Sandbox bool
}

// chatLine is one line of the list of chats.
type chatLine struct {
	chat.Listed

	Is      arranged
	Labels  []labelLine
	Name    string
	Address string
	Link    string
	Here    bool
}

// Chosen reports whether only some of the chats are listed.
func (v chatsView) Chosen() bool { return v.Search != "" || v.Folder != "" || v.Label != "" }

// On are the labels of the chat that is open.
func (v chatsView) On() []labelLine {
	return slices.DeleteFunc(slices.Clone(v.Choices), func(l labelLine) bool { return !l.On })
}

// Group reports whether the chat that is open is a group.
func (v chatsView) Group() bool { return gateway.JID(v.Chat).IsGroup() }

// bubble is one message of the chat that is open.
type bubble struct{ Message gateway.Message }

// Progress is how far a message of ours has come.
func (b bubble) Progress() web.Word {
	words := map[gateway.MessageStatus]web.Word{
		gateway.MessagePending:   web.Word("on its way"),
		gateway.MessageFailed:    web.Word("failed"),
		gateway.MessageSent:      web.Word("sent"),
		gateway.MessageDelivered: web.Word("delivered"),
		gateway.MessageRead:      web.Word("read"),
	}
	return cmp.Or(words[b.Message.Status], web.Word("played"))
}

// chatQuery returns what a request asks for, without what makes no sense.
func chatQuery(given url.Values) url.Values {
	query := url.Values{}
	if open, ok := gateway.ParseJID(given.Get("chat")); ok {
		query.Set("chat", string(open))
	}
	if search := strings.TrimSpace(given.Get("search")); search != "" && len(search) <= maxSearch {
		query.Set("search", search)
	}
	if folder := given.Get("folder"); folder == folderInbox || folder == folderArchived {
		query.Set("folder", folder)
	}
	if label := given.Get("label"); label != "" && gateway.CleanID(label) == label {
		query.Set("label", label)
	}
	if at, id := given.Get("at"), given.Get("id"); at != "" && len(id) <= 40 {
		if _, err := strconv.ParseInt(at, 10, 64); err == nil {
			query.Set("at", at)
			query.Set("id", id)
		}
	}
	return query
}

// listedIn is the part of a query that chooses which chats are listed.
func listedIn(query url.Values) url.Values {
	kept := url.Values{}
	for _, name := range []string{"search", "folder", "label"} {
		if query.Has(name) {
			kept.Set(name, query.Get(name))
		}
	}
	return kept
}

// filterOf returns the chats that a query asks for.
func filterOf(query url.Values) gateway.ChatFilter {
	filter := gateway.ChatFilter{Search: query.Get("search"), Label: query.Get("label")}
	if folder := query.Get("folder"); folder != "" {
		filter.Archived = new(folder == folderArchived)
	}
	return filter
}

// opening returns the query that lists the same chats and opens one of them.
func opening(query url.Values, address string) url.Values {
	link := listedIn(query)
	link.Set("chat", address)
	return link
}

// chatsView returns what makes the page.
func (p *pages) chatsView(r *frame.Request) func(ctx context.Context) (chatsView, error) {
	id, role, query := r.PathValue("instanceId"), r.Visitor.Actor.Role, chatQuery(r.URL.Query())
	path := "/instances/" + id + "/chats"
	return func(ctx context.Context) (chatsView, error) {
		found, err := p.Instances.Get(ctx, id)
		if err != nil {
			return chatsView{}, err
		}
		view := chatsView{
			instanceHead: headOf(found, "chats", role), Chat: query.Get("chat"), Search: query.Get("search"), Folder: query.Get("folder"), Label: query.Get("label"),
			Kinds: sendKinds(), Sandbox: p.Sandbox, LiveURL: frame.WithQuery(path+"/live", query),
		}
		if view.Labels, err = p.labelsOf(ctx, id); err != nil {
			return chatsView{}, err
		}
		chats, err := p.Chats.List(ctx, id, filterOf(query), gateway.PageRequest{Page: 1, Limit: chatsAtOnce})
		if err != nil {
			return chatsView{}, err
		}
		for _, listed := range chats.Items {
			line := chatLine{Listed: listed, Is: arrangedOf(listed, p.Now()), Address: addressOf(listed.Party), Name: nameOf(listed.Party)}
			line.Here, line.Labels = line.Address == view.Chat, having(view.Labels, listed.Labels)
			line.Link = frame.WithQuery(path, opening(query, line.Address))
			view.Chats = append(view.Chats, line)
		}
		if view.Chat == "" {
			return view, nil
		}
		err = p.open(ctx, &view, path, query)
		return view, err
	}
}

// open reads the chat that is open. One that is not there is empty.
func (p *pages) open(ctx context.Context, view *chatsView, path string, query url.Values) error {
	with := gateway.Recipient{Chat: gateway.JID(view.Chat)}
	view.Name = nameOf(gateway.Party{JID: with.Chat})
	found, err := p.Chats.Get(ctx, view.Instance.ID, with)
	if refusal, ok := gateway.AsError(err); ok && refusal.Code == gateway.CodeChatNotFound {
		return nil
	}
	if err != nil {
		return err
	}
	view.Name, view.Is, view.Known = nameOf(found.Party), arrangedOf(found, p.Now()), true
	view.Choices = among(view.Labels, found.Labels)
	read, err := p.Chats.Messages(ctx, view.Instance.ID, with,
		chat.Query{MessageFilter: gateway.MessageFilter{Before: positionIn(query)}}, gateway.PageRequest{Page: 1, Limit: chatPage})
	if err != nil {
		return err
	}
	if n := len(read.Items); read.Total > n {
		older := read.Items[n-1].Position()
		link := opening(query, view.Chat)
		link.Set("at", strconv.FormatInt(older.At.UnixMilli(), 10))
		link.Set("id", older.ID)
		view.Older = frame.WithQuery(path, link)
	}
	for _, message := range slices.Backward(read.Items) {
		view.Open = append(view.Open, bubble{message})
	}
	if query.Has("at") {
		view.Newest = frame.WithQuery(path, opening(query, view.Chat))
	}
	return nil
}

// positionIn reads where a page of older messages begins.
func positionIn(query url.Values) gateway.Position {
	at, err := strconv.ParseInt(query.Get("at"), 10, 64)
	if err != nil {
		return gateway.Position{}
	}
	return gateway.Position{At: time.UnixMilli(at).UTC(), ID: query.Get("id")}
}

// addressOf is what a chat is named by in a page's address.
func addressOf(party gateway.Party) string { return string(party.Address()) }

// nameOf is what people call a chat: its name, or its number.
func nameOf(party gateway.Party) string {
	if party.Name != "" {
		return party.Name
	}
	number, host, _ := strings.Cut(addressOf(party), "@")
	if host == gateway.PersonalSuffix {
		return "+" + number
	}
	return number
}

// showFile leads to the file of a message.
func (p *pages) showFile(r *frame.Request, found gateway.Instance) error {
	link, err := p.Messages.MediaLink(r.Context(), found.ID, gateway.MessageRef{ID: r.PathValue("messageId")}, "")
	if err != nil {
		return err
	}
	r.W.Header().Set("Cache-Control", fmt.Sprintf("private, max-age=%d", link.ExpiresIn/2))
	http.Redirect(r.W, r.Request, link.URL, http.StatusFound)
	return nil
}

// Kind is what people call the kind of the chat's last message.
func (c chatLine) Kind() web.Word { return kindWord(c.Last.Type) }
