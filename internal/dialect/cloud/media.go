// The files of messages.

package cloud

import (
	"encoding/hex"
	"strings"

	"github.com/google/uuid"

	"github.com/recado-project/recado/client"
)

// mediaID is the ID of the file of a message: the UUIDs of the instance and the message, in one word
// without a dot, because there are clients that cut there.
func mediaID(instanceID, messageID string) string {
	return strings.ReplaceAll(instanceID+messageID, "-", "")
}

// parseMediaID is the reverse of mediaID.
func parseMediaID(id string) (instanceID, messageID string, ok bool) {
	const size = 16
	decoded, err := hex.DecodeString(id)
	if err != nil || len(decoded) != 2*size {
		return "", "", false
	}
	return uuid.UUID(decoded[:size]).String(), uuid.UUID(decoded[size:]).String(), true
}

// media is a file as Meta's API shows it.
type media struct {
	Product  string `json:"messaging_product"`
	URL      string `json:"url"`
	MimeType string `json:"mime_type"`
	Size     int64  `json:"file_size"`
	ID       string `json:"id"`
}

// findMessage finds the message with the file that the path names.
func (c *call) findMessage() error {
	instanceID, messageID, _ := parseMediaID(c.id)
	var err error
	c.instance.InstanceID = instanceID
	c.message, err = c.api.GetMessage(c.http.Context(), instanceID, messageID)
	if client.IsCode(err, client.CodeInstanceNotFound) || client.IsCode(err, client.CodeForbidden) || client.IsCode(err, client.CodeMessageNotFound) {
		return noSuchObject(c.id)
	}
	return err
}

// getMedia fetches the file of a message from the platform, and answers where it is: a link that needs
// no token, for as long as links last.
func getMedia(c *call) (any, error) {
	link, err := c.api.GetMediaDownloadLink(c.http.Context(), c.instance.InstanceID, c.message.ID)
	if err != nil {
		return nil, err
	}
	found := media{Product: product, URL: link.URL, ID: c.id}
	if file := c.message.Media; file != nil {
		found.MimeType, found.Size = file.MimeType, file.Size
	}
	return found, nil
}

// deleteMedia refuses: what can be deleted are uploads, which are not kept.
func deleteMedia(*call) (any, error) { return nil, noUploads() }

func uploadMedia(*call) (any, error) { return nil, noUploads() }
