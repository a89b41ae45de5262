// Links to the files of messages, in the events of webhooks that want them.

package webhook

import (
	"encoding/json"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
)

// MediaLinks signs links to the files of messages. It may be called concurrently.
type MediaLinks interface {
	// MediaLink returns a link to the file of a message, which is named by the gateway's
	// identifier, and when it ends. The link needs no API key. The file is fetched from the
	// platform when somebody follows the link, if it was not before.
	MediaLink(instanceID, messageID string) (link string, expires time.Time)
}

// mediaLinkOf returns the link to the file of an event's message; nil if the event is not about
// a new message with a file.
func mediaLinkOf(links MediaLinks, event eventlog.Event) *eventlog.MediaLink {
	if event.Kind != eventlog.KindMessageReceived && event.Kind != eventlog.KindMessageSent {
		return nil
	}
	var message struct {
		ID    string    `json:"id"`
		Media *struct{} `json:"media"`
	}
	if json.Unmarshal(event.Data, &message) != nil || message.ID == "" || message.Media == nil {
		return nil
	}
	link, expires := links.MediaLink(event.InstanceID, message.ID)
	return &eventlog.MediaLink{URL: link, ExpiresAt: eventlog.Time(expires)}
}
