// The platform's faults.

package page

import (
	"math"
	"time"

	"github.com/recado-project/recado/internal/sandbox/fault"
	"github.com/recado-project/recado/internal/sandbox/refusal"
	"github.com/recado-project/recado/internal/sandbox/webclient"
	"github.com/recado-project/recado/internal/web"
)

// silence is a step of connecting at which the platform can fall silent.
type silence struct {
	Step fault.Silence
	Name web.Word
	On   bool
}

// versionPage is a way in which the page that names the newest version can fail.
type versionPage struct {
	Failure webclient.Failure
	Name    web.Word
	On      bool
}

// askFaults answers with the dialog of the platform's faults.
func (p *Page) askFaults(r *request) error {
	current := p.config.Faults.Current()
	steps := []silence{
		{"", web.Word("never"), false},
		{fault.SilentConnection, web.Word("before TLS"), false},
		{fault.SilentUpgrade, web.Word("before the websocket opens"), false},
		{fault.SilentHandshake, web.Word("before keys are exchanged"), false},
		{fault.SilentLogin, web.Word("before the log-in is answered"), false},
	}
	for n := range steps {
		steps[n].On = steps[n].Step == current.Silent
	}
	pages := []versionPage{
		{"", web.Word("works"), false},
		{webclient.Down, web.Word("is down"), false},
		{webclient.Garbage, web.Word("names none"), false},
		{webclient.Huge, web.Word("is 100 MB long"), false},
		{webclient.Endless, web.Word("never ends"), false},
	}
	for n := range pages {
		pages[n].On = pages[n].Failure == current.VersionPage
	}
	return r.dialog("faults", struct {
		fault.Faults

		AckDelayMs, LostPercent int64
		Steps                   []silence
		Pages                   []versionPage
		Library                 webclient.Version
		Any                     bool
	}{
		current.Faults, current.AckDelay.Milliseconds(), int64(math.Round(current.DropAcks * 100)), steps, pages,
		webclient.Newest(), current.Any(),
	})
}

// setFaults replaces all faults.
func (p *Page) setFaults(r *request) error {
	if err := r.read(); err != nil {
		return err
	}
	if r.on("none") {
		if err := p.config.Faults.Set(fault.Faults{}); err != nil {
			return err
		}
		return r.done(web.Word("All faults are off."))
	}
	numbers := map[string]*int64{}
	for _, field := range []string{"ackDelay", "lost", "sendError", "stallMedia", "stallHistory", "padding"} {
		value, err := r.integer(field)
		if err != nil {
			return err
		}
		numbers[field] = value
	}
	value := func(field string) int64 {
		if numbers[field] == nil {
			return 0
		}
		return *numbers[field]
	}
	if value("ackDelay") > maxAckDelay || value("sendError") > maxCode {
		return refusal.Invalidf("", "a number is too large")
	}
	versions := map[string]webclient.Version{}
	for _, field := range []string{"oldestVersion", "newestVersion"} {
		version, err := webclient.Parse(r.field(field))
		if err != nil {
			return refusal.Invalidf(field, "a version %s", err)
		}
		versions[field] = version
	}
	err := p.config.Faults.Set(fault.Faults{
		AckDelay: time.Duration(value("ackDelay")) * time.Millisecond, DropAcks: float64(value("lost")) / 100,
		SendError: int(value("sendError")), RefuseLogins: r.on("refuseLogins"), Outdated: r.on("outdated"),
		OldestVersion: versions["oldestVersion"], NewestVersion: versions["newestVersion"], VersionPage: webclient.Failure(r.field("versionPage")),
		Silent: fault.Silence(r.field("silent")), StallMedia: numbers["stallMedia"], StallHistory: numbers["stallHistory"],
		MediaPadding: value("padding"),
	})
	if err != nil {
		return err
	}
	return r.done(web.Word("The faults are set."))
}

const (
	maxAckDelay = 3_600_000 // an hour, in milliseconds
	maxCode     = 999
)

// disconnect cuts all connections of clients.
func (p *Page) disconnect(r *request) error {
	if err := p.config.Sessions.Disconnect(r.Context(), ""); err != nil {
		return err
	}
	return r.done(web.Word("The connections were cut."))
}
