// The table of instances.

package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/sqlerror"
	"github.com/recado-project/recado/internal/store/table"
	"github.com/recado-project/recado/internal/store/vault"
)

const (
	instanceColumns = "id, account_id, created_at, " + changingColumns

	// changingColumns are the columns of what may change; changingValues has their order.
	changingColumns = "name, status, reason, device, profile_jid, profile_lid, profile_name, profile_picture_url, " +
		"proxy, device_name, device_kind, pace_gap, pace_jitter, pace_per_minute, new_chats_per_hour, new_chats_per_day, " +
		"typing, number_checks_per_hour, number_checks_per_day, restricted_since, restricted_until, restricted_reported, updated_at, proxy_seal, calls_reject, calls_text"

	changingParameters = "$4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29"
)

func instanceNotFound() error {
	return gateway.Errorf(gateway.NotFound, gateway.CodeInstanceNotFound, "there is no such instance")
}

// CreateInstance adds an instance, under the tenure of the context; without one, any node
// may take it over. If its id is taken, it returns a gateway.Conflict.
func (s *Store) CreateInstance(ctx context.Context, instance gateway.Instance) error {
	defer s.changeInstance(ctx, instance.ID)()
	err := s.db.Write(ctx, func(ctx context.Context, q table.Querier) error {
		_, err := q.ExecContext(ctx, "INSERT INTO instances ("+instanceColumns+") VALUES ($1, $2, $3, "+changingParameters+")",
			append([]any{instance.ID, instance.AccountID, table.Millis(instance.CreatedAt)}, s.changingValues(instance)...)...)
		if err == nil && s.db.addTenure != "" {
			tenure := gateway.TenureOf(ctx)
			_, err = q.ExecContext(ctx, s.db.addTenure, instance.ID, tenure.Node, tenure.Epoch)
		}
		return err
	})
	if sqlerror.IsTaken(err) {
		return gateway.Errorf(gateway.Conflict, codeExists, "there is already an instance with this id")
	}
	if s.db.fenced && sqlerror.IsOrphan(err) { // the node has been removed from the list
		return gateway.ErrTenureOver
	}
	if err != nil {
		return fmt.Errorf("store: create instance: %w", err)
	}
	return nil
}

// GetInstance returns the instance, or a gateway.NotFound.
func (s *Store) GetInstance(ctx context.Context, id string) (gateway.Instance, error) {
	read := func() (gateway.Instance, bool, error) {
		return table.Find(ctx, s.db.Reader(), s.scanInstance(ctx), "SELECT "+instanceColumns+" FROM instances WHERE id = $1", id)
	}
	var instance gateway.Instance
	var found bool
	var err error
	if tenure := gateway.TenureOf(ctx); s.db.fenced && tenure.InstanceID != id {
		instance, found, err = read() // another node may change it
	} else {
		instance, found, err = s.caches.instances.Find(keptInstance{id, tenure.Epoch}, read)
	}
	if err != nil {
		return gateway.Instance{}, fmt.Errorf("store: get instance: %w", err)
	}
	if !found {
		return gateway.Instance{}, instanceNotFound()
	}
	return instance, nil
}

// changeInstance is called before an instance changes, and done afterwards.
func (s *Store) changeInstance(ctx context.Context, id string) (done func()) {
	one := s.caches.instances.Change(keptInstance{id, gateway.TenureOf(ctx).Epoch})
	if s.caches.instanceLists == nil {
		return one
	}
	lists := s.caches.instanceLists.Change()
	return func() {
		one()
		lists()
	}
}

// instanceList is what a page of instances is asked for with.
type instanceList struct {
	accountID, ids string
	request        gateway.PageRequest
}

// ListInstances returns a page of the account's instances, oldest first: of
// those with the ids, or of all where there are no ids.
func (s *Store) ListInstances(
	ctx context.Context, accountID string, ids []string, request gateway.PageRequest,
) (gateway.Page[gateway.Instance], error) {
	set, err := table.Texts(ids)
	if err != nil {
		return gateway.Page[gateway.Instance]{}, fmt.Errorf("store: list instances: %w", err)
	}
	from, args := "FROM instances WHERE account_id = $1", []any{accountID}
	if len(ids) > 0 {
		from += " AND id IN " + s.db.In(2)
		args = append(args, set)
	}
	read := func() (gateway.Page[gateway.Instance], bool, error) {
		page, err := table.List(ctx, s.db.Scanner(), s.scanInstance(ctx), request, instanceColumns, from, args...)
		return page, true, err
	}
	var page gateway.Page[gateway.Instance]
	if s.caches.instanceLists == nil {
		page, _, err = read()
	} else {
		page, _, err = s.caches.instanceLists.Find(instanceList{accountID, set, request}, read)
	}
	if err != nil {
		return page, fmt.Errorf("store: list instances: %w", err)
	}
	page.Items = slices.Clone(page.Items) // the caller may change its own
	return page, nil
}

// AllInstances returns the instances of every account, oldest first.
func (s *Store) AllInstances(ctx context.Context) ([]gateway.Instance, error) {
	instances, err := table.Collect(ctx, s.db.Scanner(), s.scanInstance(ctx),
		"SELECT "+instanceColumns+" FROM instances ORDER BY created_at, id")
	if err != nil {
		return nil, fmt.Errorf("store: all instances: %w", err)
	}
	return instances, nil
}

// InstancesByID returns those of the instances that exist, in any order.
func (s *Store) InstancesByID(ctx context.Context, ids []string) ([]gateway.Instance, error) {
	set, err := table.Texts(ids)
	if err != nil {
		return nil, fmt.Errorf("store: instances: %w", err)
	}
	instances, err := table.Collect(ctx, s.db.Scanner(), s.scanInstance(ctx), "SELECT "+instanceColumns+" FROM instances WHERE id IN "+s.db.In(1), set)
	if err != nil {
		return nil, fmt.Errorf("store: instances: %w", err)
	}
	return instances, nil
}

// UpdateInstance reads the instance, applies change to it, writes it back and
// appends the events that change returns, in one transaction that excludes every
// other update of the instance. It returns what was written, or a
// gateway.NotFound. An error of change is returned as it is and nothing is
// written. change may run again; its id, account and creation time can't be
// changed.
func (s *Store) UpdateInstance(
	ctx context.Context, id string, change func(*gateway.Instance) ([]eventlog.Event, error),
) (gateway.Instance, error) {
	defer s.changeInstance(ctx, id)()
	var instance gateway.Instance
	var refused error
	err := s.db.record(ctx, id, func(ctx context.Context, r *recorder) error {
		var found bool
		var err error
		instance, found, err = table.Find(ctx, r, s.scanInstance(ctx),
			"SELECT "+instanceColumns+" FROM instances WHERE id = $1"+s.db.ForUpdate(), id)
		if err != nil {
			return err
		}
		// A refusal must not be an error of the transaction: that would make the
		// writes that share its commit run again.
		if !found {
			refused = instanceNotFound()
			return nil
		}
		var events []eventlog.Event
		if events, refused = change(&instance); refused == nil {
			if err = s.writeInstance(ctx, r, instance); err == nil {
				err = r.Append(ctx, events...)
			}
		}
		return err
	})
	if err != nil {
		return gateway.Instance{}, fmt.Errorf("store: update instance: %w", err)
	}
	if refused != nil {
		return gateway.Instance{}, refused
	}
	return instance, nil
}

// writeInstance writes the fields of an instance that may change.
func (s *Store) writeInstance(ctx context.Context, q table.Querier, instance gateway.Instance) error {
	values := append([]any{instance.ID, instance.AccountID, table.Millis(instance.CreatedAt)}, s.changingValues(instance)...)
	_, err := q.ExecContext(ctx, "UPDATE instances SET ("+changingColumns+") = ("+changingParameters+
		"), status_epoch = CASE WHEN status = $5 THEN status_epoch ELSE $30 END WHERE id = $1 AND account_id = $2 AND created_at = $3",
		append(values, gateway.TenureOf(ctx).Epoch)...)
	return err
}

func (s *Store) changingValues(i gateway.Instance) []any {
	proxy, seal := s.vault.SealText(vault.Proxy(i.ID), string(i.Proxy))
	return []any{
		i.Name, string(i.Status), string(i.Reason), i.Device,
		string(i.Profile.JID), string(i.Profile.LID), i.Profile.Name, i.Profile.PictureURL,
		proxy, i.Label.Name, string(i.Label.Kind),
		i.Care.Pace.Gap.Milliseconds(), i.Care.Pace.Jitter.Milliseconds(), i.Care.Pace.PerMinute,
		i.Care.Pace.NewChats.PerHour, i.Care.Pace.NewChats.PerDay,
		i.Care.Typing, i.Care.NumberChecks.PerHour, i.Care.NumberChecks.PerDay,
		table.Millis(i.Restricted.Since), table.Millis(i.Restricted.Until), table.Millis(i.Restricted.Reported), table.Millis(i.UpdatedAt), seal,
		i.Care.Calls.Reject, i.Care.Calls.Text,
	}
}

// DeleteInstance removes the instance with its messages and events. It returns
// a gateway.NotFound if there is none. Idempotency records stay for their day, because
// they contain nothing of a message.
//
// Messages and events are removed first, in several transactions, so that other writes
// don't wait long. A crash in between leaves an instance with fewer of them, which can
// be deleted again.
func (s *Store) DeleteInstance(ctx context.Context, id string) error {
	defer s.changeInstance(ctx, id)()
	if _, err := inSlices(func() (int64, error) { return s.removeMessages(ctx, id, oldestMessages, sliceRows) }); err != nil {
		return fmt.Errorf("store: delete instance: %w", err)
	}
	for _, query := range []string{
		"DELETE FROM sent_changes WHERE (instance_id, platform_id) IN (SELECT instance_id, platform_id FROM sent_changes WHERE instance_id = $1 LIMIT $2 + 0)",
		"DELETE FROM events WHERE (instance_id, sequence) IN (SELECT instance_id, sequence FROM events WHERE instance_id = $1 ORDER BY sequence LIMIT $2 + 0)",
	} {
		if _, err := inSlices(func() (int64, error) { return s.db.ExecOf(ctx, id, query, id, sliceRows) }); err != nil {
			return fmt.Errorf("store: delete instance: %w", err)
		}
	}
	var removed int64
	err := s.db.record(ctx, id, func(ctx context.Context, r *recorder) error {
		r.recent.TouchedAll()
		if _, err := r.ExecContext(ctx, "DELETE FROM events WHERE instance_id = $1", id); err != nil {
			return err
		}
		result, err := r.ExecContext(ctx, "DELETE FROM instances WHERE id = $1", id)
		if err != nil {
			return err
		}
		removed, err = result.RowsAffected()
		return err
	})
	if err != nil {
		return fmt.Errorf("store: delete instance: %w", err)
	}
	if removed == 0 {
		return instanceNotFound()
	}
	return nil
}

func (s *Store) scanInstance(ctx context.Context) func(row table.Scanner) (gateway.Instance, error) {
	return func(row table.Scanner) (gateway.Instance, error) {
		var i gateway.Instance
		var proxy string
		var createdAt, gap, jitter, since, until, reported, updatedAt, seal int64
		err := row.Scan(&i.ID, &i.AccountID, &createdAt, &i.Name, &i.Status, &i.Reason, &i.Device,
			&i.Profile.JID, &i.Profile.LID, &i.Profile.Name, &i.Profile.PictureURL,
			&proxy, &i.Label.Name, &i.Label.Kind, &gap, &jitter, &i.Care.Pace.PerMinute,
			&i.Care.Pace.NewChats.PerHour, &i.Care.Pace.NewChats.PerDay,
			&i.Care.Typing, &i.Care.NumberChecks.PerHour, &i.Care.NumberChecks.PerDay,
			&since, &until, &reported, &updatedAt, &seal, &i.Care.Calls.Reject, &i.Care.Calls.Text)
		if err == nil && seal != 0 {
			proxy, err = s.vault.OpenText(ctx, vault.Proxy(i.ID), proxy, seal)
		}
		i.Proxy = gateway.Proxy(proxy)
		i.Care.Pace.Gap, i.Care.Pace.Jitter = time.Duration(gap)*time.Millisecond, time.Duration(jitter)*time.Millisecond
		i.Restricted = gateway.Restricted{Since: table.Time(since), Until: table.Time(until), Reported: table.Time(reported)}
		i.CreatedAt, i.UpdatedAt = table.Time(createdAt), table.Time(updatedAt)
		return i, err
	}
}
