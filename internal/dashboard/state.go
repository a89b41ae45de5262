// The state of something in words, above all of an instance: why it is as it is, and what
// comes next.

package dashboard

import (
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/web"
)

// state is how something is doing, for people: an instance, a key, a delivery.
type state struct {
	Tone web.Word // a colour's name: good, wait, bad, info, or nothing
	Name web.Word // the status in one or two words
	Why  web.Word // what it means, and why it came so
	Next web.Word // what to do now; empty if nothing needs to be done
}

// stateOf says how an instance is doing.
func stateOf(i gateway.Instance) state {
	switch i.Status {
	case gateway.StatusCreated:
		return state{
			"", web.Word("New"), web.Word("No phone is linked to this instance yet."),
			web.Word("Show the QR code and scan it with the phone of the account that will send."),
		}
	case gateway.StatusConnecting:
		if i.Reason.IsProxy() {
			return proxyState(i.Reason)
		}
		return state{"wait", web.Word("Connecting"), web.Word("The gateway is connecting to the platform. That takes a few seconds."), ""}
	case gateway.StatusPendingQR:
		return state{
			"info", web.Word("Waiting for scan"), web.Word("The code is on the screen, waiting for a phone."),
			web.Word("Open the messenger on the phone, go to Linked devices and scan the code."),
		}
	case gateway.StatusConnected:
		return state{"good", web.Word("Connected"), web.Word("Ready to send and receive."), ""}
	case gateway.StatusManuallyStopped:
		return state{
			"", web.Word("Stopped"), web.Word("Somebody stopped this instance."),
			web.Word("Restart it: no new code is needed."),
		}
	case gateway.StatusQRTimeout:
		return state{
			"wait", web.Word("Code expired"), web.Word("Nobody scanned the code in time."),
			web.Word("Show a new code when you have the phone at hand."),
		}
	case gateway.StatusPaymentPending:
		return state{
			"bad", web.Word("Payment pending"), web.Word("The partner marked this instance as unpaid."),
			web.Word("It reconnects automatically once the partner marks it as paid."),
		}
	case gateway.StatusStopped:
		return stoppedState(i.Reason)
	default:
		return failedState(i.Reason)
	}
}

// proxyState says why an instance does not come through its proxy.
func proxyState(reason gateway.Reason) state {
	s := state{"bad", web.Word("Proxy error"), "", web.Word("It keeps trying, and never without the proxy. Fix the proxy, or change it in the settings.")}
	switch reason {
	case gateway.ReasonProxyAuth:
		s.Why = web.Word("The proxy rejects the user name and password.")
	case gateway.ReasonProxyPlatform:
		s.Why = web.Word("The proxy can't reach the platform.")
	default:
		s.Why = web.Word("The proxy can't be reached.")
	}
	return s
}

// stoppedState says why nothing is linked any more.
func stoppedState(reason gateway.Reason) state {
	s := state{"", web.Word("Not linked"), "", web.Word("Show the QR code to link a phone again.")}
	switch reason {
	case gateway.ReasonUnlinked:
		s.Tone, s.Why = "bad", web.Word("The device was removed on the phone or by the platform.")
	case gateway.ReasonLoggedOut:
		s.Why = web.Word("This instance was logged out here.")
	default:
		s.Why = web.Word("No phone is linked to this instance any more.")
	}
	return s
}

// failedState says why the platform does not let the instance in.
func failedState(reason gateway.Reason) state {
	s := state{Tone: "bad", Name: web.Word("Error")}
	switch reason {
	case gateway.ReasonBanned:
		s.Why = web.Word("The platform has banned this account.")
		s.Next = web.Word("Open the messenger on the phone to see for how long and to ask for a review. Then restart.")
	case gateway.ReasonReplaced:
		s.Why = web.Word("Another program connected as the same device.")
		s.Next = web.Word("Stop the other program, then restart this instance.")
	case gateway.ReasonClientOutdated:
		s.Why = web.Word("The platform refuses this version of the client as outdated.")
		s.Next = web.Word("A newer version is being looked for, and the instance reconnects automatically. The Health page shows the progress.")
	default:
		s.Why = web.Word("The platform refused the connection.")
		s.Next = web.Word("Restart the instance. If that does not help, the log says more.")
	}
	return s
}

// running reports whether the instance has a session.
func running(status gateway.Status) bool {
	switch status {
	case gateway.StatusConnecting, gateway.StatusPendingQR, gateway.StatusConnected:
		return true
	default:
		return false
	}
}
