// What counts as slow or full.

package health

import (
	"time"

	"github.com/recado-project/recado/internal/webhook"
)

// Problem is something that people should look at.
type Problem string

// The problems, the most urgent first.
const (
	DatabaseSilent    Problem = "database_silent"    // it does not answer
	DiskFull          Problem = "disk_full"          // less than a gigabyte, or than 5 %, is free
	ClientOutdated    Problem = "client_outdated"    // the platform refuses the version that instances claim
	DatabaseSlow      Problem = "database_slow"      // it takes more than a tenth of a second to answer
	WebhooksSuspended Problem = "webhooks_suspended" // some are not tried any more
	EventsWait        Problem = "events_wait"        // more than ten thousand are to be delivered
	FilesFull         Problem = "files_full"         // fetched files have nine tenths of their space
	NoFFmpeg          Problem = "no_ffmpeg"          // videos have no thumbnails
)

const (
	fewFree     = 1 << 30
	slowPing    = 100 * time.Millisecond
	manyPending = 10_000
)

func problemsOf(r Report) []Problem {
	var problems []Problem
	for _, one := range []struct {
		problem Problem
		is      bool
	}{
		{DatabaseSilent, !r.Database.Answered},
		{DiskFull, r.Disk.All > 0 && (r.Disk.Free < fewFree || r.Disk.Free < r.Disk.All/20)},
		{ClientOutdated, !r.Client.RefusedSince.IsZero()},
		{DatabaseSlow, r.Database.Answered && r.Database.Ping > slowPing},
		{WebhooksSuspended, r.Webhooks.Flows[webhook.FlowSuspended] > 0},
		{EventsWait, r.Webhooks.Pending > manyPending},
		{FilesFull, r.Files.Limit > 0 && r.Files.Used > r.Files.Limit/10*9},
		{NoFFmpeg, !r.FFmpeg},
	} {
		if one.is {
			problems = append(problems, one.problem)
		}
	}
	return problems
}
