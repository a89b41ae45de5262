// Instances that are not connected.

package doctor

import (
	"context"
	"fmt"
	"time"

	"github.com/recado-project/recado/internal/gateway"
)

// connectsLong is how long an instance may connect before it is reported.
const connectsLong = 5 * time.Minute

// instances says how many instances are not connected, and why. It reads what the gateway has stored, which
// is old if the gateway does not run.
func (e *examination) instances(ctx context.Context) []Finding {
	const name = "instances"
	if e.database == nil || e.version == 0 {
		return e.unopened(name)
	}
	groups, err := e.database.Instances(ctx)
	if err != nil {
		return []Finding{warning(name, "see to the database first", "they can't be counted: %s", err)}
	}
	var findings []Finding
	all, connected, unlinked := int64(0), int64(0), int64(0)
	for _, group := range groups {
		all += group.Instances
		why := ""
		if group.Reason != "" {
			why = " (" + string(group.Reason) + ")"
		}
		which := fmt.Sprintf("%d, such as %s", group.Instances, group.Example)
		switch group.Status {
		case gateway.StatusConnected:
			connected += group.Instances
		case gateway.StatusError:
			findings = append(findings, wrong(name, "see why on its page of the dashboard; when that is mended: recado instances restart "+group.Example,
				"in error%s: %s", why, which))
		case gateway.StatusConnecting:
			do := "see what the checks of the platform and the proxies say, and the log's lines with its instance_id"
			if since := e.config.Now().Sub(group.Since); since > connectsLong {
				findings = append(findings, wrong(name, do, "connecting%s, the first for %s: %s", why, since.Round(time.Minute), which))
			} else {
				findings = append(findings, warning(name, do, "connecting%s: %s", why, which))
			}
		case gateway.StatusStopped:
			if group.Reason == gateway.ReasonUnlinked {
				findings = append(findings, wrong(name, "link it again: recado qr "+group.Example, "unlinked on the phone: %s", which))
			} else {
				unlinked += group.Instances
			}
		case gateway.StatusManuallyStopped:
			findings = append(findings, warning(name, "nothing, if that is meant; else: recado instances restart "+group.Example, "stopped by their users: %s", which))
		case gateway.StatusPaymentPending:
			findings = append(findings, warning(name, "nothing, if that is meant", "waiting for their payment: %s", which))
		default:
			unlinked += group.Instances
		}
	}
	return append(findings, ok(name, "%d, of which %d are connected and %d are linked to no phone", all, connected, unlinked))
}
