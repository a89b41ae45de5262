// The rows of one device, between what whatsmeow asks and the database.

package keys

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/sqlerror"
)

// rememberedRows bounds how many rows of one device are held in memory besides those that
// have changed; the row of a session has some 400 bytes.
const rememberedRows = 256

// errClosed says that another session has loaded the keys of the device since. What this
// one still wants to write is older than what the other one has.
var errClosed = errors.New("keys: the keys of the device are used by another session")

type rowName struct{ kind, name string }

// change is a row that differs from the database's.
type change struct {
	value    []byte // nil: the row is removed
	ifAbsent bool
	number   uint64 // changes are numbered, so that a later one of the same row is not taken for written
}

// rows are the rows of one device. They answer from memory, and hold changes back until
// somebody has them written: a call that keeps a message (gateway.WithDeviceKeys), or
// flush. What is held back may be lost in a crash, and then everything that it depends on
// is as it was before.
//
// The rows of a device are open once in all processes, so that memory is never out of
// date. Those that all devices share may be open in several: a pair of number and LID hardly
// ever changes, and one that is not known yet is looked for each time. Rows are safe for
// concurrent use.
type rows struct {
	store      Store
	instanceID string
	device     int64

	// failed is called when the database failed; nil until a session uses the keys.
	failed atomic.Pointer[func()]

	mu         sync.Mutex
	remembered *lru.Cache[rowName, []byte] // as in the database; nil: there is none
	changed    map[rowName]change
	changes    uint64 // number of the last change, or of its writing
	closed     bool

	// received are the messages that were decrypted and not kept yet, by the hash of what
	// was decrypted.
	received map[[32]byte]*received
}

func newRows(store Store, instanceID string, device int64, remember int) (*rows, error) {
	remembered, err := lru.New[rowName, []byte](remember)
	if err != nil {
		return nil, fmt.Errorf("keys: remember rows: %w", err)
	}
	return &rows{
		store: store, instanceID: instanceID, device: device, remembered: remembered,
		changed: map[rowName]change{}, received: map[[32]byte]*received{},
	}, nil
}

// nameOf is the name of a row that is found by some texts: they are joined by blanks. What
// comes from the platform may have bytes that a database refuses in a text.
func nameOf(texts ...string) string {
	name := strings.Join(texts, " ")
	if utf8.ValidString(name) && !strings.Contains(name, "\x00") {
		return name
	}
	return fmt.Sprintf("%x", name)
}

// note reports a failure of the database, and returns err. If that happens while something
// is received, whatsmeow takes it for a message that it can't decrypt: it acknowledges the
// message, and asks the sender for another copy, which comes late or never. If the
// connection is given up before, the platform delivers the message again. A value that
// the database can't hold is not reported: it would be refused after each delivery. Neither is
// it if ctx has ended: the connection that wanted something is gone, or whoever sends has given
// up, and the connection in use by now has nothing to do with it.
func (r *rows) note(ctx context.Context, err error) error {
	if failed := r.failed.Load(); err != nil && failed != nil && ctx.Err() == nil && !sqlerror.IsData(err) {
		(*failed)()
	}
	return err
}

// get returns the value of a row, nil if there is none. The caller does not change it.
func (r *rows) get(ctx context.Context, kind, name string) ([]byte, error) {
	key := rowName{kind, name}
	if d := r.decryption(ctx); d != nil {
		if row, ok := d.changed[key]; ok {
			return row.value, nil
		}
	}
	r.mu.Lock()
	value, known := r.known(key)
	since := r.changes
	r.mu.Unlock()
	if known {
		return value, nil
	}
	value, err := r.store.FindDeviceKey(ctx, r.device, kind, name)
	if err != nil {
		return nil, r.note(ctx, fmt.Errorf("keys: read %s: %w", kind, err))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	// What all devices share may be added by another node. And what was read before a change may
	// be older than the database.
	if shared := r.device == everybody; r.changes == since && (value != nil || !shared) {
		r.remembered.Add(key, value)
	}
	return value, nil
}

// readRow returns a row of JSON. One that is damaged is as good as none: the phone, the platform or the next
// message tells it again.
func readRow[T any](ctx context.Context, r *rows, kind, name string) (row T, found bool, err error) {
	value, err := r.get(ctx, kind, name)
	if err != nil || value == nil {
		return row, false, err
	}
	if json.Unmarshal(value, &row) != nil {
		return *new(T), false, nil //nolint:nilerr // as if there was none
	}
	return row, true, nil
}

// putRow is put for a row of JSON.
func putRow(ctx context.Context, r *rows, kind, name string, row any) error {
	value, err := json.Marshal(row)
	if err != nil {
		return fmt.Errorf("keys: write %s: %w", kind, err)
	}
	r.put(ctx, kind, name, value)
	return nil
}

// rowsAtOnce bounds how many rows the database is asked for at once.
const rowsAtOnce = 1000

// getMany returns the values of those of the named rows of a kind that there are, by name. What is
// not in memory is asked for together.
func (r *rows) getMany(ctx context.Context, kind string, names []string) (map[string][]byte, error) {
	values := make(map[string][]byte, len(names))
	var missing []string
	d := r.decryption(ctx)
	r.mu.Lock()
	since := r.changes
	for _, name := range names {
		key := rowName{kind, name}
		value, known := r.known(key)
		if d != nil {
			if row, changed := d.changed[key]; changed {
				value, known = row.value, true
			}
		}
		switch {
		case !known:
			missing = append(missing, name)
		case value != nil:
			values[name] = value
		}
	}
	r.mu.Unlock()
	for some := range slices.Chunk(missing, rowsAtOnce) {
		found, err := r.store.FindDeviceKeys(ctx, r.device, kind, some)
		if err != nil {
			return nil, r.note(ctx, fmt.Errorf("keys: read %s: %w", kind, err))
		}
		r.mu.Lock()
		for name, value := range found {
			values[name] = value
			if r.changes == since { // else it may be older than the database
				r.remembered.Add(rowName{kind, name}, value)
			}
		}
		r.mu.Unlock()
	}
	return values, nil
}

// known returns the value of a row if it is in memory. The caller holds the lock.
func (r *rows) known(key rowName) ([]byte, bool) {
	if row, ok := r.changed[key]; ok {
		return row.value, true
	}
	return r.remembered.Get(key)
}

// list returns the rows of a kind whose names begin with prefix, ordered by name.
func (r *rows) list(ctx context.Context, kind, prefix string) ([]gateway.DeviceKey, error) {
	// The changes are read before the database: one that is written in between is seen
	// twice, and not missed.
	r.mu.Lock()
	changed := maps.Clone(r.changed)
	r.mu.Unlock()
	if d := r.decryption(ctx); d != nil {
		maps.Copy(changed, d.changed)
	}
	found, err := r.store.ListDeviceKeys(ctx, r.device, kind, prefix)
	if err != nil {
		return nil, r.note(ctx, fmt.Errorf("keys: list %s: %w", kind, err))
	}
	byName := make(map[string]gateway.DeviceKey, len(found))
	for _, row := range found {
		byName[row.Name] = row
	}
	for key, row := range changed {
		_, exists := byName[key.name]
		switch {
		case key.kind != kind || !strings.HasPrefix(key.name, prefix) || exists && row.ifAbsent:
		case row.value == nil:
			delete(byName, key.name)
		default:
			byName[key.name] = gateway.DeviceKey{Device: r.device, Kind: kind, Name: key.name, Value: row.value}
		}
	}
	return slices.SortedFunc(maps.Values(byName), func(a, b gateway.DeviceKey) int { return cmp.Compare(a.Name, b.Name) }), nil
}

// put changes a row in memory: in the decryption of ctx, if there is one, and else for
// everybody. A nil value removes the row.
func (r *rows) put(ctx context.Context, kind, name string, value []byte) {
	r.change(ctx, rowName{kind, name}, change{value: value})
}

// add is put, unless the database has such a row.
func (r *rows) add(ctx context.Context, kind, name string, value []byte) {
	r.change(ctx, rowName{kind, name}, change{value: value, ifAbsent: true})
}

func (r *rows) change(ctx context.Context, key rowName, row change) {
	if d := r.decryption(ctx); d != nil {
		d.changed[key] = row
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, _ := r.known(key); row.ifAbsent && known != nil {
		return
	}
	r.set(key, row)
}

// set changes a row. The caller holds the lock.
func (r *rows) set(key rowName, row change) {
	r.changes++
	row.number = r.changes
	r.changed[key] = row
	r.remembered.Remove(key)
}

// save writes what was changed, unless the change belongs to a decryption, or to a send
// that has its keys written later.
func (r *rows) save(ctx context.Context) error {
	if r.decryption(ctx) != nil || isSending(ctx) {
		return nil
	}
	return r.flush(ctx, nil)
}

// flush writes everything that has changed and returns after the commit. kept, if not nil,
// is a message that was kept before.
func (r *rows) flush(ctx context.Context, kept *received) error {
	r.mu.Lock()
	closed, nothing := r.closed, len(r.changed) == 0 && kept == nil
	r.mu.Unlock()
	if closed {
		return r.note(ctx, errClosed)
	}
	if nothing {
		return nil
	}
	w := &writing{rows: r, kept: kept}
	if err := r.store.WriteDeviceKeys(ctx, r.instanceID, w); err != nil {
		return r.note(ctx, fmt.Errorf("keys: write: %w", err))
	}
	if w.refused {
		return r.note(ctx, errClosed)
	}
	return nil
}

// close lets nothing be written any more.
func (r *rows) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
}

// writing is one write of what has changed (gateway.DeviceKeyChanges).
type writing struct {
	rows    *rows
	kept    *received // the message that is kept in the same transaction, or was before; may be nil
	refused bool      // the rows are closed

	taken map[rowName]change // as in the transaction
	saved []*received        // whose content is in the transaction
}

var _ gateway.DeviceKeyChanges = (*writing)(nil)

// Rows returns everything that has changed. The changes may include those by messages that
// were decrypted and are not kept yet. A crash would leave them unreadable, so their
// content is written too.
func (w *writing) Rows() []gateway.DeviceKey {
	r := w.rows
	r.mu.Lock()
	defer r.mu.Unlock()
	w.taken, w.saved, w.refused = nil, nil, r.closed
	if r.closed {
		return nil
	}
	w.taken = maps.Clone(r.changed)
	for _, message := range r.received {
		if message != w.kept && !message.saved && !message.kept {
			w.saved = append(w.saved, message)
			w.taken[message.name()] = change{value: message.encode()}
		}
	}
	if w.kept != nil && w.kept.saved {
		w.taken[w.kept.name()] = change{}
	}
	changed := make([]gateway.DeviceKey, 0, len(w.taken))
	for key, row := range w.taken {
		changed = append(changed, gateway.DeviceKey{
			Device: r.device, Kind: key.kind, Name: key.name, Value: row.value, IfAbsent: row.ifAbsent,
		})
	}
	return changed
}

// Written notes what the database has now.
func (w *writing) Written() {
	r := w.rows
	r.mu.Lock()
	defer r.mu.Unlock()
	for key, row := range w.taken {
		if r.changed[key].number != row.number || row.number == 0 {
			continue // it has changed again since
		}
		r.changes++
		delete(r.changed, key)
		if !row.ifAbsent { // else the database may have kept another value
			r.remembered.Add(key, row.value)
		}
	}
	for _, message := range w.saved {
		message.saved = true
	}
	if w.kept != nil && !w.refused {
		w.kept.kept, w.kept.saved = true, false
	}
}
