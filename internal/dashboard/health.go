// The page that says how the program itself is doing.

package dashboard

import (
	"context"
	"time"

	"github.com/recado-project/recado/internal/dashboard/frame"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/health"
	"github.com/recado-project/recado/internal/web"
	"github.com/recado-project/recado/internal/webhook"
)

// healthAge is how old the figures of open pages may be.
const healthAge = 10 * time.Second

// healthView is the page.
type healthView struct {
	health.Report

	Advice                            []state // what somebody should look at
	ClientSource                      web.Word
	Flowing, Waiting, Suspended, Idle int // webhooks
}

// showHealth shows the page.
func (p *pages) showHealth(r *frame.Request) error {
	view, err := p.healthView(r.Context())
	if err != nil {
		return err
	}
	return r.Page("health", frame.View{Title: r.Text(web.Word("Health")), Section: "health", Body: view})
}

// liveHealth keeps it up to date.
func (p *pages) liveHealth(r *frame.Request) error {
	return serveLive(p, r, "health", healthAge, p.healthView)
}

func (p *pages) healthView(ctx context.Context) (healthView, error) {
	view := healthView{Report: p.Health.Report(ctx)}
	view.ClientSource = sourceName(view.Client.Source)
	flows := view.Webhooks.Flows
	view.Flowing, view.Waiting = flows[webhook.FlowFlowing], flows[webhook.FlowWaiting]
	view.Suspended, view.Idle = flows[webhook.FlowSuspended], flows[webhook.FlowInactive]
	for _, problem := range view.Problems {
		view.Advice = append(view.Advice, adviceFor(problem))
	}
	return view, nil
}

// sourceName says where the version of the web client comes from.
func sourceName(source gateway.VersionSource) web.Word {
	switch source {
	case gateway.VersionLookedUp:
		return web.Word("latest found")
	case gateway.VersionSet:
		return web.Word("set by --platform-version")
	default:
		return web.Word("built in")
	}
}

// adviceFor says what a problem means, and what to do.
func adviceFor(problem health.Problem) state {
	return map[health.Problem]state{
		health.DatabaseSilent: {
			"bad", web.Word("The database does not answer"), web.Word("Nothing can be sent or stored until it does."),
			web.Word("Check the logs of the database and of the gateway."),
		},
		health.DiskFull: {
			"bad", web.Word("The disk is nearly full"), web.Word("Without space on the disk, no message can be stored or sent."),
			web.Word("Free up space, move the data folder, or keep less with --keep-messages and --media-quota."),
		},
		health.ClientOutdated: {
			"bad", web.Word("The platform refuses the version of the web client"), web.Word("Instances that lose their connection come back when a newer version is found."),
			web.Word("If none is found for hours, update Recado or set one with --platform-version."),
		},
		health.DatabaseSlow: {
			"wait", web.Word("The database is slow"), web.Word("It took more than 100 ms to respond, which slows down every message."),
			web.Word("Check what else is using the machine or the database."),
		},
		health.WebhooksSuspended: {
			"bad", web.Word("Webhooks are suspended"), web.Word("Their endpoints failed for so long that deliveries have stopped."),
			web.Word("Fix the endpoint, then resume the webhook on its instance's page."),
		},
		health.EventsWait: {
			"wait", web.Word("Many events are waiting"), web.Word("More than ten thousand events have yet to be delivered."),
			web.Word("Check the instances with waiting events: an endpoint is slow or failing."),
		},
		health.FilesFull: {
			"wait", web.Word("Downloaded files are running out of space"), web.Word("The oldest are removed to make room, and downloaded again when needed."),
			web.Word("Allow more with --media-quota."),
		},
		health.NoFFmpeg: {
			"info", web.Word("ffmpeg is not installed"), web.Word("Files that phones can't play are refused, and videos have no thumbnail."),
			web.Word("Install ffmpeg and restart the gateway."),
		},
	}[problem]
}
