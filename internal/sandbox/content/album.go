// Albums: pictures and videos that phones show together. The frame says how many there are, and
// each of them names the frame.

package content

import (
	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"

	"github.com/recado-project/recado/internal/sandbox/refusal"
)

// maxAlbum is how many pictures and videos an album has at most.
const maxAlbum = 30

// Album is the frame of an album.
type Album struct {
	Images int `json:"images"`
	Videos int `json:"videos"`
}

// composeAlbum builds the frame of an album.
func composeAlbum(m Outgoing, reply *waE2E.ContextInfo) (*waE2E.Message, error) {
	if m.Album == nil || m.Album.Images < 0 || m.Album.Videos < 0 || m.Album.Images+m.Album.Videos < 2 || m.Album.Images+m.Album.Videos > maxAlbum {
		return nil, refusal.Invalidf("album", "must have 2 to 30 images and videos")
	}
	return &waE2E.Message{AlbumMessage: &waE2E.AlbumMessage{
		ExpectedImageCount: new(uint32(m.Album.Images)), ExpectedVideoCount: new(uint32(m.Album.Videos)), ContextInfo: reply, //nolint:gosec // 30 at most
	}}, nil
}

// inAlbum puts a picture or a video into an album.
func inAlbum(message *waE2E.Message, albumID string) *waE2E.Message {
	if albumID == "" {
		return message
	}
	message.MessageContextInfo = &waE2E.MessageContextInfo{MessageAssociation: &waE2E.MessageAssociation{
		AssociationType:  waE2E.MessageAssociation_MEDIA_ALBUM.Enum(),
		ParentMessageKey: &waCommon.MessageKey{FromMe: new(true), ID: &albumID},
	}}
	return message
}

// albumOf is the album that a message belongs to, "" for none.
func albumOf(m *waE2E.Message) string {
	association := m.GetMessageContextInfo().GetMessageAssociation()
	if association.GetAssociationType() != waE2E.MessageAssociation_MEDIA_ALBUM {
		return ""
	}
	return association.GetParentMessageKey().GetID()
}
