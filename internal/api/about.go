// The introduction of the API in its document.

package api

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/recado-project/recado/internal/api/calls"
	"github.com/recado-project/recado/internal/api/channels"
	"github.com/recado-project/recado/internal/api/chats"
	"github.com/recado-project/recado/internal/api/contacts"
	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/api/groups"
	"github.com/recado-project/recado/internal/api/labels"
	"github.com/recado-project/recado/internal/api/profiles"
)

// about introduces the API in its document.
const about = "Recado is a self-hosted gateway between programs and a phone messenger: instances are linked to messenger accounts, " +
	"and messages are sent and received through them.\n\n" +
	"Every failed request gets the same error body: `error` is for programs, `message` is for people. " +
	"Checks come in this order: path, method, API key, size of the body, instance, access, validation, state of the instance.\n\n" +
	"Bodies are read as JSON, whatever their `Content-Type`. Unknown fields are ignored, null counts as absent, and a value of " +
	"another type is refused. Times are UTC with milliseconds. Every answer has the header `X-Request-Id`; the log has the same identifier.\n\n" +
	"If requests are limited (`--rate-limit-key`, `--rate-limit-instance`), every answer says how many are allowed in a minute " +
	"(`RateLimit-Limit`), how many are left (`RateLimit-Remaining`), and after how many seconds all are available again (`RateLimit-Reset`)."

// The tags group the operations in the document and on the reference page.
const (
	tagInstances = "Instances"
	tagMessages  = "Messages"
	tagDirectory = "People"
	tagEvents    = contract.EventsTag
	tagPartner   = "Partner"
	tagHealth    = "Health"
)

func tags() []*huma.Tag {
	return []*huma.Tag{
		{Name: tagInstances, Description: "Instances, and linking them to accounts."},
		{Name: tagMessages, Description: "Send messages, and change those that were sent or received. A message is identified by its platform identifier, by the composite form `<chat id>_<platform identifier>`, or by the `id` of a send result."},
		{Name: chats.Tag, Description: "What the gateway has kept: chats, the messages in them, and a search through their words. Reading asks the platform nothing, and works while an instance is not connected."},
		{Name: tagDirectory, Description: "Numbers and contacts."},
		{Name: labels.Tag, Description: "Marks that the account's owner puts on chats and messages, to sort them."},
		{Name: contacts.Tag, Description: "The people whom an account knows: their names, the address book, and the two addresses that everybody has."},
		{Name: profiles.Tag, Description: "The messenger account of an instance: what others see of it, its privacy settings, and whom it has blocked."},
		{Name: calls.Tag, Description: "Calls that ring: rejecting one. Whether all are rejected is a setting of the instance."},
		{Name: groups.Tag, Description: "Groups and communities: which there are, what is set in them, who is in them, and how people come in."},
		{Name: channels.Tag, Description: "Channels: one side writes, and whoever follows reads. What arrives from those that the account follows is among its messages."},
		{Name: tagEvents, Description: "The events of an instance, by webhook or as a stream. Both read the same log, which loses nothing for as long as events are kept."},
		{Name: tagPartner, Description: "Create and remove instances and API keys. Needs a partner key."},
		{Name: tagHealth, Description: "For load balancers and supervisors. Needs no API key."},
	}
}
