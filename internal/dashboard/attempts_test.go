package dashboard

import (
	"slices"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/webhook"
)

// Attempts are counted in steps that show all of them, whatever lies between.
func TestAttemptsAreSummedUp(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 27, 12, 7, 0, 0, time.UTC)
	of := func(state webhook.DeliveryState, ago, took time.Duration) webhook.Delivery {
		return webhook.Delivery{State: state, At: now.Add(-ago), Duration: took}
	}
	if made := attemptsOf([]webhook.Delivery{of(webhook.DeliveryBlocked, time.Hour, 0)}, now, [3]string{}); made != nil {
		t.Errorf("without attempts there is %+v", made)
	}
	for _, c := range []struct {
		oldest time.Duration
		step   int64 // in seconds
	}{{time.Minute, 900}, {3 * time.Hour, 900}, {7 * time.Hour, 3600}, {4 * 24 * time.Hour, 6 * 3600}, {20 * 24 * time.Hour, 24 * 3600}, {900 * 24 * time.Hour, 30 * 24 * 3600}} {
		made := attemptsOf([]webhook.Delivery{
			of(webhook.DeliveryDeadLetter, 9000*time.Hour, time.Hour), of(webhook.DeliveryDone, -time.Second, 30*time.Millisecond),
			of(webhook.DeliveryDone, 0, 10*time.Millisecond), of(webhook.DeliveryFailed, c.oldest, time.Second),
		}, now, [3]string{"Time", "Delivered", "Failed"})
		sum := func(values []int64) (sum int64) {
			for _, value := range values {
				sum += value
			}
			return sum
		}
		at, delivered, failed := made.Chart.Values[0], made.Chart.Values[1], made.Chart.Values[2]
		if made.All != 3 || made.Failed != 1 || made.Average != 20*time.Millisecond || sum(delivered) != 2 || sum(failed) != 1 {
			t.Errorf("%s: %+v", c.oldest, made)
		}
		if len(at) != 24 || at[1]-at[0] != c.step || delivered[23] != 2 {
			t.Errorf("%s: steps of %d s, %v", c.oldest, at[1]-at[0], delivered)
		}
		if n := slices.Index(failed, 1); at[n] > now.Add(-c.oldest).Unix() && c.oldest < 24*30*24*time.Hour { // older ones are at the beginning
			t.Errorf("%s: the failure is at %d", c.oldest, n)
		}
	}
}
