package server_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/server"
	"github.com/recado-project/recado/internal/store/nodetable"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/postgres"
)

// A node does not work beside one that has another secret, and says which node and which setting,
// without a value. A secret that both know while it is changed is none.
func TestNodesAgreeAboutTheSecret(t *testing.T) {
	t.Parallel()
	const old, fresh = "the secret of before", "a secret that is new"
	url, files := postgres.Start(t), "file://"+t.TempDir()
	node := func(address, secret, other string) testkit.Options {
		return testkit.Options{
			DatabaseURL: url, DataDir: t.TempDir(), MediaURL: files,
			Cluster: server.Cluster{Advertise: address, Secret: secret, OtherSecret: other},
		}
	}
	testkit.Start(t, node("http://one.example", old, fresh))
	for _, test := range []struct {
		secret, other string
		refused       bool
	}{
		{secret: old},
		{secret: old, other: fresh},
		{secret: fresh, other: old},
		{secret: fresh, refused: true},
		{secret: "a third secret of others", refused: true},
	} {
		err := testkit.StartError(t, node("http://two.example", test.secret, test.other))
		refusal, refused := errors.AsType[*nodetable.DisagreementError](err)
		switch {
		case refused != test.refused || err != nil && !refused:
			t.Errorf("a node with %q and %q ends with %v", test.secret, test.other, err)
		case !refused:
		case refusal.Setting != gateway.SettingClusterSecret || !strings.Contains(err.Error(), "(http://one.example) has another --cluster-secret") ||
			!strings.Contains(err.Error(), "?") || strings.Contains(err.Error(), old) || strings.Contains(err.Error(), test.secret):
			t.Errorf("the error is %q", err)
		}
	}
}
