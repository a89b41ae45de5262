// The webhook of an instance: one in the format of this language.

package evolution

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/clock"
)

// told are the names by which webhooks choose events, in that API's order, each with the types of events of the
// gateway that are told under it. One without types never happens here.
//
// A vote is told as messages.upsert where it answers buttons or a list, and as messages.update elsewhere. message.sent is told
// as messages.upsert where the message was written on a phone, and as send.message where it was sent through the API. Each
// name chooses its part alone: a flow that answers whatever it is told of would answer itself without end.
func told() []struct {
	name  string
	types []string
} {
	return []struct {
		name  string
		types []string
	}{
		{"APPLICATION_STARTUP", nil},
		{"QRCODE_UPDATED", []string{client.TypeInstanceQR}},
		{"CONNECTION_UPDATE", []string{client.TypeInstanceStatus}},
		{"STATUS_INSTANCE", []string{client.TypeInstanceStatus}},
		{"MESSAGES_SET", nil},
		{"MESSAGES_UPSERT", []string{client.TypeMessageReceived, client.TypeMessageReaction, voteSelects, sentByDevice}},
		{"MESSAGES_EDITED", []string{client.TypeMessageEdited}},
		{"MESSAGES_UPDATE", []string{client.TypeMessageStatus, voteOther}},
		{"MESSAGES_DELETE", []string{client.TypeMessageDeleted}},
		{"SEND_MESSAGE", []string{sentByAPI}},
		{"SEND_MESSAGE_UPDATE", []string{client.TypeMessageEdited}},
		{"CONTACTS_SET", nil},
		{"CONTACTS_UPSERT", []string{client.TypeContactUpdated}},
		{"CONTACTS_UPDATE", []string{client.TypeContactUpdated}},
		{"PRESENCE_UPDATE", []string{client.TypePresence}},
		{"CHATS_SET", nil},
		{"CHATS_UPSERT", []string{client.TypeChatUpdated}},
		{"CHATS_UPDATE", []string{client.TypeChatUpdated}},
		{"CHATS_DELETE", []string{client.TypeChatUpdated}},
		{"GROUPS_UPSERT", []string{client.TypeGroupUpdated}},
		{"GROUP_UPDATE", []string{client.TypeGroupUpdated}},
		{"GROUPS_UPDATE", []string{client.TypeGroupUpdated}},
		{"GROUP_PARTICIPANTS_UPDATE", []string{client.TypeGroupUpdated}},
		{"LABELS_EDIT", []string{client.TypeLabelUpdated}},
		{"LABELS_ASSOCIATION", []string{client.TypeLabelAssigned}},
		{"CALL", []string{client.TypeCallReceived, client.TypeCallEnded}},
	}
}

// chosen are the types of events that a webhook with these names is told of. Unknown names, and those of what never
// happens here, are ignored.
func chosen(names []string) []string {
	if len(names) == 0 {
		return []string{} // all
	}
	var types []string
	for _, event := range told() {
		if slices.Contains(names, event.name) {
			types = append(types, event.types...)
		}
	}
	if len(types) == 0 {
		return []string{client.TypeEventsExpired} // which has no name in this language: nothing is posted
	}
	slices.Sort(types)
	return slices.Compact(types)
}

// Parts of types of events, which webhooks choose as they choose types.
const (
	sentByAPI    = client.TypeMessageSent + ":" + client.SourceAPI
	sentByDevice = client.TypeMessageSent + ":" + client.SourceDevice
	voteSelects  = client.TypeMessagePollVote + ":selection"
	voteOther    = client.TypeMessagePollVote + ":other"
)

// namesOf are the names under which a webhook is told of types of events, and of parts of them.
func namesOf(types []string) []string {
	names := []string{}
	missing := func(kind string) bool {
		whole, _, _ := strings.Cut(kind, ":")
		return !slices.Contains(types, kind) && !slices.Contains(types, whole)
	}
	for _, event := range told() {
		if len(types) > 0 && (event.types == nil || slices.ContainsFunc(event.types, missing)) {
			continue
		}
		names = append(names, event.name)
	}
	return names
}

// keyField is what that API calls the keyHeader, and hidden stands in place of what nobody reads again.
const (
	keyField = "jwt_key"
	hidden   = "***"
)

// webhookOf is a webhook as that API shows it. The values of its headers can't be read.
func webhookOf(w client.Webhook) object {
	headers := object{}
	for _, name := range w.HeaderNames {
		if name == keyHeader {
			name = keyField
		}
		headers[name] = hidden
	}
	return object{
		"id": w.ID, "url": w.URL, "headers": headers, "enabled": w.IsActive, "events": namesOf(w.Events), "webhookByEvents": strings.Contains(w.Format, suffixByEvent),
		"webhookBase64": strings.HasSuffix(w.Format, suffixFiles), "createdAt": clock.Spelled(w.CreatedAt), "updatedAt": clock.Spelled(w.UpdatedAt), "instanceId": w.InstanceID,
	}
}

// webhook returns the webhook of the instance in this language; nil if there is none. Those in others, and those of
// the account, are none of its business.
func (c *call) webhook() (*client.Webhook, error) {
	for w, err := range c.client.Webhooks(c.ctx(), c.id()) {
		if err != nil {
			return nil, err
		}
		if _, speaks := Formats("")[w.Format]; w.AccountWebhookID == nil && speaks {
			return &w, nil
		}
	}
	return nil, nil //nolint:nilnil // there is none
}

func (c *call) findWebhook() (any, error) {
	w, err := c.webhook()
	if w == nil || err != nil {
		return nil, err
	}
	return webhookOf(*w), nil
}

func (c *call) setWebhook() (any, error) {
	given := c.fields.inner("webhook")
	if len(given) == 0 {
		given = c.fields
	}
	return c.saveWebhook(given)
}

// saveWebhook makes or changes the webhook of the instance.
func (c *call) saveWebhook(given fields) (any, error) {
	headers := map[string]string{}
	for name, value := range given.inner("headers") {
		headers[name] = textOf(value)
	}
	there, err := c.webhook()
	if err != nil {
		return nil, err
	}
	enabled := given.optional("enabled")
	if enabled == nil {
		enabled = new(true)
	}
	url := strings.TrimSpace(given.text("url"))
	format := formatName(given.yes("byEvents") || given.yes("webhookByEvents"), given.yes("base64") || given.yes("webhookBase64"))
	events := chosen(given.texts("events"))
	if there == nil && url == "" && !*enabled {
		return nil, nil //nolint:nilnil // there is none, as was asked for
	}
	save := func(links bool) (client.Webhook, error) {
		if there == nil {
			return c.client.CreateWebhook(c.ctx(), c.id(), client.NewWebhook{URL: url, Events: events, Headers: headers, IsActive: enabled, Format: format, MediaLinks: &links})
		}
		change := client.WebhookChange{Events: events, Headers: headers, IsActive: enabled, Format: &format, MediaLinks: &links}
		if url != "" {
			change.URL = &url
		}
		return c.client.ChangeWebhook(c.ctx(), c.id(), there.ID, change)
	}
	saved, err := save(true)
	if refused, ok := errors.AsType[*client.Error](err); ok && slices.ContainsFunc(refused.Details, func(d client.FieldError) bool { return d.Field == "mediaLinks" }) {
		saved, err = save(false) // the gateway does not know the address that links begin with
	}
	if err != nil {
		return nil, err
	}
	answer := webhookOf(saved)
	for name := range headers {
		if http.CanonicalHeaderKey(name) == keyHeader {
			headers[name] = hidden
		}
	}
	answer["headers"] = headers
	return answer, nil
}
