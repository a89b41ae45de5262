// Files in posts: they are not encrypted, and a post names the handle of its upload.

package channel

import (
	"encoding/hex"
	"fmt"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	"github.com/recado-project/recado/internal/sandbox/content"
	"github.com/recado-project/recado/internal/sandbox/mediahost"
	"github.com/recado-project/recado/internal/sandbox/wire"
)

// kindMedia is the kind of a post with a file.
const kindMedia = "media"

// hasItsFile reports whether what a client's post says of its file is true: the media host has
// it, open to everybody, and has answered its upload with the handle. A post without a file has
// no handle.
func (s *Service) hasItsFile(n waBinary.Node, payload []byte) bool {
	var message waE2E.Message
	if proto.Unmarshal(payload, &message) != nil {
		return false
	}
	handle := wire.AttrString(n, "media_id")
	part, _ := content.MediaOf(&message)
	if part == nil {
		return handle == "" && wire.AttrString(n, "type") != kindMedia
	}
	plaintext, _ := wire.Child(n, "plaintext")
	pointer := content.PointerOf(part)
	if wire.AttrString(n, "type") != kindMedia || wire.AttrString(plaintext, "mediatype") == "" || handle != mediahost.HandleOf(pointer.DirectPath) {
		return false
	}
	_, err := s.media.GetOpen(pointer)
	return err == nil
}

// compose writes the payload of a post with a file, which it leaves on the media host.
func (s *Service) compose(wanted content.Outgoing) ([]byte, error) {
	message, err := content.Compose(wanted, nil, s.media.PutOpen, s.now())
	if err != nil {
		return nil, err
	}
	payload, err := proto.Marshal(message)
	if err != nil {
		return nil, fmt.Errorf("channel: write a post: %w", err)
	}
	return payload, nil
}

// shown is a post as people see it, with its file as a follower's phone fetches it.
func (s *Service) shown(one post) Post {
	shown := Post{ServerID: one.number, MessageID: one.id, Deleted: one.payload == nil, Reactions: map[string]int{}}
	for _, reaction := range one.reactions {
		shown.Reactions[reaction]++
	}
	var message waE2E.Message
	if proto.Unmarshal(one.payload, &message) != nil {
		return shown
	}
	var seen content.Shown
	content.Describe(content.Unwrap(&message), &seen)
	shown.Type, shown.Text, shown.Caption, shown.MimeType, shown.FileName = seen.Type, seen.Text, seen.Caption, seen.MimeType, seen.FileName
	part, _ := content.MediaOf(&message)
	if part == nil {
		return shown
	}
	if small, ok := part.(interface{ GetJPEGThumbnail() []byte }); ok {
		shown.Picture = len(small.GetJPEGThumbnail()) > 0
	}
	if plain, err := s.media.GetOpen(content.PointerOf(part)); err == nil {
		shown.MediaSHA256, shown.MediaSize = hex.EncodeToString(part.GetFileSHA256()), new(int64(len(plain)))
	}
	return shown
}
