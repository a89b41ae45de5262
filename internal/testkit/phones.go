package testkit

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"testing"
)

// Phones calls the control API of a sandbox.
type Phones struct {
	baseURL string
}

// NewPhones makes the caller of the sandbox at baseURL.
func NewPhones(baseURL string) *Phones { return &Phones{baseURL: baseURL + "/sandbox/api"} }

// Phone is a simulated handset.
type Phone struct {
	Number     string `json:"number"`
	JID        string `json:"jid"`
	LID        string `json:"lid"`
	Name       string `json:"name"`
	Registered bool   `json:"registered"`
	Online     bool   `json:"online"`
	Devices    []int  `json:"devices"`

	ProfilePicture bool              `json:"profilePicture"`
	About          string            `json:"about"`
	Privacy        map[string]string `json:"privacy"`
	Blocked        []string          `json:"blocked"`

	LinkedDevices []struct {
		Name string `json:"name"`
		Kind string `json:"kind"`
	} `json:"linkedDevices"`
}

// PhoneMessage is a message as a phone shows it.
type PhoneMessage struct {
	DisappearsAfter uint32 `json:"disappearsAfter"` // seconds

	MessageID   string `json:"messageId"`
	Chat        string `json:"chat"`
	From        string `json:"from"`
	FromMe      bool   `json:"fromMe"`
	Type        string `json:"type"`
	Text        string `json:"text"`
	Caption     string `json:"caption"`
	Background  string `json:"background"` // of a text as a status post
	Font        string `json:"font"`
	MimeType    string `json:"mimeType"`
	FileName    string `json:"fileName"`
	MediaSHA256 string `json:"mediaSha256"` // of the file as the phone decrypted it
	MediaSize   int64  `json:"mediaSize"`
	ViewOnce    bool   `json:"viewOnce"`
	VideoNote   bool   `json:"videoNote"`
	Animated    bool   `json:"animated"`

	Latitude  *float64     `json:"latitude"`
	Longitude *float64     `json:"longitude"`
	Name      string       `json:"name"`
	Address   string       `json:"address"`
	Contact   *ContactCard `json:"contact"`

	Poll *Poll `json:"poll"`

	Event     *CalendarEvent  `json:"event"`
	Responses []EventResponse `json:"responses"`

	Preview *LinkPreview `json:"preview"`
	Votes   []Vote       `json:"votes"`

	Album   *Album `json:"album"`
	AlbumID string `json:"albumId"`

	QuotedMessageID string     `json:"quotedMessageId"`
	Forwarded       bool       `json:"forwarded"`
	Mentions        []string   `json:"mentions"`
	Everyone        bool       `json:"mentionsEveryone"`
	Reactions       []Reaction `json:"reactions"`
	Edited          bool       `json:"edited"`
	Deleted         bool       `json:"deleted"`
	PinnedUntil     string     `json:"pinnedUntil"`
	Starred         bool       `json:"starred"`
	Status          string     `json:"status"`
}

// ContactCard is a card in a message.
type ContactCard struct {
	FullName     string `json:"fullName"`
	PhoneNumber  string `json:"phoneNumber"`
	Organization string `json:"organization"`
}

// Reaction is somebody's reaction to a message.
type Reaction struct {
	From     string `json:"from"`
	Reaction string `json:"reaction"`
}

// LinkPreview is what a phone shows of the page behind a link.
type LinkPreview struct {
	URL         string `json:"url"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Picture     bool   `json:"picture"`
}

// Album is the frame of an album.
type Album struct {
	Images int `json:"images"`
	Videos int `json:"videos"`
}

// Poll is what a poll offers.
type Poll struct {
	Options    []string `json:"options"`
	MaxAnswers int      `json:"maxAnswers"`
}

// Vote is somebody's vote in a poll.
type Vote struct {
	From    string   `json:"from"`
	Options []string `json:"options"`
}

// Activity is what a phone saw besides messages.
type Activity struct {
	Type  string `json:"type"`
	From  string `json:"from"`
	To    string `json:"to"`
	Value string `json:"value"`
}

// Get returns a phone, and creates it if it does not exist.
func (p *Phones) Get(tb testing.TB, number string) Phone {
	tb.Helper()
	var phone Phone
	p.call(tb, http.MethodGet, "/phones/"+number, nil, &phone)
	return phone
}

// Update changes the properties of a phone.
func (p *Phones) Update(tb testing.TB, number string, change map[string]any) {
	tb.Helper()
	p.call(tb, http.MethodPut, "/phones/"+number, change, nil)
}

// Scan scans the code of an instance.
func (p *Phones) Scan(tb testing.TB, number, code string) {
	tb.Helper()
	p.call(tb, http.MethodPost, "/phones/"+number+"/scan", map[string]any{"qrCode": code}, nil)
}

// EnterPairingCode types the characters that an instance shows.
func (p *Phones) EnterPairingCode(tb testing.TB, number, code string) {
	tb.Helper()
	p.call(tb, http.MethodPost, "/phones/"+number+"/pairing-code", map[string]any{"code": code}, nil)
}

// AnswerPasskey signs a request, as an instance shows it, with the phone's own passkey on
// a page, and returns the assertion.
func (p *Phones) AnswerPasskey(tb testing.TB, number string, request json.RawMessage, page string) (assertion json.RawMessage) {
	tb.Helper()
	p.call(tb, http.MethodPost, "/phones/"+number+"/passkey/assert", map[string]any{"request": request, "origin": page}, &assertion)
	return assertion
}

// Do carries out an operation that has no body and no answer: unlink, ban, replace.
func (p *Phones) Do(tb testing.TB, number, operation string) {
	tb.Helper()
	p.call(tb, http.MethodPost, "/phones/"+number+"/"+operation, map[string]any{}, nil)
}

// Messages returns the messages of a phone, or those of one chat if chat is not empty.
func (p *Phones) Messages(tb testing.TB, number, chat string) []PhoneMessage {
	tb.Helper()
	path := "/phones/" + number + "/messages"
	if chat != "" {
		path += "?chat=" + url.QueryEscape(chat)
	}
	var list struct {
		Data []PhoneMessage `json:"data"`
	}
	p.call(tb, http.MethodGet, path, nil, &list)
	return list.Data
}

// AwaitMessage waits until a phone has the message and returns it.
func (p *Phones) AwaitMessage(tb testing.TB, number, messageID string) PhoneMessage {
	tb.Helper()
	var found PhoneMessage
	Await(tb, "message "+messageID+" on the phone", func() bool {
		for _, message := range p.Messages(tb, number, "") {
			if message.MessageID == messageID {
				found = message
				return true
			}
		}
		return false
	})
	return found
}

// Has reports whether a phone shows a message.
func (p *Phones) Has(tb testing.TB, number, messageID string) bool {
	tb.Helper()
	return slices.ContainsFunc(p.Messages(tb, number, ""), func(m PhoneMessage) bool { return m.MessageID == messageID })
}

// SendText makes a phone send a text, and returns its identifier.
func (p *Phones) SendText(tb testing.TB, number, to, text string) (messageID string) {
	tb.Helper()
	return p.Send(tb, number, map[string]any{"to": to, "type": "text", "text": text})
}

// Send makes a phone send a message of any type, and returns its identifier.
func (p *Phones) Send(tb testing.TB, number string, message map[string]any) (messageID string) {
	tb.Helper()
	var sent struct {
		MessageID string `json:"messageId"`
	}
	p.call(tb, http.MethodPost, "/phones/"+number+"/messages", message, &sent)
	return sent.MessageID
}

// SendRaw makes a phone send bytes unchanged, whether they are an encoded waE2E.Message or
// not. more sets attributes of the stanza, as docs/sandbox.md describes: id, idBase64,
// edit, pushName, type, timestamp. It returns the message's identifier.
func (p *Phones) SendRaw(tb testing.TB, number, to string, message []byte, more map[string]any) (messageID string) {
	tb.Helper()
	body := map[string]any{"to": to, "message": message}
	maps.Copy(body, more)
	var sent struct {
		MessageID string `json:"messageId"`
	}
	p.call(tb, http.MethodPost, "/phones/"+number+"/raw", body, &sent)
	return sent.MessageID
}

// SendRawReceipt makes a phone send a receipt for any messages: to (a number), chat (a
// group's), messageIds, type.
func (p *Phones) SendRawReceipt(tb testing.TB, number string, receipt map[string]any) {
	tb.Helper()
	p.call(tb, http.MethodPost, "/phones/"+number+"/raw-receipt", receipt, nil)
}

// MediaPointer is what a message says about its file.
type MediaPointer struct {
	DirectPath    string `json:"directPath"`
	MediaKey      []byte `json:"mediaKey"`
	FileSHA256    []byte `json:"fileSha256"`
	FileEncSHA256 []byte `json:"fileEncSha256"`
	FileLength    uint64 `json:"fileLength"`
}

// Upload uploads a file, given as a data URI, to the platform's media host, for a raw
// message that refers to it. kind is the type of that message, or history.
func (p *Phones) Upload(tb testing.TB, kind, media string) MediaPointer {
	tb.Helper()
	var pointer MediaPointer
	p.call(tb, http.MethodPost, "/media", map[string]any{"type": kind, "media": media}, &pointer)
	return pointer
}

// Edit makes a phone edit a message of its own.
func (p *Phones) Edit(tb testing.TB, number, messageID, text string) {
	tb.Helper()
	p.call(tb, http.MethodPost, "/phones/"+number+"/messages/"+messageID+"/edit", map[string]any{"text": text}, nil)
}

// Delete makes a phone delete a message of its own for everyone.
func (p *Phones) Delete(tb testing.TB, number, messageID string) {
	tb.Helper()
	p.call(tb, http.MethodDelete, "/phones/"+number+"/messages/"+messageID, nil, nil)
}

// Pin makes a phone pin a message for some seconds, or unpin it (0).
func (p *Phones) Pin(tb testing.TB, number, messageID string, seconds int) {
	tb.Helper()
	p.call(tb, http.MethodPut, "/phones/"+number+"/messages/"+messageID+"/pin", map[string]any{"seconds": seconds}, nil)
}

// Star makes the owner of a phone star a message, or take the star away.
func (p *Phones) Star(tb testing.TB, number, messageID string, starred bool) {
	tb.Helper()
	p.call(tb, http.MethodPut, "/phones/"+number+"/messages/"+messageID+"/star", map[string]any{"starred": starred}, nil)
}

// DeleteForMe makes the owner of a phone delete a message from the account's own devices.
func (p *Phones) DeleteForMe(tb testing.TB, number, messageID string) {
	tb.Helper()
	p.call(tb, http.MethodDelete, "/phones/"+number+"/messages/"+messageID+"/for-me", nil, nil)
}

// Call makes a phone call a number or a group, and returns the call's identifier.
func (p *Phones) Call(tb testing.TB, number, to string, video bool) (callID string) {
	tb.Helper()
	var answer struct {
		CallID string `json:"callId"`
	}
	p.call(tb, http.MethodPost, "/phones/"+number+"/call", map[string]any{"to": to, "video": video}, &answer)
	return answer.CallID
}

// Block makes a phone block somebody, or unblock him.
func (p *Phones) Block(tb testing.TB, number, who string, blocked bool) {
	tb.Helper()
	method := http.MethodDelete
	if blocked {
		method = http.MethodPut
	}
	p.call(tb, method, "/phones/"+number+"/blocks/"+who, nil, nil)
}

// EndCall makes a phone end a call that rings: hangup, timeout, answer or reject.
func (p *Phones) EndCall(tb testing.TB, number, callID, how string) {
	tb.Helper()
	p.call(tb, http.MethodPost, "/phones/"+number+"/calls/"+callID+"/end", map[string]any{"how": how}, nil)
}

// SetHistory sets what a phone hands over besides its messages (control API, history).
func (p *Phones) SetHistory(tb testing.TB, number string, history map[string]any) {
	tb.Helper()
	p.call(tb, http.MethodPut, "/phones/"+number+"/history", history, nil)
}

// Presence makes a phone show a presence: available, unavailable, composing,
// recording or paused.
func (p *Phones) Presence(tb testing.TB, number, to, presence string) {
	tb.Helper()
	p.call(tb, http.MethodPost, "/phones/"+number+"/presence", map[string]any{"to": to, "presence": presence}, nil)
}

// React makes a phone react to a message. An empty reaction removes the last one.
func (p *Phones) React(tb testing.TB, number, messageID, reaction string) {
	tb.Helper()
	p.call(tb, http.MethodPost, "/phones/"+number+"/messages/"+messageID+"/reaction", map[string]any{"reaction": reaction}, nil)
}

// Vote lets a phone vote in a poll that it shows; without options it takes its vote back.
func (p *Phones) Vote(tb testing.TB, number, messageID string, options ...string) {
	tb.Helper()
	if options == nil {
		options = []string{}
	}
	p.call(tb, http.MethodPost, "/phones/"+number+"/messages/"+messageID+"/vote", map[string]any{"options": options}, nil)
}

// Restrict restricts an account from writing to new contacts; 0 lifts it.
func (p *Phones) Restrict(tb testing.TB, number string, seconds int) {
	tb.Helper()
	p.call(tb, http.MethodPost, "/phones/"+number+"/restrict", map[string]any{"seconds": seconds}, nil)
}

// DropMedia makes the platform's media host forget the file of a message.
func (p *Phones) DropMedia(tb testing.TB, number, messageID string) {
	tb.Helper()
	p.call(tb, http.MethodDelete, "/phones/"+number+"/messages/"+messageID+"/media", nil, nil)
}

// Activity returns what a phone saw besides messages.
func (p *Phones) Activity(tb testing.TB, number string) []Activity {
	tb.Helper()
	var list struct {
		Data []Activity `json:"data"`
	}
	p.call(tb, http.MethodGet, "/phones/"+number+"/activity", nil, &list)
	return list.Data
}

// AwaitActivity waits until a phone has seen something of that type and value.
func (p *Phones) AwaitActivity(tb testing.TB, number, kind, value string) {
	tb.Helper()
	Await(tb, kind+" "+value+" on the phone", func() bool {
		for _, activity := range p.Activity(tb, number) {
			if activity.Type == kind && activity.Value == value {
				return true
			}
		}
		return false
	})
}

// Faults sets the faults of the platform; an empty map ends all of them.
func (p *Phones) Faults(tb testing.TB, faults map[string]any) {
	tb.Helper()
	p.call(tb, http.MethodPut, "/faults", faults, nil)
}

// Disconnect cuts the connections of a number's devices, or of all devices for "".
func (p *Phones) Disconnect(tb testing.TB, number string) {
	tb.Helper()
	body := map[string]any{}
	if number != "" {
		body["number"] = number
	}
	p.call(tb, http.MethodPost, "/faults/disconnect", body, nil)
}

func (p *Phones) call(tb testing.TB, method, path string, in map[string]any, out any) {
	tb.Helper()
	var body bytes.Buffer
	if in != nil {
		if err := json.NewEncoder(&body).Encode(in); err != nil {
			tb.Fatal(err)
		}
	}
	request, err := http.NewRequestWithContext(tb.Context(), method, p.baseURL+path, &body)
	if err != nil {
		tb.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode >= http.StatusBadRequest {
		var answer bytes.Buffer
		_, _ = answer.ReadFrom(response.Body)
		tb.Fatalf("%s %s answered %d: %s", method, path, response.StatusCode, answer.String())
	}
	if out != nil {
		if err := json.NewDecoder(response.Body).Decode(out); err != nil {
			tb.Fatal(err)
		}
	}
}

// AddPasskey adds a passkey to a phone, which a browser makes of the options on a page at
// origin.
func (p *Phones) AddPasskey(tb testing.TB, number, origin string, create func(options json.RawMessage) (credential json.RawMessage)) {
	tb.Helper()
	var options json.RawMessage
	p.call(tb, http.MethodPost, "/phones/"+number+"/passkey/options", map[string]any{"origin": origin}, &options)
	p.call(tb, http.MethodPost, "/phones/"+number+"/passkey/credentials", map[string]any{"origin": origin, "credential": create(options)}, nil)
}
