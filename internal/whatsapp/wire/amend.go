// What an edit by somebody else leaves of the message that it changes.

package wire

import (
	"strings"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/recado-project/recado/internal/gateway"
)

// EncodeAmended writes the payload of a message as an edit leaves it (gateway.Encoder). Clients
// write into an edit what they like: a new caption alone, with the preview picture, or with the
// whole file again. So what an edit names is changed, and all else stays: the wrappings, the file
// with its keys and its name, the quote, the mentions, the advertisement that it came from.
func (Encoder) EncodeAmended(payload, edit []byte) (gateway.Amended, error) {
	message, err := Decode(payload)
	if err != nil {
		message = &waE2E.Message{} // of what is damaged nothing can be kept
	}
	change, err := Decode(edit)
	if err != nil {
		return gateway.Amended{}, err
	}
	if !amend(Unwrap(message), Unwrap(change)) {
		message = change
	}
	amended := gateway.Amended{Event: eventOf(Unwrap(message))}
	amended.Type, amended.Text = kindOf(Unwrap(message))
	amended.Payload, err = encode(message)
	return amended, err
}

// amend changes what an edit names of content. It reports false for an edit that brings other
// content.
func amend(content, edit *waE2E.Message) bool {
	before, text := textOf(content), textOf(edit)
	old, changed := partOf(content), partOf(edit)
	isText := edit.Conversation != nil || edit.ExtendedTextMessage != nil || isCaption(edit)
	switch {
	case old != nil && changed != nil && old.Descriptor() == changed.Descriptor():
		overlay(old, changed)
	case content.Conversation != nil && edit.ExtendedTextMessage != nil:
		content.ExtendedTextMessage, content.Conversation = edit.ExtendedTextMessage, nil
	case content.Conversation != nil && isText:
		content.Conversation = &text
	case content.ExtendedTextMessage != nil && isText:
		content.ExtendedTextMessage.Text = &text
	case old != nil && isText:
		// What has no place for a text stays as it is.
		if caption := old.Descriptor().Fields().ByName("caption"); caption != nil {
			old.Set(caption, protoreflect.ValueOfString(text))
		}
	default:
		return false
	}
	if shown := content.ExtendedTextMessage; shown != nil && edit.GetExtendedTextMessage().GetMatchedText() == "" && !strings.Contains(shown.GetText(), shown.GetMatchedText()) {
		// The link whose preview it has is not there any more.
		shown.MatchedText, shown.Title, shown.Description, shown.PreviewType, shown.JPEGThumbnail = nil, nil, nil, nil, nil
	}
	forgetMentions(contextOf(content), before, textOf(content))
	return true
}

func textOf(content *waE2E.Message) string {
	_, text := kindOf(content)
	return text
}

// isCaption reports whether an edit has a caption and no file of its own.
func isCaption(edit *waE2E.Message) bool {
	file := FileOf(edit)
	return file != nil && len(file.GetMediaKey()) == 0
}

// ofAFile are the fields that say where a file is and how it is opened. They belong together.
//
//nolint:gochecknoglobals // a table that nobody writes
var ofAFile = map[protoreflect.Name]bool{
	"URL": true, "directPath": true, "mediaKey": true, "mediaKeyTimestamp": true, "mimetype": true,
	"fileSHA256": true, "fileEncSHA256": true, "fileLength": true,
}

// overlay writes the fields that an edit has over those of the part that it changes.
func overlay(part, edit protoreflect.Message) {
	key := edit.Descriptor().Fields().ByName("mediaKey")
	brings := key != nil && len(edit.Get(key).Bytes()) > 0 // a file
	edit.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case !brings && key != nil && ofAFile[field.Name()]:
		case field.Name() == "contextInfo" && part.Has(field):
			overlay(part.Get(field).Message(), value.Message())
		default:
			part.Set(field, value)
		}
		return true
	})
}

// forgetMentions drops the mentions whose number is no longer in the text.
func forgetMentions(about *waE2E.ContextInfo, before, after string) {
	if about == nil {
		return
	}
	kept := about.MentionedJID[:0]
	for _, who := range about.MentionedJID {
		user, _, _ := strings.Cut(who, "@")
		if written := "@" + user; !strings.Contains(before, written) || strings.Contains(after, written) {
			kept = append(kept, who)
		}
	}
	about.MentionedJID = kept
}
