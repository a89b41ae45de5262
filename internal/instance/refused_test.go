package instance

import (
	"context"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// A client that learns that no code will come can read why: the status is written first.
// It once was not, and the next request still read "connecting". Who reads the
// status can start anew.
func TestFailureIsToldWhenItsStatusIsWritten(t *testing.T) {
	t.Parallel()
	for name, c := range cases.Sorted(map[string]struct {
		end    func(context.Context, *lifecycle)
		kind   gateway.Kind
		status gateway.Status
	}{
		"refused": {
			end:  func(ctx context.Context, h *lifecycle) { h.Refused(ctx, gateway.ReasonClientOutdated) },
			kind: gateway.PlatformFailed, status: gateway.StatusError,
		},
		"the last code ran out": {
			end:  func(ctx context.Context, h *lifecycle) { h.CodesExpired(ctx) },
			kind: gateway.Conflict, status: gateway.StatusQRTimeout,
		},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service, slow := newSlowService(t, gateway.StatusConnecting, "")
			sup := service.supervisor("phone")
			sup.session = struct{ gateway.SupervisedSession }{} // nothing is asked of it
			written := make(chan struct{})
			go func() {
				defer close(written)
				c.end(t.Context(), &lifecycle{supervisor: sup})
			}()
			<-slow.asked
			if _, _, err := sup.waitForCode(t.Context(), time.Millisecond); gateway.KindOf(err) != gateway.PlatformTimeout {
				t.Errorf("it failed before the status was written: %v", err)
			}
			if sup.running() {
				t.Error("who reads the status in a moment can't start anew yet")
			}
			close(slow.granted)
			<-written
			if _, _, err := sup.waitForCode(t.Context(), time.Minute); gateway.KindOf(err) != c.kind {
				t.Errorf("the error is %v", err)
			}
			wantStatus(t, service, c.status)
		})
	}
}

// A session that was replaced while its end was being written does not fail requests that
// wait for its successor's code.
func TestFailureOfAnOldSessionIsNotTold(t *testing.T) {
	t.Parallel()
	service, slow := newSlowService(t, gateway.StatusConnecting, "")
	sup := service.supervisor("phone")
	sup.session = struct{ gateway.SupervisedSession }{}
	old := &lifecycle{supervisor: sup}
	written := make(chan struct{})
	go func() {
		defer close(written)
		old.Refused(t.Context(), gateway.ReasonClientOutdated)
	}()
	<-slow.asked
	sup.detach()
	sup.mu.Lock()
	sup.session, sup.code = struct{ gateway.SupervisedSession }{}, gateway.QRCode{Code: "new"}
	sup.mu.Unlock()
	close(slow.granted)
	<-written
	if code, _, err := sup.waitForCode(t.Context(), time.Minute); err != nil || code.Code != "new" {
		t.Errorf("got %+v (%v)", code, err)
	}
	wantStatus(t, service, gateway.StatusConnecting)
}
