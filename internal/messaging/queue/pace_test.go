package queue

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// The pace is kept: no two messages are closer than the gap, no minute has more than its
// messages, and no message waits longer than it must.
func TestPace(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for name, test := range cases.Sorted(map[string]struct {
		pace     gateway.Pace
		messages int
		least    time.Duration // from the first message to the last
		most     time.Duration
	}{
		"no limit":         {gateway.Pace{}, 100, 0, 0},
		"a gap":            {gateway.Pace{Gap: 4 * time.Second}, 101, 400 * time.Second, 400 * time.Second},
		"a gap and chance": {gateway.Pace{Gap: 4 * time.Second, Jitter: 2 * time.Second}, 1001, 4900 * time.Second, 5100 * time.Second},
		"chance alone":     {gateway.Pace{Jitter: 2 * time.Second}, 1001, 900 * time.Second, 1100 * time.Second},
		"a minute's":       {gateway.Pace{PerMinute: 20}, 101, 5 * time.Minute, 5 * time.Minute},
		"both":             {gateway.Pace{Gap: time.Second, PerMinute: 30}, 91, 3 * time.Minute, 3 * time.Minute},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, now := &pacer{}, start
			var sent []time.Time
			for range test.messages {
				now = p.next(test.pace, now)
				p.take(now)
				sent = append(sent, now)
			}
			for i, at := range sent {
				if i > 0 && at.Sub(sent[i-1]) < test.pace.Gap {
					t.Fatalf("message %d comes %s after the one before it", i, at.Sub(sent[i-1]))
				}
				if n := test.pace.PerMinute; n > 0 && i >= n && at.Sub(sent[i-n]) < time.Minute {
					t.Fatalf("%d messages within %s", n+1, at.Sub(sent[i-n]))
				}
			}
			if took := sent[len(sent)-1].Sub(start); took < test.least || took > test.most {
				t.Errorf("%d messages take %s, not from %s to %s", test.messages, took, test.least, test.most)
			}
		})
	}
}

// A message that was sent at once counts, and one that lies ahead is not passed.
func TestPaceCountsOthers(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	p, pace := &pacer{}, gateway.Pace{Gap: 10 * time.Second}
	p.take(start.Add(10 * time.Second)) // reserved
	p.take(start)                       // sent at once, meanwhile
	if at := p.next(pace, start); !at.Equal(start.Add(20 * time.Second)) {
		t.Errorf("the next one leaves at %s", at)
	}
	p.late(start.Add(10*time.Second), start.Add(13*time.Second))
	if at := p.next(pace, start); !at.Equal(start.Add(23 * time.Second)) {
		t.Errorf("after one that was late, the next one leaves at %s", at)
	}
}

// Chats are begun as often as an hour and a day permit, whatever began them.
func TestNewChats(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	p, now := &pacer{}, start
	var begun []time.Time
	for n := range 25 {
		now = p.nextNewChat(gateway.Budget{PerHour: 5, PerDay: 12}, now)
		chat := gateway.JID(fmt.Sprint(n, "@lid"))
		p.takeNewChat(chat, now)
		p.takeNewChat(chat, now) // once more, after an attempt that failed
		if other := (gateway.Party{JID: "1@s.whatsapp.net", LID: chat}); !p.counted([]gateway.Party{{JID: "2@s.whatsapp.net"}, other}) {
			t.Fatalf("chat %d is not counted", n)
		}
		begun = append(begun, now)
	}
	for i, want := range cases.Sorted(map[int]time.Duration{
		4: 0, 5: time.Hour, 9: time.Hour, 10: 2 * time.Hour, 11: 2 * time.Hour,
		12: 24 * time.Hour, 16: 24 * time.Hour, 17: 25 * time.Hour, 24: 48 * time.Hour,
	}) {
		if got := begun[i].Sub(start); got != want {
			t.Errorf("chat %d begins after %s, not after %s", i, got, want)
		}
	}
	if at := p.nextNewChat(gateway.Budget{}, now); !at.Equal(now) {
		t.Errorf("without a limit the next one begins at %s", at)
	}
}

// What happens after an attempt depends on what the platform said.
func TestJudge(t *testing.T) {
	t.Parallel()
	trouble := gateway.Errorf(gateway.PlatformFailed, gateway.CodePlatformError, "the platform's own")
	trouble.RetryAfter = time.Second
	for want, errs := range cases.Sorted(map[verdict][]error{
		finished:    {nil},
		failed:      {gateway.Errorf(gateway.Invalid, gateway.CodeNotRegistered, "no"), gateway.Errorf(gateway.PlatformFailed, gateway.CodePlatformError, "no"), gateway.Errorf(gateway.NotFound, gateway.CodeGroupNotFound, "no")},
		unconnected: {gateway.Errorf(gateway.Conflict, gateway.CodeNotConnected, "no"), gateway.Errorf(gateway.PaymentRequired, gateway.CodePaymentRequired, "no")},
		slowed:      {gateway.Errorf(gateway.RateLimited, gateway.CodeRateLimited, "no")},
		restricted:  {gateway.Errorf(gateway.RateLimited, gateway.CodeRecipientRestricted, "no")},
		retried:     {errors.New("a database"), gateway.Errorf(gateway.PlatformTimeout, gateway.CodePlatformTimeout, "no"), gateway.Errorf(gateway.Internal, gateway.CodeInternal, "no"), trouble},
	}) {
		for _, err := range errs {
			if got := judge(err); got != want {
				t.Errorf("after %v the verdict is %d, not %d", err, got, want)
			}
		}
	}
}
