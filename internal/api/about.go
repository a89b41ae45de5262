package api

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/recado-project/recado/internal/api/contract"
)

// about introduces the API in its document.
const about = "Recado is a self-hosted gateway between programs and a phone messenger: instances are linked to messenger accounts, " +
	"and messages are sent and received through them.\n\n" +
	"Every failed request is answered with the same body, whose `error` is for programs and whose `message` is for people. " +
	"Checks come in this order: path, method, API key, size of the body, instance, access, validation, state of the instance.\n\n" +
	"Bodies are read as JSON whatever `Content-Type` says. Fields that are not listed are ignored, null counts as absent, and a value of " +
	"another type is refused. Times are UTC with milliseconds. Every answer has the header `X-Request-Id`, which the log has too.\n\n" +
	"Where requests are limited (`--rate-limit-key`, `--rate-limit-instance`), every answer says how many may come in a minute " +
	"(`RateLimit-Limit`), how many are left (`RateLimit-Remaining`), and in how many seconds all are there again (`RateLimit-Reset`)."

// The tags group the operations in the document and on the reference page.
const (
	tagInstances = "Instances"
	tagMessages  = "Messages"
	tagDirectory = "People and groups"
	tagEvents    = contract.EventsTag
	tagPartner   = "Partner"
	tagHealth    = "Health"
)

func tags() []*huma.Tag {
	return []*huma.Tag{
		{Name: tagInstances, Description: "Linked accounts, and the linking."},
		{Name: tagMessages, Description: "Sending messages, and what can be done with those that were sent or received. A message is named by its platform identifier, by the composite form `<chat id>_<platform identifier>`, or by the `id` of a send result."},
		{Name: tagDirectory, Description: "Numbers, contacts and groups."},
		{Name: tagEvents, Description: "What happens in an instance: by webhook, or as a stream. Both are read from one log, from which nothing is lost while it is kept."},
		{Name: tagPartner, Description: "Making and removing instances and API keys. Needs a partner key."},
		{Name: tagHealth, Description: "For load balancers and supervisors. Needs no API key."},
	}
}
