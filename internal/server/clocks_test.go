package server_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/access"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media"
	"github.com/recado-project/recado/internal/node"
	"github.com/recado-project/recado/internal/server"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/postgres"
	"github.com/recado-project/recado/internal/testkit/process"
	"github.com/recado-project/recado/internal/whatsapp"
)

// Two nodes whose clocks are ten minutes apart believe each other to be alive for longer than a lease,
// and a client can use both for the same instance.
func TestClocksOfNodesDiffer(t *testing.T) {
	t.Parallel()
	const lease = 3 * time.Second // long enough for a busy machine
	url, box := postgres.Start(t), testkit.Start(t, testkit.Options{})
	root := box.Server.Sandbox().RootKey()
	start := func(ahead time.Duration) (address string, s *server.Server) {
		t.Helper()
		address = process.FreeAddress(t)
		s, err := server.New(t.Context(), server.Config{
			Listen: address, DataDir: t.TempDir(), DatabaseURL: url, Version: "test", Logger: testkit.Logger(t),
			Cluster: server.Cluster{
				Advertise: "http://" + address, Secret: "a secret of the nodes alone",
				Timing: node.Timing{Lease: lease, Grace: lease / 4, Renew: lease / 10, Look: lease / 20, Patience: lease / 2},
			},
			Platform: whatsapp.Config{PlatformURL: "ws" + box.BaseURL[len("http"):], RootKey: &root},
			Media:    media.Config{AllowPrivate: true}, AllowPrivateURLs: true,
			Now: func() time.Time { return time.Now().Add(ahead) },
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
		ended := make(chan error, 1)
		go func() { ended <- s.Run(ctx) }()
		stop := sync.OnceFunc(func() {
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
		t.Cleanup(stop)
		return "http://" + address, s
	}
	slow, first := start(-5 * time.Minute)
	account, err := first.Access().EnsureAccount(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	_, key, err := first.Access().CreateKey(t.Context(), access.KeyParams{AccountID: account.ID, Name: "test", Partner: true})
	if err != nil {
		t.Fatal(err)
	}
	fast, _ := start(5 * time.Minute)
	nodes := []*client.Client{client.New(slow, key), client.New(fast, key)}
	var ids []string
	for i, number := range []string{"5511999990001", "5511999990002"} {
		instance, err := nodes[i].CreateInstance(t.Context(), client.NewInstance{Name: number})
		if err != nil {
			t.Fatal(err)
		}
		code, err := nodes[i].GetQRCode(t.Context(), instance.InstanceID, client.GetQRCodeParams{Format: client.FormatRaw})
		if err != nil {
			t.Fatal(err)
		}
		box.Phones.Scan(t, number, code.QRCode)
		ids = append(ids, instance.InstanceID)
	}
	shared, err := store.Open(t.Context(), store.Config{URL: url, Logger: testkit.Logger(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = shared.Close() })
	owners := func() (found [2]gateway.Tenure) {
		t.Helper()
		for i, id := range ids {
			owner, _, err := shared.Nodes.FindOwner(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			found[i] = owner.Tenure
		}
		return found
	}
	for _, id := range ids {
		testkit.Await(t, "the instance is connected", func() bool {
			one, err := nodes[0].GetInstance(t.Context(), id)
			two, err2 := nodes[1].GetInstance(t.Context(), id)
			return err == nil && err2 == nil && one.Status == client.StatusConnected && two.Status == client.StatusConnected
		})
	}
	before := owners()
	for began := time.Now(); time.Since(began) < 2*lease; {
		for _, id := range ids {
			for _, at := range nodes {
				sent, err := at.SendText(t.Context(), id, client.Text{To: "5511988887766", Message: "olá"})
				if err != nil {
					t.Fatal(err)
				}
				box.Phones.AwaitMessage(t, "5511988887766", sent.MessageID)
			}
		}
		if now := owners(); now != before {
			t.Fatalf("the owners are %+v, and were %+v", now, before)
		}
	}
}
