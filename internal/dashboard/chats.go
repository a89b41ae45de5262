// The chats of an instance: a list, one of them open, and who is in it.

package dashboard

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/recado-project/recado/internal/chat"
	"github.com/recado-project/recado/internal/dashboard/conversation"
	"github.com/recado-project/recado/internal/dashboard/frame"
	"github.com/recado-project/recado/internal/dashboard/sentence"
	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/web"
	"github.com/recado-project/recado/internal/web/bubbles"
)

const (
	// chatsAtOnce is how many chats the list has at first, and how many more it has each time that
	// somebody has scrolled to its end; maxChatsShown are kept up to date at most.
	chatsAtOnce   = 25
	maxChatsShown = 400
	// saidAtOnce is how many messages a search over all chats shows at first, and how many more each
	// time; maxSaidShown at most.
	saidAtOnce   = 20
	maxSaidShown = 200
	// chatPage is how many messages of a chat are shown at once, and maxOpen how many an open page
	// collects while others come.
	chatPage = 25
	maxOpen  = 300
	// happenedAtOnce is how many calls and changes of a group are shown between the messages of a page.
	happenedAtOnce = 100
	// typingAtOnce is how many of the newest presences of an instance are looked through for who types.
	typingAtOnce = 200
	// folderUnread, folderInbox and folderArchived are parts of the list.
	folderUnread, folderInbox, folderArchived = "unread", "inbox", "archived"
)

// chatsView is the page of an instance's chats, with one of them open.
type chatsView struct {
	instanceHead

	Chats   []chatLine
	More    string         // the address with more chats in the list; empty if these are all
	Search  string         // in the names, the numbers and the messages; empty for all chats
	Said    []foundMessage // that the search finds, of all chats; not in what is kept up to date
	MoreOf  string         // the address with more of them; empty if these are all
	FindOf  string         // the address of the page with them; empty if they are searched already, or nothing is
	Folders []folderLink
	Folder  string // folderUnread and so on; empty for all
	Label   string // the ID of one that they have; empty for all chats
	Labels  []labelLine
	Back    string // the address without an open chat
	LiveURL string
	Kinds   []messageKind
	Sandbox bool
	Chat    string    // the address of the one that is open; empty for none
	Open    *openChat // nil for none
}

// folderLink leads to a part of the list.
type folderLink struct {
	Name web.Word
	To   string
	Here bool
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
	Group   bool
	Preview *bubbles.Bubble // the newest message; nil if it was removed
}

// Chosen reports whether only some of the chats are listed.
func (v chatsView) Chosen() bool { return v.Search != "" || v.Folder != "" || v.Label != "" }

// chatQuery returns what a request asks for, without what makes no sense.
func chatQuery(given url.Values) url.Values {
	query := url.Values{}
	if open, ok := gateway.ParseJID(given.Get("chat")); ok {
		query.Set("chat", string(open))
	}
	for _, name := range []string{"search", "find"} {
		if words := strings.TrimSpace(given.Get(name)); words != "" && len(words) <= maxSearch {
			query.Set(name, words)
		}
	}
	if folder := given.Get("folder"); folder == folderUnread || folder == folderInbox || folder == folderArchived {
		query.Set("folder", folder)
	}
	if label := given.Get("label"); label != "" && gateway.CleanID(label) == label {
		query.Set("label", label)
	}
	if shown, err := strconv.Atoi(given.Get("shown")); err == nil && shown > chatsAtOnce {
		query.Set("shown", strconv.Itoa(min(shown, maxChatsShown)))
	}
	if said, err := strconv.Atoi(given.Get("said")); err == nil && said >= saidAtOnce && query.Has("search") {
		query.Set("said", strconv.Itoa(min(said, maxSaidShown)))
	}
	for _, at := range []string{"at", "from"} {
		if _, ok := parsePosition(given.Get(at)); ok {
			query.Set(at, given.Get(at))
		}
	}
	return query
}

// listedIn is the part of a query that chooses which chats are listed.
func listedIn(query url.Values) url.Values {
	kept := url.Values{}
	for _, name := range []string{"search", "said", "folder", "label", "shown"} {
		if query.Has(name) {
			kept.Set(name, query.Get(name))
		}
	}
	return kept
}

// filterOf returns the chats that a query asks for.
func filterOf(query url.Values) gateway.ChatFilter {
	filter := gateway.ChatFilter{Search: query.Get("search"), Label: query.Get("label")}
	switch folder := query.Get("folder"); folder {
	case folderUnread:
		filter.Unread = new(true)
	case folderInbox, folderArchived:
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
	id, role, lang, query := r.PathValue("instanceId"), r.Visitor.Actor.Role, r.Lang(), chatQuery(r.URL.Query())
	return func(ctx context.Context) (chatsView, error) {
		found, err := p.Instances.Get(ctx, id)
		if err != nil {
			return chatsView{}, err
		}
		view := chatsView{
			instanceHead: headOf(found, "chats", role), Chat: query.Get("chat"), Search: query.Get("search"), Folder: query.Get("folder"), Label: query.Get("label"),
			Kinds: sendKinds(), Sandbox: p.Sandbox, Folders: foldersOf(chatsPath(id), query), Back: frame.WithQuery(chatsPath(id), listedIn(query)),
		}
		if view.Labels, err = p.labelsOf(ctx, id); err != nil {
			return chatsView{}, err
		}
		if err := p.listChats(ctx, &view, query); err != nil {
			return chatsView{}, err
		}
		if view.Chat != "" {
			if view.Open, err = p.openChat(ctx, &view, lang, query); err != nil {
				return chatsView{}, err
			}
		}
		if view.Open != nil && view.Open.From != "" {
			query.Set("from", view.Open.From) // what was shown at first stays, whatever comes
		}
		view.LiveURL = frame.WithQuery(chatsPath(id)+"/live", query)
		return view, nil
	}
}

// showChats answers with the page. What a search finds in messages is not kept up to date with the rest:
// it reads all of them.
func (p *pages) showChats(r *frame.Request, found gateway.Instance) error {
	view, err := p.chatsView(r)(r.Context())
	if err == nil {
		err = p.findInAll(r.Context(), &view, chatQuery(r.URL.Query()))
	}
	if err != nil {
		return err
	}
	return r.Page("chats", frame.View{Title: found.Name, Section: "instances", Body: view})
}

// findInAll searches in the messages of all chats, if the query says how many it shows. Otherwise there is a
// link that does, which browsers follow by themselves: nobody waits for all messages to be read.
func (p *pages) findInAll(ctx context.Context, view *chatsView, query url.Values) error {
	if utf8.RuneCountInString(view.Search) < chat.MinSearch {
		return nil
	}
	id := view.Instance.ID
	if !query.Has("said") {
		view.FindOf = saidPath(view, query, saidAtOnce)
		return nil
	}
	limit, err := strconv.Atoi(query.Get("said")) // chatQuery has read it before
	if err != nil {
		return err
	}
	read, err := p.Chats.Messages(ctx, id, gateway.Recipient{}, chat.Query{MessageFilter: gateway.MessageFilter{Search: view.Search}}, gateway.PageRequest{Page: 1, Limit: limit})
	if err != nil {
		return err
	}
	chats, err := p.Chats.ChatsOf(ctx, id, read.Items)
	if err != nil {
		return err
	}
	for _, message := range read.Items {
		in, ok := chats[message.ID]
		if !ok {
			continue // it was deleted just now
		}
		one := p.foundMessage(message, view.Search, query, addressOf(in.Party))
		one.Name = conversation.Name(in.Party)
		view.Said = append(view.Said, one)
	}
	if read.Total > limit && limit < maxSaidShown {
		view.MoreOf = saidPath(view, query, min(limit+saidAtOnce, maxSaidShown))
	}
	return nil
}

// saidPath is the address of a page that shows so many of the messages that its search finds.
func saidPath(view *chatsView, query url.Values, many int) string {
	with := listedIn(query)
	with.Set("said", strconv.Itoa(many))
	for _, name := range []string{"chat", "at", "find"} {
		if query.Has(name) {
			with.Set(name, query.Get(name))
		}
	}
	return frame.WithQuery(chatsPath(view.Instance.ID), with)
}

// foundMessage is a message that a search has found in a chat, with the link to that moment.
func (p *pages) foundMessage(message gateway.Message, search string, query url.Values, address string) foundMessage {
	link := opening(query, address)
	link.Del("said") // the page with the chat comes first
	link.Set("at", positionText(gateway.Position{At: message.Position().At.Add(time.Millisecond)}))
	return foundMessage{
		Bubble: p.bubbleOf(message), Excerpt: bubbles.Excerpt(message.Text, search),
		To: frame.WithQuery(chatsPath(message.InstanceID), link) + "#m-" + message.ID,
	}
}

// chatsPath is the address of the chats of an instance.
func chatsPath(instanceID string) string { return "/instances/" + instanceID + "/chats" }

// foldersOf returns the links to the parts of the list.
func foldersOf(path string, query url.Values) []folderLink {
	folders := []folderLink{{Name: web.Word("All")}, {Name: web.Word("Unread")}, {Name: web.Word("Not archived")}, {Name: web.Word("Archived only")}}
	for n, folder := range []string{"", folderUnread, folderInbox, folderArchived} {
		link := url.Values{}
		for name, values := range query {
			if name != "folder" && name != "shown" && name != "from" {
				link[name] = values
			}
		}
		if folder != "" {
			link.Set("folder", folder)
		}
		folders[n].To, folders[n].Here = frame.WithQuery(path, link), query.Get("folder") == folder
	}
	return folders
}

// listChats reads the list of chats.
func (p *pages) listChats(ctx context.Context, view *chatsView, query url.Values) error {
	id, path, shown := view.Instance.ID, chatsPath(view.Instance.ID), chatsAtOnce
	if asked, err := strconv.Atoi(query.Get("shown")); err == nil {
		shown = asked
	}
	chats, err := p.Chats.List(ctx, id, filterOf(query), gateway.PageRequest{Page: 1, Limit: shown})
	if err != nil {
		return err
	}
	for _, listed := range chats.Items {
		line := chatLine{
			Listed: listed, Is: arrangedOf(listed, p.Now()), Address: addressOf(listed.Party), Name: conversation.Name(listed.Party),
			Group: listed.Party.JID.IsGroup(),
		}
		line.Here, line.Labels = line.Address == view.Chat, having(view.Labels, listed.Labels)
		line.Link = frame.WithQuery("", opening(query, line.Address)) // from this page, which is in each of many lines
		if listed.Last != nil {
			preview := p.bubbleOf(*listed.Last)
			line.Preview = &preview
		}
		view.Chats = append(view.Chats, line)
	}
	if chats.Total > shown && shown < maxChatsShown {
		more := listedIn(query)
		more.Set("shown", strconv.Itoa(min(shown+chatsAtOnce, maxChatsShown)))
		if view.Chat != "" {
			more.Set("chat", view.Chat)
		}
		view.More = frame.WithQuery(path, more)
	}
	return nil
}

// parsePosition reads a position in the order of the messages, as addresses name it.
func parsePosition(text string) (gateway.Position, bool) {
	at, id, _ := strings.Cut(text, ".")
	moment, err := strconv.ParseInt(at, 10, 64)
	if err != nil || len(id) > 40 {
		return gateway.Position{}, false
	}
	return gateway.Position{At: time.UnixMilli(moment).UTC(), ID: id}, true
}

// positionText is how addresses name a position.
func positionText(position gateway.Position) string {
	return strconv.FormatInt(position.At.UnixMilli(), 10) + "." + position.ID
}

// addressOf is what a chat is named by in a page's address.
func addressOf(party gateway.Party) string { return string(party.Address()) }

// openChat is the chat that is open.
type openChat struct {
	Address  string
	Name     string
	Number   string // of a person; empty for others
	Group    bool
	Known    bool // the instance has it
	Is       arranged
	Choices  []labelLine // all labels, with a mark at those that it has
	Said     conversation.Conversation
	Older    olderLink
	From     string // where the messages begin that the page collects
	Gap      bool   // so many came since that some of them are on an older page
	Newest   string // the link back to the newest; empty where they are shown
	Find     string // the words that are searched in it; empty for none
	Found    []foundMessage
	FoundAll int    // how many there are
	Form     string // the ID of the field to write in: another one for each chat
	Emojis   []string
}

// On are the labels of the chat that is open.
func (o openChat) On() []labelLine {
	return slices.DeleteFunc(slices.Clone(o.Choices), func(l labelLine) bool { return !l.On })
}

// olderLink leads to older messages.
type olderLink struct {
	Page string // as a page of their own; empty if there are none
	Part string // to be put above those that are there
}

// foundMessage is a message that a search has found.
type foundMessage struct {
	Bubble  bubbles.Bubble
	Name    string          // of the chat; empty where all are of one
	Excerpt []bubbles.Piece // the line with the words
	To      string          // the chat at this message
}

// openChat reads the chat that is open. One that the instance does not have is empty: the first
// message begins it.
func (p *pages) openChat(ctx context.Context, view *chatsView, lang string, query url.Values) (*openChat, error) {
	with := gateway.Recipient{Chat: gateway.JID(view.Chat)}
	party := gateway.Party{JID: with.Chat}
	open := &openChat{Address: view.Chat, Name: conversation.Number(party), Group: with.Chat.IsGroup(), Form: "write-" + view.Chat, Find: query.Get("find"), Emojis: slices.Concat(bubbles.Emojis(), bubbles.MoreEmojis())}
	if number, ok := strings.CutPrefix(conversation.Number(party), "+"); ok {
		open.Number = number
	}
	found, err := p.Chats.Get(ctx, view.Instance.ID, with)
	if refusal, ok := gateway.AsError(err); ok && refusal.Code == gateway.CodeChatNotFound {
		return open, nil
	}
	if err != nil {
		return nil, err
	}
	open.Name, open.Is, open.Known = conversation.Name(found.Party), arrangedOf(found, p.Now()), true
	if number, ok := strings.CutPrefix(conversation.Number(found.Party), "+"); ok {
		open.Number = number
	}
	open.Choices = among(view.Labels, found.Labels)
	if open.Find != "" {
		return open, p.findIn(ctx, view.Instance, open, with, query)
	}
	return open, p.readChat(ctx, view, open, found.Party, lang, query)
}

// findIn searches in a chat.
func (p *pages) findIn(ctx context.Context, of gateway.Instance, open *openChat, with gateway.Recipient, query url.Values) error {
	read, err := p.Chats.Messages(ctx, of.ID, with, chat.Query{MessageFilter: gateway.MessageFilter{Search: open.Find}}, gateway.PageRequest{Page: 1, Limit: chatPage})
	if err != nil {
		return err
	}
	open.FoundAll = read.Total
	for _, message := range slices.Backward(read.Items) { // the newest is at the end, where the reader is
		open.Found = append(open.Found, p.foundMessage(message, open.Find, query, open.Address))
	}
	return nil
}

// readChat reads the messages of a chat that are shown: a page of them before a place, or the
// newest, with all that came since the page was opened.
func (p *pages) readChat(ctx context.Context, view *chatsView, open *openChat, party gateway.Party, lang string, query url.Values) error {
	filter, limit := gateway.MessageFilter{}, chatPage
	before, isOld := parsePosition(query.Get("at"))
	if from, ok := parsePosition(query.Get("from")); ok && !isOld {
		filter.After, limit = from, maxOpen
	}
	filter.Before = before
	read, err := p.Chats.Messages(ctx, view.Instance.ID, gateway.Recipient{Chat: gateway.JID(view.Chat)}, chat.Query{MessageFilter: filter}, gateway.PageRequest{Page: 1, Limit: limit})
	if err != nil {
		return err
	}
	messages := read.Items
	slices.Reverse(messages)
	if len(messages) > 0 {
		oldest := messages[0].Position()
		if !isOld {
			// After an empty identifier: this message is one of those that the page collects.
			open.From = positionText(gateway.Position{At: oldest.At})
		}
		open.Gap = limit == maxOpen && read.Total > len(messages)
		if read.Total > len(messages) {
			open.Older = olderOf(view.Instance.ID, query, open.Address, oldest)
		}
	}
	if isOld {
		open.Newest = frame.WithQuery(chatsPath(view.Instance.ID), opening(query, view.Chat))
	}
	until := before.At
	if !isOld {
		until = p.Now().Add(time.Hour) // the platform's clock may be ahead
	}
	if open.Said, err = p.said(ctx, view.Instance, party, messages, open.Older.Page != "", until, view.May, lang); err != nil || isOld {
		return err
	}
	events, _, err := p.Events.Newest(ctx, view.Instance.ID, []eventlog.Kind{eventlog.KindPresence}, 0, typingAtOnce)
	if err != nil {
		return err
	}
	slices.Reverse(events)
	open.Said.Types(events, open.Address, p.Now())
	return nil
}

// olderOf returns the links to messages before a position.
func olderOf(instanceID string, query url.Values, address string, position gateway.Position) olderLink {
	link := opening(query, address)
	link.Set("at", positionText(position))
	return olderLink{Page: frame.WithQuery(chatsPath(instanceID), link), Part: frame.WithQuery(chatsPath(instanceID)+"/older", link)}
}

// olderView is what is put above the messages of a chat.
type olderView struct {
	Older   olderLink
	Bubbles []bubbles.Bubble
}

// showOlder answers with older messages, to be put above those that are there.
func (p *pages) showOlder(r *frame.Request, found gateway.Instance) error {
	query := chatQuery(r.URL.Query())
	before, ok := parsePosition(query.Get("at"))
	if !ok || query.Get("chat") == "" {
		return gateway.InvalidField("at", "must be a position in a chat")
	}
	with := gateway.Recipient{Chat: gateway.JID(query.Get("chat"))}
	read, err := p.Chats.Messages(r.Context(), found.ID, with,
		chat.Query{MessageFilter: gateway.MessageFilter{Before: before}}, gateway.PageRequest{Page: 1, Limit: chatPage})
	if err != nil {
		return err
	}
	party, err := p.Chats.Get(r.Context(), found.ID, with)
	if err != nil {
		return err
	}
	var view olderView
	if n := len(read.Items); read.Total > n {
		view.Older = olderOf(found.ID, query, query.Get("chat"), read.Items[n-1].Position())
	}
	slices.Reverse(read.Items)
	said, err := p.said(r.Context(), found, party.Party, read.Items, view.Older.Page != "", before.At, r.Visitor.May(gateway.RoleOperator), r.Lang())
	if err != nil {
		return err
	}
	view.Bubbles = said.Bubbles
	return r.Fragment("chats", "older", view)
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

// showText answers with the whole text of a message.
func (p *pages) showText(r *frame.Request, found gateway.Instance) error {
	message, err := p.Chats.Message(r.Context(), found.ID, gateway.MessageRef{ID: r.PathValue("messageId")})
	if err != nil {
		return err
	}
	r.W.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, err = r.W.Write([]byte(message.Text))
	return err
}

// messagePath is the address of what can be done with a message.
func messagePath(instanceID, messageID string) string {
	return "/instances/" + instanceID + "/messages/" + messageID
}

// bubbleOf returns a message as it is shown.
func (p *pages) bubbleOf(m gateway.Message) bubbles.Bubble {
	b := conversation.Bubble(m, p.Now())
	b.Path = messagePath(m.InstanceID, m.ID)
	if m.Details.Media != nil && !b.Deleted {
		b.File = b.Path + "/file"
	}
	return b
}

// answerable adds to a bubble what the visitor may do with it.
func (p *pages) answerable(b bubbles.Bubble, may bool, of gateway.Instance, message gateway.Message) bubbles.Bubble {
	if b.Answers != nil {
		by := message.Details.Quoted.Sender
		b.Answers.Mine = by.Is(of.Profile.JID) || by.Is(of.Profile.LID)
		if b.Answers.Mine {
			b.Answers.Sender = ""
		}
	}
	if !may || message.Status == gateway.MessagePending || message.Status == gateway.MessageFailed {
		b.Path = ""
		return b
	}
	b.Quote = message.ID
	return b
}

// said returns a part of a chat: its messages, the reactions to them, and what happened between the oldest of
// them and a moment; if nothing is older, also before.
func (p *pages) said(
	ctx context.Context, of gateway.Instance, party gateway.Party, messages []gateway.Message, isMore bool, until time.Time, may bool, lang string,
) (said conversation.Conversation, err error) {
	for _, message := range messages {
		said.Bubbles = append(said.Bubbles, p.answerable(p.bubbleOf(message), may, of, message))
	}
	var since time.Time
	if isMore {
		since = messages[0].Position().At
	}
	events, err := p.Events.OfChat(ctx, of.ID, party, since, until, happenedAtOnce)
	name := conversation.Name(party)
	names := sentence.Names{string(party.JID): name, string(party.LID): name}
	said.Happened(events, func(event eventlog.Event) string { return sentence.Of(event, names).In(p.Site.Words(), lang) })
	return said, err
}
