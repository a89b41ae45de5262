// Nodes: the processes that share a database, and which of them works for which instance.

package gateway

import (
	"context"
	"slices"
	"time"
)

// Node is a process of the gateway among those that share a database.
type Node struct {
	ID      string // of the process: chosen anew at each start
	Name    string // of its machine, for people
	Address string // where the others reach it; empty for a node that is alone
	Version string
	Started time.Time
	// Lease is how long the others believe that it is alive, from now on by the database's
	// clock; negative if it is over.
	Lease     time.Duration
	Draining  bool // it hands its instances over, and takes no more
	Instances int  // that it works for
	// Secrets are hashes of the cluster's secrets that it knows, that which it signs with first. Files is
	// the name of its place of files. Both are empty where they are not known.
	Secrets []string
	Files   string
}

// What nodes can disagree about: the settings that must be the same for all of them.
const (
	SettingClusterSecret = "--cluster-secret"
	SettingMediaURL      = "--media-url"
)

// Disagrees returns the setting that two nodes have different values of; empty if there is none, or if
// one of them does not say. Two secrets fit if each of the nodes knows that with which the other
// one signs.
func (n Node) Disagrees(other Node) (setting string) {
	switch {
	case len(n.Secrets) > 0 && len(other.Secrets) > 0 &&
		(!slices.Contains(n.Secrets, other.Secrets[0]) || !slices.Contains(other.Secrets, n.Secrets[0])):
		return SettingClusterSecret
	case n.Files != "" && other.Files != "" && n.Files != other.Files:
		return SettingMediaURL
	}
	return ""
}

// Tenure is the right of a node to work for an instance: to hold its session, and to write
// what belongs to it. It lasts until another node has taken the instance over, whose epoch
// is greater. The zero Tenure is that of a process that has the database to itself.
type Tenure struct {
	InstanceID string
	Node       string
	Epoch      int64 // counts the tenures of the instance, from 1
}

// Owner is who works for an instance.
type Owner struct {
	Tenure  Tenure        // whose node is empty if nobody does
	Address string        // of the node; empty for one that is alone
	Lease   time.Duration // how long the node is believed to be alive; 0 or less: it is not
}

// ErrTenureOver is the error of a write under a tenure that another node has ended: nothing
// was written. A client can repeat its request.
var ErrTenureOver error = &Error{
	Kind: Unavailable, Code: CodeUnavailable, RetryAfter: time.Second,
	Message: "the instance is moving to another node of the gateway: repeat the request",
}

type tenureKey struct{}

// WithTenure returns a context for work of a node for an instance. What is written with it
// is written only if the tenure still lasts.
func WithTenure(ctx context.Context, tenure Tenure) context.Context {
	return context.WithValue(ctx, tenureKey{}, tenure)
}

// TenureOf returns the tenure that the work of a context belongs to; the zero Tenure if it
// has none.
func TenureOf(ctx context.Context) Tenure {
	tenure, _ := ctx.Value(tenureKey{}).(Tenure)
	return tenure
}

// Tenures knows the instances that this process works for. It is safe for concurrent use.
type Tenures interface {
	// WithTenure returns a context for work for an instance, and whether this process may do it.
	WithTenure(ctx context.Context, instanceID string) (context.Context, bool)
}

// Alone are the Tenures of a process that has the database to itself: it works for every
// instance.
type Alone struct{}

// WithTenure returns the context as it is (Tenures).
func (Alone) WithTenure(ctx context.Context, _ string) (context.Context, bool) { return ctx, true }
