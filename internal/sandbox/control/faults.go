package control

import (
	"net/http"
	"time"

	"github.com/recado-project/recado/internal/sandbox/fault"
	"github.com/recado-project/recado/internal/sandbox/webclient"
)

// setFaults replaces all faults. Fields that are left out are off.
func (a *api) setFaults(r *http.Request) (any, error) {
	var body struct {
		AckDelayMs   float64 `json:"ackDelayMs"`
		DropAcks     float64 `json:"dropAcks"`
		SendError    int     `json:"sendError"`
		RefuseLogins bool    `json:"refuseLogins"`
		Outdated     bool    `json:"outdated"`

		OldestVersion string            `json:"oldestVersion"`
		NewestVersion string            `json:"newestVersion"`
		VersionPage   webclient.Failure `json:"versionPage"`

		Silent                 fault.Silence `json:"silent"`
		StallMediaAfterBytes   *int64        `json:"stallMediaAfterBytes"`
		StallHistoryAfterBytes *int64        `json:"stallHistoryAfterBytes"`
		MediaPaddingBytes      int64         `json:"mediaPaddingBytes"`
		DropHandles            bool          `json:"dropHandles"`
	}
	if err := decode(r, &body, true); err != nil {
		return nil, err
	}
	if body.AckDelayMs > maxDelayMs {
		return nil, validation(detail{"ackDelayMs", "must be at most an hour"})
	}
	oldest, err := version("oldestVersion", body.OldestVersion)
	if err != nil {
		return nil, err
	}
	newest, err := version("newestVersion", body.NewestVersion)
	if err != nil {
		return nil, err
	}
	return nil, a.config.Faults.Set(fault.Faults{
		AckDelay: time.Duration(body.AckDelayMs * float64(time.Millisecond)), DropAcks: body.DropAcks,
		SendError: body.SendError, RefuseLogins: body.RefuseLogins, Outdated: body.Outdated,
		OldestVersion: oldest, NewestVersion: newest, VersionPage: body.VersionPage,
		Silent: body.Silent, StallMedia: body.StallMediaAfterBytes, StallHistory: body.StallHistoryAfterBytes,
		MediaPadding: body.MediaPaddingBytes, DropHandles: body.DropHandles,
	})
}

// version reads a version of the web client.
func version(field, text string) (webclient.Version, error) {
	found, err := webclient.Parse(text)
	if err != nil {
		return found, validation(detail{field, err.Error()})
	}
	return found, nil
}

const maxDelayMs = 3_600_000

// disconnect cuts connections without a last node.
func (a *api) disconnect(r *http.Request) (any, error) {
	var body struct {
		Number string `json:"number"`
	}
	if err := decode(r, &body, true); err != nil {
		return nil, err
	}
	return nil, a.config.Sessions.Disconnect(r.Context(), body.Number)
}
