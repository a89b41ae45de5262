// The delivery of what waits for a client.

package session

import (
	"context"
	"errors"
	"fmt"
	"sync"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/sandbox/wire"
)

const (
	// outboxWindow bounds the stanzas that a client has received but not
	// acknowledged. It is below the 2048 nodes that a client can queue without
	// losing their order.
	outboxWindow = 1000
	outboxPage   = 100
)

// outboxState is the state of delivery to a connection. The writer sends the rows
// of the outbox in order, and the reader removes those that the client
// acknowledges.
type outboxState struct {
	mu       sync.Mutex
	offline  int64 // the last row that was waiting when the device became active
	previews bool  // the offline phase has begun
	finished bool  // and ended
	sent     int   // stanzas sent in it
	cursor   int64
	inFlight int
	unacked  map[string][]int64 // row numbers by what an acknowledgement names
}

// Pump sends a page of the outbox, and wakes the writer if there may be more. Only
// the writer calls it.
func (c *client) Pump(ctx context.Context) error {
	if !c.Connection.IsActive() {
		return nil
	}
	if !c.outbox.previews {
		if err := c.preview(ctx); err != nil {
			return err
		}
	}
	c.outbox.mu.Lock()
	room := min(outboxPage, outboxWindow-c.outbox.inFlight)
	c.outbox.mu.Unlock()
	if room <= 0 {
		return nil // an acknowledgement will wake the writer
	}
	rows, err := c.nextRows(ctx, room)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if err := c.deliver(ctx, row); err != nil {
			return err
		}
	}
	if !c.outbox.finished && (len(rows) < room || c.outbox.cursor >= c.outbox.offline) {
		if err := c.finishOffline(ctx); err != nil {
			return err
		}
	}
	if len(rows) == room {
		c.Connection.Wake()
	}
	return nil
}

// outboxRow is a stanza in the outbox.
type outboxRow struct {
	seq    int64
	class  string
	id     string
	stanza []byte
}

func (c *client) nextRows(ctx context.Context, limit int) (list []outboxRow, err error) {
	rows, err := c.s.db.Reader().QueryContext(ctx, `SELECT seq, class, id, stanza FROM outbox
		WHERE number = $1 AND device = $2 AND seq > $3 ORDER BY seq LIMIT $4`,
		c.device.Account.Number, c.device.ID, c.outbox.cursor, limit)
	if err != nil {
		return nil, fmt.Errorf("session: read outbox: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var row outboxRow
		if err := rows.Scan(&row.seq, &row.class, &row.id, &row.stanza); err != nil {
			return nil, fmt.Errorf("session: read outbox: %w", err)
		}
		list = append(list, row)
	}
	return list, rows.Err()
}

// deliver sends one row.
func (c *client) deliver(ctx context.Context, row outboxRow) error {
	stanza, err := wire.DecodeStanza(row.stanza)
	if err != nil {
		return err
	}
	if !c.outbox.finished && row.seq <= c.outbox.offline {
		stanza.Attrs["offline"] = "0"
		c.outbox.sent++
	}
	key := ackKey(row.class, row.id, stanzaType(stanza))
	c.outbox.mu.Lock()
	c.outbox.unacked[key] = append(c.outbox.unacked[key], row.seq)
	c.outbox.inFlight++
	c.outbox.mu.Unlock()
	c.outbox.cursor = row.seq
	return c.Connection.Write(ctx, stanza)
}

// preview announces how much has waited while the device was away.
func (c *client) preview(ctx context.Context) error {
	// Rows that the last connection acknowledged must not come again.
	if err := c.s.acks.flush(ctx); err != nil {
		return err
	}
	counts, last, err := c.countOutbox(ctx)
	if err != nil {
		return err
	}
	total := 0
	for _, count := range counts {
		total += count
	}
	c.outbox.offline = last
	c.outbox.previews = true
	return c.Connection.Write(ctx, infoBroadcast(waBinary.Node{Tag: "offline_preview", Attrs: waBinary.Attrs{
		"count": total, "message": counts["message"], "receipt": counts["receipt"],
		"notification": counts["notification"], "appdata": 0,
	}}))
}

// countOutbox returns how many stanzas of each class wait, and the number of the
// last row.
func (c *client) countOutbox(ctx context.Context) (counts map[string]int, last int64, err error) {
	rows, err := c.s.db.Reader().QueryContext(ctx,
		"SELECT class, COUNT(*), MAX(seq) FROM outbox WHERE number = $1 AND device = $2 GROUP BY class",
		c.device.Account.Number, c.device.ID)
	if err != nil {
		return nil, 0, fmt.Errorf("session: count outbox: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	counts = map[string]int{}
	for rows.Next() {
		var class string
		var count int
		var newest int64
		if err := rows.Scan(&class, &count, &newest); err != nil {
			return nil, 0, fmt.Errorf("session: count outbox: %w", err)
		}
		counts[class] = count
		last = max(last, newest)
	}
	return counts, last, rows.Err()
}

// finishOffline announces that everything that had waited was sent.
func (c *client) finishOffline(ctx context.Context) error {
	c.outbox.finished = true
	err := c.Connection.Write(ctx, infoBroadcast(waBinary.Node{Tag: "offline", Attrs: waBinary.Attrs{"count": c.outbox.sent}}))
	if err != nil {
		return err
	}
	return c.s.config.Welcome(ctx, c.device)
}

func infoBroadcast(inner waBinary.Node) waBinary.Node {
	return waBinary.Node{Tag: "ib", Attrs: waBinary.Attrs{"from": types.ServerJID}, Content: []waBinary.Node{inner}}
}

// stanzaType returns the type of a receipt, because several may be for the same message. It is "" for other stanzas.
func stanzaType(stanza waBinary.Node) string {
	if stanza.Tag != "receipt" {
		return ""
	}
	return wire.AttrString(stanza, "type")
}

func ackKey(class, id, kind string) string { return class + "\x00" + id + "\x00" + kind }

// acknowledged takes a stanza out of those in flight and returns the number of its
// row.
func (c *client) acknowledged(class, id, kind string) (seq int64, ok bool) {
	c.outbox.mu.Lock()
	defer c.outbox.mu.Unlock()
	key := ackKey(class, id, kind)
	rows := c.outbox.unacked[key]
	if len(rows) == 0 {
		return 0, false
	}
	if len(rows) == 1 {
		delete(c.outbox.unacked, key)
	} else {
		c.outbox.unacked[key] = rows[1:]
	}
	full := c.outbox.inFlight >= outboxWindow
	c.outbox.inFlight--
	if full {
		c.Connection.Wake()
	}
	return rows[0], true
}

// onAck handles a client's acknowledgement of a stanza.
func (c *client) onAck(n waBinary.Node) {
	class, kind := wire.AttrString(n, "class"), ""
	if class == "receipt" {
		kind = wire.AttrString(n, "type")
	}
	if seq, ok := c.acknowledged(class, wire.AttrString(n, "id"), kind); ok {
		c.s.acks.add(seq)
	}
}
