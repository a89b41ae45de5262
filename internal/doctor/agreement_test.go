package doctor

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/server"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/testkit/postgres"
)

// The doctor compares what nodes say of themselves with the settings here, and with each other.
func TestAgreement(t *testing.T) {
	t.Parallel()
	settings := server.Config{DatabaseURL: postgres.Start(t), Cluster: server.Cluster{Secret: "the secret of the nodes"}}
	look := func() []Finding { return openedFor(t, with(t, settings)).agreement(t.Context()) }
	var key []byte
	add := func(address, files string, cluster server.Cluster) {
		t.Helper()
		fill(t, settings, func(s *store.Store) error {
			return s.Nodes.AddNode(t.Context(), gateway.Node{
				ID: uuid.NewString(), Name: "machine", Address: address, Lease: time.Hour, Files: files, Secrets: cluster.Hashes(key),
			})
		})
	}
	fill(t, settings, func(s *store.Store) (err error) {
		if key, err = s.Secret(t.Context(), server.ClusterHashSecret, 32); err != nil {
			return err
		}
		return s.OwnFiles(t.Context(), "place", func(context.Context, string, bool) (bool, error) { return true, nil })
	})
	add("http://one", "place", settings.Cluster)
	fine(t, look())
	settings.Cluster.Secret = "a secret of others"
	says(t, look(), Wrong, "this machine (these settings) and machine (http://one) have different values of --cluster-secret")
	settings.Cluster.Secret = ""
	add("http://early", "", server.Cluster{}) // it does not say anything
	fine(t, look())
}
