// Webhooks that don't get their events.

package doctor

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"github.com/recado-project/recado/internal/webhook/backlog"
)

// waitsLong is how long an event may wait before it is reported.
const waitsLong = 10 * time.Minute

// webhooks says which endpoints fail, and what has been given up.
func (e *examination) webhooks(ctx context.Context) []Finding {
	const name = "webhooks"
	if e.database == nil || e.version == 0 {
		return e.unopened(name)
	}
	census, err := e.database.Census(ctx)
	if err != nil {
		return []Finding{warning(name, "see to the database first", "they can't be counted: %s", err)}
	}
	failing, err := e.database.Behind(ctx, maxNamed)
	if err != nil {
		return []Finding{warning(name, "see to the database first", "those that fail can't be read: %s", err)}
	}
	var findings []Finding
	for _, one := range failing {
		which := one.InstanceID
		if !one.First {
			which += " --webhook " + one.ID
		}
		about := fmt.Sprintf("that of the instance %s, at %s,", one.InstanceID, hostOf(one.URL))
		if one.Status == string(backlog.StatusSuspended) {
			findings = append(findings, wrong(name, "repair the endpoint, then: recado webhooks resume --instance "+which, "%s is suspended (%s): it gets nothing any more", about, one.Reason))
			continue
		}
		findings = append(findings, warning(name, "look at the endpoint, and why it fails: recado webhooks deliveries --instance "+which,
			"%s has failed since %s; it is tried again", about, one.Since.UTC().Format(time.RFC3339)))
	}
	all, waiting, oldest := int64(0), int64(0), time.Time{}
	bad := int64(0)
	for state, group := range census.Webhooks {
		if state == inactive {
			continue
		}
		all, waiting = all+group.Webhooks, waiting+group.Waiting
		if state != string(backlog.StatusOK) {
			bad += group.Webhooks
		}
		if !group.Oldest.IsZero() && (oldest.IsZero() || group.Oldest.Before(oldest)) {
			oldest = group.Oldest
		}
	}
	if more := bad - int64(len(failing)); more > 0 {
		findings = append(findings, warning(name, "see the gateway's page of webhooks", "%d more fail", more))
	}
	if census.BlockedChats > 0 {
		findings = append(findings, warning(name, "see why: recado webhooks deliveries", "%d chats wait because one of their events fails", census.BlockedChats))
	}
	if census.DeadLetters > 0 {
		findings = append(findings, warning(name, "deliver them again when the endpoint is repaired: recado webhooks replay", "%d events were given up after their last attempt", census.DeadLetters))
	}
	if age := e.config.Now().Sub(oldest); !oldest.IsZero() && age > waitsLong {
		findings = append(findings, warning(name, "see whether the gateway runs, and whether an endpoint is slow",
			"%d events wait, the oldest for %s", waiting, age.Round(time.Minute)))
	}
	if len(findings) == 0 {
		findings = append(findings, ok(name, "%d webhooks, none fails; %d events wait", all, waiting))
	}
	return findings
}

// inactive is what a census calls webhooks that are switched off.
const inactive = "inactive"

// hostOf is the host of a URL, without what may be secret in it.
func hostOf(address string) string {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Host == "" {
		return "an address that is none"
	}
	return parsed.Host
}
