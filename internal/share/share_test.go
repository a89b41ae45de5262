package share_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/share"
)

// as is a context for work of a key of an account.
func as(tb testing.TB, account, key string) context.Context {
	tb.Helper()
	return gateway.WithRequester(tb.Context(), gateway.Requester{AccountID: account, ID: key, Kind: "this API key"})
}

// Nobody has all of a pool: what is left for others, and who is told what.
func TestParts(t *testing.T) {
	t.Parallel()
	type asked struct {
		account, key string
		amount       int64
		refusal      string // how it begins; empty for none
	}
	for _, c := range []struct {
		name string
		pool share.Config
		asks []asked
	}{
		{"a key has three quarters of three quarters", share.Config{Total: 160}, []asked{
			{"red", "1", 90, ""},
			{"red", "1", 1, "this API key has as many bytes as allowed: send fewer"},
			{"red", "2", 30, ""},
			{"red", "2", 1, "this account has"},
			{"blue", "3", 40, ""},
			{"blue", "3", 1, "the gateway has"},
		}},
		{"a key has all that its account may have", share.Config{Total: 160, Whole: true}, []asked{
			{"red", "1", 120, ""}, {"red", "1", 1, "this account has"}, {"red", "2", 1, "this account has"}, {"blue", "3", 40, ""},
		}},
		{"of two places an account has one", share.Config{Total: 2}, []asked{
			{"red", "1", 1, ""}, {"red", "2", 1, "this account has"}, {"blue", "3", 1, ""},
		}},
		{"there is one place", share.Config{Total: 1}, []asked{{"red", "1", 1, ""}, {"blue", "3", 1, "the gateway has"}}},
		{"any amount, and so much for each key", share.Config{Each: func() int64 { return 2 }}, []asked{
			{"red", "1", 2, ""}, {"red", "1", 1, "RATE_LIMITED: this API key has"}, {"red", "2", 2, ""}, {"blue", "3", 2, ""},
		}},
		{"any amount", share.Config{Each: func() int64 { return -1 }}, []asked{{"red", "1", 1 << 40, ""}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.pool.Name, c.pool.What, c.pool.Advice, c.pool.RetryAfter = "test", "bytes", "send fewer", 3*time.Second
			pool := share.New(c.pool)
			var holds []*share.Taken
			ofRed := int64(0)
			for n, ask := range c.asks {
				hold, err := pool.Take(as(t, ask.account, ask.key), ask.amount)
				switch holds = append(holds, hold); {
				case ask.refusal == "" && err != nil:
					t.Fatalf("request %d: %v", n+1, err)
				case ask.refusal != "" && (err == nil || !strings.Contains(err.Error(), ask.refusal)):
					t.Fatalf("request %d: error %v, want %q", n+1, err, ask.refusal)
				}
				if err == nil && ask.account == "red" {
					if ofRed += ask.amount; hold.OfAccount() != ofRed {
						t.Errorf("request %d: the account has %d, want %d", n+1, hold.OfAccount(), ofRed)
					}
				}
				if refusal, ok := gateway.AsError(err); ok && refusal.RetryAfter != 3*time.Second {
					t.Errorf("request %d: the refusal does not say when to try again: %v", n+1, refusal)
				}
			}
			for _, hold := range holds {
				hold.Release()
				hold.Release()
			}
			if left := pool.Usage(); left.Held != 0 || len(left.Accounts) != 0 {
				t.Errorf("after everything was given back: %+v", left)
			}
		})
	}
}

// Who waits is served in turn: an account that asked a hundred times is not before one that asked
// once, and neither is a key before another one of its account.
func TestTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pool := share.New(share.Config{Name: "test", What: "places", Advice: "wait", Total: 4, Patience: time.Minute})
		var first []*share.Taken
		for _, account := range []string{"red", "red", "red", "blue"} {
			key := "1"
			if len(first) == 2 {
				key = "2"
			}
			hold, err := pool.Take(as(t, account, key), 1)
			if err != nil {
				t.Fatal(err)
			}
			first = append(first, hold)
		}
		var mu sync.Mutex
		var order []string
		var waiting sync.WaitGroup
		queue := func(account, key string) {
			waiting.Go(func() {
				hold, err := pool.Wait(as(t, account, key), 1)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				order = append(order, account+key)
				mu.Unlock()
				time.Sleep(time.Second)
				hold.Release()
			})
			synctest.Wait()
		}
		for range 3 {
			queue("red", "1")
		}
		queue("red", "2")
		queue("blue", "3")
		queue("green", "4")
		if used := pool.Usage(); used.Waiting != 6 || used.Held != 4 {
			t.Errorf("used is %+v", used)
		}
		for _, hold := range first {
			hold.Release()
			synctest.Wait()
		}
		waiting.Wait()
		got := strings.Join(order, " ")
		if want := "red1 blue3 green4 red2 red1 red1"; got != want {
			t.Errorf("served %s, want %s", got, want)
		}
	})
}

// Who has waited long enough is told so, and who is gone does not hold up those behind.
func TestPatience(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pool := share.New(share.Config{Name: "test", What: "places", Advice: "wait", Total: 8, Whole: true, Patience: 5 * time.Second})
		held, err := pool.Take(as(t, "red", "1"), 5)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if _, err = pool.Wait(as(t, "red", "1"), 2); gateway.KindOf(err) != gateway.Unavailable || time.Since(began) != 5*time.Second {
			t.Errorf("error %v after %s", err, time.Since(began))
		}
		began = time.Now()
		if _, err = pool.Wait(as(t, "red", "1"), 7); gateway.KindOf(err) != gateway.Unavailable || time.Since(began) != 0 {
			t.Errorf("more than there can be: error %v after %s", err, time.Since(began))
		}
		ctx, leave := context.WithCancelCause(as(t, "red", "1"))
		gone := errors.New("gone")
		var waiting sync.WaitGroup
		waiting.Go(func() {
			if _, err := pool.Wait(ctx, 4); !errors.Is(err, gone) {
				t.Errorf("error of who has gone: %v", err)
			}
		})
		synctest.Wait()
		waiting.Go(func() { // behind the other, and it fits
			hold, err := pool.Wait(as(t, "red", "1"), 1)
			if err != nil {
				t.Error(err)
			}
			hold.Release()
		})
		synctest.Wait()
		leave(gone)
		waiting.Wait()
		held.Release()
		if left := pool.Usage(); left.Held != 0 || left.Waiting != 0 || left.Refused != 2 {
			t.Errorf("left is %+v", left)
		}
	})
}

// Many ask at the same time: never more is held than there is, and in the end nothing.
func TestPoolIsSafe(t *testing.T) {
	t.Parallel()
	pool := share.New(share.Config{Name: "test", What: "places", Advice: "wait", Total: 16, Patience: time.Millisecond})
	var all sync.WaitGroup
	for n := range 64 {
		all.Go(func() {
			ctx := as(t, string(rune('a'+n%5)), string(rune('a'+n%3)))
			for range 200 {
				hold, err := pool.Wait(ctx, int64(n%4+1))
				if err != nil && gateway.KindOf(err) != gateway.Unavailable {
					t.Error(err)
				}
				if used := pool.Usage(); used.Held > used.Total {
					t.Errorf("%d of %d are held", used.Held, used.Total)
				}
				hold.Release()
			}
		})
	}
	all.Wait()
	if left := pool.Usage(); left.Held != 0 || left.Waiting != 0 {
		t.Errorf("left is %+v", left)
	}
}
