// The table of instances.

package store

import (
	"context"
	"slices"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/sqlerror"
	"github.com/recado-project/recado/internal/store/table"
	"github.com/recado-project/recado/internal/store/vault"
)

// instanceRow is an instance, as its row has it.
type instanceRow struct {
	instance  gateway.Instance
	proxy     string // sealed
	proxySeal int64
}

//nolint:gochecknoglobals // a table, and a statement that is made of it
var (
	instanceColumns = table.Of(
		table.Text("id", func(r *instanceRow) *string { return &r.instance.ID }),
		table.Text("account_id", func(r *instanceRow) *string { return &r.instance.AccountID }),
		table.Moment("created_at", func(r *instanceRow) *time.Time { return &r.instance.CreatedAt }),
		table.Text("name", func(r *instanceRow) *string { return &r.instance.Name }),
		table.Text("status", func(r *instanceRow) *gateway.Status { return &r.instance.Status }),
		table.Text("reason", func(r *instanceRow) *gateway.Reason { return &r.instance.Reason }),
		table.Text("device", func(r *instanceRow) *string { return &r.instance.Device }),
		table.Text("profile_jid", func(r *instanceRow) *gateway.JID { return &r.instance.Profile.JID }),
		table.Text("profile_lid", func(r *instanceRow) *gateway.JID { return &r.instance.Profile.LID }),
		table.Text("profile_name", func(r *instanceRow) *string { return &r.instance.Profile.Name }),
		table.Text("profile_picture_url", func(r *instanceRow) *string { return &r.instance.Profile.PictureURL }),
		table.Text("proxy", func(r *instanceRow) *string { return &r.proxy }),
		table.Text("device_name", func(r *instanceRow) *string { return &r.instance.Label.Name }),
		table.Text("device_kind", func(r *instanceRow) *gateway.DeviceKind { return &r.instance.Label.Kind }),
		table.Span("pace_gap", time.Millisecond, func(r *instanceRow) *time.Duration { return &r.instance.Sending.Pace.Gap }),
		table.Span("pace_jitter", time.Millisecond, func(r *instanceRow) *time.Duration { return &r.instance.Sending.Pace.Jitter }),
		table.Number("pace_per_minute", func(r *instanceRow) *int { return &r.instance.Sending.Pace.PerMinute }),
		table.Number("new_chats_per_hour", func(r *instanceRow) *int { return &r.instance.Sending.Pace.NewChats.PerHour }),
		table.Number("new_chats_per_day", func(r *instanceRow) *int { return &r.instance.Sending.Pace.NewChats.PerDay }),
		table.Flag("typing", func(r *instanceRow) *bool { return &r.instance.Sending.Typing }),
		table.Number("number_checks_per_hour", func(r *instanceRow) *int { return &r.instance.Sending.NumberChecks.PerHour }),
		table.Number("number_checks_per_day", func(r *instanceRow) *int { return &r.instance.Sending.NumberChecks.PerDay }),
		table.Moment("restricted_since", func(r *instanceRow) *time.Time { return &r.instance.Restricted.Since }),
		table.Moment("restricted_until", func(r *instanceRow) *time.Time { return &r.instance.Restricted.Until }),
		table.Moment("restricted_reported", func(r *instanceRow) *time.Time { return &r.instance.Restricted.Reported }),
		table.Moment("updated_at", func(r *instanceRow) *time.Time { return &r.instance.UpdatedAt }),
		table.Number("proxy_seal", func(r *instanceRow) *int64 { return &r.proxySeal }),
		table.Flag("calls_reject", func(r *instanceRow) *bool { return &r.instance.Sending.Calls.Reject }),
		table.Text("calls_text", func(r *instanceRow) *string { return &r.instance.Sending.Calls.Text }),
		table.Flag("buttons_refuse", func(r *instanceRow) *bool { return &r.instance.Sending.RefuseButtons }),
		table.Object("switches", func(r *instanceRow) *gateway.Switches { return &r.instance.Switches }),
		table.Text("external_name", func(r *instanceRow) *string { return &r.instance.ExternalName }),
	)

	instanceOutline = instanceColumns.Only("id", "account_id", "created_at", "name", "status", "reason", "profile_jid", "profile_name", "updated_at")

	changing = instanceColumns.Without("id", "account_id", "created_at")

	updateInstance = "UPDATE instances SET " + changing.Assignments() + ", status_epoch = CASE WHEN status = " + changing.Parameter("status") +
		" THEN status_epoch ELSE " + changing.Next(4) + " END WHERE id = " + changing.Next(1) +
		" AND account_id = " + changing.Next(2) + " AND created_at = " + changing.Next(3)
)

// ofInstance is the error of a write for an instance: a gateway.NotFound if the instance is gone.
func ofInstance(err error, tried string) error {
	if sqlerror.IsOrphan(err) {
		return instanceNotFound()
	}
	table.Wrap(&err, tried)
	return err
}

// externalNameTaken is the error of a write that would give an account two instances with one external name.
func externalNameTaken() error {
	return gateway.Errorf(gateway.Conflict, gateway.CodeExternalNameTaken, "another instance of the account has this external name")
}

func instanceNotFound() error {
	return gateway.Errorf(gateway.NotFound, gateway.CodeInstanceNotFound, "there is no such instance")
}

// CreateInstance adds an instance, under the tenure of the context; without one, any node
// may take it over. If its id or its external name is taken, it returns a gateway.Conflict.
func (s *Store) CreateInstance(ctx context.Context, instance gateway.Instance) error {
	defer s.changeInstance(ctx, instance.ID)()
	err := s.db.Write(ctx, func(ctx context.Context, q table.Querier) error {
		_, err := q.ExecContext(ctx, instanceColumns.Insert("instances"), instanceColumns.Values(s.instanceRow(instance))...)
		if err == nil && s.db.addTenure != "" {
			tenure := gateway.TenureOf(ctx)
			_, err = q.ExecContext(ctx, s.db.addTenure, instance.ID, tenure.Node, tenure.Epoch)
		}
		return err
	})
	if s.db.fenced && sqlerror.IsOrphan(err) { // the node has been removed from the list
		return gateway.ErrTenureOver
	}
	if sqlerror.IsTaken(err) && instance.ExternalName != "" { // an id is new
		return externalNameTaken()
	}
	return table.Added(err, "there is already an instance with this id", "create instance")
}

// GetInstance returns the instance, or a gateway.NotFound.
func (s *Store) GetInstance(ctx context.Context, id string) (instance gateway.Instance, err error) {
	read := func() (gateway.Instance, bool, error) {
		return table.Find(ctx, s.db.Reader(), s.scanInstance(ctx), "SELECT "+instanceColumns.Names+" FROM instances WHERE id = $1", id)
	}
	var found bool
	if tenure := gateway.TenureOf(ctx); s.db.fenced && tenure.InstanceID != id {
		instance, found, err = read() // another node may change it
	} else {
		instance, found, err = s.caches.instances.Find(instanceKey{id, tenure.Epoch}, read)
	}
	if err == nil && !found {
		return instance, instanceNotFound()
	}
	table.Wrap(&err, "get instance")
	return instance, err
}

// FindInstance returns the account's instance with an external name, and whether there is one.
func (s *Store) FindInstance(ctx context.Context, accountID, externalName string) (_ gateway.Instance, found bool, err error) {
	defer table.Wrap(&err, "find instance")
	return table.Find(ctx, s.db.Reader(), s.scanInstance(ctx),
		"SELECT "+instanceColumns.Names+" FROM instances WHERE account_id = $1 AND external_name = $2 AND external_name <> ''", accountID, externalName)
}

// changeInstance is called before an instance changes, and done afterwards.
func (s *Store) changeInstance(ctx context.Context, id string) (done func()) {
	one := s.caches.instances.Change(instanceKey{id, gateway.TenureOf(ctx).Epoch})
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
) (page gateway.Page[gateway.Instance], err error) {
	defer table.Wrap(&err, "list instances")
	set := table.Texts(ids)
	from, args := "FROM instances WHERE account_id = $1", []any{accountID}
	if len(ids) > 0 {
		from += " AND id IN " + s.db.In(2)
		args = append(args, set)
	}
	read := func() (gateway.Page[gateway.Instance], bool, error) {
		page, err := table.List(ctx, s.db.Scanner(), s.scanInstance(ctx), request, instanceColumns.Names, from, args...)
		return page, true, err
	}
	if s.caches.instanceLists == nil {
		page, _, err = read()
	} else {
		page, _, err = s.caches.instanceLists.Find(instanceList{accountID, set, request}, read)
	}
	page.Items = slices.Clone(page.Items) // the caller may change its own
	return page, err
}

// InstanceOutlines returns what people look for and sort by in the account's instances, oldest first,
// limit at most: of those with the ids, or of all where there are no ids.
func (s *Store) InstanceOutlines(ctx context.Context, accountID string, ids []string, limit int) (_ []gateway.Instance, err error) {
	defer table.Wrap(&err, "outline instances")
	from, args := " FROM instances WHERE account_id = $1", []any{accountID, limit}
	if len(ids) > 0 {
		from += " AND id IN " + s.db.In(3)
		args = append(args, table.Texts(ids))
	}
	return table.Collect(ctx, s.db.Scanner(), func(row table.Scanner) (gateway.Instance, error) {
		var outlined instanceRow
		err := row.Scan(instanceOutline.Fields(&outlined)...)
		return outlined.instance, err
	}, "SELECT "+instanceOutline.Names+from+" ORDER BY created_at, id LIMIT $2 + 0", args...)
}

// AllInstances returns the instances of every account, oldest first.
func (s *Store) AllInstances(ctx context.Context) (_ []gateway.Instance, err error) {
	defer table.Wrap(&err, "all instances")
	return table.Collect(ctx, s.db.Scanner(), s.scanInstance(ctx),
		"SELECT "+instanceColumns.Names+" FROM instances ORDER BY created_at, id")
}

// InstancesByID returns those of the instances that exist, in any order.
func (s *Store) InstancesByID(ctx context.Context, ids []string) (_ []gateway.Instance, err error) {
	defer table.Wrap(&err, "instances")
	return table.Collect(ctx, s.db.Scanner(), s.scanInstance(ctx), "SELECT "+instanceColumns.Names+" FROM instances WHERE id IN "+s.db.In(1), table.Texts(ids))
}

// UpdateInstance reads the instance, applies change to it, writes it back and
// appends the events that change returns, in one transaction that excludes every
// other update of the instance. It returns what was written, or a
// gateway.NotFound, or a gateway.Conflict if another instance of the account has its external
// name. An error of change is returned as it is and nothing is written. change may run again; its id, account and creation time can't be
// changed.
func (s *Store) UpdateInstance(
	ctx context.Context, id string, change func(*gateway.Instance) ([]eventlog.Event, error),
) (instance gateway.Instance, err error) {
	defer s.changeInstance(ctx, id)()
	refused, err := s.db.recordOr(ctx, id, func(ctx context.Context, r *recorder) (refused, err error) {
		var found bool
		instance, found, err = table.Find(ctx, r, s.scanInstance(ctx),
			"SELECT "+instanceColumns.Names+" FROM instances WHERE id = $1"+s.db.ForUpdate(), id)
		if err != nil {
			return nil, err
		}
		if !found {
			return instanceNotFound(), nil
		}
		events, refused := change(&instance)
		if refused != nil {
			return refused, nil
		}
		if _, err := r.ExecContext(ctx, updateInstance, changing.Values(s.instanceRow(instance),
			instance.ID, instance.AccountID, table.Millis(instance.CreatedAt), gateway.TenureOf(ctx).Epoch)...); err != nil {
			return nil, err
		}
		return nil, r.Append(ctx, events...)
	})
	if sqlerror.IsTaken(err) {
		return gateway.Instance{}, externalNameTaken()
	}
	table.Wrap(&err, "update instance")
	if err != nil {
		return gateway.Instance{}, err
	}
	if refused != nil {
		return gateway.Instance{}, refused
	}
	return instance, nil
}

func (s *Store) instanceRow(instance gateway.Instance) *instanceRow {
	row := &instanceRow{instance: instance}
	row.proxy, row.proxySeal = s.vault.SealText(vault.Proxy(instance.ID), string(instance.Proxy))
	return row
}

// DeleteInstance removes the instance with its messages and events. It returns
// a gateway.NotFound if there is none. Idempotency records stay for their day, because
// they contain nothing of a message.
//
// Messages and events are removed first, in several transactions, so that other writes
// don't wait long. A crash in between leaves an instance with fewer of them, which can
// be deleted again.
func (s *Store) DeleteInstance(ctx context.Context, id string) (err error) {
	removed := int64(0)
	defer s.changeInstance(ctx, id)()
	defer func() {
		table.Wrap(&err, "delete instance")
		if err == nil && removed == 0 {
			err = instanceNotFound()
		}
	}()
	if _, err := inSlices(func() (int64, error) { return s.removeMessages(ctx, id, oldestMessages, sliceRows) }); err != nil {
		return err
	}
	for _, query := range []string{
		"DELETE FROM sent_changes WHERE (instance_id, platform_id) IN (SELECT instance_id, platform_id FROM sent_changes WHERE instance_id = $1 LIMIT $2 + 0)",
		"DELETE FROM events WHERE (instance_id, sequence) IN (SELECT instance_id, sequence FROM events WHERE instance_id = $1 ORDER BY sequence LIMIT $2 + 0)",
	} {
		if _, err := inSlices(func() (int64, error) { return s.db.ExecOf(ctx, id, query, id, sliceRows) }); err != nil {
			return err
		}
	}
	return s.db.record(ctx, id, func(ctx context.Context, r *recorder) error {
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
}

func (s *Store) scanInstance(ctx context.Context) func(from table.Scanner) (gateway.Instance, error) {
	return func(from table.Scanner) (gateway.Instance, error) {
		var row instanceRow
		err := from.Scan(instanceColumns.Fields(&row)...)
		if err == nil && row.proxySeal != 0 {
			row.proxy, err = s.vault.OpenText(ctx, vault.Proxy(row.instance.ID), row.proxy, row.proxySeal)
		}
		row.instance.Proxy = gateway.Proxy(row.proxy)
		return row.instance, err
	}
}
