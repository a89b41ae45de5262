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
			web.Word("Show the code and scan it with the phone whose account is to send."),
		}
	case gateway.StatusConnecting:
		if i.Reason.IsProxy() {
			return proxyState(i.Reason)
		}
		return state{"wait", web.Word("Connecting"), web.Word("The gateway is connecting to the platform. That takes a few seconds."), ""}
	case gateway.StatusPendingQR:
		return state{
			"info", web.Word("Waits for a scan"), web.Word("The code is shown and waits for a phone."),
			web.Word("Open the messenger on the phone, choose linked devices, and scan the code."),
		}
	case gateway.StatusConnected:
		return state{"good", web.Word("Connected"), web.Word("Messages go out and come in."), ""}
	case gateway.StatusManuallyStopped:
		return state{
			"", web.Word("Stopped"), web.Word("Somebody stopped this instance. Its link is kept."),
			web.Word("Restart it: no new code is needed."),
		}
	case gateway.StatusQRTimeout:
		return state{
			"wait", web.Word("Code expired"), web.Word("Nobody scanned a code in time."),
			web.Word("Show a new code when the phone is at hand."),
		}
	case gateway.StatusPaymentPending:
		return state{
			"bad", web.Word("Payment pending"), web.Word("The partner marked this instance as unpaid. Its link is kept."),
			web.Word("It comes back by itself when the partner marks it as paid."),
		}
	case gateway.StatusStopped:
		return stoppedState(i.Reason)
	default:
		return failedState(i.Reason)
	}
}

// proxyState says why an instance does not come through its proxy.
func proxyState(reason gateway.Reason) state {
	s := state{"bad", web.Word("Proxy fails"), "", web.Word("It is tried again by itself, and never without the proxy. Mend the proxy, or change it in the settings.")}
	switch reason {
	case gateway.ReasonProxyAuth:
		s.Why = web.Word("The proxy does not take its user name and password.")
	case gateway.ReasonProxyPlatform:
		s.Why = web.Word("The proxy does not reach the platform.")
	default:
		s.Why = web.Word("The proxy can't be reached.")
	}
	return s
}

// stoppedState says why nothing is linked any more.
func stoppedState(reason gateway.Reason) state {
	s := state{"", web.Word("Not linked"), "", web.Word("Show the code to link a phone again.")}
	switch reason {
	case gateway.ReasonUnlinked:
		s.Tone, s.Why = "bad", web.Word("The device was removed on the phone, or the platform removed it.")
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
		s.Next = web.Word("Open the messenger on the phone: it says how long, and lets you ask for a review. Then restart.")
	case gateway.ReasonReplaced:
		s.Why = web.Word("Another program connected with the same link.")
		s.Next = web.Word("Stop the other program, then restart this instance.")
	case gateway.ReasonClientOutdated:
		s.Why = web.Word("The platform refuses this version of the client as outdated.")
		s.Next = web.Word("Newer versions are looked up, and the instance comes back by itself. The page Health says how that goes.")
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
