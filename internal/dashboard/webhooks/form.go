// Package webhooks is the pages of the account's webhooks, with what those of an instance's webhooks
// share with them: the fields of the form, and what they mean.
package webhooks

import (
	"crypto/rand"
	"embed"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/recado-project/recado/internal/dashboard/frame"
	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/web"
	"github.com/recado-project/recado/internal/webhook"
)

// Files are the templates with their translations.
//
//go:embed *.html locale
var Files embed.FS

// secretBytes is how long a new secret is.
const secretBytes = 32

// Choice is something that can be ticked.
type Choice struct {
	Value  string
	Name   web.Word
	Chosen bool
}

// Kinds are the types of events that a webhook can be limited to.
func Kinds(of webhook.Filter) []Choice {
	var choices []Choice
	for _, kind := range eventlog.Kinds() {
		if kind != eventlog.KindWebhookTest {
			choices = append(choices, Choice{Value: string(kind), Chosen: slices.Contains(of.Kinds, kind)})
		}
	}
	return choices
}

// Chats are the kinds of chats that a webhook can be limited to.
func Chats(of webhook.Filter) []Choice {
	names := map[webhook.ChatKind]web.Word{
		webhook.ChatDirect: web.Word("People"), webhook.ChatGroup: web.Word("Groups"),
		webhook.ChatChannel: web.Word("Channels"), webhook.ChatStatus: web.Word("Status posts"),
	}
	var choices []Choice
	for _, kind := range webhook.ChatKinds() {
		choices = append(choices, Choice{Value: string(kind), Name: names[kind], Chosen: slices.Contains(of.Chats, kind)})
	}
	return choices
}

// Settings reads the form of a webhook.
func Settings(r *frame.Request) (webhook.Settings, error) {
	active := r.FormValue("active") != ""
	settings := webhook.Settings{URL: strings.TrimSpace(r.FormValue("url")), Active: &active}
	switch r.FormValue("secret") {
	case "new":
		raw := make([]byte, secretBytes)
		_, _ = rand.Read(raw) // it never fails
		settings.Secret = new("whsec_" + base64.StdEncoding.EncodeToString(raw))
	case "own":
		settings.Secret = new(strings.TrimSpace(r.FormValue("own")))
	default: // it stays as it is
	}
	switch r.FormValue("scope") {
	case "all":
		settings.Events, settings.Chats = new([]eventlog.Kind{}), new([]webhook.ChatKind{})
	case "some":
		settings.Events, settings.Chats = new(chosen[eventlog.Kind](r.Form["events"])), new(chosen[webhook.ChatKind](r.Form["chats"]))
	default: // they stay
	}
	switch r.FormValue("links") {
	case "yes":
		settings.MediaLinks = new(true)
	case "no":
		settings.MediaLinks = new(false)
	default: // they stay
	}
	var err error
	switch r.FormValue("headers") {
	case "none":
		settings.Headers = map[string]string{}
	case "these":
		settings.Headers, err = headersOf(r.FormValue("lines"))
	default: // they stay
	}
	return settings, err
}

func chosen[T ~string](values []string) []T {
	given := make([]T, len(values))
	for n, value := range values {
		given[n] = T(value)
	}
	return given
}

// headersOf reads a header from each line.
func headersOf(text string) (map[string]string, error) {
	headers := map[string]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok { // the line may be a secret
			return nil, gateway.InvalidFields(gateway.FieldError{Field: "headers", Message: "must have a name, a colon and a value in each line"})
		}
		headers[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	return headers, nil
}
