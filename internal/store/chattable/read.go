// How chats and their messages are read.

package chattable

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/share"
	"github.com/recado-project/recado/internal/store/table"
)

// chatRow is a chat with until when it was read.
type chatRow struct {
	chat   gateway.Chat
	readAt int64
}

//nolint:gochecknoglobals // tables that never change
var (
	chatColumns = table.Of(
		table.Text("id", func(c *gateway.Chat) *string { return &c.ID }),
		table.Text("instance_id", func(c *gateway.Chat) *string { return &c.InstanceID }),
		table.Text("jid", func(c *gateway.Chat) *gateway.JID { return &c.Party.JID }),
		table.Text("lid", func(c *gateway.Chat) *gateway.JID { return &c.Party.LID }),
		table.Text("name", func(c *gateway.Chat) *string { return &c.Party.Name }),
		table.Text("last_id", func(c *gateway.Chat) *string { return &c.LastID }),
		table.Moment("last_at", func(c *gateway.Chat) *time.Time { return &c.LastAt }),
		table.Number("unread", func(c *gateway.Chat) *int { return &c.Unread }),
		table.Flag("archived", func(c *gateway.Chat) *bool { return &c.Archived }),
		table.Flag("pinned", func(c *gateway.Chat) *bool { return &c.Pinned }),
		table.Custom("muted_until", func(c *gateway.Chat) any { return (*muted)(&c.MutedUntil).millis() }, func(c *gateway.Chat) any { return (*muted)(&c.MutedUntil) }),
		table.Flag("marked_unread", func(c *gateway.Chat) *bool { return &c.MarkedUnread }),
		table.Span("disappearing", time.Second, func(c *gateway.Chat) *time.Duration { return &c.Disappearing }),
	)

	chatRowColumns = table.Of(table.Part(chatColumns, func(r *chatRow) *gateway.Chat { return &r.chat })...).
			And(table.Number("read_at", func(r *chatRow) *int64 { return &r.readAt }))
)

// muted is until when a chat is muted.
type muted time.Time

// mutedForever stands for gateway.MutedForever.
const mutedForever = -1

func (m *muted) millis() int64 {
	if time.Time(*m).Equal(gateway.MutedForever()) {
		return mutedForever
	}
	return table.Millis(time.Time(*m))
}

// Scan reads the column.
func (m *muted) Scan(source any) error {
	if source == int64(mutedForever) {
		*m = muted(gateway.MutedForever())
		return nil
	}
	return table.IntoTime((*time.Time)(m)).Scan(source)
}

// hasMessage is the condition of chats that had a message. The others are only known by how
// they are arranged.
const hasMessage = "last_at > 0"

// FindChat returns the chat of an instance that has one of the addresses, and whether there is
// one.
func (t *Tables) FindChat(ctx context.Context, instanceID string, party gateway.Party) (_ gateway.Chat, found bool, err error) {
	defer table.Wrap(&err, "find chat")
	return chatColumns.Find(ctx, t.db.Reader(), "FROM chats WHERE instance_id = $1 AND lid = $2 AND lid <> '' AND "+hasMessage+" UNION ALL "+
		"SELECT "+chatColumns.Names+" FROM chats WHERE instance_id = $1 AND jid = $3 AND jid <> '' AND "+hasMessage+" LIMIT 1",
		instanceID, string(party.LID), string(party.JID))
}

// DisappearsAfter returns after which time a message disappears that is sent to the chat with one
// of the addresses; 0 for never, also for a chat that is not known. The database is asked unless a
// message of the chat was added lately.
func (t *Tables) DisappearsAfter(ctx context.Context, instanceID string, party gateway.Party) (time.Duration, error) {
	known := name{instanceID: instanceID, epoch: gateway.TenureOf(ctx).Epoch, jid: party.JID, lid: party.LID}
	if chat, ok := t.known.Get(known); ok {
		return time.Duration(chat.disappearing) * time.Second, nil
	}
	seconds, _, err := table.Find(ctx, t.db.Reader(), table.Value[int64],
		"SELECT disappearing FROM chats WHERE instance_id = $1 AND lid = $2 AND lid <> '' AND disappearing > 0 UNION ALL "+
			"SELECT disappearing FROM chats WHERE instance_id = $1 AND jid = $3 AND jid <> '' AND disappearing > 0 LIMIT 1",
		instanceID, string(party.LID), string(party.JID))
	table.Wrap(&err, "find when messages of a chat disappear")
	return time.Duration(seconds) * time.Second, err
}

// ListChats returns a page of the chats of an instance, the one with the newest message first.
// Status posts are stored as a chat, but they are not listed as one.
func (t *Tables) ListChats(
	ctx context.Context, instanceID string, filter gateway.ChatFilter, request gateway.PageRequest,
) (page gateway.Page[gateway.Chat], err error) {
	from, args := "FROM chats WHERE instance_id = $1 AND "+hasMessage+" AND jid <> '"+string(gateway.StatusChat)+"'", []any{instanceID}
	if filter.Unread != nil {
		args = append(args, *filter.Unread)
		from += " AND (unread > 0 OR marked_unread) = $2"
	}
	if filter.Archived != nil {
		args = append(args, *filter.Archived)
		from += " AND archived = $" + strconv.Itoa(len(args))
	}
	if filter.Label != "" {
		args = append(args, filter.Label)
		from += " AND id IN (SELECT chat_id FROM labelled WHERE instance_id = $1 AND platform_id = '' AND label_id = $" + strconv.Itoa(len(args)) + ")"
	}
	if page, err = t.chatsInOrder(ctx, filter.Search, request, from, args); err != nil {
		return page, fmt.Errorf("store: list chats: %w", err)
	}
	return page, nil
}

// ChatsByID goes on with a condition of the column id. It names the instance because the key of the table begins
// with it: all chats of all instances would be looked at.
const ChatsByID = "chats WHERE instance_id = $2 AND"

// chatInOrder has what decides whether and where a chat is in a list.
type chatInOrder struct {
	position

	name, jid string // if something is searched in them
}

// chatsInOrder reads few columns of all chats, and all columns of those on the page: most of the time goes
// into reading columns. The database sorts them, unless something is searched, which may occur anywhere in a name.
// The first of args is the instance.
func (t *Tables) chatsInOrder(
	ctx context.Context, search string, request gateway.PageRequest, from string, args []any,
) (page gateway.Page[gateway.Chat], err error) {
	var order []position
	if search == "" {
		found, err := table.ListBy(ctx, t.db.Scanner(), scanPosition, request, table.Order[position]{By: "last_at DESC, id DESC"}, "id, last_at", from, args...)
		if err != nil {
			return page, err
		}
		order, page.Total = found.Items, found.Total
		request = gateway.PageRequest{Page: 1, Limit: request.Limit}
	} else {
		all, err := table.Collect(ctx, t.db.Scanner(), table.Into(func(c *chatInOrder) []any { return []any{&c.id, &c.at, &c.name, &c.jid} }),
			"SELECT id, last_at, name, jid "+from, args...)
		if err != nil {
			return page, err
		}
		text, number := fold(strings.TrimSpace(search)), digitsOf(search)
		for _, chat := range all {
			if strings.Contains(fold(chat.name), text) || number != "" && strings.Contains(gateway.JID(chat.jid).User(), number) {
				order = append(order, chat.position)
			}
		}
		page.Total = len(order)
	}
	page.Items, err = pageOf(ctx, t, order, false, request, chatColumns, ChatsByID, func(chat gateway.Chat) string { return chat.ID }, args[0])
	return page, err
}

// position is what decides where something is in a list: its time, and its internal identifier.
type position struct {
	id string
	at int64
}

//nolint:gochecknoglobals // a function
var scanPosition = table.Into(func(p *position) []any { return []any{&p.id, &p.at} })

// pageOf sorts positions, the newest first unless oldestFirst, and reads the rows of one page of them
// from a table. from goes on with a condition of the column id; args are its parameters from the second.
func pageOf[T any](
	ctx context.Context, t *Tables, all []position, oldestFirst bool, request gateway.PageRequest,
	columns *table.Columns[T], from string, idOf func(T) string, args ...any,
) ([]T, error) {
	slices.SortFunc(all, func(a, b position) int {
		if oldestFirst {
			a, b = b, a
		}
		return cmp.Or(cmp.Compare(b.at, a.at), cmp.Compare(b.id, a.id))
	})
	all = gateway.PageOf(all, request).Items
	order := make(map[string]int, len(all))
	ids := make([]string, len(all))
	for n, one := range all {
		order[one.id], ids[n] = n, one.id
	}
	items, err := columns.Collect(ctx, t.db.Reader(), "FROM "+from+" id IN "+t.db.In(1), append([]any{table.Texts(ids)}, args...)...)
	// Restore the requested order; rows may have changed meanwhile.
	slices.SortFunc(items, func(a, b T) int { return cmp.Compare(order[idOf(a)], order[idOf(b)]) })
	return items, err
}

// digitsOf returns the digits of a text that is written as a number, or as a part of one.
func digitsOf(text string) string {
	var digits strings.Builder
	for _, c := range text {
		switch {
		case c >= '0' && c <= '9':
			digits.WriteRune(c)
		case strings.ContainsRune("+ .-()", c):
		default:
			return ""
		}
	}
	return digits.String()
}

// ListMessages returns a page of the messages of an instance, newest first unless the filter says
// otherwise. Status posts are in the chat that they are stored as, and not among those of all chats.
func (t *Tables) ListMessages(
	ctx context.Context, instanceID string, filter gateway.MessageFilter, request gateway.PageRequest,
) (page gateway.Page[gateway.Message], err error) {
	defer table.Wrap(&err, "list messages")
	if filter.Search == "" {
		from, args, order := MessagesFrom(instanceID, filter)
		return table.ListBy(ctx, t.db.Scanner(), MessageColumns.Scan, request, order, MessageColumns.Names, from, args...)
	}
	words := wordsOf(filter.Search)
	if len(words) == 0 {
		return page, nil
	}
	words = words[:min(len(words), maxQueryWords)]
	if filter.ChatID == "" {
		return t.lookedThrough(ctx, instanceID, words, filter, request)
	}
	return t.searched(ctx, instanceID, words, filter, request)
}

// MessagesFrom ends a SELECT of the messages of an instance that a filter chooses, whatever words it
// searches, with its parameters and the order in which they are listed.
func MessagesFrom(instanceID string, filter gateway.MessageFilter) (from string, args []any, order table.Order[gateway.Message]) {
	from, args = "FROM messages WHERE chat_id = $1", []any{filter.ChatID}
	if filter.ChatID == "" {
		from, args = "FROM messages WHERE instance_id = $1 AND chat_jid <> '"+string(gateway.StatusChat)+"'", []any{instanceID}
	}
	from, args = chosen(from, args, filter)
	order.By = orderOf(filter)
	if !filter.CountAll {
		order.Beyond = func(last gateway.Message) (string, []any, int) {
			from, args, _ := MessagesFrom(instanceID, behind(filter, gateway.Position{At: last.CreatedAt, ID: last.ID}))
			return from, args, countedBeyond
		}
	}
	return from, args, order
}

// behind is a filter of what follows a message in the list.
func behind(filter gateway.MessageFilter, last gateway.Position) gateway.MessageFilter {
	if filter.OldestFirst {
		filter.After = last
	} else {
		filter.Before = last
	}
	return filter
}

// orderOf is the order in which messages are listed.
func orderOf(filter gateway.MessageFilter) string {
	at := "created_at"
	if filter.MessageID != "" {
		at += " + 0" // an expression, so that the index of the identifiers is used: few have the same
	}
	if filter.OldestFirst {
		return at + ", id"
	}
	return at + " DESC, id DESC"
}

// chosen adds the conditions of a filter to the end of a SELECT of messages, and their parameters. Its
// chat and its words are there already.
func chosen(from string, args []any, filter gateway.MessageFilter) (string, []any) {
	add := func(condition string, values ...any) {
		for _, value := range values {
			args = append(args, value)
			condition = strings.Replace(condition, "?", "$"+strconv.Itoa(len(args)), 1)
		}
		from += " AND " + condition
	}
	if filter.Before != (gateway.Position{}) {
		add("(created_at, id) < (?, ?)", table.Millis(filter.Before.At), filter.Before.ID)
	}
	if filter.After != (gateway.Position{}) {
		add("(created_at, id) > (?, ?)", table.Millis(filter.After.At), filter.After.ID)
	}
	if !filter.SentFrom.IsZero() {
		add("sent_at >= ?", table.Millis(filter.SentFrom))
	}
	if !filter.SentUntil.IsZero() {
		add("sent_at <= ?", table.Millis(filter.SentUntil))
	}
	if filter.MessageID != "" {
		add("platform_id = ?", filter.MessageID)
	}
	if len(filter.Types) > 0 {
		var types []any
		for _, one := range filter.Types {
			types = append(types, string(one))
		}
		add("type IN ("+strings.Repeat("?, ", len(types)-1)+"?)", types...)
	}
	if filter.FromMe != nil {
		from += map[bool]string{true: " AND from_me", false: " AND NOT from_me"}[*filter.FromMe]
	}
	if filter.Starred != nil {
		// As the index has it, so that it is used.
		from += map[bool]string{true: " AND starred", false: " AND NOT starred"}[*filter.Starred]
	}
	if filter.Label != "" {
		add("platform_id IN (SELECT l.platform_id FROM labelled AS l WHERE l.chat_id = messages.chat_id AND l.platform_id <> ''"+
			" AND l.label_id = ? AND l.instance_id = messages.instance_id)", filter.Label)
	}
	return from, args
}

// searched reads one page of the messages of a chat that have words. What has few finds is read from the index and
// sorted; what has many is near the newest messages too, so those are looked through one after another.
func (t *Tables) searched(
	ctx context.Context, instanceID string, words []string, filter gateway.MessageFilter, request gateway.PageRequest,
) (page gateway.Page[gateway.Message], err error) {
	fresh, err := t.words.fresh(ctx, filter.ChatID, words)
	if err != nil {
		return page, err
	}
	entries := make([]string, len(words))
	for n, word := range words {
		entries[n] = entry(filter.ChatID, word)
	}
	match := t.words.query(entries)
	from, args := "FROM messages WHERE id IN (SELECT id "+t.words.matching()+" UNION SELECT value FROM json_each($3)) AND chat_id || '' = $2",
		[]any{match, filter.ChatID, table.Texts(fresh)}
	if len(fresh) == 0 {
		// An expression, so that no index of the column is used.
		from, args = t.words.matching()+" AND chat_id || '' = $2", args[:2]
	}
	from, args = chosen(from, args, filter)
	counted, countedArgs := from, args
	if len(fresh) == 0 && onlyWords(filter) {
		counted, countedArgs = t.words.matches(), []any{match}
	}
	if page.Total, err = t.countUpTo(ctx, request.Offset()+request.Limit+countedBeyond, filter.CountAll, counted, countedArgs); err != nil || page.Total <= request.Offset() {
		return page, err
	}
	var order []position
	whole := false
	if page.Total > fewFinds {
		if order, whole, err = t.nearest(ctx, instanceID, words, filter, request); err != nil {
			return page, err
		}
	}
	if !whole {
		order, err = table.Collect(ctx, t.db.Scanner(), scanPosition,
			"SELECT id, created_at "+from+" ORDER BY "+orderOf(filter)+" LIMIT $"+strconv.Itoa(len(args)+1)+" + 0 OFFSET $"+strconv.Itoa(len(args)+2),
			append(slices.Clone(args), request.Limit, request.Offset())...)
		if err != nil {
			return page, err
		}
	}
	page.Items, err = t.messagesAt(ctx, order, filter)
	return page, err
}

// fewFinds is how many finds are read and sorted faster than the messages around them are looked through.
const fewFinds = 500

// onlyWords reports whether a filter of a chat chooses messages by nothing but words.
func onlyWords(filter gateway.MessageFilter) bool {
	return reflect.DeepEqual(filter, gateway.MessageFilter{
		ChatID: filter.ChatID, Search: filter.Search, OldestFirst: filter.OldestFirst, CountAll: filter.CountAll,
	})
}

// countUpTo counts rows, up to a number unless all are to be counted.
func (t *Tables) countUpTo(ctx context.Context, most int, all bool, from string, args []any) (count int, err error) {
	query := "SELECT count(*) " + from
	if !all {
		query = "SELECT count(*) FROM (SELECT 1 " + from + " LIMIT " + strconv.Itoa(most) + ") AS counted"
	}
	err = t.db.Scanner().QueryRowContext(ctx, query, args...).Scan(&count)
	return count, err
}

// nearest looks through the messages of a chat in their order for one page of those that have words. whole is false
// if it has given up before the page was full.
func (t *Tables) nearest(
	ctx context.Context, instanceID string, words []string, filter gateway.MessageFilter, request gateway.PageRequest,
) (order []position, whole bool, err error) {
	const first, times, parts = 200, 3, 3 // so 2,600 messages
	skipped := 0
	for part, limit := 0, first; part < parts; part, limit = part+1, limit*times {
		from, args, listed := MessagesFrom(instanceID, filter)
		read, last := 0, gateway.Position{}
		err = table.Each(ctx, t.db.Scanner(), func(row table.Scanner) error {
			var at position
			var text string
			if err := row.Scan(&at.id, &at.at, &text); err != nil {
				return err
			}
			read++
			last = gateway.Position{At: time.UnixMilli(at.at), ID: at.id}
			switch {
			case len(order) == request.Limit || !says(text, words):
			case skipped < request.Offset():
				skipped++
			default:
				order = append(order, at)
			}
			return nil
		}, "SELECT id, created_at, text "+from+" ORDER BY "+listed.By+" LIMIT "+strconv.Itoa(limit), args...)
		if err != nil || len(order) == request.Limit || read < limit {
			return order, err == nil, err
		}
		filter = behind(filter, last)
	}
	return nil, false, nil
}

// lookedThrough reads the texts of all messages of an instance, one after another, for a page of those
// that have words, and counts the rest. The index has the words of each chat apart.
func (t *Tables) lookedThrough(
	ctx context.Context, instanceID string, words []string, filter gateway.MessageFilter, request gateway.PageRequest,
) (page gateway.Page[gateway.Message], err error) {
	from, args, listed := MessagesFrom(instanceID, filter)
	var order []position
	err = table.Each(ctx, t.db.Scanner(), func(row table.Scanner) error {
		var at position
		var text string
		if err := row.Scan(&at.id, &at.at, &text); err != nil || !says(text, words) {
			return err
		}
		if page.Total >= request.Offset() && len(order) < request.Limit {
			order = append(order, at)
		}
		page.Total++
		return nil
	}, "SELECT id, created_at, text "+from+" AND text <> '' ORDER BY "+listed.By, args...)
	if err != nil || len(order) == 0 {
		return page, err
	}
	page.Items, err = t.messagesAt(ctx, order, filter)
	return page, err
}

// messagesAt reads the messages of one page, in the order of the filter.
func (t *Tables) messagesAt(ctx context.Context, order []position, filter gateway.MessageFilter) ([]gateway.Message, error) {
	return pageOf(ctx, t, order, filter.OldestFirst, gateway.PageRequest{Page: 1, Limit: len(order)}, MessageColumns, "messages WHERE",
		func(message gateway.Message) string { return message.ID })
}

// ChatsOfMessages returns the chats that messages of an instance are in, by the internal identifiers of
// the messages.
func (t *Tables) ChatsOfMessages(ctx context.Context, instanceID string, messageIDs []string) (_ map[string]gateway.Chat, err error) {
	defer table.Wrap(&err, "read the chats of messages")
	type of struct {
		message string
		chat    gateway.Chat
	}
	columns := table.Of(table.Part(chatColumns, func(o *of) *gateway.Chat { return &o.chat })...).
		And(table.Text("message_id", func(o *of) *string { return &o.message }))
	found, err := columns.Collect(ctx, t.db.Reader(), "FROM chats JOIN (SELECT id AS message_id, chat_id FROM messages WHERE id IN "+t.db.In(1)+
		") AS named ON chats.id = chat_id WHERE instance_id = $2", table.Texts(messageIDs), instanceID)
	chats := make(map[string]gateway.Chat, len(found))
	for _, one := range found {
		chats[one.message] = one.chat
	}
	return chats, err
}

// countedBeyond is how many rows are counted beyond a page: a chat may have any number.
const countedBeyond = 5_000

// IndexPause is how long the index of words waits for more messages that were stored.
const IndexPause = time.Second

// CatchUp indexes the words of all messages that are not indexed yet. If there are none, it does nothing.
func (t *Tables) CatchUp(ctx context.Context) error {
	select {
	case <-t.added:
	default:
		return nil
	}
	for ctx.Err() == nil {
		more := false
		err := share.Rested(ctx, func() (err error) {
			more, err = t.words.catchUp(ctx)
			return err
		})
		if err != nil {
			select {
			case t.added <- struct{}{}: // they are still to be done
			default:
			}
			return err
		}
		if !more {
			break
		}
	}
	return nil
}

// RunIndex keeps the index of words up to date until ctx ends. It tells failed of each error, and tries
// again.
func (t *Tables) RunIndex(ctx context.Context, failed func(error)) error {
	ticker := time.NewTicker(IndexPause)
	defer ticker.Stop()
	for {
		if err := t.CatchUp(ctx); err != nil && ctx.Err() == nil {
			failed(err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}
