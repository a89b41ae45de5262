package instance

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
)

// write moves the status according to the state machine and applies change, in one
// transaction.
func (s *supervisor) write(ctx context.Context, cause occurrence, change func(*gateway.Instance)) error {
	_, err := s.update(ctx, update{cause: cause, reason: cause.reason(), change: change})
	return err
}

// update is one change of an instance as it is kept.
type update struct {
	cause  occurrence
	reason gateway.Reason // written if the status changes
	change func(*gateway.Instance)
	// current says, inside the transaction, whether the update still counts;
	// nil means it does.
	current func() bool
}

// update carries out u, and returns the instance as it is kept then. UpdatedAt changes only if something
// else does.
func (s *supervisor) update(ctx context.Context, u update) (gateway.Instance, error) {
	var from gateway.Instance
	after, err := s.service.sessions.config.Store.UpdateInstance(ctx, s.id, func(instance *gateway.Instance) ([]eventlog.Event, error) {
		before := *instance
		from = before
		if u.current != nil && !u.current() {
			return nil, errUnchanged
		}
		instance.Status = u.cause.next(before.Status, before.Linked())
		if instance.Status != before.Status {
			instance.Reason = u.reason
		}
		if u.change != nil {
			u.change(instance)
		}
		if *instance == before {
			return nil, errUnchanged
		}
		instance.UpdatedAt = s.service.sessions.config.Now().UTC()
		if instance.Status == before.Status && instance.Reason == before.Reason {
			return nil, nil
		}
		event, err := eventlog.NewEvent(s.id, "", "", instance.UpdatedAt, eventlog.NewInstanceStatus(*instance, before.Status))
		return []eventlog.Event{event}, err
	})
	if errors.Is(err, errUnchanged) {
		return from, nil
	}
	if err != nil {
		return gateway.Instance{}, fmt.Errorf("instance: write status: %w", err)
	}
	if after.Status != from.Status || after.Reason != from.Reason {
		s.service.config.Logger.InfoContext(ctx, "instance status changed",
			slog.String("instance_id", s.id), slog.String("from", string(from.Status)),
			slog.String("to", string(after.Status)), slog.String("reason", string(after.Reason)))
	}
	return after, nil
}

// forget empties the fields that linking has filled, and what is known of the account.
func forget(instance *gateway.Instance) {
	instance.Device = ""
	instance.Profile = gateway.Profile{}
	instance.Restricted = gateway.Restricted{}
}
