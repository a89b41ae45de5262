package gateway

import (
	"crypto/sha256"
	"strings"
	"time"
)

// MessageType says what a message holds (sandbox and events use the same words).
type MessageType string

// The types of messages.
const (
	TypeText        MessageType = "text"
	TypeImage       MessageType = "image"
	TypeVideo       MessageType = "video"
	TypeVoice       MessageType = "voice"
	TypeAudio       MessageType = "audio"
	TypeDocument    MessageType = "document"
	TypeLocation    MessageType = "location"
	TypeContact     MessageType = "contact"
	TypeSticker     MessageType = "sticker"
	TypePoll        MessageType = "poll"
	TypeEvent       MessageType = "event" // of a calendar
	TypeOrder       MessageType = "order" // of a catalogue; received only
	TypeGroupInvite MessageType = "group_invite"
	TypeProduct     MessageType = "product" // of a catalogue; received only
	TypePayment     MessageType = "payment" // received only
	TypeAlbum       MessageType = "album"   // the frame of one; its pictures are messages of their own. Sent only
	TypeUnsupported MessageType = "unsupported"
)

// Content is what a message says, before it is encoded. Its type decides which
// fields are read.
type Content struct {
	Type     MessageType
	Text     string // the text, or the caption of media
	Media    *Media // of image, video, voice, audio, document and sticker
	ViewOnce bool   // of image, video and voice
	Note     bool   // of video: phones show it round, and play it by itself
	Location *Location
	Contacts []ContactCard // one, or several in one message
	Poll     *Poll         // Text is its question
	Menu     Menu          // what answers it; it is no part of the payload, but kept with the message
	Event    *CalendarEvent
	Invite   *GroupInvite // nil unless it is an invitation to a group
	Quote    *Quote       // the message this one answers; nil for none
	Preview  *LinkPreview // of a link in a text; nil for none
	Look     *StatusLook  // of a text that is a status post; nil for others
	Audience []JID        // of a status post: those alone who are shown it; nil for all who may see it
	Album    *Album       // how many follow
	AlbumOf  *AlbumRef    // of image and video: the album that it belongs to; nil for none
	// Mentions are the people whom the text mentions, each as "@" and the user part of the
	// address; MentionsEveryone is a mention of all members of the group.
	Mentions         []JID
	MentionsEveryone bool
}

// StatusLook is how phones show a text that is a status post.
type StatusLook struct {
	Background uint32 // 0xRRGGBB
	Font       StatusFont
}

// StatusFont is a font of status posts.
type StatusFont string

// The fonts of status posts.
const (
	FontSystem     StatusFont = "system"
	FontScript     StatusFont = "script"
	FontBold       StatusFont = "bold"
	FontBreeze     StatusFont = "breeze"
	FontCalistoga  StatusFont = "calistoga"
	FontExo        StatusFont = "exo"
	FontTypewriter StatusFont = "typewriter"
)

// Media is a file that was checked and measured, and where the platform keeps it.
type Media struct {
	MimeType  string
	FileName  string // of documents
	Size      int64
	SHA256    []byte // of the plain file
	Width     int    // pixels; of images, videos and stickers, 0 where unknown
	Height    int
	Length    time.Duration // of audio and video, 0 where unknown
	Waveform  []byte        // of voice notes: 64 values from 0 to 100
	Thumbnail []byte        // JPEG; nil where there is none
	Animated  bool          // a sticker that moves, or a video that plays without end, as a GIF does
	// Upload is where the platform keeps the encrypted file; it is set before
	// the message is encoded.
	Upload Upload
}

// Upload is the platform's receipt for a file, with the key that opens it. A file for a channel
// is not encrypted: instead of key and hash it has a handle, which goes to the platform with the
// message.
type Upload struct {
	URL             string
	DirectPath      string
	Key             []byte
	EncryptedSHA256 []byte
	Handle          string
	// Reused says that the file was there already, from another message.
	Reused bool
}

// Location is a place on a map.
type Location struct {
	Latitude, Longitude float64 // degrees
	Name, Address       string  // empty where not given
	Live                bool    // it moves; this is where it was then
}

// ContactCard is a contact that a message passes on.
type ContactCard struct {
	FullName     string
	PhoneNumber  string // digits with country code; of several, the first that can be written to
	Organization string // empty where not given
	Account      string // of a card to send: the number under which the person has an account; empty for none
	// Numbers are all numbers of a card that was received, Emails and Addresses what else it tells.
	Numbers           []CardNumber
	Emails, Addresses []string
}

// CardNumber is a number of a card.
type CardNumber struct {
	Number string // digits
	Label  string // such as CELL or WORK; empty where not given
	// Writable says that the card names an account of the platform with the number.
	Writable bool
}

// LinkPreview is what phones show of the page behind a link in a text.
type LinkPreview struct {
	URL         string // as it stands in the text
	Title       string
	Description string // empty where not given
	Thumbnail   []byte // JPEG; nil where there is none, and in received messages
}

// CleanDescription makes a foreign text safe that is shown below a title: CleanText, of a few
// lines.
func CleanDescription(text string) string {
	return CleanText(strings.TrimSpace(text), maxDescription)
}

// maxDescription is in characters.
const maxDescription = 1024

// Album says how many pictures and videos follow.
type Album struct{ Images, Videos int }

// AlbumRef names the album that a picture or a video belongs to.
type AlbumRef struct {
	PlatformID string
	Chat       JID // where it is
}

// Poll is what people can vote for. The question is the text of its message.
type Poll struct {
	Options []PollOption
	// MaxAnswers is how many options somebody may vote for; 0: any number.
	MaxAnswers int
}

// Menu is what a program calls the options of a poll with one choice, or the answers to a text, so that an answer names what
// was chosen in the program's own words. Its zero value is that of every other message.
type Menu struct {
	Options   []MenuOption `json:"options"`
	Reference string       `json:"reference,omitempty"` // comes back with every answer; empty for none
}

// MenuOption is an option, by its text, with its ID.
type MenuOption struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// Exists reports whether the options have IDs.
func (m Menu) Exists() bool { return len(m.Options) > 0 }

// PollOption is one of the answers to a poll.
type PollOption struct {
	Name string
	// Hash is what votes name the option by: SHA-256 of the name as the poll's author wrote
	// it. It is set where a poll is read.
	Hash [sha256.Size]byte
}

// CalendarEvent is an appointment that people can put into their calendars, and respond to. Its
// name is the text of its message.
type CalendarEvent struct {
	Description        string // empty where not given
	Start              time.Time
	End                time.Time   // zero: it is open
	Place              *EventPlace // nil where not given
	JoinLink           string      // of a call or a meeting; empty where not given
	Cancelled          bool
	ExtraGuestsAllowed bool // people may bring others
}

// EventPlace is where a calendar event takes place.
type EventPlace struct {
	Name, Address string // empty where not given
	// Latitude and Longitude are in degrees; nil where the place is not on the map.
	Latitude, Longitude *float64
}

// Quote is a message that another one answers.
type Quote struct {
	PlatformID string
	Chat       JID // where the quoted message is
	Sender     JID
	Payload    []byte // of the quoted message
}

// Quoted is what a message shows of the one that it answers.
type Quoted struct {
	PlatformID string
	Chat       JID // where it is, if that is another chat, as of a status post
	Sender     Party
	Type       MessageType
	Text       string   // or its caption
	Product    *Product // of a question about one
	Thumbnail  []byte   // a small JPEG; nil for none
}

// Details is what a message holds besides its text, as events show it. The message's type
// decides which fields are set.
type Details struct {
	Media     *Media // of image, video, voice, audio, document and sticker; without what the platform's upload gave
	ViewOnce  bool
	VideoNote bool // a video that phones show round
	Location  *Location
	Contacts  []ContactCard
	Poll      *Poll
	Event     *CalendarEvent
	Preview   *LinkPreview
	Order     *Order
	Product   *Product
	Payment   *Payment
	Buttons   []Button // below a message of a business
	Quoted    *Quoted  // as the author's client has shown it; nil for none
	Invite    *GroupInvite
	Selection *Selection
	Referral  *Referral
	Forwarded bool
	AlbumID   string // of a picture or a video: the platform's identifier of its album; empty for none
	Mentions  []Party
	// MentionsEveryone says that all members of the group are mentioned.
	MentionsEveryone bool
	// Unsupported is the platform's name for a kind of message that this program does
	// not know; empty for known kinds. It is Damaged for a payload that can't be read.
	Unsupported string
}

// Damaged is what Details say of a payload that can't be read any more. Nothing else of it is known.
const Damaged = "damaged"

// Order is what somebody has ordered from the catalogue of a business.
type Order struct {
	ID    string
	Title string // of the first article
	Items int
	// Total is in thousandths of the currency, which is an ISO 4217 code; both empty where
	// the order does not say.
	Total    int64
	Currency string
}

// Product is something that a business sells.
type Product struct {
	ID          string // in the catalogue
	RetailerID  string // as the business itself names it; empty where it does not
	Title       string
	Description string
	URL         string
	Price       int64  // in thousandths of the currency
	Currency    string // an ISO 4217 code
	Owner       JID    // the business; empty where the message does not say
}

// ButtonType says what a button does.
type ButtonType string

// The types of buttons.
const (
	ButtonReply  ButtonType = "reply"  // answers with its text
	ButtonURL    ButtonType = "url"    // opens a page
	ButtonCall   ButtonType = "call"   // calls a number
	ButtonCopy   ButtonType = "copy"   // copies a code, such as one to sign in with
	ButtonOption ButtonType = "option" // is a row of a list to choose from
	ButtonOther  ButtonType = "other"  // opens a form, a payment or something newer
)

// Button is a button below a message, or a row of its list.
type Button struct {
	Type        ButtonType
	Text        string
	Description string // of a row
	ID          string // as the author has named it; of another kind, the platform's name for what it opens
	URL         string
	PhoneNumber string
	Code        string
}

// PaymentKind says what a message about money does.
type PaymentKind string

// The kinds of messages about money.
const (
	PaymentRequested PaymentKind = "requested"
	PaymentSent      PaymentKind = "sent"
	PaymentDeclined  PaymentKind = "declined"  // a request was
	PaymentCancelled PaymentKind = "cancelled" // a request was
	PaymentInvited   PaymentKind = "invited"   // to sign up for payments
	PaymentReminder  PaymentKind = "reminder"
	PaymentSplit     PaymentKind = "split" // a bill is, between several
)

// Payment is what a message says about money. Nothing is paid through this program.
type Payment struct {
	Kind      PaymentKind
	Amount    int64  // in thousandths of the currency; zero where it does not say
	Currency  string // an ISO 4217 code
	ExpiresAt time.Time
}

// GroupInvite is an invitation to a group.
type GroupInvite struct {
	Group     JID
	Code      string // with which one joins
	Name      string // of the group
	ExpiresAt time.Time
}

// Selection is what somebody has chosen of the buttons or the list of an earlier message, or of the options of a poll
// that have IDs.
type Selection struct {
	ID string // as the author of the buttons has named it
	// Text is what is written on it; empty: the text of the message.
	Text string
	// Reference is that of the menu; empty for none.
	Reference string
	// Parameters is the JSON that a form was filled in with; empty for buttons and lists.
	Parameters string
}

// Referral is the advertisement from which somebody came to the chat.
type Referral struct {
	SourceType string // "ad" or "post"
	SourceID   string
	SourceURL  string
	Headline   string
	Body       string
	ClickID    string // names the click to the advertiser's platform
	Ref        string // what the advertiser has noted with it
}
