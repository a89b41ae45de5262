// Package chatstate is the part of a session about how the account's owner arranges chats
// (gateway.Chats) and labels them (gateway.Labels): by the app state, which all devices of the
// account share. It changes the app state, and translates what others change in it.
package chatstate

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/appstate"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/whatsapp/line"
	"github.com/recado-project/recado/internal/whatsapp/wire"
)

// maxEchoes bounds how many changes by this device are remembered, of which the oldest make room:
// each comes back at once, and again when its collection is read anew.
const maxEchoes = 1_000

// maxBatch bounds how many chats are passed on at once.
const maxBatch = 500

// Chats arranges chats. It is safe for concurrent use.
type Chats struct {
	line  *line.Line
	tasks line.Queue // that read the app state
	since time.Time  // what is older was arranged before this device was told

	mu      sync.Mutex
	echoes  *simplelru.LRU[echo, struct{}]
	initial map[appstate.WAPatchName]gateway.ChatArrangements
	labels  gateway.LabelChanges              // the same of labels, which are all in one collection
	unkept  map[appstate.WAPatchName]struct{} // to be read anew
	wanted  map[appstate.WAPatchName]struct{} // to be read on
}

// echo is a change that this device has made: the platform reports it to all devices.
type echo struct {
	index string
	chat  types.JID // of a change of a chat
	at    int64     // Unix milliseconds
}

var _ gateway.Chats = (*Chats)(nil)

// New returns the chats of a session.
func New(of *line.Line) *Chats {
	echoes, _ := simplelru.NewLRU[echo, struct{}](maxEchoes, nil) // it fails for sizes below 1 alone
	return &Chats{
		line: of, since: of.Now(), echoes: echoes, initial: map[appstate.WAPatchName]gateway.ChatArrangements{},
		unkept: map[appstate.WAPatchName]struct{}{}, wanted: map[appstate.WAPatchName]struct{}{},
	}
}

// CloseWithin drops the tasks that wait, and returns when none runs any more, or after that
// time.
func (c *Chats) CloseWithin(wait time.Duration) { c.tasks.CloseWithin(wait) }

// ChangeChat changes how a chat is arranged (gateway.Chats). Each collection of the app state
// is a request of its own.
func (c *Chats) ChangeChat(ctx context.Context, chat gateway.ChatAnchor, change gateway.ChatChange) error {
	patches, err := patchesOf(chat, change)
	if err != nil {
		return err
	}
	for _, patch := range patches {
		if err := c.Send(ctx, patch, gateway.CodeChatRefused); err != nil {
			return err
		}
	}
	if change.Disappearing == nil {
		return nil
	}
	to, err := wire.ToJID(chat.Party.Key())
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, c.line.Wait)
	defer cancel()
	if err := c.line.Client().SetDisappearingTimer(ctx, to, *change.Disappearing, c.line.Now()); err != nil {
		return wire.Failure(err)
	}
	return nil
}

// DeleteChat deletes a chat (gateway.Chats).
func (c *Chats) DeleteChat(ctx context.Context, chat gateway.ChatAnchor) error {
	patch, err := deletion(chat)
	if err != nil {
		return err
	}
	return c.Send(ctx, patch, gateway.CodeChatRefused)
}

// Send changes the app state. What this device has changed does not come to Arrived. refused is
// the code of the error if the platform does not accept it.
func (c *Chats) Send(ctx context.Context, patch appstate.PatchInfo, refused string) error {
	ctx, cancel := context.WithTimeout(ctx, c.line.Wait)
	defer cancel()
	key, err := c.line.Client().Store.AppStateKeys.GetLatestAppStateSyncKeyID(ctx)
	if err != nil {
		return wire.Failure(err)
	}
	if key == nil {
		return gateway.Errorf(gateway.Conflict, gateway.CodeNotSynced,
			"the phone has not given this device the keys of its settings yet: open the messenger on the phone, and try again")
	}
	patch.Timestamp = c.line.Now()
	c.expect(patch)
	err = Change(ctx, c.line, patch)
	if errors.Is(err, whatsmeow.ErrAppStateUpdate) {
		refusal := gateway.Errorf(gateway.Conflict, refused, "the platform refused the change")
		refusal.Cause = err
		return refusal
	}
	if err != nil {
		return wire.Failure(err)
	}
	return nil
}

func (c *Chats) expect(patch appstate.PatchInfo) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, mutation := range patch.Mutations {
		if len(mutation.Index) < 2 {
			continue
		}
		if isLabel(mutation.Index[0]) {
			c.echoes.Add(labelEcho(patch.Timestamp, mutation.Index...), struct{}{})
			continue
		}
		if chat, err := types.ParseJID(mutation.Index[1]); err == nil {
			c.echoes.Add(echo{mutation.Index[0], chat, patch.Timestamp.UnixMilli()}, struct{}{})
		}
	}
}

// isEcho reports whether a change is one of this device. It stays one, however often it comes.
func (c *Chats) isEcho(of echo) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.echoes.Contains(of)
}
