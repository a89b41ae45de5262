package server_test

import (
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/postgres"
)

// limits fetches the limits of an instance.
func limits(t *testing.T, g *testkit.Gateway, id string) client.InstanceLimits {
	t.Helper()
	limits, err := g.Client.GetLimits(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return limits
}

// A check that does not fit into the budget is refused whole, and the platform is not asked;
// what is known already costs nothing. A restart forgets nothing of it.
func TestNumberChecksHaveABudget(t *testing.T) {
	t.Parallel()
	for name, database := range cases.Sorted(map[string]func(t *testing.T) string{
		"SQLite":     func(*testing.T) string { return "" },
		"PostgreSQL": func(t *testing.T) string { t.Helper(); return postgres.Start(t) },
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var later atomic.Int64
			options := testkit.Options{
				DataDir: t.TempDir(), DatabaseURL: database(t),
				Now: func() time.Time { return time.Now().Add(time.Duration(later.Load())) },
			}
			g, id := testkit.StartLinked(t, options)
			if _, err := g.Client.ChangeInstance(t.Context(), id, client.InstanceChange{
				NumberChecks: client.Set(client.BudgetChange{PerHour: client.Set(int64(3)), PerDay: client.Set(int64(4))}),
			}); err != nil {
				t.Fatal(err)
			}
			const one, two, three, four = "5511955550100", "5511955550200", "5511955550300", "5511955550400"
			check := func(numbers ...string) error {
				_, err := g.Client.CheckNumbers(t.Context(), id, client.CheckNumbers{Numbers: numbers})
				return err
			}
			refused := func(says string, after time.Duration, numbers ...string) {
				t.Helper()
				err := check(numbers...)
				testkit.Refused(t, err, http.StatusTooManyRequests, client.CodeRateLimited)
				refusal, ok := errors.AsType[*client.Error](err)
				if !ok || !strings.Contains(refusal.Message, says) || refusal.RetryAfter > after || refusal.RetryAfter < after-2*time.Minute {
					t.Errorf("answered %v, after %s", err, refusal.RetryAfter)
				}
			}
			if err := check(one, two, one); err != nil {
				t.Fatal(err)
			}
			refused("of the 3 that this instance may check within an hour, 1 are left", time.Hour+time.Minute, three, four)
			if err := check(one, two, three); err != nil { // two of them are known
				t.Error(err)
			}
			if used := limits(t, g, id).NumberChecks; used.LastHour != 3 || used.LastDay != 3 || *used.PerHour != 3 || *used.PerDay != 4 {
				t.Errorf("used is %+v", used)
			}
			// A message to a number is no check.
			if _, err := g.Client.SendText(t.Context(), id, client.Text{To: four, Message: "Oi!"}); err != nil {
				t.Error(err)
			}
			g.Stop()

			g = testkit.Start(t, options)
			g.AwaitStatus(t, id, "connected")
			refused("within an hour", time.Hour+time.Minute, "5511955550500")
			later.Store(int64(time.Hour + 2*time.Minute)) // no answer is remembered any more
			if err := check(one); err != nil {
				t.Error(err)
			}
			refused("of the 4 that this instance may check within a day, 0 are left", 23*time.Hour, two)
			refused("ask for fewer", 0, "5511955550500", "5511955550600", "5511955550700", "5511955550800", "5511955550900")
			if used := limits(t, g, id).NumberChecks; used.LastHour != 1 || used.LastDay != 4 {
				t.Errorf("used is %+v", used)
			}
		})
	}
}

// Checks that come at once do not take the last of the budget twice.
func TestNumberChecksAtOnceKeepToTheBudget(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	if _, err := g.Client.ChangeInstance(t.Context(), id, client.InstanceChange{NumberChecks: client.Set(client.BudgetChange{PerHour: client.Set(int64(5))})}); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	var answered atomic.Int64
	for n := range 20 {
		group.Go(func() {
			_, err := g.Client.CheckNumbers(t.Context(), id, client.CheckNumbers{Numbers: []string{"55119555501" + string(rune('0'+n/10)) + string(rune('0'+n%10))}})
			if err == nil {
				answered.Add(1)
			}
		})
	}
	group.Wait()
	if used := limits(t, g, id).NumberChecks; answered.Load() != 5 || used.LastHour != 5 {
		t.Errorf("%d checks were answered, and %d counted, want 5", answered.Load(), used.LastHour)
	}
}

// The limits say who has not answered, and whether the account is restricted.
func TestLimitsAreShown(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{})
	if shown := limits(t, g, id); shown != (client.InstanceLimits{Unanswered: client.Unanswered{Days: 7}}) {
		t.Errorf("at first it is %+v", shown)
	}
	sendText(t, g, id, "Oi!")
	sendText(t, g, id, "?")
	if _, err := g.Client.SendText(t.Context(), id, client.Text{To: otherNumber, Message: "Oi!"}); err != nil {
		t.Fatal(err)
	}
	if silent := limits(t, g, id).Unanswered; silent != (client.Unanswered{Days: 7, Messages: 3, Chats: 2, OfChats: 2}) {
		t.Errorf("before the answer it is %+v", silent)
	}
	awaitMessage(t, g, id, g.Phones.SendText(t, customerNumber, shopNumber, "yes"))
	if silent := limits(t, g, id).Unanswered; silent != (client.Unanswered{Days: 7, Messages: 1, Chats: 1, OfChats: 2}) {
		t.Errorf("after the answer it is %+v", silent)
	}
	g.Phones.Restrict(t, shopNumber, 3600)
	var shown client.Restriction
	testkit.Await(t, "the restriction", func() bool {
		shown = limits(t, g, id).Restriction
		return shown.Active
	})
	if shown.Since == nil || shown.Until == nil || time.Until(*shown.Until) < 50*time.Minute || time.Since(*shown.Since) > time.Minute {
		t.Errorf("the restriction is %+v", shown)
	}
	if instance := g.Instance(t, id); !instance.RestrictedUntil.Equal(*shown.Until) {
		t.Errorf("the instance says %v", instance.RestrictedUntil)
	}
}
