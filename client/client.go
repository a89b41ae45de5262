// Package client calls a Recado gateway. Its methods are the operations of the
// API, one each, with typed requests and answers; every refusal is an *Error.
//
//	gateway := client.New("http://127.0.0.1:8080", apiKey)
//	sent, err := gateway.SendText(ctx, instanceID, client.Text{To: "5511988887766", Message: "Oi!"})
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
	"strconv"
	"strings"
	"time"
)

// maxAnswer bounds what is read of an answer; the longest are pages of a hundred
// instances.
const maxAnswer = 8 << 20

// Client calls one gateway with one API key. It is safe for concurrent use.
type Client struct {
	baseURL string
	key     string
	http    *http.Client
}

// New makes a client of the gateway at baseURL, "http://127.0.0.1:8080" for
// instance.
func New(baseURL, apiKey string) *Client {
	return &Client{
		baseURL: strings.TrimRight(baseURL, "/"),
		key:     apiKey,
		// Media takes a while on a slow line, here and from the gateway to the
		// platform, which a send waits for. The gateway itself gives up after as
		// long.
		http: &http.Client{Timeout: 5 * time.Minute},
	}
}

// WithHTTPClient returns a client of the same gateway that uses another
// http.Client, for proxies, certificates or time-outs of your own.
func (c *Client) WithHTTPClient(client *http.Client) *Client {
	other := *c
	other.http = client
	return &other
}

// Error is the gateway's answer to a request that it refused.
type Error struct {
	StatusCode int       `json:"statusCode"`
	Message    string    `json:"message"`
	Code       string    `json:"error"` // UPPER_SNAKE, for programs
	Timestamp  time.Time `json:"timestamp"`
	Path       string    `json:"path"`
	// Details names each field of a request that is not valid.
	Details []FieldError `json:"details,omitempty"`
	// RetryAfter is when to try again; zero where the gateway did not say.
	RetryAfter time.Duration `json:"-"`
}

// FieldError says what is wrong with one field.
type FieldError struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

// Error returns the code and the message.
func (e *Error) Error() string {
	return fmt.Sprintf("recado: %d %s: %s", e.StatusCode, e.Code, e.Message)
}

// IsCode reports whether err is the gateway's refusal with that code, such as
// "INSTANCE_NOT_CONNECTED".
func IsCode(err error, code string) bool {
	refusal, ok := errors.AsType[*Error](err)
	return ok && refusal.Code == code
}

// call carries out one operation. The answer is decoded into out, unless that
// is nil.
func (c *Client) call(ctx context.Context, method, path string, header http.Header, in, out any) (http.Header, error) {
	var body io.Reader
	if in != nil {
		encoded, err := json.Marshal(in)
		if err != nil {
			return nil, fmt.Errorf("recado: encode request: %w", err)
		}
		body = bytes.NewReader(encoded)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.baseURL+path, body)
	if err != nil {
		return nil, fmt.Errorf("recado: make request: %w", err)
	}
	maps.Copy(request.Header, header)
	request.Header.Set("X-Api-Key", c.key)
	request.Header.Set("Accept", "application/json")
	if in != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, fmt.Errorf("recado: %s %s: %w", method, path, err)
	}
	defer func() { _ = response.Body.Close() }() // it was read to its end
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("recado: read answer: %w", err)
	}
	if response.StatusCode >= http.StatusBadRequest {
		return nil, refusal(response, answer)
	}
	if out != nil {
		if err := json.Unmarshal(answer, out); err != nil {
			return nil, fmt.Errorf("recado: decode answer: %w", err)
		}
	}
	return response.Header, nil
}

// refusal makes the error of an answer. Something between us and the gateway may
// have given it; then there is no body of ours to read.
func refusal(response *http.Response, answer []byte) error {
	var e Error
	if err := json.Unmarshal(answer, &e); err != nil || e.StatusCode == 0 {
		e = Error{StatusCode: response.StatusCode, Message: response.Status, Path: response.Request.URL.Path}
	}
	if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil {
		e.RetryAfter = time.Duration(seconds) * time.Second
	}
	return &e
}
