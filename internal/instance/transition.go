package instance

import "github.com/recado-project/recado/internal/gateway"

// occurrence is what moves an instance from one status to another.
type occurrence int

const (
	started        occurrence = iota // a code was asked for, or a restart
	resumed                          // the process starts
	codeShown                        // the platform asks for a scan
	codesExpired                     // the last code ran out
	paired                           // scanned and accepted
	connected                        // the session is up
	connectionLost                   // the session is down and will be made anew
	refused                          // banned, replaced, client outdated for good
	outdated                         // the client is outdated; the session waits for a newer version
	loggedOut                        // logged out here
	unlinked                         // unlinked on the phone
	stopped                          // stopped by its user
	paymentPending                   // marked by the partner
	paymentSettled                   // marked by the partner
	described                        // something about the account became known
)

// next is the state machine of an instance: the status that follows, which is the same one if
// nothing changes. linked says whether the
// instance holds the keys of a session when the occurrence comes.
func (o occurrence) next(from gateway.Status, linked bool) gateway.Status {
	if from == gateway.StatusPaymentPending && o != paymentSettled {
		return from
	}
	switch o {
	case started:
		return gateway.StatusConnecting
	case resumed:
		return resumeStatus(from, linked)
	case codeShown:
		return when(from == gateway.StatusConnecting, gateway.StatusPendingQR, from)
	case codesExpired:
		return when(isRunning(from), gateway.StatusQRTimeout, from)
	case paired, connectionLost:
		return when(isRunning(from), gateway.StatusConnecting, from)
	case connected: // out of an error too: only a session whose version was refused goes on there
		return when(isRunning(from) || from == gateway.StatusError, gateway.StatusConnected, from)
	case refused, outdated:
		return when(isRunning(from), gateway.StatusError, from)
	case loggedOut:
		keeps := from == gateway.StatusManuallyStopped || !linked && !isRunning(from)
		return when(keeps, from, gateway.StatusStopped)
	case unlinked:
		return when(from == gateway.StatusManuallyStopped, from, gateway.StatusStopped)
	case stopped:
		return gateway.StatusManuallyStopped
	case paymentPending:
		return gateway.StatusPaymentPending
	case paymentSettled:
		if from != gateway.StatusPaymentPending {
			return from
		}
		return when(linked, gateway.StatusConnecting, gateway.StatusCreated)
	case described:
	}
	return from
}

// resumeStatus is the status of an instance when the process starts: a linked one connects
// again by itself unless it was stopped; a code that was being shown is void.
func resumeStatus(from gateway.Status, linked bool) gateway.Status {
	switch from {
	case gateway.StatusConnected, gateway.StatusConnecting, gateway.StatusPendingQR:
		return when(linked, gateway.StatusConnecting, gateway.StatusQRTimeout)
	case gateway.StatusError:
		return when(linked, gateway.StatusConnecting, from)
	default:
		return from
	}
}

// isRunning reports whether a session exists in that status.
func isRunning(status gateway.Status) bool {
	switch status {
	case gateway.StatusConnecting, gateway.StatusPendingQR, gateway.StatusConnected:
		return true
	default:
		return false
	}
}

func when(condition bool, then, otherwise gateway.Status) gateway.Status {
	if condition {
		return then
	}
	return otherwise
}

// reason is the reason of a status that the occurrence leads to; empty for none.
func (o occurrence) reason() gateway.Reason {
	switch o {
	case codesExpired:
		return gateway.ReasonQRExpired
	case connectionLost:
		return gateway.ReasonConnectionLost
	case loggedOut:
		return gateway.ReasonLoggedOut
	case unlinked:
		return gateway.ReasonUnlinked
	case stopped:
		return gateway.ReasonStopped
	case paymentPending:
		return gateway.ReasonPayment
	default:
		return ""
	}
}
