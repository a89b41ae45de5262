package worker

import (
	"context"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
)

// An errand that takes long holds those of no other instance, runs once at a time for its own, and once more for
// all who have asked meanwhile, under the last tenure.
func TestErrands(t *testing.T) {
	t.Parallel()
	type run struct {
		id    string
		epoch int64
	}
	began, end := make(chan run), make(chan struct{})
	errands := NewErrands(func(ctx context.Context, id string) {
		began <- run{id, gateway.TenureOf(ctx).Epoch}
		if id == "slow" {
			<-end
		}
	})
	ctx, stop := context.WithCancel(t.Context())
	stopped := make(chan struct{})
	go func() {
		errands.Run(ctx)
		close(stopped)
	}()
	ask := func(id string, epoch int64) { errands.Ask(gateway.WithTenure(ctx, gateway.Tenure{Epoch: epoch}), id) }
	want := func(id string, epoch int64) {
		t.Helper()
		select {
		case got := <-began:
			if got != (run{id, epoch}) {
				t.Fatalf("%+v began, want %s under %d", got, id, epoch)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s waits", id)
		}
	}
	ask("slow", 1)
	want("slow", 1)
	for epoch := range int64(3) {
		ask("slow", epoch)
		ask("other", epoch)
		want("other", epoch)
	}
	end <- struct{}{}
	want("slow", 2)
	stop()
	close(end)
	select {
	case <-stopped:
	case got := <-began:
		t.Errorf("%+v began once more", got)
	case <-time.After(time.Minute):
		t.Error("it runs on")
	}
}
