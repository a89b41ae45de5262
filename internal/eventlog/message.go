// Events about messages.

package eventlog

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"time"

	"github.com/recado-project/recado/internal/gateway"
)

// The kinds of events about messages.
const (
	KindMessageReceived Kind = "message.received"
	KindMessageSent     Kind = "message.sent"
	KindMessageStatus   Kind = "message.status"
	KindMessageEdited   Kind = "message.edited"
	KindMessageDeleted  Kind = "message.deleted"
	KindMessageReaction Kind = "message.reaction"
	KindMessagePollVote Kind = "message.poll_vote"
	KindMessagePinned   Kind = "message.pinned"
	KindMessageStarred  Kind = "message.starred"

	KindMessageDeletedForMe Kind = "message.deleted_for_me"
)

func messageKinds() []Description {
	return []Description{
		{MessageReceived{}, "somebody wrote a message"},
		{MessageSent{}, "this account sent a message, through the gateway or from another device"},
		{MessageStatus{}, "a message of this account was sent, delivered, read, played, or failed"},
		{MessageEdited{}, "a message was edited"},
		{MessageDeleted{}, "a message was deleted for everyone"},
		{MessageReaction{}, "somebody reacted to a message, or took the reaction back"},
		{MessagePollVote{}, "somebody voted in a poll, changed the vote or took it back"},
		{MessageEventResponse{}, "somebody responded to a calendar event, or changed the response"},
		{MessagePinned{}, "somebody pinned a message for everybody in the chat, or unpinned it"},
		{MessageStarred{}, "the account's owner starred a message, or took the star away, on the phone or through the API"},
		{MessageDeletedForMe{}, "the account's owner deleted a message for this account alone, on the phone or through the API"},
	}
}

// Message is a message as events report it. It holds no bytes of media: the
// messageId leads to a download link.
type Message struct {
	ID        string `json:"id" doc:"The internal UUID, as in a Send result."`
	MessageID string `json:"messageId" doc:"The platform's identifier."`
	Chat
	IsGroup          bool                  `json:"isGroup" doc:"Whether the chat is a group."`
	FromMe           bool                  `json:"fromMe" doc:"Whether this account sent it."`
	From             *Person               `json:"from" doc:"Who sent it."`
	Timestamp        Time                  `json:"timestamp" doc:"By the platform's clock."`
	Type             string                `json:"type" words:"text,image,video,voice,audio,document,location,contact,sticker,poll,event,order,product,payment,group_invite,album,unsupported" doc:"text, image, video, voice, audio, document, location, contact, sticker, poll, event, order, product, payment, group_invite, album or unsupported. One of a business has the type of what stands above its text, or text. An album is the frame of pictures and videos that were sent through the gateway: they follow."`
	Text             *string               `json:"text" doc:"The text of a text message, and what is written to an order, a product or a payment; cut after 65,536 characters."`
	Caption          *string               `json:"caption" doc:"The caption of a picture, a video, a document or a place; the question of a poll; the name of a calendar event; what is written to an order, as in text."`
	Media            *MessageMedia         `json:"media" doc:"The file; null where there is none."`
	Location         *MessageLocation      `json:"location" doc:"The place of a location message."`
	Contacts         []MessageContact      `json:"contacts" doc:"The cards of a contact message; empty for others."`
	Order            *MessageOrder         `json:"order" doc:"What was ordered from a catalogue; null for others. What the person wrote to it is the text."`
	GroupInvite      *MessageGroupInvite   `json:"groupInvite" doc:"The invitation to a group; null for others."`
	Selection        *MessageSelection     `json:"selection" doc:"What was chosen of the buttons or the list of an earlier message; in message.received also what a text chooses of a poll or a text with optionIds, whose messageId is the quotedMessageId; null for others."`
	Buttons          []MessageButton       `json:"buttons" doc:"The buttons below a message of a business, or the rows of its list; empty for others."`
	Product          *MessageProduct       `json:"product" doc:"What a business sells; null for others."`
	Payment          *MessagePayment       `json:"payment" doc:"What a message says about money; null for others. Nothing is paid through the gateway."`
	Quoted           *MessageQuoted        `json:"quoted" doc:"What the message shows of the one that it answers, which may not be kept here; null for others."`
	Referral         *MessageReferral      `json:"referral" doc:"The advertisement from which the person came to the chat; null for others."`
	Poll             *PollOptions          `json:"poll" doc:"What a poll offers; null for others. The question is the caption."`
	Event            *MessageCalendarEvent `json:"event" doc:"A calendar event; null for others. Its name is the caption."`
	Preview          *MessageLinkPreview   `json:"preview" doc:"What phones show of the page behind a link in the text; null where nothing is shown."`
	AlbumID          *string               `json:"albumId" doc:"The messageId of the album that a picture or a video belongs to; null for others. Phones show those of one album together."`
	QuotedMessageID  *string               `json:"quotedMessageId" doc:"The message that this one answers."`
	Forwarded        bool                  `json:"forwarded" doc:"Whether it carries the platform's mark of a forwarded message."`
	Mentions         []*Person             `json:"mentions" doc:"The people mentioned in the text; empty where nobody is mentioned."`
	MentionsEveryone bool                  `json:"mentionsEveryone" doc:"Whether all members of the group are mentioned."`
	Unsupported      *string               `json:"unsupported" doc:"With the type unsupported, the platform's name for a kind that is not known here; unavailable:view_once for a file that can be opened once and that the platform gives to the phone alone; too_large for a message of more than a megabyte without its file; not_kept: followed by what it was, for something that the database can't store. With another type: damaged, for a message that can't be read any more in the database; its type and text are those that were noted when it came."`
}

// MessageMedia describes the file of a message.
type MessageMedia struct {
	MimeType  string  `json:"mimeType" doc:"As the sender gave it; application/octet-stream where that is no media type."`
	FileName  *string `json:"fileName" doc:"The name of a document, without folders and without characters that can't be seen."`
	Size      int64   `json:"size" doc:"In bytes."`
	SHA256    *string `json:"sha256" doc:"The SHA-256 hash of the file, in hexadecimal digits, as the sender gave it; null where it is not known."`
	Seconds   *int64  `json:"seconds" doc:"The length of audio and video."`
	Width     *int    `json:"width" doc:"In pixels."`
	Height    *int    `json:"height" doc:"In pixels."`
	Voice     bool    `json:"voice" doc:"Whether it is a voice note."`
	ViewOnce  bool    `json:"viewOnce" doc:"Whether it can be opened once only."`
	VideoNote bool    `json:"videoNote" doc:"Whether it is a video note, which phones show round."`
	Animated  bool    `json:"animated" doc:"Whether it is a sticker that moves, or a video that plays without end, as a GIF does."`
}

// MessageLocation is a place on a map.
type MessageLocation struct {
	Latitude  float64 `json:"latitude" doc:"In degrees."`
	Longitude float64 `json:"longitude" doc:"In degrees."`
	Name      *string `json:"name" doc:"The name of the place."`
	Address   *string `json:"address" doc:"The address of the place."`
	Live      bool    `json:"live" doc:"Whether it is shared while it moves: this is where it was then. A place that follows comes as a message of its own, or as an edit of this one."`
}

// MessageLinkPreview is what phones show of a page.
type MessageLinkPreview struct {
	URL         string  `json:"url" doc:"The link, as the sender's phone has found it in the text."`
	Title       *string `json:"title" doc:"As the sender's phone, or a program in its place, has written it."`
	Description *string `json:"description" doc:"As the title."`
}

// MessageContact is somebody's card.
type MessageContact struct {
	FullName     string                 `json:"fullName" doc:"As the card has it."`
	PhoneNumber  *string                `json:"phoneNumber" doc:"Digits with the country code; of several, the first that can be written to."`
	Organization *string                `json:"organization" doc:"The person's organization."`
	Numbers      []MessageContactNumber `json:"numbers" doc:"All numbers of the card."`
	Emails       []string               `json:"emails" doc:"The e-mail addresses of the card."`
	Addresses    []string               `json:"addresses" doc:"The addresses of the card, each in one line."`
}

// MessageContactNumber is a number of somebody's card.
type MessageContactNumber struct {
	Number   string  `json:"number" doc:"Digits, with the country code where the card has it."`
	Label    *string `json:"label" doc:"What it is for, such as CELL or WORK."`
	Writable bool    `json:"writable" doc:"Whether the card says that the number has an account of the messenger."`
}

// MessageButton is a button below a message, or a row of its list.
type MessageButton struct {
	Type        string  `json:"type" doc:"reply, url, call, copy, option for a row of a list, or other for what opens a form, a payment or something newer."`
	Text        *string `json:"text" doc:"What is written on it."`
	Description *string `json:"description" doc:"The second line of a row."`
	ID          *string `json:"id" doc:"As its author has named it; of the type other, the platform's name for what it opens."`
	URL         *string `json:"url" doc:"The page that it opens."`
	PhoneNumber *string `json:"phoneNumber" doc:"The number that it calls, as its author has written it."`
	Code        *string `json:"code" doc:"What it copies, such as a code to sign in with or one to pay with."`
}

// MessageProduct is something that a business sells.
type MessageProduct struct {
	ID          string   `json:"id" doc:"Its identifier in the catalogue."`
	RetailerID  *string  `json:"retailerId" doc:"As the business itself names it."`
	Title       *string  `json:"title" doc:"Its name."`
	Description *string  `json:"description" doc:"What the business says of it."`
	URL         *string  `json:"url" doc:"Its page."`
	Price       *float64 `json:"price" doc:"In units of the currency; that of a sale where there is one."`
	Currency    *string  `json:"currency" doc:"ISO 4217."`
	Business    *string  `json:"business" doc:"The chat ID of the business."`
}

// MessagePayment is what a message says about money.
type MessagePayment struct {
	Kind      string   `json:"kind" doc:"requested, sent, declined, cancelled, invited, reminder or split."`
	Amount    *float64 `json:"amount" doc:"In units of the currency."`
	Currency  *string  `json:"currency" doc:"ISO 4217."`
	ExpiresAt *Time    `json:"expiresAt" doc:"Until when it can be answered."`
}

// MessageQuoted is what a message shows of the one that it answers.
type MessageQuoted struct {
	MessageID *string         `json:"messageId" doc:"The platform's identifier, as quotedMessageId; of a question about a product, one that no message has."`
	ChatID    *string         `json:"chatId" doc:"The chat that it is in, where that is another one: status@broadcast for a status post."`
	Sender    *Person         `json:"sender" doc:"Its author."`
	Type      string          `json:"type" doc:"As the type of a message."`
	Text      *string         `json:"text" doc:"Its text or caption."`
	Product   *MessageProduct `json:"product" doc:"The product that it shows."`
	Thumbnail *string         `json:"thumbnail" doc:"A small JPEG in base64; null where there is none."`
}

// MessageOrder is what somebody has ordered.
type MessageOrder struct {
	ID       string   `json:"id" doc:"The platform's identifier of the order."`
	Title    *string  `json:"title" doc:"The name of the first article."`
	Items    int      `json:"items" doc:"How many articles it has."`
	Total    *float64 `json:"total" doc:"What it costs, in units of the currency."`
	Currency *string  `json:"currency" doc:"ISO 4217."`
}

// MessageGroupInvite is an invitation to a group.
type MessageGroupInvite struct {
	GroupID   *string `json:"groupId" doc:"The group."`
	Code      string  `json:"code" doc:"With which one joins."`
	Name      *string `json:"name" doc:"The name of the group."`
	ExpiresAt *Time   `json:"expiresAt" doc:"When it ends."`
}

// MessageSelection is what somebody has chosen.
type MessageSelection struct {
	ID         string  `json:"id" doc:"As the author of the buttons, or the list, or whoever sent the poll or the text with optionIds, has named it."`
	Text       string  `json:"text" doc:"What is written on it."`
	Reference  *string `json:"reference" doc:"The reference that the poll was sent with; null if there was none, and for buttons and lists."`
	Parameters *string `json:"parameters" doc:"The JSON that a form was filled in with; null for buttons and lists."`
}

// NewMessageSelection makes the selection of an event.
func NewMessageSelection(selection gateway.Selection) *MessageSelection {
	return &MessageSelection{
		ID: selection.ID, Text: selection.Text, Reference: orNull(selection.Reference), Parameters: orNull(selection.Parameters),
	}
}

// MessageReferral is an advertisement.
type MessageReferral struct {
	SourceType *string `json:"sourceType" doc:"ad or post."`
	SourceID   *string `json:"sourceId" doc:"The advertisement's identifier."`
	SourceURL  *string `json:"sourceUrl" doc:"Where it stands."`
	Headline   *string `json:"headline" doc:"Its headline."`
	Body       *string `json:"body" doc:"Its text."`
	ClickID    *string `json:"clickId" doc:"Names the click to the advertiser's platform (ctwa_clid)."`
	Ref        *string `json:"ref" doc:"What the advertiser has noted with it."`
}

// addCommerce fills in what people send from the programs of businesses.
func (m *Message) addCommerce(details gateway.Details) {
	if order := details.Order; order != nil {
		m.Order = &MessageOrder{
			ID: order.ID, Title: orNull(order.Title), Items: order.Items,
			Total: amountOrNull(order.Total, order.Currency), Currency: orNull(order.Currency),
		}
	}
	m.Product, m.Quoted = newProduct(details.Product), newQuoted(details.Quoted)
	if payment := details.Payment; payment != nil {
		m.Payment = &MessagePayment{
			Kind: string(payment.Kind), Amount: amountOrNull(payment.Amount, payment.Currency), Currency: orNull(payment.Currency),
			ExpiresAt: TimeOrNull(payment.ExpiresAt),
		}
	}
	for _, button := range details.Buttons {
		m.Buttons = append(m.Buttons, MessageButton{
			Type: string(button.Type), Text: orNull(button.Text), Description: orNull(button.Description), ID: orNull(button.ID),
			URL: orNull(button.URL), PhoneNumber: orNull(button.PhoneNumber), Code: orNull(button.Code),
		})
	}
	if invite := details.Invite; invite != nil {
		m.GroupInvite = &MessageGroupInvite{
			GroupID: orNull(invite.Group), Code: invite.Code, Name: orNull(invite.Name), ExpiresAt: TimeOrNull(invite.ExpiresAt),
		}
	}
	if selection := details.Selection; selection != nil {
		m.Selection = NewMessageSelection(*selection)
		if m.Selection.Text == "" && m.Text != nil {
			m.Selection.Text = *m.Text
		}
	}
	if ad := details.Referral; ad != nil {
		m.Referral = &MessageReferral{
			SourceType: orNull(ad.SourceType), SourceID: orNull(ad.SourceID), SourceURL: orNull(ad.SourceURL),
			Headline: orNull(ad.Headline), Body: orNull(ad.Body), ClickID: orNull(ad.ClickID), Ref: orNull(ad.Ref),
		}
	}
}

func newProduct(product *gateway.Product) *MessageProduct {
	if product == nil {
		return nil
	}
	return &MessageProduct{
		ID: product.ID, RetailerID: orNull(product.RetailerID), Title: orNull(product.Title), Description: orNull(product.Description),
		URL: orNull(product.URL), Price: amountOrNull(product.Price, product.Currency), Currency: orNull(product.Currency),
		Business: orNull(product.Owner),
	}
}

func newQuoted(quoted *gateway.Quoted) *MessageQuoted {
	if quoted == nil {
		return nil
	}
	return &MessageQuoted{
		MessageID: orNull(quoted.PlatformID), ChatID: orNull(string(quoted.Chat)), Sender: NewPerson(quoted.Sender),
		Type: string(quoted.Type), Text: orNull(quoted.Text), Product: newProduct(quoted.Product), Thumbnail: orNull(base64.StdEncoding.EncodeToString(quoted.Thumbnail)),
	}
}

// amountOrNull is an amount in units of its currency, of which the platform counts thousandths.
func amountOrNull(thousandths int64, currency string) *float64 {
	if currency == "" {
		return nil
	}
	return new(float64(thousandths) / 1000)
}

// PollOptions is what a poll offers.
type PollOptions struct {
	Options    []string `json:"options" doc:"The answers to choose from."`
	MaxAnswers int      `json:"maxAnswers" doc:"How many of them somebody may choose; 0: any number."`
}

func newPoll(poll *gateway.Poll) *PollOptions {
	if poll == nil {
		return nil
	}
	shown := &PollOptions{Options: make([]string, 0, len(poll.Options)), MaxAnswers: poll.MaxAnswers}
	for _, option := range poll.Options {
		shown.Options = append(shown.Options, option.Name)
	}
	return shown
}

// MessageReceived is a message from somebody else.
type MessageReceived struct {
	Message
	SenderUsername *string `json:"senderUsername" doc:"The name by which others find its author without the number; null where the platform does not tell it. message.sent does not have it."`
}

// NewMessageReceived makes the data of a message that has just arrived, from itself and its details.
func NewMessageReceived(message gateway.Message) MessageReceived {
	return MessageReceived{Message: NewMessage(message, message.Details), SenderUsername: orNull(message.SenderUsername)}
}

// MessageSent is a message of this account.
type MessageSent struct {
	Message
	Source string `json:"source" words:"api,device" doc:"api for one sent through this gateway, device for one from the phone or another device."`

	ClientData string `json:"clientData,omitempty" doc:"What your program has called it in the request that sent it; left out if nothing."`
}

// NewMessage makes the message of an event from a message and the details of its
// payload.
func NewMessage(message gateway.Message, details gateway.Details) Message {
	m := Message{
		ID: message.ID, MessageID: message.PlatformID, Chat: NewChat(message.Chat),
		IsGroup: message.Chat.JID.IsGroup(), FromMe: message.FromMe, From: NewPerson(message.Sender),
		Timestamp: Time(message.SentAt), Type: string(message.Type),
		QuotedMessageID: orNull(message.QuotedID), Forwarded: details.Forwarded,
		Buttons: make([]MessageButton, 0, len(details.Buttons)), Contacts: make([]MessageContact, 0, len(details.Contacts)), Poll: newPoll(details.Poll), Event: NewCalendarEvent(details.Event), Mentions: newPersons(details.Mentions),
		MentionsEveryone: details.MentionsEveryone, AlbumID: orNull(details.AlbumID), Unsupported: orNull(details.Unsupported),
	}
	switch message.Type {
	case gateway.TypeText:
		m.Text = &message.Text
	case gateway.TypeProduct, gateway.TypePayment:
		m.Text = orNull(message.Text)
	case gateway.TypeOrder:
		// Its caption is older than the rule that what businesses write is a text.
		m.Text, m.Caption = orNull(message.Text), orNull(message.Text)
	default:
		m.Caption = orNull(message.Text)
	}
	if details.Media != nil {
		m.Media = newMedia(*details.Media, message.Type == gateway.TypeVoice, details.ViewOnce)
		m.Media.VideoNote = details.VideoNote
	}
	if place := details.Location; place != nil {
		m.Location = &MessageLocation{
			Latitude: place.Latitude, Longitude: place.Longitude,
			Name: orNull(place.Name), Address: orNull(place.Address), Live: place.Live,
		}
	}
	if preview := details.Preview; preview != nil {
		m.Preview = &MessageLinkPreview{URL: preview.URL, Title: orNull(preview.Title), Description: orNull(preview.Description)}
	}
	m.addCommerce(details)
	for _, card := range details.Contacts {
		m.Contacts = append(m.Contacts, newContact(card))
	}
	return m
}

func newContact(card gateway.ContactCard) MessageContact {
	contact := MessageContact{
		FullName: card.FullName, PhoneNumber: orNull(card.PhoneNumber), Organization: orNull(card.Organization),
		Numbers: make([]MessageContactNumber, 0, len(card.Numbers)), Emails: append([]string{}, card.Emails...), Addresses: append([]string{}, card.Addresses...),
	}
	for _, number := range card.Numbers {
		contact.Numbers = append(contact.Numbers, MessageContactNumber{Number: number.Number, Label: orNull(number.Label), Writable: number.Writable})
	}
	return contact
}

func newMedia(media gateway.Media, voice, viewOnce bool) *MessageMedia {
	m := &MessageMedia{
		MimeType: media.MimeType, FileName: orNull(media.FileName), Size: media.Size,
		Voice: voice, ViewOnce: viewOnce, Animated: media.Animated,
	}
	if len(media.SHA256) == sha256.Size {
		m.SHA256 = new(hex.EncodeToString(media.SHA256))
	}
	if media.Length > 0 {
		m.Seconds = new(int64(media.Length.Round(time.Second) / time.Second))
	}
	if media.Width > 0 && media.Height > 0 {
		m.Width, m.Height = &media.Width, &media.Height
	}
	return m
}

// Kind is message.received.
func (MessageReceived) Kind() Kind { return KindMessageReceived }

// Kind is message.sent.
func (MessageSent) Kind() Kind { return KindMessageSent }

// MessageStatus reports that a message was sent, delivered, read or played, or that
// it failed.
type MessageStatus struct {
	MessageID string  `json:"messageId" doc:"The platform's identifier."`
	ID        *string `json:"id" doc:"The internal UUID; null where the message is not ours."`
	Chat
	Status      string   `json:"status" words:"sent,delivered,read,played,failed" doc:"sent, delivered, read, played or failed."`
	Participant *Person  `json:"participant" doc:"In a group, and of a status post, whose receipt it is."`
	Timestamp   Time     `json:"timestamp" doc:"When it reached this status, by the platform's clock."`
	Failure     *Failure `json:"failure" doc:"Why it failed, if that is known; null for every other status."`
	ClientData  string   `json:"clientData,omitempty" doc:"What your program has called the message in the request that sent it; left out if nothing."`
}

// Failure says why a message was not sent.
type Failure struct {
	Code    string `json:"code" doc:"As the error field of the API's refusals."`
	Message string `json:"message" doc:"For people."`
}

// Kind is message.status.
func (MessageStatus) Kind() Kind { return KindMessageStatus }

// MessageEdited reports that a text, a caption or a calendar event was changed.
type MessageEdited struct {
	MessageID string `json:"messageId" doc:"The platform's identifier of the edited message."`
	Chat
	From *Person `json:"from" doc:"Who edited it."`
	Text string  `json:"text" doc:"The new text, or the new caption."`
	// PreviousText is nil where the message is not kept here.
	PreviousText *string `json:"previousText" doc:"The text or caption before; null if the message is not kept here, such as one from before the instance was linked."`
	// Event is nil for all but calendar events.
	Event *MessageCalendarEvent `json:"event" doc:"The new content of a calendar event, which may be that it was cancelled; null for others."`
}

// Kind is message.edited.
func (MessageEdited) Kind() Kind { return KindMessageEdited }

// MessageDeleted reports that a message was deleted for everyone.
type MessageDeleted struct {
	MessageID string `json:"messageId" doc:"The platform's identifier of the deleted message."`
	Chat
	From *Person `json:"from" doc:"Who deleted it: its sender, or an administrator of the group."`
}

// Kind is message.deleted.
func (MessageDeleted) Kind() Kind { return KindMessageDeleted }

// MessageReaction reports that somebody reacted to a message.
type MessageReaction struct {
	MessageID string `json:"messageId" doc:"The platform's identifier of the message."`
	Chat
	From     *Person `json:"from" doc:"Who reacted."`
	Reaction string  `json:"reaction" doc:"The emoji; empty where the reaction was taken back."`
}

// Kind is message.reaction.
func (MessageReaction) Kind() Kind { return KindMessageReaction }

// MessagePollVote reports that somebody voted in a poll.
type MessagePollVote struct {
	MessageID string `json:"messageId" doc:"The platform's identifier of the poll."`
	ID        string `json:"id" doc:"The poll's internal UUID."`
	Chat
	From      *Person           `json:"from" doc:"Who voted."`
	Question  string            `json:"question" doc:"The poll's question."`
	Options   []string          `json:"options" doc:"What this person chooses now, instead of what he or she chose before; empty where the vote was taken back."`
	Selection *MessageSelection `json:"selection" doc:"What this person has chosen, if the poll was sent with optionIds and this is his or her first answer to it; else null."`
	Tallies   []PollTally       `json:"tallies" doc:"How the poll stands with this vote: every option, in the poll's order."`
	Voters    int               `json:"voters" doc:"How many people have a vote in it."`
}

// PollTally is how many votes an option of a poll has.
type PollTally struct {
	Option string `json:"option" doc:"The option."`
	Votes  int    `json:"votes" doc:"How many people chose it."`
}

// Kind is message.poll_vote.
func (MessagePollVote) Kind() Kind { return KindMessagePollVote }

// MessagePinned reports that somebody pinned a message in its chat, or unpinned it.
type MessagePinned struct {
	MessageID string `json:"messageId" doc:"The platform's identifier of the message."`
	Chat
	From        *Person `json:"from" doc:"Who pinned it, or unpinned it."`
	PinnedUntil *Time   `json:"pinnedUntil" doc:"Until when it is pinned; null where it was unpinned. Nothing is reported when that time comes."`
}

// NewMessagePinned makes the data of a pin, which ends at a time; zero: it is taken back.
func NewMessagePinned(messageID string, chat, by gateway.Party, until time.Time) MessagePinned {
	return MessagePinned{MessageID: messageID, Chat: NewChat(chat), From: NewPerson(by), PinnedUntil: TimeOrNull(until)}
}

// Kind is message.pinned.
func (MessagePinned) Kind() Kind { return KindMessagePinned }

// MessageStarred reports that the account's owner starred a message, or took the star away.
type MessageStarred struct {
	MessageID string `json:"messageId" doc:"The platform's identifier of the message."`
	Chat
	Starred bool `json:"starred" doc:"Whether it is starred now."`
}

// Kind is message.starred.
func (MessageStarred) Kind() Kind { return KindMessageStarred }

// MessageDeletedForMe reports that a message was deleted from the account's own devices.
type MessageDeletedForMe struct {
	MessageID string `json:"messageId" doc:"The platform's identifier of the message."`
	Chat
}

// Kind is message.deleted_for_me.
func (MessageDeletedForMe) Kind() Kind { return KindMessageDeletedForMe }
