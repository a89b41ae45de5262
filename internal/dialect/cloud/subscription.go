// Subscriptions: webhooks that clients make for themselves.

package cloud

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/outbound"
)

// handshakeWait bounds a handshake with an endpoint, maxChallenge what is read of its answer.
const (
	handshakeWait = 10 * time.Second
	maxChallenge  = 1 << 10
)

// newHandshakes makes what handshakes are made with. A guard that is nil lets them go anywhere.
func newHandshakes(guard *outbound.Guard) *http.Client {
	dialer := &net.Dialer{Timeout: handshakeWait, Control: guard.Control}
	return &http.Client{
		Timeout: handshakeWait,
		// Without a proxy, which would connect in our place, past the guard, and without connections that stay.
		Transport:     &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// subscribedApp is an app that gets the webhooks of a business account.
type subscribedApp struct {
	Data subscribedAppData `json:"whatsapp_business_api_data"`
}

type subscribedAppData struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// listSubscribedApps lists the gateway itself, which every account is subscribed to.
func listSubscribedApps(*call) (any, error) {
	return pageOf(subscribedApp{subscribedAppData{ID: appID, Name: appName}}), nil
}

// subscription is the body of a request to subscribe an app.
type subscription struct {
	Callback string `json:"override_callback_uri"`
	Token    string `json:"verify_token"`
}

// isCloud reports whether a webhook speaks the dialect.
func isCloud(hook client.Webhook) bool {
	_, ours := Formats()[hook.Format]
	return ours
}

// subscribeApp makes a webhook of an address that proves that it wants one. What is posted there names the account as
// the request does: clients compare the ID with that in their settings. Without an address there is nothing to do.
func subscribeApp(c *call) (any, error) {
	asked := subscription{Callback: c.http.URL.Query().Get("override_callback_uri"), Token: c.http.URL.Query().Get("verify_token")}
	if err := c.decode(&asked); err != nil {
		return nil, err
	}
	if asked.Callback == "" {
		return success{true}, nil
	}
	if err := c.cloud.shakeHands(c.http.Context(), asked); err != nil {
		return nil, err
	}
	format := FormatName
	if c.byInstance() {
		format = FormatNameByInstance
	}
	for each, err := range c.api.Webhooks(c.http.Context(), c.instance.InstanceID) {
		if err != nil {
			return nil, err
		}
		if !isCloud(each) || each.URL != asked.Callback || !each.IsActive {
			continue
		}
		if each.Format == format || each.AccountWebhookID != nil {
			return success{true}, nil
		}
		_, err := c.api.ChangeWebhook(c.http.Context(), c.instance.InstanceID, each.ID, client.WebhookChange{Format: &format})
		return success{true}, err
	}
	_, err := c.api.CreateWebhook(c.http.Context(), c.instance.InstanceID, client.NewWebhook{URL: asked.Callback, Format: format})
	return success{true}, err
}

// unsubscribeApp deletes the webhooks that speak the dialect.
func unsubscribeApp(c *call) (any, error) {
	var found []string
	for each, err := range c.api.Webhooks(c.http.Context(), c.instance.InstanceID) {
		if err != nil {
			return nil, err
		}
		if isCloud(each) && each.AccountWebhookID == nil {
			found = append(found, each.ID)
		}
	}
	for _, id := range found {
		if err := c.api.DeleteWebhook(c.http.Context(), c.instance.InstanceID, id); err != nil {
			return nil, err
		}
	}
	return success{true}, nil
}

// shakeHands asks an endpoint to repeat a challenge, which it does if it knows the token.
func (c *Cloud) shakeHands(ctx context.Context, with subscription) error {
	address, err := url.Parse(with.Callback)
	if err != nil || address.Scheme != "http" && address.Scheme != "https" || address.Host == "" {
		return invalid("override_callback_uri must be an absolute http or https URL")
	}
	challenge, err := newChallenge()
	if err != nil {
		return err
	}
	query := address.Query()
	query.Set("hub.mode", "subscribe")
	query.Set("hub.verify_token", with.Token)
	query.Set("hub.challenge", challenge)
	address.RawQuery = query.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), http.NoBody)
	if err != nil {
		return invalid("override_callback_uri is no address")
	}
	request.Header.Set("User-Agent", "Recado")
	response, err := c.handshakes.Do(request)
	if err != nil {
		return failedHandshake("it can't be reached: " + why(err))
	}
	defer func() { _ = response.Body.Close() }() // it was only read
	if response.StatusCode != http.StatusOK {
		return failedHandshake(fmt.Sprintf("it answered the status %d: is the verify_token its own?", response.StatusCode))
	}
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxChallenge))
	if err != nil || strings.Trim(strings.TrimSpace(string(answer)), `"`) != challenge {
		return failedHandshake("it did not answer with hub.challenge")
	}
	return nil
}

// why says why there was no answer, without an address: a client must not learn from us what is behind a name.
func why(err error) string {
	if errors.Is(err, outbound.ErrForbidden) {
		return "its address is private, and webhooks are not delivered there"
	}
	if known := outbound.Explain(err); known != "" {
		return known
	}
	return "there was no answer in time"
}

func failedHandshake(details string) error {
	return &graphError{status: http.StatusBadRequest, code: numberCallback, title: "Callback verification failed", details: "The endpoint was not verified: " + details + "."}
}

// newChallenge makes a number that clients can read as one without losing digits: below 2⁵³, without a zero
// in front.
func newChallenge() (string, error) {
	const least = 1 << 52
	number, err := rand.Int(rand.Reader, big.NewInt(least))
	if err != nil {
		return "", err
	}
	return number.Add(number, big.NewInt(least)).String(), nil
}
