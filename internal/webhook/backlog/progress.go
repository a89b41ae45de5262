// What has to be saved.

package backlog

import "github.com/recado-project/recado/internal/gateway"

// markChanged notes that the block of a chat has to be saved.
func (b *Backlog) markChanged(q *chatQueue) {
	if b.changedChats == nil {
		b.changedChats = map[gateway.JID]struct{}{}
	}
	b.changedChats[q.chat] = struct{}{}
}

// Unsaved reports whether there is anything to save.
func (b *Backlog) Unsaved() bool {
	return b.changed || len(b.changedChats) > 0 || len(b.deadLetters) > 0 || b.revivedAfter != nil
}

// Skipped reports whether the cursor has passed events that are not taken, which may be saved
// later: if that is lost, they are passed again.
func (b *Backlog) Skipped() bool { return b.skipped }

// Take returns what has to be saved and considers it saved; PutBack undoes that.
func (b *Backlog) Take() Progress {
	progress := Progress{State: b.State(), DeadLetters: b.deadLetters, RevivedAfter: b.revivedAfter}
	for chat := range b.changedChats {
		if q := b.queues[chat]; q != nil && q.block != nil {
			progress.Blocked = append(progress.Blocked, *q.block)
		} else {
			progress.Unblocked = append(progress.Unblocked, chat)
		}
	}
	b.skipped = false
	b.changed, b.changedChats, b.deadLetters, b.revivedAfter = false, nil, nil, nil
	return progress
}

// PutBack undoes Take after its progress could not be saved.
func (b *Backlog) PutBack(progress Progress) {
	b.changed = true
	for _, block := range progress.Blocked {
		b.markChanged(&chatQueue{chat: block.Chat})
	}
	for _, chat := range progress.Unblocked {
		b.markChanged(&chatQueue{chat: chat})
	}
	b.deadLetters = append(progress.DeadLetters, b.deadLetters...)
	if b.revivedAfter == nil {
		b.revivedAfter = progress.RevivedAfter
	}
}

// State returns how far the delivery has come.
func (b *Backlog) State() State {
	return State{
		Status: b.endpoint.status, Reason: b.endpoint.reason, Cursor: b.cursor, Failures: b.endpoint.failures,
		FailingSince: b.endpoint.failingSince, NextTry: b.endpoint.nextTry,
	}
}
