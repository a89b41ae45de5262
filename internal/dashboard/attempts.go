// The newest attempts of a webhook, as a chart.

package dashboard

import (
	"time"

	"github.com/recado-project/recado/internal/webhook"
)

// attemptsRead is how many deliveries are looked through for attempts: of those a hundred are kept, and
// blocked events and dead letters are listed before them.
const attemptsRead = 500

// attempts are the newest attempts of a webhook.
type attempts struct {
	All, Failed int
	Average     time.Duration // of those that succeeded
	Chart       chart
}

// attemptsOf sums up the attempts among deliveries, in steps of time that show all of them; nil if there
// are none.
func attemptsOf(deliveries []webhook.Delivery, now time.Time, labels [3]string) *attempts {
	made, oldest, took := attempts{Chart: chart{Labels: labels, Tones: []string{"--good", "--bad"}}}, now, time.Duration(0)
	for _, one := range deliveries {
		switch one.State {
		case webhook.DeliveryFailed:
			made.Failed++
		case webhook.DeliveryDone:
			took += one.Duration
		default:
			continue
		}
		made.All++
		if one.At.Before(oldest) {
			oldest = one.At
		}
	}
	if made.All == 0 {
		return nil
	}
	if delivered := made.All - made.Failed; delivered > 0 {
		made.Average = took / time.Duration(delivered)
	}
	const steps = 24
	step := 15 * time.Minute
	for _, longer := range []time.Duration{time.Hour, 6 * time.Hour, 24 * time.Hour, 30 * 24 * time.Hour} {
		if now.Sub(oldest) > steps*step {
			step = longer
		}
	}
	first := now.Truncate(step).Add(-(steps - 1) * step)
	made.Chart.Values[1], made.Chart.Values[2] = make([]int64, steps), make([]int64, steps)
	for n := range steps {
		made.Chart.Values[0] = append(made.Chart.Values[0], first.Add(time.Duration(n)*step).Unix())
	}
	for _, one := range deliveries {
		at := min(max(int(one.At.Sub(first)/step), 0), steps-1) // a clock may have been set
		switch one.State {
		case webhook.DeliveryDone:
			made.Chart.Values[1][at]++
		case webhook.DeliveryFailed:
			made.Chart.Values[2][at]++
		default:
		}
	}
	return &made
}
