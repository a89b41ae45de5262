// How chats and their messages are read.

package chattable

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/store/table"
)

const chatColumns = "id, instance_id, jid, lid, name, last_id, last_at, unread, archived, pinned, muted_until, marked_unread, disappearing"

func scanChat(row table.Scanner) (gateway.Chat, error) {
	var chat gateway.Chat
	var lastAt, mutedUntil, disappearing int64
	err := row.Scan(&chat.ID, &chat.InstanceID, &chat.Party.JID, &chat.Party.LID, &chat.Party.Name, &chat.LastID, &lastAt, &chat.Unread,
		&chat.Archived, &chat.Pinned, &mutedUntil, &chat.MarkedUnread, &disappearing)
	chat.LastAt, chat.Disappearing = table.Time(lastAt), time.Duration(disappearing)*time.Second
	if chat.MutedUntil = table.Time(mutedUntil); mutedUntil == mutedForever {
		chat.MutedUntil = gateway.MutedForever()
	}
	return chat, err
}

// hasMessage is the condition of chats that had a message. The others are only known by how
// they are arranged.
const hasMessage = "last_at > 0"

// FindChat returns the chat of an instance that has one of the addresses, and whether there is
// one.
func (t *Tables) FindChat(ctx context.Context, instanceID string, party gateway.Party) (gateway.Chat, bool, error) {
	chat, found, err := table.Find(ctx, t.db.Reader(), scanChat,
		"SELECT "+chatColumns+" FROM chats WHERE instance_id = $1 AND lid = $2 AND lid <> '' AND "+hasMessage+" UNION ALL "+
			"SELECT "+chatColumns+" FROM chats WHERE instance_id = $1 AND jid = $3 AND jid <> '' AND "+hasMessage+" LIMIT 1",
		instanceID, string(party.LID), string(party.JID))
	if err != nil {
		return chat, false, fmt.Errorf("store: find chat: %w", err)
	}
	return chat, found, nil
}

// DisappearsAfter returns after which time a message disappears that is sent to the chat with one
// of the addresses; 0 for never, also for a chat that is not known. The database is asked unless a
// message of the chat was added lately.
func (t *Tables) DisappearsAfter(ctx context.Context, instanceID string, party gateway.Party) (time.Duration, error) {
	known := name{instanceID: instanceID, epoch: gateway.TenureOf(ctx).Epoch, jid: party.JID, lid: party.LID}
	if chat, ok := t.known.Get(known); ok {
		return time.Duration(chat.disappearing) * time.Second, nil
	}
	scan := func(row table.Scanner) (seconds int64, err error) {
		err = row.Scan(&seconds)
		return seconds, err
	}
	seconds, _, err := table.Find(ctx, t.db.Reader(), scan,
		"SELECT disappearing FROM chats WHERE instance_id = $1 AND lid = $2 AND lid <> '' AND disappearing > 0 UNION ALL "+
			"SELECT disappearing FROM chats WHERE instance_id = $1 AND jid = $3 AND jid <> '' AND disappearing > 0 LIMIT 1",
		instanceID, string(party.LID), string(party.JID))
	if err != nil {
		return 0, fmt.Errorf("store: find when messages of a chat disappear: %w", err)
	}
	return time.Duration(seconds) * time.Second, nil
}

// ListChats returns a page of the chats of an instance, the one with the newest message first.
// The status posts are no chat, though they are kept as one.
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

// chatInOrder is what decides whether and where a chat is in a list.
type chatInOrder struct {
	place

	name, jid string // if something is searched in them
}

// chatsInOrder reads little of all chats, and all of those on the page: most of the time goes into
// reading columns. A name may have the text that is searched anywhere in it.
func (t *Tables) chatsInOrder(
	ctx context.Context, search string, request gateway.PageRequest, from string, args []any,
) (page gateway.Page[gateway.Chat], err error) {
	columns := "id, last_at, '', ''"
	if search != "" {
		columns = "id, last_at, name, jid"
	}
	all, err := table.Collect(ctx, t.db.Scanner(), func(row table.Scanner) (c chatInOrder, err error) {
		return c, row.Scan(&c.id, &c.at, &c.name, &c.jid)
	}, "SELECT "+columns+" "+from, args...)
	if err != nil {
		return page, err
	}
	if search != "" {
		text, number := fold(strings.TrimSpace(search)), digitsOf(search)
		all = slices.DeleteFunc(all, func(chat chatInOrder) bool {
			return !strings.Contains(fold(chat.name), text) && (number == "" || !strings.Contains(gateway.JID(chat.jid).User(), number))
		})
	}
	places := make([]place, len(all))
	for n, chat := range all {
		places[n] = chat.place
	}
	page.Items, err = pageOf(ctx, t, places, false, request, scanChat, "SELECT "+chatColumns+" FROM chats WHERE id IN ", func(chat gateway.Chat) string { return chat.ID })
	page.Total = len(all)
	return page, err
}

// place is what decides where something is in a list: when it was, and its internal identifier.
type place struct {
	id string
	at int64
}

// pageOf puts places in order, the newest first unless oldestFirst, and reads what is on a page of
// them. query lacks the set of identifiers.
func pageOf[T any](
	ctx context.Context, t *Tables, places []place, oldestFirst bool, request gateway.PageRequest,
	scan func(row table.Scanner) (T, error), query string, idOf func(T) string,
) ([]T, error) {
	slices.SortFunc(places, func(a, b place) int {
		if oldestFirst {
			a, b = b, a
		}
		return cmp.Or(cmp.Compare(b.at, a.at), cmp.Compare(b.id, a.id))
	})
	first := min(request.Offset(), len(places))
	places = places[first:min(first+request.Limit, len(places))]
	order := make(map[string]int, len(places))
	ids := make([]string, len(places))
	for n, place := range places {
		order[place.id], ids[n] = n, place.id
	}
	set, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	in := "(SELECT json_array_elements_text($1::json))"
	if t.db.SQLite() {
		in = "(SELECT value FROM json_each($1))"
	}
	items, err := table.Collect(ctx, t.db.Reader(), scan, query+in, string(set))
	// In the order of the list, whatever has come meanwhile.
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

// ListChatMessages returns a page of the messages of a chat, newest first unless the filter says
// otherwise.
func (t *Tables) ListChatMessages(
	ctx context.Context, chatID string, filter gateway.MessageFilter, request gateway.PageRequest,
) (page gateway.Page[gateway.Message], err error) {
	from, args := "FROM messages WHERE chat_id = $1", []any{chatID}
	if filter.Search != "" {
		words := wanted(filter.Search)
		if len(words) == 0 {
			return page, nil
		}
		if from, args, err = t.having(ctx, chatID, words); err != nil {
			return page, fmt.Errorf("store: search what came of late: %w", err)
		}
	}
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
	if len(filter.Types) > 0 {
		var types []any
		for _, one := range filter.Types {
			types = append(types, string(one))
		}
		add("type IN ("+strings.Repeat("?, ", len(types)-1)+"?)", types...)
	}
	if filter.Starred != nil {
		// As the index has it, so that it is taken.
		from += map[bool]string{true: " AND starred", false: " AND NOT starred"}[*filter.Starred]
	}
	if filter.Label != "" {
		add("platform_id IN (SELECT l.platform_id FROM labelled AS l WHERE l.chat_id = messages.chat_id AND l.platform_id <> ''"+
			" AND l.label_id = ? AND l.instance_id = messages.instance_id)", filter.Label)
	}
	order := "created_at DESC, id DESC"
	if filter.OldestFirst {
		order = "created_at, id"
	}
	if filter.Search != "" {
		if page, err = t.found(ctx, from, order, args, filter.OldestFirst, request); err != nil {
			return page, fmt.Errorf("store: search the messages of a chat: %w", err)
		}
		return page, nil
	}
	page, err = listInOrder(ctx, t.db.Scanner(), ScanMessage, request, ReadColumns, from, order, args)
	if err != nil {
		return page, fmt.Errorf("store: list messages of a chat: %w", err)
	}
	return page, nil
}

// having is a query for the messages of a chat that have words, with its parameters.
func (t *Tables) having(ctx context.Context, chatID string, words []string) (from string, args []any, err error) {
	fresh, err := t.words.fresh(ctx, chatID, words)
	if err != nil {
		return "", nil, err
	}
	for n, word := range words {
		words[n] = entry(chatID, word)
	}
	// An expression, so that no index of the column is taken.
	from, args = t.words.matching()+" AND chat_id || '' = $2", []any{t.words.query(words), chatID}
	if len(fresh) > 0 {
		set, err := json.Marshal(fresh)
		if err != nil {
			return "", nil, err
		}
		from = "FROM messages WHERE id IN (SELECT id " + from + " UNION SELECT value FROM json_each($3))"
		args = append(args, string(set))
	}
	return from, args, nil
}

// found lists what a search has found. The index is asked once, for the page and for how many
// there are: it looks through each message that has one of the words. What was found stays in the
// database, which may be much, but for the page.
func (t *Tables) found(
	ctx context.Context, from, order string, args []any, oldestFirst bool, request gateway.PageRequest,
) (page gateway.Page[gateway.Message], err error) {
	n, offset := len(args), request.Offset()
	places, err := table.Collect(ctx, t.db.Scanner(), func(row table.Scanner) (p place, err error) {
		return p, row.Scan(&p.id, &p.at, &page.Total)
	}, "SELECT id, created_at, count(*) OVER () "+from+" ORDER BY "+order+" LIMIT $"+strconv.Itoa(n+1)+" + 0 OFFSET $"+strconv.Itoa(n+2),
		append(slices.Clone(args), request.Limit, offset)...)
	if err != nil {
		return page, err
	}
	if len(places) == 0 { // nothing was found, or the page is behind the last one
		return page, t.db.Scanner().QueryRowContext(ctx, "SELECT count(*) "+from, args...).Scan(&page.Total)
	}
	page.Items, err = pageOf(ctx, t, places, oldestFirst, gateway.PageRequest{Page: 1, Limit: request.Limit}, ScanMessage,
		"SELECT "+ReadColumns+" FROM messages WHERE id IN ", func(message gateway.Message) string { return message.ID })
	return page, err
}

// countedBeyond is how many rows are counted beyond a page: a chat may have any number.
const countedBeyond = 5_000

// listInOrder is table.List in an order of its own. It counts no further than countedBeyond.
func listInOrder[T any](
	ctx context.Context, q table.Querier, scan func(row table.Scanner) (T, error), request gateway.PageRequest,
	columns, from, order string, args []any,
) (page gateway.Page[T], err error) {
	n, offset := len(args), request.Offset()
	page.Items, err = table.Collect(ctx, q, scan, "SELECT "+columns+" "+from+" ORDER BY "+order+
		// A limit that is a bare parameter makes SQLite plan anew each time.
		" LIMIT $"+strconv.Itoa(n+1)+" + 0 OFFSET $"+strconv.Itoa(n+2), append(slices.Clone(args), request.Limit, offset)...)
	if err != nil {
		return page, err
	}
	if n := len(page.Items); n < request.Limit && (n > 0 || offset == 0) {
		page.Total = offset + n
		return page, nil
	}
	return page, q.QueryRowContext(ctx, "SELECT count(*) FROM (SELECT 1 "+from+" LIMIT $"+strconv.Itoa(n+1)+" + 0) AS counted",
		append(args, offset+request.Limit+countedBeyond)...).Scan(&page.Total)
}

// IndexPause is how long the index of words waits for more messages that were kept.
const IndexPause = time.Second

// CatchUp puts the messages that were kept into the index of words, until there are none left.
// It does nothing if there are none.
func (t *Tables) CatchUp(ctx context.Context) error {
	select {
	case <-t.added:
	default:
		return nil
	}
	for ctx.Err() == nil {
		more, err := t.words.catchUp(ctx)
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

// RunIndex keeps the index of words up to date until ctx ends. failed is told of what went
// wrong; it is tried again.
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
