// This process as a node, and what works for its instances.

package server

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/node"
	"github.com/recado-project/recado/internal/node/forward"
)

// Cluster makes this process one of several nodes that share a PostgreSQL database.
type Cluster struct {
	// Advertise is the address where the other nodes reach this one, http://host:port. Empty
	// means that this process is to have the database to itself.
	Advertise string
	// Secret is what the nodes recognise each other by.
	Secret string
	// OtherSecret is recognised as well, while the secret is changed on one node after the other;
	// empty: there is none.
	OtherSecret string
	// Timing is how fast a dead node is noticed. Tests have less patience.
	Timing node.Timing
}

// ClusterHashSecret is the name of the program's own secret that the hashes of cluster secrets have
// as their key.
const ClusterHashSecret = "cluster"

const clusterHashBytes = 32

// Hashes are what a node says of the secrets that it knows: who reads them learns no secret, and can't
// compare them with those of another database.
func (c Cluster) Hashes(key []byte) []string {
	var hashes []string
	for _, secret := range []string{c.Secret, c.OtherSecret} {
		if secret != "" {
			mac := hmac.New(sha256.New, key)
			mac.Write([]byte(secret))
			hashes = append(hashes, hex.EncodeToString(mac.Sum(nil)))
		}
	}
	return hashes
}

// openNode makes the node, which works for nothing yet.
func (s *Server) openNode(ctx context.Context) (err error) {
	config := node.Config{
		Instances: s.store, Logger: s.config.Logger,
		Address: s.config.Cluster.Advertise, Version: s.config.Version, Timing: s.config.Cluster.Timing,
	}
	if s.config.DatabaseURL != "" {
		config.Store = s.store.Nodes
		if config.Files, _, err = s.store.FilesOwner(ctx); err != nil {
			return err
		}
	}
	if s.config.Cluster.Advertise != "" {
		key, err := s.store.Secret(ctx, ClusterHashSecret, clusterHashBytes)
		if err != nil {
			return err
		}
		config.Secrets = s.config.Cluster.Hashes(key)
	}
	if s.watch.moved != nil {
		config.Tell = func(event node.Event, instances int) { s.watch.moved(string(event), instances) }
	}
	if s.node, err = node.New(config); err != nil {
		return fmt.Errorf("server: %w", err)
	}
	return nil
}

// openForwarder lets this node take requests for the instances of others as well.
func (s *Server) openForwarder(next http.Handler) (*forward.Forwarder, error) {
	config := forward.Config{
		Node: s.node, Secret: s.config.Cluster.Secret, OtherSecret: s.config.Cluster.OtherSecret, Next: next, Stopping: s.stopping.Done(), Logger: s.config.Logger,
		Refuse: func(w http.ResponseWriter, r *http.Request, err *gateway.Error) {
			s.config.Logger.InfoContext(r.Context(), "request refused: the node that works for the instance did not take it",
				slog.String("method", r.Method), slog.Int("status", contract.StatusOf(err.Kind)), slog.String("code", err.Code))
			contract.Refuse(w, r, err, s.config.Now())
		},
	}
	if s.config.DatabaseURL != "" {
		config.Owners = s.store.Nodes
	}
	forwarder, err := forward.New(config)
	if err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	s.onClose("forwarder", forwarder.Close)
	return forwarder, nil
}

// parts are what works for instances, in the order in which it is taken up. An instance is let
// go in reverse: nothing more is begun; the session is closed, which ends what is being
// sent; then the outcomes are written, and delivered as far as they can be.
func (u *useCases) parts() []node.Part {
	return []node.Part{
		{Name: "webhooks", TakeUp: u.webhooks.TakeUp, LetGo: u.webhooks.LetGo},
		{
			Name: "traffic",
			TakeUp: func(_ context.Context, tenures []gateway.Tenure) error {
				u.traffic.TakeUp(tenures)
				return nil
			},
			LetGo: func(_ context.Context, tenures []gateway.Tenure) { u.traffic.LetGo(tenures) },
		},
		{
			Name:   "outcomes",
			TakeUp: func(context.Context, []gateway.Tenure) error { return nil },
			LetGo: func(ctx context.Context, tenures []gateway.Tenure) {
				if ctx.Err() == nil {
					u.messages.Settle(tenures)
				}
			},
		},
		{
			Name:   "sessions",
			TakeUp: u.instances.TakeUp,
			LetGo:  func(_ context.Context, tenures []gateway.Tenure) { u.instances.LetGo(tenures) },
		},
		{
			Name:   "queue",
			TakeUp: u.messages.TakeUp,
			LetGo:  func(_ context.Context, tenures []gateway.Tenure) { u.messages.LetGo(tenures) },
		},
	}
}
