// Package client calls a Recado gateway: every operation of its API is a method
// with typed requests and answers, and every refusal is an *Error. The methods and the types are
// made from the gateway's OpenAPI document.
//
//	gateway := client.New("http://127.0.0.1:8080", apiKey)
//	sent, err := gateway.SendText(ctx, instanceID, client.Text{To: "5511988887766", Message: "Oi!"})
//
// Client.Follow reads events as they happen, and VerifyWebhook checks and reads the
// deliveries of a webhook. Lists come page by page (ListInstances) or as one
// sequence (Instances).
//
// The package needs only the standard library.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// maxAnswer bounds how much of an answer is read; the longest answers are pages of a
// hundred instances.
const maxAnswer = 8 << 20

// The default time-outs. The platform may answer late, and the files of a send take a while on a
// slow line; the gateway has the same time-out.
const (
	defaultTimeout         = time.Minute
	defaultPlatformTimeout = 5 * time.Minute
)

// Client calls one gateway with one API key. It is safe for concurrent use.
type Client struct {
	baseURL         string
	key             string
	http            *http.Client
	userAgent       string
	timeout         time.Duration
	platformTimeout time.Duration
}

// New makes a client of the gateway at baseURL, for example "http://127.0.0.1:8080".
// It does not connect; the first call fails if the address is wrong.
func New(baseURL, apiKey string, options ...Option) *Client {
	c := &Client{
		baseURL: strings.TrimRight(baseURL, "/"), key: apiKey,
		http: &http.Client{}, userAgent: "recado-go",
		timeout: defaultTimeout, platformTimeout: defaultPlatformTimeout,
	}
	for _, option := range options {
		option(c)
	}
	return c
}

// Option changes how a Client calls.
type Option func(*Client)

// WithHTTPClient makes the client use another http.Client, for proxies or
// certificates of your own. Its Timeout bounds calls as well, but not streams. No redirect is
// followed, whatever its CheckRedirect says: it would take the key, and the message, elsewhere.
func WithHTTPClient(client *http.Client) Option {
	return func(c *Client) { c.http = client }
}

// WithUserAgent names the program in the User-Agent header of every request.
func WithUserAgent(name string) Option {
	return func(c *Client) { c.userAgent = name }
}

// WithTimeout bounds each call that does not wait for the platform (default: 1 minute). Zero means
// no bound except the context's.
func WithTimeout(timeout time.Duration) Option {
	return func(c *Client) { c.timeout = timeout }
}

// WithSendTimeout bounds each call that waits for the platform, such as a send: the upload, and
// the wait (default: 5 minutes). Zero means no bound except the context's. A send that ran out of
// time may still arrive: repeat it with the same IdempotencyKey.
func WithSendTimeout(timeout time.Duration) Option {
	return func(c *Client) { c.platformTimeout = timeout }
}

// WithHTTPClient returns a client of the same gateway that uses another
// http.Client.
func (c *Client) WithHTTPClient(client *http.Client) *Client {
	other := *c
	other.http = client
	return &other
}

// errBadAddress is the error of a base URL that is not a URL.
var errBadAddress = errors.New("the address of the gateway is not a URL")

// request is one call, before it is made.
type request struct {
	method, path string
	query        query
	header       http.Header
	body         any   // encoded as JSON, unless nil
	file         *File // sent in a form together with the body; nil for none
	waits        bool  // for the platform
}

// answered is what an answer says beside its body.
type answered struct {
	status int
	header http.Header
}

// do carries out a request. The answer is decoded into out, unless that is nil;
// its status and its header are returned.
func (c *Client) do(ctx context.Context, r request, out any) (answered, error) {
	timeout := c.timeout
	if r.waits {
		timeout = c.platformTimeout
	}
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	httpRequest, err := c.newRequest(ctx, r)
	if err != nil {
		return answered{}, err
	}
	response, err := c.staying().Do(httpRequest)
	if err != nil {
		return answered{}, fmt.Errorf("call the gateway: %w", err)
	}
	defer func() { _ = response.Body.Close() }() // it was read to its end
	answer, err := readAnswer(response.Body)
	if err != nil {
		return answered{}, err
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		return answered{}, refusal(response, answer)
	}
	if out != nil {
		if err := json.Unmarshal(answer, out); err != nil {
			return answered{}, fmt.Errorf("decode the answer of the gateway: %w", err)
		}
	}
	return answered{status: response.StatusCode, header: response.Header}, nil
}

// staying is the http.Client for requests with the key: a redirect is an answer, and a refusal.
func (c *Client) staying() *http.Client {
	staying := *c.http
	staying.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &staying
}

func (c *Client) newRequest(ctx context.Context, r request) (*http.Request, error) {
	var body io.Reader
	contentType := "application/json"
	if r.body != nil {
		encoded, err := json.Marshal(r.body)
		if err != nil {
			return nil, fmt.Errorf("encode the request: %w", err)
		}
		body = bytes.NewReader(encoded)
		if r.file != nil {
			if body, contentType, err = newForm(encoded, *r.file); err != nil {
				return nil, err
			}
		}
	}
	address := c.baseURL + r.path
	if len(r.query) > 0 {
		address += "?" + url.Values(r.query).Encode()
	}
	made, err := http.NewRequestWithContext(ctx, r.method, address, body)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBadAddress, err)
	}
	made.Header.Set("Accept", "application/json")
	maps.Copy(made.Header, r.header)
	made.Header.Set("X-Api-Key", c.key)
	made.Header.Set("User-Agent", c.userAgent)
	if r.body != nil {
		made.Header.Set("Content-Type", contentType)
	}
	return made, nil
}

// readAnswer reads a body to its end.
func readAnswer(body io.Reader) ([]byte, error) {
	answer, err := io.ReadAll(io.LimitReader(body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("read the answer of the gateway: %w", err)
	}
	return answer, nil
}
