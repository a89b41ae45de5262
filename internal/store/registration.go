// The tables of look-ups of numbers: what the platform has answered, and how often it was
// asked.

package store

import (
	"cmp"
	"context"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/store/table"
)

const registrationColumns = "number, jid, lid, checked_at"

// checkedRegistration is a registration with the time of the platform's answer.
type checkedRegistration struct {
	gateway.Registration

	checkedAt int64
}

// FindRegistrations returns the registrations of the numbers that were stored since that
// time, by number. All of them exist.
func (s *Store) FindRegistrations(
	ctx context.Context, numbers []string, since time.Time,
) (byNumber map[string]gateway.Registration, err error) {
	defer table.Wrap(&err, "find registrations")
	byNumber = make(map[string]gateway.Registration, len(numbers))
	add := func(found checkedRegistration) {
		if found.checkedAt >= table.Millis(since) {
			byNumber[found.Number] = found.Registration
		}
	}
	if len(numbers) == 1 { // a message is sent
		found, ok, err := s.caches.registrations.Find(numbers[0], func() (checkedRegistration, bool, error) {
			return table.Find(ctx, s.db.Reader(), scanRegistration, "SELECT "+registrationColumns+" FROM registrations WHERE number = $1", numbers[0])
		})
		if ok {
			add(found)
		}
		return byNumber, err
	}
	found, err := table.Collect(ctx, s.db.Reader(), scanRegistration,
		"SELECT "+registrationColumns+" FROM registrations WHERE checked_at >= $1 AND number IN "+s.db.In(2),
		table.Millis(since), table.Texts(numbers))
	for _, registration := range found {
		add(registration)
	}
	return byNumber, err
}

// SaveRegistrations stores the registrations of numbers that exist, as the platform has
// answered at that time. A known LID stays if the answer has none.
func (s *Store) SaveRegistrations(ctx context.Context, registrations []gateway.Registration, at time.Time) error {
	numbers := make([]string, len(registrations))
	for i, registration := range registrations {
		numbers[i] = registration.Number
	}
	defer s.caches.registrations.Change(numbers...)()
	err := s.db.Write(ctx, func(ctx context.Context, q table.Querier) error {
		for _, registration := range registrations {
			if !registration.Exists {
				if _, err := q.ExecContext(ctx, "DELETE FROM registrations WHERE number = $1", registration.Number); err != nil {
					return err
				}
				continue
			}
			if _, err := q.ExecContext(ctx, `INSERT INTO registrations (number, jid, lid, checked_at) VALUES ($1, $2, $3, $4)
				ON CONFLICT (number) DO UPDATE SET jid = excluded.jid, checked_at = excluded.checked_at,
				lid = CASE WHEN excluded.lid = '' AND registrations.jid = excluded.jid THEN registrations.lid ELSE excluded.lid END`,
				registration.Number, string(registration.JID), string(registration.LID), table.Millis(at)); err != nil {
				return err
			}
		}
		return nil
	})
	table.Wrap(&err, "save registrations")
	return err
}

func scanRegistration(row table.Scanner) (checkedRegistration, error) {
	found := checkedRegistration{Registration: gateway.Registration{Exists: true}}
	err := row.Scan(&found.Number, &found.JID, &found.LID, &found.checkedAt)
	return found, err
}

// ListNumberChecks returns the number checks of an instance since a time, oldest first.
func (s *Store) ListNumberChecks(ctx context.Context, instanceID string, since time.Time) (_ []gateway.NumberChecks, err error) {
	defer table.Wrap(&err, "list number checks")
	return listNumberChecks(ctx, s.db.Reader(), instanceID, since)
}

// TakeNumberChecks adds to the number checks of an instance, unless permit refuses. permit gets those since
// a time, oldest first; its error is returned as it is. No other checks of the instance are added
// meanwhile. Older ones are removed. The error is a gateway.NotFound if the instance is gone.
func (s *Store) TakeNumberChecks(ctx context.Context, instanceID string, taken gateway.NumberChecks, since time.Time,
	permit func(spent []gateway.NumberChecks) error,
) error {
	refused, err := s.db.recordOr(ctx, instanceID, func(ctx context.Context, r *recorder) (refused, err error) {
		spent, err := listNumberChecks(ctx, r, instanceID, since)
		if err != nil {
			return nil, err
		}
		if refused := permit(spent); refused != nil {
			return refused, nil
		}
		return nil, takeNumberChecks(ctx, r, instanceID, taken, since)
	})
	return cmp.Or(ofInstance(err, "take number checks"), refused)
}

func takeNumberChecks(ctx context.Context, q table.Querier, instanceID string, taken gateway.NumberChecks, since time.Time) error {
	if _, err := q.ExecContext(ctx, "DELETE FROM number_checks WHERE instance_id = $1 AND at <= $2", instanceID, table.Millis(since)); err != nil {
		return err
	}
	_, err := q.ExecContext(ctx, `INSERT INTO number_checks (instance_id, at, numbers) VALUES ($1, $2, $3)
		ON CONFLICT (instance_id, at) DO UPDATE SET numbers = number_checks.numbers + excluded.numbers`,
		instanceID, table.Millis(taken.At), taken.Numbers)
	return err
}

func listNumberChecks(ctx context.Context, q table.Querier, instanceID string, since time.Time) ([]gateway.NumberChecks, error) {
	return table.Collect(ctx, q, table.Into(func(c *gateway.NumberChecks) []any { return []any{table.IntoTime(&c.At), &c.Numbers} }),
		"SELECT at, numbers FROM number_checks WHERE instance_id = $1 AND at > $2 ORDER BY at", instanceID, table.Millis(since))
}
