// The addresses at which this gateway and the other nodes are reached.

package doctor

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/recado-project/recado/internal/media"
)

const (
	day = 24 * time.Hour
	// expiresSoon is from when a certificate should have been renewed, expiresNow from when it
	// is urgent.
	expiresSoon, expiresNow = 21 * day, 3 * day
	// longestAnswer bounds what is read of an answer.
	longestAnswer = 64 << 10
)

// public says whether --public-url leads to a gateway, with a certificate that lasts.
func (e *examination) public(ctx context.Context) []Finding {
	const name = "public address"
	address := e.config.Server.PublicURL
	if address == "" {
		return []Finding{ok(name, "--public-url is not set: links begin with the Host of the request")}
	}
	var findings []Finding
	if parsed, err := url.Parse(address); err == nil && parsed.Scheme == "https" {
		certificate := e.certificate(ctx, parsed)
		if findings = append(findings, certificate); certificate.State == Wrong {
			return findings
		}
	}
	shown := redacted(address)
	said, err := ask(ctx, address, "/readyz")
	switch {
	case err != nil:
		return append(findings, warning(name, "see whether the gateway and the proxy in front run; if only this machine can't reach the address, ask from elsewhere",
			"%s can't be reached from here: %s", shown, err))
	case !said.isGateway:
		return append(findings, wrong(name, "let the proxy pass every path on to the gateway", "%s leads to something else than a gateway: it answers %d", shown, said.status))
	case said.status != http.StatusOK:
		return append(findings, warning(name, "see what else is found here, and the gateway's log", "%s leads to a gateway that is not ready", shown))
	}
	switch e.sameData(ctx, address) {
	case foreign:
		return append(findings, wrong(name, "correct --public-url, or where the proxy in front leads", "%s leads to a gateway with other data than these", shown))
	case same:
		return append(findings, ok(name, "%s leads to this gateway, which is ready", shown))
	default:
		return append(findings, ok(name, "%s leads to a gateway that is ready; whether it is this one can't be seen", shown))
	}
}

// redacted is a web address without a password.
func redacted(address string) string {
	parsed, err := url.Parse(address)
	if err != nil {
		return "the address"
	}
	return parsed.Redacted()
}

// relation says whether a gateway has the same data.
type relation int

const (
	unknown relation = iota
	same
	foreign
)

// linkLifetime is how long that link works: longer than clocks may differ.
const linkLifetime = 10 * time.Minute

// sameData finds out whether the gateway at an address has the same data as this one. It follows a download
// link to a message that does not exist: a gateway with another secret answers that the link is forged,
// this one that the message does not exist.
func (e *examination) sameData(ctx context.Context, base string) relation {
	if e.vault == nil {
		return unknown
	}
	secret, found, err := e.database.Secret(ctx, e.vault, "links")
	if err != nil || !found {
		return unknown
	}
	links, err := media.NewLinks(media.LinksConfig{Secret: secret, Now: e.config.Now})
	if err != nil {
		return unknown
	}
	said, err := ask(ctx, base, links.URL("", uuid.NewString()+"/"+uuid.NewString(), "doctor", linkLifetime))
	switch {
	case err != nil || !said.isGateway:
		return unknown
	case said.status == http.StatusForbidden:
		return foreign
	case said.status == http.StatusNotFound:
		return same
	}
	return unknown
}

// certificate says whether the certificate of an address is valid, and for how long.
func (e *examination) certificate(ctx context.Context, address *url.URL) Finding {
	const name = "certificate"
	host := address.Host
	if address.Port() == "" {
		host = net.JoinHostPort(address.Hostname(), "443")
	}
	// The certificate is checked here, so that the finding can say what is wrong with it.
	dialer := &tls.Dialer{Config: &tls.Config{MinVersion: tls.VersionTLS12, Time: e.config.Now}}
	conn, err := dialer.DialContext(ctx, "tcp", host)
	if err != nil {
		if _, untrusted := errors.AsType[*tls.CertificateVerificationError](err); untrusted {
			return wrong(name, "renew it, with the name and the whole chain; look at the proxy in front", "%s", err)
		}
		return warning(name, "see whether the proxy in front runs; if only this machine can't reach the address, ask from elsewhere", "%s can't be reached from here: %s", host, err)
	}
	defer func() { _ = conn.Close() }()
	until := conn.(*tls.Conn).ConnectionState().PeerCertificates[0].NotAfter
	left := until.Sub(e.config.Now())
	text := fmt.Sprintf("that of %s is valid until %s, %d days", host, until.UTC().Format(time.DateOnly), int(left/day))
	switch {
	case left < expiresNow:
		return wrong(name, "renew it now, and see why it does not happen by itself", "%s", text)
	case left < expiresSoon:
		return warning(name, "renew it, and see why it does not happen by itself", "%s", text)
	}
	return ok(name, "%s", text)
}

// answer is what an address has said.
type answer struct {
	status    int
	isGateway bool // it answers in the way of a gateway
}

// ask sends a request for path to the address of a gateway, directly and on a new connection. It follows no
// redirects. Its error does not contain the address.
func ask(ctx context.Context, base, path string) (answer, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(base, "/")+path, http.NoBody)
	if err != nil {
		return answer{}, errors.New("it is not a web address")
	}
	transport := &http.Transport{DisableKeepAlives: true, ForceAttemptHTTP2: true}
	defer transport.CloseIdleConnections()
	response, err := transport.RoundTrip(request)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(io.LimitReader(response.Body, longestAnswer))
	if err != nil {
		return answer{}, err
	}
	var said struct {
		Status string `json:"status"`
		Error  string `json:"error"`
	}
	is := json.Unmarshal(content, &said) == nil && (said.Status == "ok" || said.Error != "")
	return answer{response.StatusCode, is}, nil
}

// otherNodes says whether the processes that share the database can be reached from here.
func (e *examination) otherNodes(ctx context.Context) []Finding {
	const name = "nodes"
	switch {
	case !e.isPostgres():
		return []Finding{ok(name, "this gateway is alone: only processes on one PostgreSQL database are nodes")}
	case e.database == nil || e.version == 0:
		return e.unopened(name)
	}
	findings := make([]Finding, len(e.nodes))
	var group sync.WaitGroup
	for i, node := range e.nodes {
		group.Go(func() {
			about := fmt.Sprintf("the node on %s (%s)", node.Name, node.Address)
			switch {
			case node.Lease <= 0:
				findings[i] = warning(name, "nothing, if it was stopped: the others take its instances over; otherwise look at its log", "%s is dead", about)
			case node.Address == "":
				findings[i] = ok(name, "the gateway on %s has the database to itself", node.Name)
			default:
				findings[i] = e.askNode(ctx, about, node.Address)
			}
			if findings[i].State == OK && node.Draining {
				findings[i] = warning(name, "recado nodes resume, if it is to work again", "%s is drained", about)
			}
		})
	}
	group.Wait()
	if len(findings) == 0 {
		findings = []Finding{ok(name, "no process works with the database at the moment")}
	}
	return slices.Concat(findings, e.agreement(ctx))
}

func (e *examination) askNode(ctx context.Context, about, address string) Finding {
	const name = "nodes"
	said, err := ask(ctx, address, "/healthz")
	switch {
	case err != nil:
		return wrong(name, "let this machine reach it: its --advertise must be an address that the other nodes reach, and no firewall in between", "%s lives, but can't be reached from here: %s", about, err)
	case !said.isGateway:
		return wrong(name, "correct its --advertise", "%s lives, but something else answers there, with %d", about, said.status)
	}
	if e.sameData(ctx, address) == foreign {
		return wrong(name, "correct its --advertise", "%s lives, but a gateway with other data answers there", about)
	}
	return ok(name, "%s answers", about)
}
