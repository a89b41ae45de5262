// The files of messages, and uploads.

package cloud

import (
	"encoding/hex"
	"io"
	"regexp"
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

// uploadID is the form of the ID of an upload, which no other ID has.
var uploadID = regexp.MustCompile(`^[0-9a-f]{32}$`)

func isUploadID(id string) bool { return uploadID.MatchString(id) }

// media is a file as Meta's API shows it.
type media struct {
	Product  string `json:"messaging_product"`
	URL      string `json:"url"`
	MimeType string `json:"mime_type"`
	SHA256   string `json:"sha256,omitempty"`
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
		found.MimeType, found.Size, found.SHA256 = file.MimeType, file.Size, orEmpty(file.SHA256)
	}
	return found, nil
}

// deleteMedia refuses: what can be deleted are uploads.
func deleteMedia(*call) (any, error) {
	return nil, notHere(numberParameter, "The file of a message can't be deleted, but with its message.")
}

// uploaded is the answer to an upload.
type uploaded struct {
	ID string `json:"id"`
}

// uploadMedia keeps the file of a form. What it is, is found out from its content; the field type is ignored.
func uploadMedia(c *call) (any, error) {
	file := c.form.Media()
	if file == nil {
		return nil, missing("file")
	}
	content := io.NewSectionReader(file.Content, 0, file.Size)
	made, err := c.api.CreateUpload(c.http.Context(), client.NewUpload{File: &client.File{Content: content, Name: c.form.FileName()}})
	if err != nil {
		return nil, ofUpload(err)
	}
	return uploaded{made.ID}, nil
}

// ofUpload makes a refusal of a file of one of a value.
func ofUpload(err error) error {
	if client.IsCode(err, client.CodeValidationError) || client.IsCode(err, client.CodeUploadLimitReached) {
		refused := asGraph(err)
		refused.code, refused.title = numberMediaUpload, "Media upload error"
		return refused
	}
	return err
}

// findUpload finds the upload that the path names.
func (c *call) findUpload() (err error) {
	c.upload, err = c.api.GetUpload(c.http.Context(), c.id)
	if client.IsCode(err, client.CodeUploadNotFound) {
		return noSuchObject(c.id)
	}
	return err
}

func getUpload(c *call) (any, error) {
	link, err := c.api.GetUploadDownloadLink(c.http.Context(), c.id)
	if err != nil {
		return nil, err
	}
	return media{Product: product, URL: link.URL, MimeType: c.upload.MimeType, SHA256: c.upload.SHA256, Size: c.upload.Size, ID: c.id}, nil
}

func deleteUpload(c *call) (any, error) {
	return success{Success: true}, c.api.DeleteUpload(c.http.Context(), c.id)
}
