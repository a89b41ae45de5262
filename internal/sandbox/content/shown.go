package content

// Shown is a message as a phone shows it. Fields that do not apply are empty or
// null. Chats and senders are named by number, never by LID.
type Shown struct {
	MessageID       string     `json:"messageId"`
	Chat            string     `json:"chat"`
	From            string     `json:"from"`
	FromMe          bool       `json:"fromMe"`
	Timestamp       string     `json:"timestamp"` // ISO 8601
	Type            string     `json:"type"`
	Text            string     `json:"text"`
	Caption         string     `json:"caption"`
	Background      string     `json:"background,omitempty"` // of a text as a status post: #RRGGBB
	Font            string     `json:"font,omitempty"`       // of such a text, as the platform names it
	MimeType        string     `json:"mimeType"`
	FileName        string     `json:"fileName"`
	MediaSHA256     string     `json:"mediaSha256"`
	MediaSize       *int64     `json:"mediaSize"`
	ViewOnce        bool       `json:"viewOnce"`
	VideoNote       bool       `json:"videoNote"`
	Animated        bool       `json:"animated"` // a sticker that moves, or a video that plays without end, as a GIF does
	Latitude        *float64   `json:"latitude"`
	Longitude       *float64   `json:"longitude"`
	Name            string     `json:"name"`
	Address         string     `json:"address"`
	Contact         *Contact   `json:"contact"`
	Contacts        []Contact  `json:"contacts,omitempty"` // if there are several; the first one is Contact
	Poll            *Poll      `json:"poll"`
	Preview         *Preview   `json:"preview"` // of the page behind a link in a text
	Votes           []Vote     `json:"votes"`
	Event           *Event     `json:"event"`     // a calendar event; Text is its name
	Responses       []Response `json:"responses"` // to it
	Album           *Album     `json:"album"`     // of the frame of one
	AlbumID         string     `json:"albumId"`   // of a picture or a video in one: the frame
	QuotedMessageID string     `json:"quotedMessageId"`
	Forwarded       bool       `json:"forwarded"`
	Mentions        []string   `json:"mentions"`         // as the message has them, by number or by LID
	Everyone        bool       `json:"mentionsEveryone"` // all members of the group are mentioned
	Reactions       []Reaction `json:"reactions"`
	Edited          bool       `json:"edited"`
	Deleted         bool       `json:"deleted"`
	PinnedUntil     string     `json:"pinnedUntil"` // ISO 8601; "" for not
	Starred         bool       `json:"starred"`
	Problems        []string   `json:"problems"`                  // what is wrong with it, as its owner would notice
	Status          string     `json:"status"`                    // sent, delivered, read or played
	DisappearsAfter uint32     `json:"disappearsAfter,omitempty"` // seconds; 0: never
}

// Preview is what a phone shows of the page behind a link.
type Preview struct {
	URL         string `json:"url"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Picture     bool   `json:"picture"` // there is one
}

// Contact is a contact card.
type Contact struct {
	FullName     string `json:"fullName"`
	PhoneNumber  string `json:"phoneNumber"`
	Organization string `json:"organization"`
}

// Reaction is somebody's reaction to a message.
type Reaction struct {
	From     string `json:"from"`
	Reaction string `json:"reaction"`
}
