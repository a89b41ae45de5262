// How a node knows that a request comes from another one.

package forward

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"

	"github.com/recado-project/recado/internal/gateway"
)

// ticketHeader is the header of a request that another node has passed on:
// "<epoch> <client's address> <signature>".
const ticketHeader = "Recado-Forwarded"

// ticket says what the node that passed a request on believes.
type ticket struct {
	epoch  int64
	client string // host:port of the client
}

// sign adds a ticket to a request for the owner of an instance. The signature is valid for this node and
// this request alone, and does not reveal the secret.
func (f *Forwarder) sign(out, in *http.Request, tenure gateway.Tenure) {
	t := ticket{tenure.Epoch, in.RemoteAddr}
	out.Header.Set(ticketHeader, strconv.FormatInt(t.epoch, 10)+" "+t.client+" "+signature(f.config.Secret, t, tenure.Node, out.Method, out.URL.RequestURI()))
}

func signature(secret string, t ticket, node, method, uri string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(strings.Join([]string{strconv.FormatInt(t.epoch, 10), t.client, node, method, uri}, "\n")))
	return hex.EncodeToString(mac.Sum(nil))
}

// admit reads the ticket of a request, and reports whether it is valid: then the request has come from
// another node, and admit sets the address of the client. It removes the header in any case.
func (f *Forwarder) admit(r *http.Request) (ticket, bool) {
	text := r.Header.Get(ticketHeader)
	r.Header.Del(ticketHeader)
	parts := strings.Split(text, " ")
	if len(parts) != 3 || f.config.Secret == "" {
		return ticket{}, false
	}
	epoch, err := strconv.ParseInt(parts[0], 10, 64)
	t := ticket{epoch, parts[1]}
	if err != nil {
		return ticket{}, false
	}
	for _, secret := range []string{f.config.Secret, f.config.OtherSecret} {
		if secret != "" && hmac.Equal([]byte(parts[2]), []byte(signature(secret, t, f.config.Node.ID(), r.Method, r.URL.RequestURI()))) {
			r.RemoteAddr = t.client
			return t, true
		}
	}
	return ticket{}, false
}
