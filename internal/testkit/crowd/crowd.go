// Package crowd chooses the numbers of many phones, two for each session, and calls the
// sandbox's control API without a test around it. The benchmarks and the tests of moving in
// share it with their programs on bare whatsmeow.
package crowd

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
)

// WarmUp is how many messages each session sends before the measurement, because the first
// ones look people up and make Signal sessions.
const WarmUp = 5

// Owner is the number of the phone that session i is linked to.
func Owner(i int) string { return fmt.Sprintf("49151%04d0100", i) }

// Recipient is the number of the phone that session i writes to.
func Recipient(i int) string { return fmt.Sprintf("49152%04d0200", i) }

// RootKey gets the key that clients of a sandbox must trust.
func RootKey(ctx context.Context, sandbox string) (key [32]byte, err error) {
	var trust struct {
		RootKey string `json:"rootKey"`
	}
	if err := call(ctx, http.MethodGet, sandbox, "/trust", nil, &trust); err != nil {
		return key, err
	}
	decoded, err := hex.DecodeString(trust.RootKey)
	if err != nil || len(decoded) != len(key) {
		return key, fmt.Errorf("%q is not a root key", trust.RootKey)
	}
	return [32]byte(decoded), nil
}

// Scan makes the phone of number scan a code, which links the session that shows it.
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

// Member is the phone number of a group's nth member.
func Member(n int) string { return fmt.Sprintf("49152%04d0300", n) }

// CreateGroup makes a group of a phone and so many members, and returns its ID. The phones of the
// members are made with it.
func CreateGroup(ctx context.Context, sandbox, owner string, members int) (id string, err error) {
	participants := make([]map[string]string, members)
	for n := range participants {
		participants[n] = map[string]string{"number": Member(n)}
	}
	var made struct {
		ID string `json:"id"`
	}
	err = call(ctx, http.MethodPost, sandbox, "/groups", map[string]any{"subject": "Everybody", "owner": owner, "participants": participants}, &made)
	return made.ID, err
}

// MakeUpHistory gives a phone so many chats with so many messages each, for the sessions that are linked from now on.
func MakeUpHistory(ctx context.Context, sandbox, number string, chats, messages int) error {
	return call(ctx, http.MethodPut, sandbox, "/phones/"+number+"/history", map[string]int{"chats": chats, "messages": messages, "bytes": 40}, nil)
}
