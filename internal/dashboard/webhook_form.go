// The form of a webhook, of an instance or of the account: its fields, and what they mean.

package dashboard

import (
	"cmp"
	"crypto/rand"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/recado-project/recado/internal/dashboard/frame"
	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/web"
	"github.com/recado-project/recado/internal/webhook"
)

// secretBytes is how long a new secret is.
const secretBytes = 32

// filterView is what a webhook is limited to, and can be, and its language.
type filterView struct {
	filter       webhook.Filter
	Kinds, Chats []choice
	Formats      []choice // in which events may be posted; none where there is but one
}

func (p *pages) filterViewOf(of webhook.Webhook) filterView {
	view := filterView{filter: of.Filter, Kinds: kindChoices(of.Filter), Chats: chatChoices(of.Filter)}
	formats := p.Webhooks.Formats()
	if len(formats) == 1 {
		return view
	}
	for _, name := range formats {
		view.Formats = append(view.Formats, choice{Value: name, Chosen: name == cmp.Or(of.Format, webhook.FormatRecado)})
	}
	return view
}

// Limited reports whether the webhook gets only some of the events.
func (v filterView) Limited() bool { return len(v.filter.Kinds)+len(v.filter.Chats) > 0 }

// Chosen are the kinds of chats that the webhook is limited to.
func (v filterView) Chosen() []choice {
	return slices.DeleteFunc(slices.Clone(v.Chats), func(c choice) bool { return !c.Chosen })
}

// kindChoices are the types of events that a webhook can be limited to.
func kindChoices(of webhook.Filter) []choice {
	var choices []choice
	for _, kind := range webhook.Choices() {
		choices = append(choices, choice{Value: string(kind), Chosen: slices.Contains(of.Kinds, kind)})
	}
	return choices
}

// chatChoices are the kinds of chats that a webhook can be limited to.
func chatChoices(of webhook.Filter) []choice {
	names := map[webhook.ChatKind]web.Word{
		webhook.ChatDirect: web.Word("People"), webhook.ChatGroup: web.Word("Groups"),
		webhook.ChatChannel: web.Word("Channels"), webhook.ChatStatus: web.Word("Status posts"),
	}
	var choices []choice
	for _, kind := range webhook.ChatKinds() {
		choices = append(choices, choice{Value: string(kind), Name: names[kind], Chosen: slices.Contains(of.Chats, kind)})
	}
	return choices
}

// webhookSettings reads the form of a webhook.
func webhookSettings(r *frame.Request) (webhook.Settings, error) {
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
	settings.Events, settings.Chats = new([]eventlog.Kind{}), new([]webhook.ChatKind{})
	if r.FormValue("scope") != "" {
		settings.Events, settings.Chats = new(chosen[eventlog.Kind](r.Form["events"])), new(chosen[webhook.ChatKind](r.Form["chats"]))
	}
	settings.MediaLinks = new(r.FormValue("links") != "")
	if format := r.FormValue("format"); format != "" {
		settings.Format = &format
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
			return nil, gateway.InvalidField("headers", "must have a name, a colon and a value in each line")
		}
		headers[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	return headers, nil
}
