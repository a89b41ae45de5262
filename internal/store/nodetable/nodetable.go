// Package nodetable has the tables of nodes, which are the processes that share a
// PostgreSQL database, and of their tenures: which node works for which instance. All times are by the clock
// of the database server.
package nodetable

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/store/table"
)

const (
	// isDead is the condition that the instances of a node may be taken over: after its lease
	// it had some time more to notice.
	isDead = "lease_until + $1 < now_ms()"

	isFree = "(node IS NULL OR node = ANY(ARRAY(SELECT id FROM nodes WHERE " + isDead + ")))"

	nodeColumns = `n.id, n.name, n.address, n.version, n.started_at, n.lease_until - now_ms(), n.draining, n.secrets, n.files,
		(SELECT count(*) FROM tenures t WHERE t.node = n.id)`

	// takeTenures takes instances that nobody works for, or whose node is dead. Rows that
	// somebody has locked are left for the next time: nobody waits for anybody. A node whose
	// own lease is over takes nothing.
	takeTenures = `UPDATE tenures SET node = $2, epoch = epoch + 1 WHERE instance_id IN (
			SELECT instance_id FROM tenures
			WHERE ` + isFree + `
				AND EXISTS (SELECT 1 FROM nodes WHERE id = $2 AND lease_until > now_ms() AND NOT draining)
			LIMIT $3 FOR UPDATE SKIP LOCKED)
		RETURNING instance_id, node, epoch`

	findOwner = `SELECT t.epoch, COALESCE(n.id, ''), COALESCE(n.address, ''), COALESCE(n.lease_until - now_ms(), 0)
		FROM tenures t LEFT JOIN nodes n ON n.id = t.node WHERE t.instance_id = $1`

	// A status that a node has written counts while that node has its tenure and its lease.
	statusHolds = `SELECT i.id FROM instances i JOIN tenures t ON t.instance_id = i.id JOIN nodes n ON n.id = t.node
		WHERE i.id = ANY($1) AND t.epoch = i.status_epoch AND n.lease_until > now_ms()`
)

// Tables are the tables in one database. They are safe for concurrent use.
type Tables struct{ db table.Database }

// New makes the tables' access to a database that has them.
func New(db table.Database) *Tables { return &Tables{db: db} }

// AddNode adds this process to the nodes, with a lease. Its error is a *DisagreementError if a live node has
// another value of a setting that must be the same for all.
func (t *Tables) AddNode(ctx context.Context, node gateway.Node) (err error) {
	defer table.Wrap(&err, "add node")
	return t.db.Write(ctx, func(ctx context.Context, q table.Querier) error {
		// Two that come at the same time must not both find that nobody disagrees.
		if _, err := q.ExecContext(ctx, "SELECT pg_advisory_xact_lock($1)", joinLock); err != nil {
			return err
		}
		others, err := table.Collect(ctx, q, scanNode, "SELECT "+nodeColumns+" FROM nodes n WHERE lease_until > now_ms() AND address <> '' ORDER BY started_at, id")
		if err != nil {
			return err
		}
		for _, other := range others {
			if setting := node.Disagrees(other); setting != "" && node.Address != "" {
				return &DisagreementError{Setting: setting, Other: other}
			}
		}
		_, err = q.ExecContext(ctx, `INSERT INTO nodes (id, name, address, version, started_at, lease_until, draining, secrets, files)
			VALUES ($1, $2, $3, $4, now_ms(), now_ms() + $5, FALSE, $6, $7)`,
			node.ID, node.Name, node.Address, node.Version, node.Lease.Milliseconds(), strings.Join(node.Secrets, " "), node.Files)
		return err
	})
}

// joinLock is the number of the lock that a node has while it joins the others: the one after those of
// migrations and of the claim.
const joinLock = 7236332703

// DisagreementError is the error for a node that this one must not work with.
type DisagreementError struct {
	Setting string // as it is named on the command line
	Other   gateway.Node
}

// Error names the other node and the setting, and no value of it.
func (e *DisagreementError) Error() string {
	question := "which of the two is right? The nodes recognise each other by it; docs/nodes.md says how it is changed"
	if e.Setting == gateway.SettingMediaURL {
		question = "which of the two is right, and is it mounted on both?"
	}
	return fmt.Sprintf("the node on %s (%s) has another %s, which must be the same for all nodes: %s", e.Other.Name, e.Other.Address, e.Setting, question)
}

// RenewNode makes the lease of a node last for a time from now on. It reports whether the
// node is known, and whether somebody wants it to be drained. One that is not known has lost
// everything.
func (t *Tables) RenewNode(ctx context.Context, id string, lease time.Duration) (known, draining bool, err error) {
	draining, known, err = table.Find(ctx, t.db.Reader(), table.Value[bool], "UPDATE nodes SET lease_until = now_ms() + $2 WHERE id = $1 RETURNING draining", id, lease.Milliseconds())
	table.Wrap(&err, "renew lease")
	return known, draining, err
}

// RemoveNode removes a node, whose instances anybody may take from then on.
func (t *Tables) RemoveNode(ctx context.Context, id string) error {
	return t.removeNodes(ctx, "id = $1", id)
}

// RemoveOtherNodes removes all nodes but one, dead or not. It is for a process that knows that
// it has the database to itself.
func (t *Tables) RemoveOtherNodes(ctx context.Context, id string) error {
	return t.removeNodes(ctx, "id <> $1", id)
}

func (t *Tables) removeNodes(ctx context.Context, which string, arg any) (err error) {
	defer table.Wrap(&err, "remove node")
	return t.db.Write(ctx, func(ctx context.Context, q table.Querier) error {
		if _, err := q.ExecContext(ctx, "UPDATE tenures SET node = NULL WHERE node IN (SELECT id FROM nodes WHERE "+which+")", arg); err != nil {
			return err
		}
		_, err := q.ExecContext(ctx, "DELETE FROM nodes WHERE "+which, arg)
		return err
	})
}

// RemoveDeadNodes removes the nodes whose lease has been over for longer than grace, and
// whose instances have all been taken over.
func (t *Tables) RemoveDeadNodes(ctx context.Context, grace time.Duration) (err error) {
	defer table.Wrap(&err, "remove dead nodes")
	_, err = t.db.Exec(ctx, "DELETE FROM nodes WHERE "+isDead+
		" AND NOT EXISTS (SELECT 1 FROM tenures WHERE tenures.node = nodes.id)", grace.Milliseconds())
	return err
}

// DrainNode tells a node to hand its instances over and to take none, or to take instances again. It reports
// whether there is such a node.
func (t *Tables) DrainNode(ctx context.Context, id string, drain bool) (found bool, err error) {
	changed, err := t.db.Exec(ctx, "UPDATE nodes SET draining = $2 WHERE id = $1", id, drain)
	table.Wrap(&err, "drain node")
	return changed > 0, err
}

// ListNodes returns the nodes, the one that started first at the beginning. Those that died
// are among them until their instances have been taken over.
func (t *Tables) ListNodes(ctx context.Context) (_ []gateway.Node, err error) {
	defer table.Wrap(&err, "list nodes")
	return table.Collect(ctx, t.db.Scanner(), scanNode, "SELECT "+nodeColumns+" FROM nodes n ORDER BY started_at, id")
}

// CountInstances returns how many instances there are.
func (t *Tables) CountInstances(ctx context.Context) (all int, err error) {
	defer table.Wrap(&err, "count instances")
	err = t.db.Scanner().QueryRowContext(ctx, "SELECT count(*) FROM tenures").Scan(&all)
	return all, err
}

// AnyFree reports whether there are instances that nobody works for, or whose node's lease
// has been over for longer than grace.
func (t *Tables) AnyFree(ctx context.Context, grace time.Duration) (free bool, err error) {
	defer table.Wrap(&err, "look for instances without a node")
	err = t.db.Scanner().QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM tenures WHERE "+isFree+")", grace.Milliseconds()).Scan(&free)
	return free, err
}

// TenuresOf returns the tenures of a node.
func (t *Tables) TenuresOf(ctx context.Context, node string) (_ []gateway.Tenure, err error) {
	defer table.Wrap(&err, "tenures of a node")
	return table.Collect(ctx, t.db.Scanner(), scanTenure, "SELECT instance_id, node, epoch FROM tenures WHERE node = $1", node)
}

// TakeTenures makes a node take instances over that nobody works for, or whose node's lease
// has been over for longer than grace: limit at most.
func (t *Tables) TakeTenures(ctx context.Context, node string, grace time.Duration, limit int) ([]gateway.Tenure, error) {
	var taken []gateway.Tenure
	err := t.db.Write(ctx, func(ctx context.Context, q table.Querier) (err error) {
		taken, err = table.Collect(ctx, q, scanTenure, takeTenures, grace.Milliseconds(), node, limit)
		return err
	})
	table.Wrap(&err, "take tenures")
	return taken, err
}

// EndTenures ends tenures: any node may take the instances over. Those that are over are
// skipped.
func (t *Tables) EndTenures(ctx context.Context, tenures []gateway.Tenure) error {
	if len(tenures) == 0 {
		return nil
	}
	nodes, instances, epochs := make([]string, len(tenures)), make([]string, len(tenures)), make([]int64, len(tenures))
	for n, tenure := range tenures {
		nodes[n], instances[n], epochs[n] = tenure.Node, tenure.InstanceID, tenure.Epoch
	}
	_, err := t.db.Exec(ctx, `UPDATE tenures SET node = NULL FROM unnest($1::text[], $2::text[], $3::bigint[]) AS ended (node, instance_id, epoch)
		WHERE tenures.instance_id = ended.instance_id AND tenures.node = ended.node AND tenures.epoch = ended.epoch`, nodes, instances, epochs)
	table.Wrap(&err, "end tenures")
	return err
}

// FindOwner finds the node that works for an instance, and reports whether the instance
// exists. The tenure's node is empty if nobody does.
func (t *Tables) FindOwner(ctx context.Context, instanceID string) (_ gateway.Owner, found bool, err error) {
	defer table.Wrap(&err, "find owner")
	return table.Find(ctx, t.db.Reader(), func(row table.Scanner) (gateway.Owner, error) {
		owner := gateway.Owner{Tenure: gateway.Tenure{InstanceID: instanceID}}
		var lease int64
		err := row.Scan(&owner.Tenure.Epoch, &owner.Tenure.Node, &owner.Address, &lease)
		owner.Lease = time.Duration(lease) * time.Millisecond
		return owner, err
	}, findOwner, instanceID)
}

// CurrentStatuses returns those of the instances whose stored status was written by the node
// that works for them now, and is alive.
func (t *Tables) CurrentStatuses(ctx context.Context, instanceIDs []string) (map[string]bool, error) {
	ids, err := table.Collect(ctx, t.db.Reader(), table.Value[string], statusHolds, instanceIDs)
	if err != nil {
		return nil, fmt.Errorf("store: compare tenures: %w", err)
	}
	holds := make(map[string]bool, len(ids))
	for _, id := range ids {
		holds[id] = true
	}
	return holds, nil
}

func scanNode(row table.Scanner) (gateway.Node, error) {
	var node gateway.Node
	var started, lease int64
	var secrets string
	err := row.Scan(&node.ID, &node.Name, &node.Address, &node.Version, &started, &lease, &node.Draining, &secrets, &node.Files, &node.Instances)
	node.Secrets = strings.Fields(secrets)
	node.Started, node.Lease = table.Time(started), time.Duration(lease)*time.Millisecond
	return node, err
}

//nolint:gochecknoglobals // a function
var scanTenure = table.Into(func(t *gateway.Tenure) []any { return []any{&t.InstanceID, &t.Node, &t.Epoch} })
