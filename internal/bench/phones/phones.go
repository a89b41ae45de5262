// Package phones names the phones that the benchmarks use, and calls the
// sandbox's control API for them, for the gateway's side and the bare one alike.
package phones

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
)

// WarmUp is how many messages each session sends before the measurement: the
// first ones look people up and make Signal sessions.
const WarmUp = 5

// Owner is the number of the phone that session i is linked to.
func Owner(i int) string { return fmt.Sprintf("49151%04d0100", i) }

// Recipient is the number of the phone that session i writes to.
func Recipient(i int) string { return fmt.Sprintf("49152%04d0200", i) }

// RootKey asks a sandbox for the key to trust.
func RootKey(ctx context.Context, sandbox string) (key [32]byte, err error) {
	var trust struct {
		RootKey string `json:"rootKey"`
	}
	if err := call(ctx, http.MethodGet, sandbox, "/trust", nil, &trust); err != nil {
		return key, err
	}
	decoded, err := hex.DecodeString(trust.RootKey)
	if err != nil || len(decoded) != len(key) {
		return key, fmt.Errorf("root key %q is none", trust.RootKey)
	}
	return [32]byte(decoded), nil
}

// Scan links whoever shows the code to the phone of number.
func Scan(ctx context.Context, sandbox, number, code string) error {
	return call(ctx, http.MethodPost, sandbox, "/phones/"+number+"/scan", map[string]string{"qrCode": code}, nil)
}

func call(ctx context.Context, method, sandbox, path string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("encode request: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, method, "http://"+sandbox+"/sandbox/api"+path, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("make request: %w", err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("call the sandbox: %w", err)
	}
	defer func() { _ = response.Body.Close() }() // it was read as far as needed
	if response.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("the sandbox answered %s to %s %s", response.Status, method, path)
	}
	if out == nil {
		return nil
	}
	if err := json.NewDecoder(response.Body).Decode(out); err != nil {
		return fmt.Errorf("decode answer: %w", err)
	}
	return nil
}

// SendText makes a phone write to another number.
func SendText(ctx context.Context, sandbox, from, to, text string) error {
	return call(ctx, http.MethodPost, sandbox, "/phones/"+from+"/messages",
		map[string]string{"to": to, "type": "text", "text": text}, nil)
}
