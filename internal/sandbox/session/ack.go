package session

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"github.com/recado-project/recado/internal/sqlite"
)

// ackSweeper deletes stanzas that clients have acknowledged, many rows at a time.
// If a crash leaves a row behind, the stanza is delivered once more, which is
// harmless. It deletes receipts and notifications; messages are deleted together
// with what their receipt causes.
type ackSweeper struct {
	db     *sqlite.DB
	signal chan struct{}

	flushing sync.Mutex // held during a flush, so that a caller waits for the one under way

	mu   sync.Mutex
	done []int64
}

func newAckSweeper(db *sqlite.DB) *ackSweeper {
	return &ackSweeper{db: db, signal: make(chan struct{}, 1)}
}

// add adds an acknowledged row.
func (a *ackSweeper) add(seq int64) {
	a.mu.Lock()
	a.done = append(a.done, seq)
	a.mu.Unlock()
	select {
	case a.signal <- struct{}{}:
	default:
	}
}

// flush deletes the rows that were added before the call.
func (a *ackSweeper) flush(ctx context.Context) error {
	a.flushing.Lock()
	defer a.flushing.Unlock()
	a.mu.Lock()
	done := a.done
	a.done = nil
	a.mu.Unlock()
	if len(done) == 0 {
		return nil
	}
	err := a.db.Write(ctx, func(ctx context.Context, tx *sqlite.Tx) error {
		for _, seq := range done {
			if _, err := tx.ExecContext(ctx, deleteOutbox, seq); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		a.mu.Lock()
		a.done = append(done, a.done...)
		a.mu.Unlock()
		return fmt.Errorf("session: delete acknowledged stanzas: %w", err)
	}
	return nil
}

const deleteOutbox = "DELETE FROM outbox WHERE seq = $1"

// ackWorker flushes whenever rows were added, until ctx ends.
func (s *Service) ackWorker(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.acks.signal:
		}
		if err := s.acks.flush(ctx); err != nil && ctx.Err() == nil {
			s.config.Logger.LogAttrs(ctx, slog.LevelError, "acknowledgements could not be kept", slog.Any("error", err))
		}
	}
}
