package webhook

import (
	"github.com/recado-project/recado/internal/gateway"
)

func (b *backlog) touch(l *lane) {
	if b.touched == nil {
		b.touched = map[gateway.JID]struct{}{}
	}
	b.touched[l.chat] = struct{}{}
}

// unsaved reports whether there is anything to save.
func (b *backlog) unsaved() bool {
	return b.changed || len(b.touched) > 0 || len(b.deadLetters) > 0 || b.revivedAfter != nil
}

// take adds what is to be saved, and forgets it.
func (b *backlog) take(progress *Progress) {
	progress.State = b.state()
	for chat := range b.touched {
		if l := b.lanes[chat]; l != nil && l.block != nil {
			progress.Blocked = append(progress.Blocked, *l.block)
		} else {
			progress.Unblocked = append(progress.Unblocked, chat)
		}
	}
	progress.DeadLetters, progress.RevivedAfter = b.deadLetters, b.revivedAfter
	b.changed, b.touched, b.deadLetters, b.revivedAfter = false, nil, nil, nil
}

// putBack undoes take after what it returned could not be saved.
func (b *backlog) putBack(progress Progress) {
	b.changed = true
	for _, block := range progress.Blocked {
		b.touch(&lane{chat: block.Chat})
	}
	for _, chat := range progress.Unblocked {
		b.touch(&lane{chat: chat})
	}
	b.deadLetters = append(progress.DeadLetters, b.deadLetters...)
	if b.revivedAfter == nil {
		b.revivedAfter = progress.RevivedAfter
	}
}

func (b *backlog) state() State {
	return State{
		Status: b.endpoint.status, Reason: b.endpoint.reason, Cursor: b.cursor, Failures: b.endpoint.failures,
		FailingSince: b.endpoint.failingSince, NextTry: b.endpoint.nextTry,
	}
}
