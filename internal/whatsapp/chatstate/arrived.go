// What the account's owner does with chats on other devices.

package chatstate

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"time"

	"go.mau.fi/whatsmeow/appstate"
	"go.mau.fi/whatsmeow/proto/waSyncAction"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/gateway"
)

// change is one change of the app state that is about a chat.
type change struct {
	index      string
	collection appstate.WAPatchName
	chat       types.JID
	at         time.Time
	initial    bool // a part of a whole collection
	update     gateway.ChatUpdate
}

// Arrived keeps what an event of whatsmeow says about a chat or a message, and reports whether that was
// possible. An event that is about no chat is ignored.
func (c *Chats) Arrived(event any) bool {
	if kept, ours := c.messageArrived(event); ours {
		return kept
	}
	arrived, ok := changeOf(event)
	if !ok {
		return true
	}
	if c.isEcho(echo{arrived.index, arrived.chat, arrived.at.UnixMilli()}) {
		return true
	}
	update := arrived.update
	if update.Chat, ok = c.partyOf(arrived.chat); !ok {
		return true
	}
	// The first change of a collection that was empty comes like the whole collection.
	if update.At = arrived.at.UTC(); arrived.initial && arrived.at.Before(c.since) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.initial[arrived.collection] = append(c.initial[arrived.collection], update)
		return true
	}
	return c.keep(arrived.collection, update)
}

// Complete keeps what was read of a whole collection.
func (c *Chats) Complete(collection appstate.WAPatchName) bool {
	c.mu.Lock()
	all := c.initial[collection]
	delete(c.initial, collection)
	var labels gateway.LabelChanges
	if collection == labelCollection {
		labels, c.labels = c.labels, nil
	}
	c.mu.Unlock()
	if !c.keepLabels(labels) {
		return false
	}
	for len(all) > 0 {
		part := all[:min(len(all), maxBatch)]
		all = all[len(part):]
		if !c.keep(collection, part) {
			return false
		}
	}
	return true
}

// Disappearing keeps after how many seconds new messages of a chat disappear.
func (c *Chats) Disappearing(chat gateway.Party, seconds uint32, at time.Time) bool {
	return c.line.Receive(gateway.ChatUpdate{
		Chat: chat, ChatChange: gateway.ChatChange{Disappearing: new(time.Duration(seconds) * time.Second)}, At: at.UTC(),
	}, "disappearing messages")
}

// keep passes something on. What can't be kept now is read again with the whole collection,
// after the next login: whatsmeow has noted already that this device knows it.
func (c *Chats) keep(collection appstate.WAPatchName, incoming gateway.Incoming) bool {
	if c.line.Receive(incoming, "how chats are arranged", slog.String("collection", string(collection))) {
		return true
	}
	c.notKept(collection)
	return false
}

// notKept notes that something of a collection could not be kept.
func (c *Chats) notKept(collection appstate.WAPatchName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unkept[collection] = struct{}{}
}

// ReadAgain reads the collections again of which something could not be kept, and those that this
// device was given the keys of and has not read: the process ended meanwhile. After the first that
// can't be read the others wait for the next login as well: the connection may have ended, and the
// library would block the next request until it has made another.
func (c *Chats) ReadAgain(ctx context.Context) {
	c.mu.Lock()
	unkept := slices.Sorted(maps.Keys(c.unkept))
	c.mu.Unlock()
	for _, collection := range unkept {
		// What can't be kept from now on is noted again.
		c.mu.Lock()
		delete(c.unkept, collection)
		c.mu.Unlock()
		if err := c.fetch(ctx, collection, true); err != nil {
			c.notKept(collection)
			c.logFetch(ctx, collection, err)
			return
		}
	}
	unread, err := c.unread(ctx)
	if err != nil && ctx.Err() == nil {
		c.line.Logger.WarnContext(ctx, "not known how far the app state was read", slog.Any("error", err))
	}
	for _, collection := range unread {
		if err := c.fetch(ctx, collection, false); err != nil {
			c.logFetch(ctx, collection, err)
			return
		}
	}
}

// unread lists the collections that were never read, if there are keys to read them with.
func (c *Chats) unread(ctx context.Context) (unread []appstate.WAPatchName, err error) {
	err = Guard(ctx, c.line, func(ctx context.Context) error {
		device := c.line.Client().Store
		key, err := device.AppStateKeys.GetLatestAppStateSyncKeyID(ctx)
		if err != nil || key == nil {
			return err
		}
		for _, collection := range appstate.AllPatchNames {
			version, _, err := device.AppState.GetAppStateVersion(ctx, string(collection))
			if err != nil {
				return err
			}
			if version == 0 {
				unread = append(unread, collection)
			}
		}
		return nil
	})
	return unread, err
}

// changeOf translates an event; false if it is about no chat.
func changeOf(event any) (change, bool) {
	switch event := event.(type) {
	case *events.Archive:
		return change{
			appstate.IndexArchive, appstate.WAPatchRegularLow, event.JID, event.Timestamp, event.FromFullSync,
			gateway.ChatUpdate{ChatChange: gateway.ChatChange{Archived: new(event.Action.GetArchived())}},
		}, true
	case *events.Pin:
		return change{
			appstate.IndexPin, appstate.WAPatchRegularLow, event.JID, event.Timestamp, event.FromFullSync,
			gateway.ChatUpdate{ChatChange: gateway.ChatChange{Pinned: new(event.Action.GetPinned())}},
		}, true
	case *events.Mute:
		return change{
			appstate.IndexMute, appstate.WAPatchRegularHigh, event.JID, event.Timestamp, event.FromFullSync,
			gateway.ChatUpdate{ChatChange: gateway.ChatChange{MutedUntil: new(mutedUntil(event.Action))}},
		}, true
	case *events.MarkChatAsRead:
		return change{
			appstate.IndexMarkChatAsRead, appstate.WAPatchRegularLow, event.JID, event.Timestamp, event.FromFullSync,
			gateway.ChatUpdate{ChatChange: gateway.ChatChange{Read: new(event.Action.GetRead())}, Through: through(event.Action.GetMessageRange(), event.Timestamp)},
		}, true
	case *events.DeleteChat:
		// What was deleted before the link never came here, or was deleted already.
		return change{
			appstate.IndexDeleteChat, appstate.WAPatchRegularHigh, event.JID, event.Timestamp, false,
			gateway.ChatUpdate{Deleted: true, Through: through(event.Action.GetMessageRange(), event.Timestamp)},
		}, !event.FromFullSync
	default:
		return change{}, false
	}
}

func mutedUntil(action *waSyncAction.MuteAction) time.Time {
	switch end := action.GetMuteEndTimestamp(); {
	case !action.GetMuted():
		return time.Time{}
	case end <= 0 || end > gateway.MutedForever().UnixMilli():
		return gateway.MutedForever()
	default:
		return time.UnixMilli(end).UTC()
	}
}

// through is until when the messages were sent that a change is about. The platform counts in
// seconds; a range without a time ends with the change.
func through(of *waSyncAction.SyncActionMessageRange, at time.Time) time.Time {
	end := at.Unix()
	if last := of.GetLastMessageTimestamp(); last > 0 && last < end {
		end = last
	}
	return time.Unix(end, 0).UTC().Add(time.Second - time.Millisecond)
}
