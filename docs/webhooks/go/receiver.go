// Receives webhooks, and accepts only requests that the gateway has signed.
package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

const (
	tolerance = 5 * time.Minute // of webhook-timestamp; an older request may have been recorded and sent again
	maxBody   = 4 << 20
)

func main() {
	if err := run(os.Getenv("WEBHOOK_SECRET"), os.Getenv("PORT")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(secret, port string) error {
	if secret == "" {
		return errors.New("WEBHOOK_SECRET is not set")
	}
	if port == "" {
		port = "3000"
	}
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:"+port)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "listening on http://%s\n", listener.Addr())
	server := &http.Server{Handler: receive(keyOf(secret)), ReadTimeout: 15 * time.Second}
	return server.Serve(listener)
}

func receive(key []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody)) // the raw bytes: they are what is signed
		if err != nil {
			http.Error(w, "unreadable", http.StatusBadRequest)
			return
		}
		if !signed(key, r.Header, body) {
			http.Error(w, "not signed", http.StatusUnauthorized)
			return
		}
		var event struct {
			Type string `json:"type"`
		}
		if err := json.Unmarshal(body, &event); err != nil {
			http.Error(w, "no event", http.StatusBadRequest)
			return
		}
		// Here: drop the event if you have seen its webhook-id before, put it into your
		// queue, and only then answer. Do the slow work later.
		fmt.Fprintln(os.Stderr, event.Type)
		w.WriteHeader(http.StatusNoContent)
	}
}

// signed reports whether one of the signatures is right. For a day after the secret
// has changed, there are two.
func signed(key []byte, header http.Header, body []byte) bool {
	id, timestamp := header.Get("webhook-id"), header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if id == "" || err != nil || time.Since(time.Unix(seconds, 0)).Abs() > tolerance {
		return false
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + timestamp + "."))
	mac.Write(body)
	want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	for signature := range strings.FieldsSeq(header.Get("webhook-signature")) {
		if hmac.Equal([]byte(signature), []byte(want)) { // takes equally long, right or wrong
			return true
		}
	}
	return false
}

// keyOf decodes whsec_ and base64; any other secret is its own key.
func keyOf(secret string) []byte {
	if encoded, ok := strings.CutPrefix(secret, "whsec_"); ok {
		key, err := base64.StdEncoding.DecodeString(encoded)
		if err == nil && len(key) > 0 && base64.StdEncoding.EncodeToString(key) == encoded {
			return key
		}
	}
	return []byte(secret)
}
