package instance

import (
	"testing"

	"github.com/recado-project/recado/internal/gateway"
)

// Each occurrence leads from each status to the next one, or changes nothing.
func TestNext(t *testing.T) {
	t.Parallel()
	const (
		linked    = true
		notLinked = false
	)
	cases := []struct {
		name   string
		from   []gateway.Status
		event  occurrence
		linked bool
		to     gateway.Status // empty: stays
	}{
		{"a code is asked for", []gateway.Status{"created", "stopped", "manually_stopped", "qr_timeout", "error"}, started, notLinked, "connecting"},
		{"restart, linked", []gateway.Status{"connected", "connecting", "manually_stopped", "error"}, started, linked, "connecting"},
		{"restart while a code is shown", []gateway.Status{"pending_qr_code_scan"}, started, notLinked, "connecting"},
		{"restart without payment", []gateway.Status{"payment_pending"}, started, linked, ""},

		{"process start, linked", []gateway.Status{"connected", "connecting", "error", "pending_qr_code_scan"}, resumed, linked, "connecting"},
		{"process start, code died", []gateway.Status{"connecting", "pending_qr_code_scan"}, resumed, notLinked, "qr_timeout"},
		{"process start, resting", []gateway.Status{"created", "stopped", "manually_stopped", "qr_timeout", "payment_pending"}, resumed, linked, ""},
		{"process start, error without keys", []gateway.Status{"error"}, resumed, notLinked, ""},

		{"code shown", []gateway.Status{"connecting"}, codeShown, notLinked, "pending_qr_code_scan"},
		{"next code shown", []gateway.Status{"pending_qr_code_scan"}, codeShown, notLinked, ""},
		{"code shown too late", []gateway.Status{"manually_stopped", "stopped", "payment_pending"}, codeShown, notLinked, ""},
		{"last code expired", []gateway.Status{"pending_qr_code_scan"}, codesExpired, notLinked, "qr_timeout"},
		{"scanned", []gateway.Status{"pending_qr_code_scan"}, paired, linked, "connecting"},
		{"session accepted", []gateway.Status{"connecting"}, connected, linked, "connected"},
		{"session accepted with a newer version", []gateway.Status{"error"}, connected, linked, "connected"},
		{"session accepted too late", []gateway.Status{"manually_stopped", "payment_pending", "stopped"}, connected, linked, ""},
		{"connection lost", []gateway.Status{"connected"}, connectionLost, linked, "connecting"},
		{"connection lost again", []gateway.Status{"connecting"}, connectionLost, linked, ""},
		{"connection lost, stopped", []gateway.Status{"manually_stopped", "payment_pending"}, connectionLost, linked, ""},
		{"refused for good", []gateway.Status{"connecting", "connected", "pending_qr_code_scan"}, refused, linked, "error"},
		{"refused, stopped by then", []gateway.Status{"manually_stopped", "payment_pending"}, refused, linked, ""},

		{"version refused", []gateway.Status{"connecting", "connected", "pending_qr_code_scan"}, outdated, linked, "error"},
		{"version refused again", []gateway.Status{"error", "manually_stopped", "payment_pending"}, outdated, linked, ""},

		{"logged out here", []gateway.Status{"connected", "connecting", "error", "stopped"}, loggedOut, linked, "stopped"},
		{"linking ended", []gateway.Status{"connecting", "pending_qr_code_scan"}, loggedOut, notLinked, "stopped"},
		{"logged out, nothing linked", []gateway.Status{"created", "qr_timeout", "error", "manually_stopped"}, loggedOut, notLinked, ""},
		{"logged out, keeps its status", []gateway.Status{"manually_stopped", "payment_pending"}, loggedOut, linked, ""},
		{"unlinked on the phone", []gateway.Status{"connected", "connecting"}, unlinked, linked, "stopped"},
		{"unlinked, keeps its status", []gateway.Status{"manually_stopped", "payment_pending"}, unlinked, linked, ""},

		{"stopped", []gateway.Status{"created", "connecting", "pending_qr_code_scan", "connected", "stopped", "error", "qr_timeout"}, stopped, linked, "manually_stopped"},
		{"stopped without payment", []gateway.Status{"payment_pending"}, stopped, linked, ""},
		{"payment pending", []gateway.Status{"created", "connecting", "pending_qr_code_scan", "connected", "stopped", "manually_stopped", "error", "qr_timeout"}, paymentPending, linked, "payment_pending"},
		{"payment settled, linked", []gateway.Status{"payment_pending"}, paymentSettled, linked, "connecting"},
		{"payment settled, not linked", []gateway.Status{"payment_pending"}, paymentSettled, notLinked, "created"},
		{"payment settled, was not pending", []gateway.Status{"connected", "stopped"}, paymentSettled, linked, ""},
		{"a name became known", []gateway.Status{"connected", "connecting", "stopped"}, described, linked, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, from := range c.from {
				want := c.to
				if want == "" {
					want = from
				}
				if got := c.event.next(from, c.linked); got != want {
					t.Errorf("from %s: got %s, want %s", from, got, want)
				}
			}
		})
	}
}
