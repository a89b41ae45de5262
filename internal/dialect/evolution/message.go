// A message as that API shows it: in answers to sends, in lists, and in events.

package evolution

import (
	"cmp"
	"maps"
	"regexp"
	"strconv"
	"strings"

	"github.com/recado-project/recado/client"
)

// own is the name that own messages have.
const own = "Você"

// messageOf is a message of an instance, in a status.
func messageOf(instanceID string, m *client.Message, status string) object {
	kind, content := contentOf(m)
	shown := object{
		"key": keyOfMessage(m), "pushName": pushName(m), "status": status, "message": object{kind: content},
		"messageType": kind, "messageTimestamp": m.Timestamp.Unix(), "instanceId": instanceID, "source": sourceOf(m.MessageID),
	}
	if context := contextOf(m); len(context) > 0 {
		shown["contextInfo"] = context
	}
	return shown
}

// keyOfMessage names a message.
func keyOfMessage(m *client.Message) object {
	key := keyIn(m.Chat, m.MessageID, m.FromMe)
	if m.IsGroup || m.Chat.Chat == client.StatusChat {
		addParticipant(key, m.From)
	}
	return key
}

// keyIn names a message in a chat: by number where it is known, with the other address beside it.
func keyIn(chat client.Chat, messageID string, fromMe bool) object {
	key := object{"remoteJid": chat.Chat, "fromMe": fromMe, "id": messageID, "addressingMode": "pn"}
	if strings.HasSuffix(chat.Chat, lid) {
		key["addressingMode"] = "lid"
	} else if chat.ChatLID != nil {
		key["remoteJidAlt"] = *chat.ChatLID
	}
	return key
}

// addParticipant names who has written a message in a group.
func addParticipant(key object, who *client.Person) {
	if address := addressOf(who); address != "" {
		key["participant"] = address
		if who.LID != nil && *who.LID != address {
			key["participantAlt"] = *who.LID
		}
	}
}

// addressOf is the address of somebody: by number where it is known; empty for nobody.
func addressOf(who *client.Person) string {
	switch {
	case who == nil:
		return ""
	case who.JID != nil:
		return *who.JID
	case who.LID != nil:
		return *who.LID
	default:
		return ""
	}
}

// pushName is the name of who has written a message; the number where there is no name.
func pushName(m *client.Message) string {
	if m.FromMe {
		return own
	}
	return nameOf(m.From)
}

func nameOf(who *client.Person) string {
	if who != nil && who.Name != nil && *who.Name != "" {
		return *who.Name
	}
	user, _, _ := strings.Cut(addressOf(who), "@")
	return user
}

// sourceOf is what a message was written with. That API guesses it by the form of the identifier.
func sourceOf(messageID string) string {
	long := len(messageID)
	switch {
	case strings.HasPrefix(messageID, "3A") && long == 20:
		return "ios"
	case strings.HasPrefix(messageID, "3E") && long == 22:
		return "web"
	case long == 21 || long == 32:
		return "android"
	case strings.HasPrefix(messageID, "3F") || long == 18:
		return "desktop"
	default:
		return "unknown"
	}
}

// The statuses of messages.
const (
	statusPending   = "PENDING"
	statusDelivered = "DELIVERY_ACK"
	statusDeleted   = "DELETED"
	statusEdited    = "EDITED"
)

// statusOf is a status in that API's words.
func statusOf(status string) string {
	switch status {
	case client.StatusSent:
		return "SERVER_ACK"
	case client.StatusDelivered:
		return statusDelivered
	case client.StatusRead:
		return "READ"
	case client.StatusPlayed:
		return "PLAYED"
	case client.StatusFailed:
		return "ERROR"
	default:
		return statusPending
	}
}

// storedStatus is the status of a message that is kept.
func storedStatus(m *client.StoredMessage) string {
	switch {
	case m.DeletedAt != nil:
		return statusDeleted
	case m.EditedAt != nil:
		return statusEdited
	default:
		return statusOf(m.Status)
	}
}

// pruned is an object without what is null.
func pruned(from object) object {
	for name, value := range from {
		switch value := value.(type) {
		case *string:
			prune(from, name, value)
		case *int64:
			prune(from, name, value)
		case *float64:
			prune(from, name, value)
		case nil:
			delete(from, name)
		}
	}
	return from
}

func prune[T any](from object, name string, value *T) {
	if value == nil {
		delete(from, name)
	} else {
		from[name] = *value
	}
}

// textIn is a text that may be null.
func textIn(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// contentOf is what a message says: the name of its kind, and what stands under it.
func contentOf(m *client.Message) (kind string, content any) {
	switch {
	case m.Selection != nil:
		selection := *m.Selection
		selection.Text = cmp.Or(selection.Text, textIn(m.Text))
		return chosenOf(selection)
	case m.Media != nil:
		return fileOf(m)
	case m.Location != nil:
		place := pruned(object{
			"degreesLatitude": m.Location.Latitude, "degreesLongitude": m.Location.Longitude, "name": m.Location.Name, "address": m.Location.Address,
		})
		if m.Location.Live {
			return "liveLocationMessage", place
		}
		return "locationMessage", place
	case len(m.Contacts) > 0:
		return cardsOf(m.Contacts)
	case m.Poll != nil:
		options := make([]object, 0, len(m.Poll.Options))
		for _, option := range m.Poll.Options {
			options = append(options, object{"optionName": option})
		}
		kind = "pollCreationMessage"
		if m.Poll.MaxAnswers == 1 {
			kind = "pollCreationMessageV3"
		}
		return kind, object{"name": textIn(m.Caption), "options": options, "selectableOptionsCount": m.Poll.MaxAnswers}
	}
	return rareOf(m)
}

// rareOf is contentOf for kinds that businesses send, and for texts.
func rareOf(m *client.Message) (kind string, content any) {
	switch {
	case m.Event != nil:
		event := pruned(object{"name": m.Caption, "description": m.Event.Description, "joinLink": m.Event.JoinLink})
		event["isCanceled"] = m.Event.Cancelled
		if m.Event.Start != nil {
			event["startTime"] = m.Event.Start.Unix()
		}
		return "eventMessage", event
	case m.Order != nil:
		return "orderMessage", pruned(object{
			"orderId": m.Order.ID, "orderTitle": m.Order.Title, "itemCount": m.Order.Items, "message": m.Text, "totalCurrencyCode": m.Order.Currency,
		})
	case m.Product != nil:
		return "productMessage", object{"product": pruned(object{
			"productId": m.Product.ID, "title": m.Product.Title, "description": m.Product.Description, "url": m.Product.URL,
			"retailerId": m.Product.RetailerID, "currencyCode": m.Product.Currency,
		}), "body": textIn(m.Text)}
	case m.GroupInvite != nil:
		return "groupInviteMessage", pruned(object{"groupJid": m.GroupInvite.GroupID, "inviteCode": m.GroupInvite.Code, "groupName": m.GroupInvite.Name, "caption": m.Caption})
	case m.Payment != nil:
		return "requestPaymentMessage", pruned(object{"noteMessage": object{"conversation": textIn(m.Text)}, "currencyCodeIso4217": m.Payment.Currency})
	case m.Type == client.TypeAlbum:
		return "albumMessage", object{}
	case m.Text != nil:
		return "conversation", *m.Text
	case m.Unsupported != nil && len(*m.Unsupported) <= maxKindName && kindName.MatchString(*m.Unsupported):
		return *m.Unsupported, object{}
	default:
		return "unknown", object{}
	}
}

// kindName is how the platform names kinds of messages.
var kindName = regexp.MustCompile(`^[a-z][A-Za-z0-9]{2,}$`)

const maxKindName = 61

// fileOf is contentOf for a message with a file.
func fileOf(m *client.Message) (kind string, content object) {
	file := pruned(object{"mimetype": m.Media.MimeType, "fileLength": strconv.FormatInt(m.Media.Size, 10), "caption": m.Caption})
	if m.Media.ViewOnce {
		file["viewOnce"] = true
	}
	picture := object{"width": m.Media.Width, "height": m.Media.Height}
	switch m.Type {
	case client.TypeImage:
		kind = "imageMessage"
	case client.TypeSticker:
		kind, file["isAnimated"] = "stickerMessage", m.Media.Animated
	case client.TypeVideo:
		kind, picture["seconds"], file["gifPlayback"] = "videoMessage", m.Media.Seconds, m.Media.Animated
		if m.Media.VideoNote {
			kind = "ptvMessage"
		}
	case client.TypeVoice, client.TypeAudio:
		kind, file["ptt"], picture = "audioMessage", m.Media.Voice, object{"seconds": m.Media.Seconds}
	case client.TypeDocument:
		kind, picture = "documentMessage", object{"fileName": m.Media.FileName, "title": m.Media.FileName}
	default: // a message of a business with a file above its text
		kind = "documentMessage"
		file["caption"] = textIn(m.Text)
	}
	maps.Copy(file, pruned(picture))
	return kind, file
}

// cardsOf is contentOf for contact cards.
func cardsOf(cards []client.MessageContact) (kind string, content object) {
	shown := make([]object, 0, len(cards))
	for _, card := range cards {
		shown = append(shown, object{"displayName": card.FullName, "vcard": vcard(card)})
	}
	if len(shown) == 1 {
		return "contactMessage", shown[0]
	}
	return "contactsArrayMessage", object{"displayName": strconv.Itoa(len(shown)) + " contatos", "contacts": shown}
}

// vcard is a card as a vCard.
func vcard(card client.MessageContact) string {
	// A line break would be another line of the card, which its author did not write.
	escape := strings.NewReplacer("\\", "\\\\", "\r", "", "\n", "\\n", ",", "\\,", ";", "\\;").Replace
	lines := []string{"BEGIN:VCARD", "VERSION:3.0", "N:;" + escape(card.FullName) + ";;;", "FN:" + escape(card.FullName)}
	if card.Organization != nil {
		lines = append(lines, "ORG:"+escape(*card.Organization)+";")
	}
	for n, number := range card.Numbers {
		if number.Writable {
			lines = append(lines, "item"+strconv.Itoa(n+1)+".TEL;waid="+escape(number.Number)+":+"+escape(number.Number))
		} else {
			lines = append(lines, "item"+strconv.Itoa(n+1)+".TEL:"+escape(number.Number))
		}
	}
	for _, email := range card.Emails {
		lines = append(lines, "EMAIL:"+escape(email))
	}
	return strings.Join(append(lines, "END:VCARD"), "\n")
}

// contextOf is what a message refers to: what it answers, whom it mentions, and the advertisement that it comes
// from.
func contextOf(m *client.Message) object {
	context := object{}
	if m.QuotedMessageID != nil {
		context["stanzaId"] = *m.QuotedMessageID
	}
	if m.Quoted != nil {
		if author := addressOf(m.Quoted.Sender); author != "" {
			context["participant"] = author
		}
		context["quotedMessage"] = quotedOf(m.Quoted)
	}
	if len(m.Mentions) > 0 {
		mentioned := make([]string, 0, len(m.Mentions))
		for _, who := range m.Mentions {
			mentioned = append(mentioned, addressOf(&who))
		}
		context["mentionedJid"] = mentioned
	}
	if m.Forwarded {
		context["isForwarded"] = true
	}
	if r := m.Referral; r != nil {
		context["externalAdReply"] = pruned(object{
			"sourceType": r.SourceType, "sourceId": r.SourceID, "sourceUrl": r.SourceURL, "title": r.Headline, "body": r.Body, "ctwaClid": r.ClickID, "ref": r.Ref,
		})
	}
	return context
}

// quotedOf is what a message shows of the one that it answers.
func quotedOf(quoted *client.MessageQuoted) object {
	caption := object{"caption": textIn(quoted.Text)}
	switch quoted.Type {
	case client.TypeText:
		return object{"conversation": textIn(quoted.Text)}
	case client.TypeImage, client.TypeVideo, client.TypeDocument, client.TypeSticker:
		return object{quoted.Type + "Message": caption}
	case client.TypeVoice, client.TypeAudio:
		return object{"audioMessage": object{"ptt": quoted.Type == client.TypeVoice}}
	case client.TypePoll:
		return object{"pollCreationMessage": object{"name": textIn(quoted.Text)}}
	default:
		return object{quoted.Type + "Message": object{}}
	}
}
