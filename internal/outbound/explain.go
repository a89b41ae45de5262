package outbound

import (
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"syscall"
)

// Explain says why a request failed before it was answered, in words that can follow
// "it can't be fetched:". It returns "" if the connection just ended. The words contain
// no address: clients must not learn from them where a name leads. Callers explain
// ErrForbidden and the end of a context themselves.
func Explain(err error) string {
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		if dns.IsNotFound {
			return "its host does not exist"
		}
		return "its host can't be looked up"
	}
	if _, untrusted := errors.AsType[*tls.CertificateVerificationError](err); untrusted {
		return "its host's certificate can't be verified"
	}
	if _, plain := errors.AsType[tls.RecordHeaderError](err); plain || errors.Is(err, http.ErrSchemeMismatch) {
		return "its host does not speak TLS on that port"
	}
	op, ok := errors.AsType[*net.OpError](err)
	if !ok || op.Op != "dial" {
		return ""
	}
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "its host refused the connection (is it listening on that port?)"
	case op.Timeout():
		return "its host did not take the connection in time"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "there is no route to its host"
	default:
		return "its host can't be reached"
	}
}
