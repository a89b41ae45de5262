// Package chattable has the table of chats, and the search through the words of messages. It
// also says how rows of messages are read and written, because a chat is read from them. The
// store calls it wherever it writes a message.
//
// A chat costs a message one row that changes in place, and one entry of an index. Everything
// else is found when somebody reads.
package chattable

import (
	"context"
	"fmt"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/store/table"
)

// maxKnownChats is how many chats are known without reading: some megabytes.
const maxKnownChats = 16_384

// Database runs the statements of these tables.
type Database interface {
	table.Database

	// SQLite reports whether it is a SQLite file.
	SQLite() bool
	// In is the set of texts in a parameter that holds a JSON array.
	In(parameter int) string
}

// Tables are the tables in one database. They are safe for concurrent use.
type Tables struct {
	db    Database
	known *lru.Cache[name, remembered]
	asks  *lru.Cache[asking, bool]
	words index
	added chan struct{} // has an item if there may be messages that are not in the index
}

// name is what a chat is known by, in one tenure: another node may have joined two chats since.
type name struct {
	instanceID string
	epoch      int64
	jid, lid   gateway.JID
}

// asking is an instance in one tenure. The memory says whether any of its chats has a menu that is open.
type asking struct {
	instanceID string
	epoch      int64
}

// remembered is what the memory has of a chat.
type remembered struct {
	id           string
	disappearing int64 // after how many seconds what is sent to it disappears; 0: never
}

// index is where the words of messages are. The two databases differ in it.
type index interface {
	// add puts a message that is being added into the index, if that is done at once.
	add(ctx context.Context, q table.Querier, chatID string, message gateway.Message) error
	// replace writes the words of a message that is stored.
	replace(ctx context.Context, q table.Querier, chatID, messageID, text string) error
	// remove forgets messages that were removed.
	remove(ctx context.Context, q table.Querier, messageIDs []string) error
	// matching ends a SELECT with the messages that match the first parameter, and goes on with
	// AND. It begins with the index, so that no other is taken.
	matching() string
	// matches ends a SELECT with the entries themselves that match the first parameter.
	matches() string
	// query makes the value of that parameter: all entries, or some that begin with them.
	query(entries []string) string
	// fresh returns messages of a chat that have all of the words, or words that begin with
	// them, and are not in the index yet.
	fresh(ctx context.Context, chatID string, words []string) (ids []string, err error)
	// catchUp puts messages into the index that are not there, some at a time, and reports
	// whether there may be more.
	catchUp(ctx context.Context) (more bool, err error)
}

// New makes the tables' access to a database that has them.
func New(db Database) (*Tables, error) {
	known, err := lru.New[name, remembered](maxKnownChats)
	if err != nil {
		return nil, fmt.Errorf("chattable: make the memory: %w", err)
	}
	asks, err := lru.New[asking, bool](maxKnownChats)
	if err != nil {
		return nil, fmt.Errorf("chattable: make the memory of menus: %w", err)
	}
	t := &Tables{db: db, known: known, asks: asks, words: postgresWords{db}, added: make(chan struct{}, 1)}
	if db.SQLite() {
		t.words = sqliteWords{db}
	}
	t.added <- struct{}{} // what an earlier process has left
	return t, nil
}

// worded is a message whose words are put into the index.
type worded struct {
	row              int64 // the number of its row, on SQLite
	id, chatID, text string
}

//nolint:gochecknoglobals // a function
var scanWorded = table.Into(func(w *worded) []any { return []any{&w.row, &w.id, &w.chatID, &w.text} })
