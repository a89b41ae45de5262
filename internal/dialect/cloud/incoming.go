// Messages in webhooks.

package cloud

import (
	"cmp"

	"github.com/recado-project/recado/client"
)

// incoming is a message in a webhook.
type incoming struct {
	From       string `json:"from,omitempty"`
	FromUserID string `json:"from_user_id,omitempty"`
	To         string `json:"to,omitempty"` // of an echo
	ToUserID   string `json:"to_user_id,omitempty"`
	ID         string `json:"id"`
	Timestamp  string `json:"timestamp"`
	Type       string `json:"type"`

	Context     *answered            `json:"context,omitempty"`
	Referral    *referral            `json:"referral,omitempty"`
	Text        *incomingText        `json:"text,omitempty"`
	Image       *incomingFile        `json:"image,omitempty"`
	Video       *incomingFile        `json:"video,omitempty"`
	Audio       *incomingFile        `json:"audio,omitempty"`
	Document    *incomingFile        `json:"document,omitempty"`
	Sticker     *incomingFile        `json:"sticker,omitempty"`
	Location    *incomingPlace       `json:"location,omitempty"`
	Contacts    []card               `json:"contacts,omitempty"`
	Interactive *incomingInteractive `json:"interactive,omitempty"`
	Reaction    *incomingReaction    `json:"reaction,omitempty"`
	Errors      []problem            `json:"errors,omitempty"`
}

// answered is the message that another one answers, or that it was forwarded.
type answered struct {
	From      string `json:"from,omitempty"`
	ID        string `json:"id,omitempty"`
	Forwarded bool   `json:"forwarded,omitempty"`
}

// referral is the advertisement from which a person came.
type referral struct {
	URL      string `json:"source_url,omitempty"`
	ID       string `json:"source_id,omitempty"`
	Type     string `json:"source_type,omitempty"`
	Headline string `json:"headline,omitempty"`
	Body     string `json:"body,omitempty"`
	Click    string `json:"ctwa_clid,omitempty"`
}

type incomingText struct {
	Body string `json:"body"`
}

type incomingFile struct {
	ID       string `json:"id"`
	MimeType string `json:"mime_type"`
	SHA256   string `json:"sha256,omitempty"`
	URL      string `json:"url,omitempty"`
	Caption  string `json:"caption,omitempty"`
	FileName string `json:"filename,omitempty"`
	Voice    bool   `json:"voice,omitempty"`
	Animated bool   `json:"animated,omitempty"`
}

type incomingPlace struct {
	Latitude  float64 `json:"latitude"`
	Longitude float64 `json:"longitude"`
	Name      string  `json:"name,omitempty"`
	Address   string  `json:"address,omitempty"`
}

type incomingReaction struct {
	MessageID string `json:"message_id"`
	Emoji     string `json:"emoji,omitempty"` // absent: it was taken back
}

// orEmpty is a text that may be missing.
func orEmpty(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// newIncoming makes a message without the people. Its type is empty if it is nothing for a client. link leads to
// its file.
func newIncoming(instanceID string, from client.Message, link string) incoming {
	made := incoming{ID: from.MessageID, Timestamp: seconds(from.Timestamp), Context: newAnswered(from), Referral: newReferral(from.Referral)}
	switch {
	case from.Type == client.TypeAlbum: // its pictures follow
		return incoming{}
	case from.Selection != nil && from.Selection.Parameters == nil:
		chosen := *from.Selection
		chosen.Text = cmp.Or(chosen.Text, orEmpty(from.Text))
		made.Type, made.Interactive = typeInteractive, newChosen(chosen)
	case from.Media != nil && !from.Media.ViewOnce:
		made.addFile(newIncomingFile(instanceID, from, link), from)
	case from.Type == client.TypeText && from.Text != nil && from.Media == nil:
		made.Type, made.Text = typeText, &incomingText{*from.Text}
	case from.Location != nil:
		made.Type = typeLocation
		made.Location = &incomingPlace{from.Location.Latitude, from.Location.Longitude, orEmpty(from.Location.Name), orEmpty(from.Location.Address)}
	case len(from.Contacts) > 0:
		made.Type = typeContacts
		for _, contact := range from.Contacts {
			made.Contacts = append(made.Contacts, newCard(contact))
		}
	default:
	}
	if made.Type == "" {
		made.Type = "unsupported"
		made.Errors = newProblem(numberUnsupported, "Message type unknown", "The message is of the type "+from.Type+", which is not supported here.")
	}
	return made
}

// addFile adds a file under the type of the message.
func (m *incoming) addFile(file *incomingFile, from client.Message) {
	switch from.Type {
	case client.TypeImage:
		m.Type, m.Image = typeImage, file
	case client.TypeVideo:
		m.Type, m.Video = typeVideo, file
	case client.TypeVoice, client.TypeAudio:
		m.Type, m.Audio = typeAudio, file
	case client.TypeSticker:
		m.Type, m.Sticker = typeSticker, file
	case client.TypeDocument:
		m.Type, m.Document = typeDocument, file
	default:
	}
}

func newIncomingFile(instanceID string, from client.Message, link string) *incomingFile {
	return &incomingFile{
		ID: mediaID(instanceID, from.ID), MimeType: from.Media.MimeType, SHA256: orEmpty(from.Media.SHA256), URL: link, Caption: orEmpty(from.Caption), FileName: orEmpty(from.Media.FileName),
		Voice: from.Media.Voice, Animated: from.Media.Animated && from.Type == client.TypeSticker,
	}
}

func newAnswered(from client.Message) *answered {
	made := answered{ID: orEmpty(from.QuotedMessageID), Forwarded: from.Forwarded}
	if made == (answered{}) {
		return nil
	}
	if from.Quoted != nil && from.Quoted.Sender != nil && made.ID != "" {
		made.From = numberOf(from.Quoted.Sender.JID)
	}
	return &made
}

func newReferral(from *client.MessageReferral) *referral {
	if from == nil {
		return nil
	}
	return &referral{
		URL: orEmpty(from.SourceURL), ID: orEmpty(from.SourceID), Type: orEmpty(from.SourceType),
		Headline: orEmpty(from.Headline), Body: orEmpty(from.Body), Click: orEmpty(from.ClickID),
	}
}

// newCard makes the card of a contact.
func newCard(from client.MessageContact) card {
	made := card{Name: cardName{Formatted: from.FullName, First: from.FullName}}
	for _, number := range from.Numbers {
		phone := cardPhone{Phone: loose(number.Number), Type: orEmpty(number.Label)}
		if number.Writable {
			phone.Number = loose(number.Number)
		}
		made.Phones = append(made.Phones, phone)
	}
	for _, email := range from.Emails {
		made.Emails = append(made.Emails, cardEmail{email})
	}
	if from.Organization != nil {
		made.Org = &cardOrg{*from.Organization}
	}
	return made
}
